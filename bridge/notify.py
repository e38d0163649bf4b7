"""Reports to systemd (sd_notify) that a service is ready and alive; does nothing unless systemd requests it."""

from __future__ import annotations

import contextlib
import os
import socket
import time


class Notify:
    """Messages to the socket of NOTIFY_SOCKET; `alive` as often as WATCHDOG_USEC asks. For one thread."""

    def __init__(self) -> None:
        """Read and remove the environment variables, so that children do not report for this process."""
        self._address = os.environ.pop("NOTIFY_SOCKET", "").replace("@", "\0", 1)
        period, pid = os.environ.pop("WATCHDOG_USEC", ""), os.environ.pop("WATCHDOG_PID", "")
        mine = pid in ("", str(os.getpid()))
        self._period_s = 0.5e-6 * int(period) if mine and period.isdigit() and int(period) else None
        self._due = 0.0

    def __bool__(self) -> bool:
        return bool(self._address)

    def send(self, *lines: str) -> None:
        """Assignments as "READY=1"."""
        if self._address:
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
                sender.setblocking(False)
                sender.sendto("\n".join(lines).encode(), self._address)

    def alive(self) -> None:
        """Send a sign of life, if one is due."""
        if self._period_s is not None and (now := time.monotonic()) >= self._due:
            self._due = now + self._period_s
            self.send("WATCHDOG=1")
