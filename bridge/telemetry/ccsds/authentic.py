"""Telecommands that only the holder of a key can make, and that cannot be replayed.

Behind its data a telecommand has the time of sending (ns since 1970, 64 bits) and HMAC-SHA-256 over all bytes of the
packet before the HMAC; then the CRC. The time must be later than that of the newest telecommand of the same source, and
within a minute of the gateway's own.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
import time

from limberjack.bridge.telemetry.orders import OrderRefused

_STAMP = struct.Struct(">Q")
_DIGEST_BYTES = hashlib.sha256().digest_size
SEAL_BYTES = _STAMP.size + _DIGEST_BYTES
#: largest difference of the clocks
WINDOW_NS = 60 * 1_000_000_000


class Seal:
    """One key: makes the seals of a sender, or checks those of one source. Both keep the newest time."""

    def __init__(self, key: bytes, since_ns: int = 0) -> None:
        """since_ns : telecommands sent earlier are refused; a checker gives the time at which it began to listen"""
        self._key, self._newest = key, since_ns

    def make(self, unsealed: bytes) -> bytes:
        """The seal of a packet up to the end of its data; its length field already includes the seal."""
        self._newest = max(self._newest + 1, time.time_ns())
        stamped = unsealed + _STAMP.pack(self._newest)
        return stamped[len(unsealed) :] + hmac.digest(self._key, stamped, "sha256")

    def open(self, head: bytes, data: bytes) -> bytes:
        """The data without the seal. head: the packet without CRC. Raises OrderRefused, after which nothing changed."""
        if len(data) < SEAL_BYTES:
            raise OrderRefused("not_authentic", f"it is too short for the seal of {SEAL_BYTES} bytes behind its data.")
        digest = hmac.digest(self._key, head[:-_DIGEST_BYTES], "sha256")
        if not hmac.compare_digest(digest, head[-_DIGEST_BYTES:]):
            raise OrderRefused("not_authentic", "its HMAC does not match the key of this source.")
        (stamp,) = _STAMP.unpack_from(head, len(head) - SEAL_BYTES)
        early = time.time_ns() - stamp
        if abs(early) > WINDOW_NS:
            raise OrderRefused(
                "not_authentic", f"it was sent {early / 1e9:+.1f} s before now by its own time. Set the clocks."
            )
        if stamp <= self._newest:
            raise OrderRefused("replayed", "it is older than one that the gateway has accepted, or repeats it.")
        self._newest = stamp
        return data[:-SEAL_BYTES]
