"""Sends telecommands as a ground system does, for scripts and tests."""

from __future__ import annotations

from limberjack.bridge.telemetry.ccsds.authentic import SEAL_BYTES, Seal
from limberjack.bridge.telemetry.ccsds.decode import encode
from limberjack.bridge.telemetry.ccsds.packets import (
    ACK_ACCEPTED,
    ACK_DONE,
    ARE_YOU_ALIVE,
    COUNTS,
    CRC,
    TEST,
    crc,
    telecommand,
)
from limberjack.bridge.telemetry.ccsds.sets import Plan
from limberjack.bridge.telemetry.orders import Order


class Sender:
    """Makes the telecommands of one source: counts them, and seals them where it has a key.

    plan : as the gateway's, from the same model and file of packets;  source : its ID in the gateway's list of sources
    """

    def __init__(self, plan: Plan, source: int = 0, key: bytes | None = None) -> None:
        self._plan, self._source = plan, source
        self._seal = None if key is None else Seal(key)
        self._count = 0

    def packet(self, order: Order, acks: int = ACK_ACCEPTED | ACK_DONE) -> bytes:
        """The telecommand of an order. KeyError for a name that the model does not have."""
        return self._made(*encode(order, self._plan), acks)

    def test(self) -> bytes:
        """A connection test, which the gateway answers."""
        return self._made((TEST, ARE_YOU_ALIVE), b"", ACK_ACCEPTED | ACK_DONE)

    def _made(self, kind: tuple[int, int], data: bytes, acks: int) -> bytes:
        count, self._count = self._count, (self._count + 1) % COUNTS
        rest = b"" if self._seal is None else bytes(SEAL_BYTES)
        packet = telecommand(self._plan.apid, count, *kind, self._source, acks, data + rest)
        if self._seal is None:
            return packet
        unsealed = packet[: -CRC.size - SEAL_BYTES]
        sealed = unsealed + self._seal.make(unsealed)
        return sealed + CRC.pack(crc(sealed))
