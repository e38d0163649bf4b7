"""Limits on the connections of a TCP port that a third-party library serves in this process (Linux)."""

from __future__ import annotations

import contextlib
import math
import os
import socket as network
import stat
import struct
import time
from collections.abc import Callable, Iterator

from limberjack.bridge.background import Background

_SWEEP_S = 0.25
_SILENT_S = 10.0  # without an answer from us: its request did not come whole
_ANSWER_BYTES = 16
_BYTES_S = 1024  # that a peer may send a second beside its most
_TCP_INFO_BYTES, _ACKED_AT, _RECEIVED_AT = 136, 120, 128  # of Linux: struct tcp_info up to tcpi_bytes_received

Peer = tuple  # address and port


class PortGuard(Background):
    """Ends connections to a port beyond the largest number, and those with unfinished or endless requests.

    The library notices that the connection ended and frees what it kept for it. From `start` to `stop`.
    turned_away : how many were ended;  notify : gets one sentence, at most every few seconds
    """

    _NOTICE_S = 5.0

    def __init__(self, port: int, most: int, notify: Callable[[str], None], most_bytes: float = math.inf) -> None:
        """most : connections;  most_bytes : that one peer may send, beside a kilobyte a second"""
        super().__init__(f"port {port}", self._run)
        self._port, self._most, self._notify, self._most_bytes = port, most, notify, most_bytes
        self._since: dict[Peer, float] = {}
        self._ended: set[Peer] = set()
        self._notified_at, self._notified = -self._NOTICE_S, 0
        self.turned_away = 0

    def _run(self) -> None:
        while not self.stopping.wait(_SWEEP_S):
            self.sweep(time.monotonic())
            if self.turned_away > self._notified and time.monotonic() - self._notified_at > self._NOTICE_S:
                count, self._notified = self.turned_away - self._notified, self.turned_away
                self._notified_at = time.monotonic()
                self._notify(f"{count} connections to port {self._port} were ended: too many, silent, or without end.")

    def sweep(self, now: float) -> None:
        """Look at all connections once."""
        seen: dict[Peer, float] = {}
        ended: set[Peer] = set()
        for handle in self._connections():
            with handle, contextlib.suppress(OSError):
                peer = handle.getpeername()
                if peer in self._ended or peer in ended:  # not noticed by the library yet; it may have two handles
                    ended.add(peer)
                    continue
                seen[peer] = since = self._since.get(peer, now)
                info = handle.getsockopt(network.IPPROTO_TCP, network.TCP_INFO, _TCP_INFO_BYTES)
                acked, received = (struct.unpack_from("Q", info, at)[0] for at in (_ACKED_AT, _RECEIVED_AT))
                surplus = peer not in self._since and len(seen) > self._most
                silent = acked < _ANSWER_BYTES and now - since > _SILENT_S
                if surplus or silent or received > self._most_bytes + _BYTES_S * (now - since):
                    del seen[peer]
                    ended.add(peer)
                    self.turned_away += 1
                    handle.shutdown(network.SHUT_RDWR)
        self._since, self._ended = seen, ended

    def _connections(self) -> Iterator[network.socket]:
        """Handles of our own on the port's connections, those known before first."""
        found = [handle for name in os.listdir("/proc/self/fd") if (handle := self._handle(int(name))) is not None]
        return iter(sorted(found, key=self._is_new))

    def _is_new(self, handle: network.socket) -> bool:
        try:
            return handle.getpeername() not in self._since
        except OSError:
            return True

    def _handle(self, descriptor: int) -> network.socket | None:
        """A handle on a descriptor if it is a connection of the port."""
        try:
            if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                return None
            handle = network.socket(fileno=os.dup(descriptor))
        except OSError:
            return None
        try:
            if handle.family in (network.AF_INET, network.AF_INET6) and handle.type == network.SOCK_STREAM:
                handle.getpeername()
                if handle.getsockname()[1] == self._port:
                    return handle
        except OSError:  # the listener, or a connection that is gone
            pass
        handle.close()
        return None
