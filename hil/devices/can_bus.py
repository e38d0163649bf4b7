"""CAN: signals and commands as a DBC file lays them into frames.

python-can speaks to the bus, cantools to the file. A bus does not number its messages: commands are the answer to the
last signals once every message that carries commands has come again.
"""

from __future__ import annotations

import contextlib
import select
import time as wall
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult

import numpy as np

from limberjack.engine.common.errors import ArgumentError, MissingExtraError
from limberjack.hil.devices.can_codec import Frames, key_of, read_dbc
from limberjack.hil.devices.device import Link, Wiring
from limberjack.hil.devices.options import Made, Options
from limberjack.hil.errors import HilError

_MOST_AT_ONCE, _QUEUE = 256, 1024
#: of a serial adapter: CAN FD with 64 bytes
_LONGEST_LINE = 160
#: these reach other hosts, and have no keys
_NETWORKED = ("udp_multicast", "socketcand", "remote")


class CanEnd:
    """One end of a bus: sends some names in their messages, takes others.

    settings : of can.Bus;  names : "Message.Signal" or "Signal" of the file by name of the bench
    """

    def __init__(self, settings: Mapping[str, Any], dbc: Path, names: Mapping[str, str], counter: str) -> None:
        self._settings, self._counter = dict(settings), counter
        self._names, self._database = dict(names), read_dbc(dbc)
        self._bus: Any = None
        self._link = Link()
        self.outgoing: Frames
        self.incoming: Frames
        self.awaited: set[int] = set()

    def check(self, names: tuple[str, ...]) -> None:
        """ArgumentError for a mapped name that the device does not have."""
        for name in self._names:
            if name not in names:
                listed = ", ".join(names) or "nothing"
                raise ArgumentError(f"can: names maps '{name}', but wired to the device are: {listed}.")

    def open(self, out: tuple[str, ...], into: tuple[str, ...], link: Link) -> None:
        """Open the bus. HilError if that fails."""
        self.close()
        self.check((*out, *into))
        self.outgoing = Frames(self._database, out, self._names, self._counter)
        self.incoming = Frames(self._database, into, self._names, self._counter)
        if self._counter and not (self.outgoing.counted or self.incoming.counted):
            raise ArgumentError(f"can: no message of the device has the signal '{self._counter}'; correct counter.")
        self._link, can = link, python_can()
        try:
            self._bus = can.Bus(can_filters=self.incoming.filters, **self._settings)
        except (can.CanError, OSError, ValueError, ImportError) as error:
            raise HilError(
                f"can: {self._settings['interface']} {self._settings['channel']}: {error}; check interface and channel."
            ) from None

    def push(self, values: np.ndarray) -> bool:
        """Send all messages; False if one could not be sent."""
        can, self.awaited = python_can(), set(self.incoming.identifiers)
        try:
            for identifier, extended, data in self.outgoing.encode(values):
                message = can.Message(arbitration_id=identifier, is_extended_id=extended, data=data)
                if not self._room():
                    return False
                self._bus.send(message, timeout=0)
        except can.CanError:
            return False
        return True

    def pull(self, values: np.ndarray) -> bool:
        """Take the messages that have come; whether values were set."""
        can, came = python_can(), False
        for _ in range(_MOST_AT_ONCE):
            try:
                message = self._bus.recv(timeout=0)
            except (can.CanError, ValueError, IndexError):
                self._link.reject("wrong frame")
                self._forget(0)
                continue
            if message is None:
                break
            reason = self.incoming.decode(message, values)
            if reason:
                self._link.reject(reason)
                continue
            self.awaited.discard(key_of(message.arbitration_id, message.is_extended_id))
            self._link.received += 1
            came = True
        self._forget(_LONGEST_LINE)
        return came

    def pull_all(self, values: np.ndarray, limit_s: float) -> bool:
        """As `pull`, until every awaited message has come, at most limit_s of wall time; whether values were set."""
        deadline, came = wall.monotonic() + limit_s, False
        while True:
            came = self.pull(values) or came
            left = deadline - wall.monotonic()
            if not self.awaited or left <= 0.0:
                return came
            self._wait(left)

    def close(self) -> None:
        """Leave the bus."""
        if self._bus is not None:
            with contextlib.suppress(Exception):  # an adapter that is gone cannot be closed
                self._bus.shutdown()
            self._bus = None

    def _forget(self, most: int) -> None:
        """Drop an unfinished line of a serial adapter that is longer than most bytes.

        python-can would keep a line that is not text, and append forever to one that does not end.
        """
        line = getattr(self._bus, "_buffer", None) if self._settings["interface"] == "slcan" else None
        if isinstance(line, bytearray) and len(line) > most:
            line.clear()
            if most:
                self._link.reject("oversized")

    def _wait(self, limit_s: float) -> None:
        """Until something may have come: by the descriptor where the bus has one, else a moment."""
        descriptor = self._descriptor()
        if descriptor < 0:
            wall.sleep(min(limit_s, 0.0001))
        else:
            select.select([descriptor], [], [], limit_s)

    def _room(self) -> bool:
        """Whether a frame can go without waiting; of serial adapters only the line itself knows."""
        descriptor = self._descriptor() if self._settings["interface"] == "slcan" else -1
        return descriptor < 0 or bool(select.select([], [descriptor], [], 0.0)[1])

    def _descriptor(self) -> int:
        try:
            return int(self._bus.fileno())
        except (NotImplementedError, OSError):
            return -1


