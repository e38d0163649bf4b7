"""Space Packets (CCSDS 133.0-B-2) with the secondary headers of ECSS-E-ST-70-41C and CUC time (CCSDS 301.0-B-4).

All numbers are big-endian. A telemetry packet is: primary header (6 bytes), secondary header (7), time (8), data, CRC
(2). A telecommand is: primary header (6), secondary header (5), data, CRC (2). The CRC is CRC-16-CCITT from 0xFFFF over
all bytes before it.
"""

from __future__ import annotations

import binascii
import struct
from collections import Counter
from dataclasses import dataclass

PRIMARY = struct.Struct(">HHH")
_TELEMETRY = struct.Struct(">BBBHHBI")
_TELECOMMAND = struct.Struct(">BBBH")
CRC = struct.Struct(">H")

PRIMARY_BYTES = PRIMARY.size
#: primary and secondary header and time
TELEMETRY_HEADER_BYTES = PRIMARY_BYTES + _TELEMETRY.size + 3
TELECOMMAND_HEADER_BYTES = PRIMARY_BYTES + _TELECOMMAND.size
#: the 16-bit length of a packet counts the bytes after the primary header, less one
LARGEST_PACKET = PRIMARY_BYTES + 65536
IDLE_APID = 0x7FF
COUNTS = 1 << 14  # the sequence count starts again after this many packets
PUS_VERSION = 2
#: P-field of CUC: epoch of our own (1970), four bytes of seconds, three bytes of 2^-24 s
P_FIELD = 0b0_010_11_11

# Acknowledgements that a telecommand asks for.
ACK_ACCEPTED = 0b0001
ACK_DONE = 0b1000

# Services and message types of ECSS-E-ST-70-41C.
VERIFICATION, HOUSEKEEPING, EVENT, FUNCTION, TEST, PARAMETERS = 1, 3, 5, 8, 17, 20
ACCEPTED, REFUSED, DONE, FAILED = 1, 2, 7, 8
REPORT, PERFORM, ARE_YOU_ALIVE, I_AM_ALIVE, SET_VALUES = 25, 1, 1, 2, 3

_NS = 1_000_000_000


class PacketError(Exception):
    """The bytes are not a valid packet; reason: a short word for counting."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


def crc(data: bytes | bytearray | memoryview) -> int:
    """CRC-16-CCITT: polynomial 0x1021, from 0xFFFF; 0 over data followed by its own CRC."""
    return binascii.crc_hqx(data, 0xFFFF)


def cuc(unix_ns: int) -> tuple[int, bytes]:
    """Time since 1970 as whole seconds (32 bits, around after 2106) and 2^-24 s, cut (3 bytes)."""
    seconds, rest = divmod(unix_ns, _NS)
    return seconds & 0xFFFFFFFF, ((rest << 24) // _NS).to_bytes(3, "big")


class Packer:
    """Makes telemetry packets and counts them: a sequence for each APID, a counter for each message type."""

    def __init__(self) -> None:
        self._sequences: Counter[int] = Counter()
        self._messages: Counter[tuple[int, int, int]] = Counter()

    def telemetry(
        self, apid: int, service: int, subtype: int, unix_ns: int, data: bytes, destination: int = 0
    ) -> bytes:
        """One packet. unix_ns: the time that it bears; destination: the source of the telecommand that it answers."""
        sequence, message = self._sequences[apid], self._messages[apid, service, subtype]
        self._sequences[apid] = (sequence + 1) % COUNTS
        self._messages[apid, service, subtype] = (message + 1) & 0xFFFF
        seconds, fraction = cuc(unix_ns)
        length = TELEMETRY_HEADER_BYTES + len(data) + CRC.size - PRIMARY_BYTES - 1
        packet = b"".join((
            PRIMARY.pack(0x0800 | apid, 0xC000 | sequence, length),
            _TELEMETRY.pack(PUS_VERSION << 4, service, subtype, message, destination, P_FIELD, seconds),
            fraction,
            data,
        ))  # fmt: skip
        return packet + CRC.pack(crc(packet))


@dataclass(frozen=True)
class Telecommand:
    """A telecommand with a valid frame.

    apid, sequence : of the primary header;  acks : requested acknowledgements;  source : its sender
    request : its first four bytes, which acknowledgements repeat;  data : after the headers, without CRC
    head : all before the CRC
    """

    apid: int
    sequence: int
    acks: int
    service: int
    subtype: int
    source: int
    request: bytes
    data: bytes
    head: bytes

    @property
    def label(self) -> str:
        """Its name in messages."""
        return f"telecommand {self.service}.{self.subtype}, sequence count {self.sequence}, of source {self.source}"


def packet_length(head: bytes) -> int:
    """Bytes of the whole packet that begins with these (at least 6)."""
    return PRIMARY_BYTES + int.from_bytes(head[4:6], "big") + 1


def read_telecommand(packet: bytes) -> Telecommand:
    """The telecommand in these bytes. Raises PacketError if they are not a telecommand, or are damaged."""
    if len(packet) < TELECOMMAND_HEADER_BYTES + CRC.size:
        raise PacketError("short", f"{len(packet)} bytes are too few for a telecommand.")
    identity, control, _ = PRIMARY.unpack_from(packet)
    if packet_length(packet) != len(packet):
        raise PacketError("length", f"the packet says {packet_length(packet)} bytes and has {len(packet)}.")
    if identity >> 11 != 0b00011:
        raise PacketError("type", "not a telecommand of version 0 with a secondary header.")
    if control >> 14 != 0b11:
        raise PacketError("segmented", "segmented telecommands are not accepted; send each in one packet.")
    if crc(packet) != 0:
        raise PacketError("crc", "the CRC is wrong; the packet was damaged on its way.")
    version, service, subtype, source = _TELECOMMAND.unpack_from(packet, PRIMARY_BYTES)
    if version >> 4 != PUS_VERSION:
        raise PacketError("pus version", f"the secondary header is of PUS version {version >> 4}, not {PUS_VERSION}.")
    head = packet[: -CRC.size]
    return Telecommand(
        identity & 0x7FF, control & 0x3FFF, version & 0xF, service, subtype, source,
        packet[:4], head[TELECOMMAND_HEADER_BYTES:], head,
    )  # fmt: skip


def telecommand(apid: int, sequence: int, service: int, subtype: int, source: int, acks: int, data: bytes) -> bytes:
    """A telecommand with its CRC, as a ground system makes it."""
    length = TELECOMMAND_HEADER_BYTES + len(data) + CRC.size - PRIMARY_BYTES - 1
    primary = PRIMARY.pack(0x1800 | apid, 0xC000 | sequence, length)
    packet = primary + _TELECOMMAND.pack(PUS_VERSION << 4 | acks, service, subtype, source) + data
    return packet + CRC.pack(crc(packet))
