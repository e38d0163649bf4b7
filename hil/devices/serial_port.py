"""Serial lines: a port, which pyserial configures, or a pseudo-terminal in its place."""

from __future__ import annotations

import os
import tty
from pathlib import Path
from typing import Any

from limberjack.engine.common.errors import MissingExtraError
from limberjack.hil.devices.stream import StreamChannel
from limberjack.hil.errors import HilError


class SerialChannel(StreamChannel):
    """A serial port.

    settings : of serial.Serial (baudrate, parity, stopbits, …)
    """

    empty_ends = False

    def __init__(self, port: str, framing: str, settings: dict[str, Any]) -> None:
        super().__init__(framing)
        self._port_name, self._settings = port, settings
        self._port: Any = None

    def close(self) -> None:
        """Close the port."""
        if self._port is not None:
            self._port.close()
            self._port = None
        self._descriptor = -1

    def _connect(self) -> None:
        serial = pyserial()
        try:
            self._port = serial.Serial(self._port_name, timeout=0, write_timeout=0, **self._settings)
        except (OSError, ValueError) as error:
            raise HilError(f"serial port {self._port_name}: {error}; check name, permissions and settings.") from None
        self._descriptor = self._port.fileno()


class PtyChannel(StreamChannel):
    """The bench's end of a pseudo-terminal; its other end is found under the path `link`.

    The bench keeps both ends open, so that controllers may connect and disconnect.
    """

    def __init__(self, link: Path, framing: str) -> None:
        super().__init__(framing)
        self._path = link
        self._other = -1

    def close(self) -> None:
        """Close both ends and remove the link."""
        if self._other >= 0:
            os.close(self._other)
            self._other = -1
            if self._path.is_symlink():
                self._path.unlink()
        super().close()

    def _connect(self) -> None:
        self._descriptor, self._other = os.openpty()
        tty.setraw(self._other)
        os.set_blocking(self._descriptor, False)
        try:
            if self._path.is_symlink() and str(os.readlink(self._path)).startswith("/dev/pts/"):
                self._path.unlink()
            self._path.symlink_to(os.ttyname(self._other))
        except OSError as error:
            os.close(self._other)
            self._other = -1
            super().close()
            raise HilError(f"serial: link {self._path} cannot be made ({error.strerror}); choose another.") from None


class PtyEnd(StreamChannel):
    """The other end of a pseudo-terminal; unlike pyserial it keeps data that arrived before it was opened."""

    empty_ends = False

    def __init__(self, link: Path, framing: str) -> None:
        super().__init__(framing)
        self._path = link

    def _connect(self) -> None:
        try:
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        except OSError as error:
            raise HilError(
                f"serial: {self._path} cannot be opened ({error.strerror}); start the bench first."
            ) from None


def pyserial() -> Any:
    """The package. MissingExtraError without."""
    try:
        import serial
    except ImportError:
        raise MissingExtraError("a serial device", "pyserial", "hil") from None
    return serial