class CanDevice:
    """The bench on a bus."""

    def __init__(self, name: str, end: CanEnd) -> None:
        self.name, self.link = name, Link()
        self._end, self._asked = end, False

    def open(self, wiring: Wiring) -> None:
        """Open the bus."""
        self._end.open(wiring.signals, wiring.commands, self.link)

    def send(self, frame: int, time: float, signals: np.ndarray) -> None:
        """Send every message that has a signal of the device."""
        self._asked = self._end.push(signals)
        self.link.sent += self._asked
        self.link.dropped += not self._asked

    def receive(self, time: float, commands: np.ndarray) -> bool:
        """The newest commands that have come."""
        return self.answer(time, commands, 0.0)

    def answer(self, time: float, commands: np.ndarray, limit_s: float) -> bool:
        """The commands after the last signals: each message that carries some, once."""
        came = self._end.pull_all(commands, limit_s if self._asked else 0.0)
        if came:
            self.link.last_time = time
        return came

    def close(self) -> None:
        """Leave the bus."""
        self._end.close()


class CanPeer:
    """The controller on a bus, for twins and tests. Its time is the signal "time" where that is sent, else 0."""

    def __init__(self, end: CanEnd, wiring: Wiring) -> None:
        self.link = Link()
        self._end, self._values = end, np.zeros(len(wiring.signals))
        self._time = wiring.signals.index("time") if "time" in wiring.signals else -1
        end.open(wiring.commands, wiring.signals, self.link)
        end.awaited = set(end.incoming.identifiers)

    def signals(self, limit_s: float) -> tuple[float, np.ndarray] | None:
        """Simulated time, s, and signals (ns,), once all their messages have come."""
        self._end.pull_all(self._values, limit_s)
        if self._end.awaited:
            return None
        return (float(self._values[self._time]) if self._time >= 0 else 0.0), self._values

    def reply(self, commands: np.ndarray) -> bool:
        """Send commands (nc,)."""
        return self._end.push(commands)

    def close(self) -> None:
        """Leave the bus."""
        self._end.close()


def can_link(parts: SplitResult, options: Options) -> Made:
    """can://INTERFACE/CHANNEL?dbc=FILE; names: of the file's signals by name of the bench, counter, bitrate."""
    can, where = python_can(), options.where
    interface, channel = parts.netloc, parts.path[1:]
    if interface in _NETWORKED:
        raise ArgumentError(
            f"{where}: {interface} takes frames from other machines without keys. Use a bus of this machine, or a "
            "gateway on one."
        )
    if interface not in can.VALID_INTERFACES or not channel:
        known = ", ".join(sorted(set(can.VALID_INTERFACES) - set(_NETWORKED)))
        raise ArgumentError(f"{where}: give can://INTERFACE/CHANNEL with an interface of: {known}.")
    dbc = options.path("dbc")
    if dbc is None:
        raise ArgumentError(f"{where}: dbc is missing; give the DBC file that describes the messages.")
    names, counter = options.mapping("names"), options.text("counter")
    settings = _settings(interface, channel, options)
    twin = settings | {"channel": options.text("twin_channel", channel)}
    end, other = CanEnd(settings, dbc, names, counter), CanEnd(twin, dbc, names, counter)
    return lambda name: CanDevice(name, end), lambda wiring: CanPeer(other, wiring)


def _settings(interface: str, channel: str, options: Options) -> dict[str, Any]:
    """What can.Bus takes."""
    settings: dict[str, Any] = {"interface": interface, "channel": channel}
    bitrate = options.whole("bitrate", 0, 0, 8_000_000)
    if bitrate:
        settings["bitrate"] = bitrate
    if interface == "virtual":
        settings["rx_queue_size"] = _QUEUE
    if interface == "slcan":
        if not channel.startswith("/"):
            raise ArgumentError(f"{options.where}: give a serial port, can://slcan//dev/ttyACM0 (two slashes).")
        settings |= {"timeout": 0, "sleep_after_open": options.number("settle_s", 0.0, 0.0, 60.0)}
    return settings


def python_can() -> Any:
    """The package. MissingExtraError without."""
    try:
        import can
    except ImportError:
        raise MissingExtraError("a CAN device", "python-can", "hil") from None
    return can
