"""Universal binaries of macOS: one file with the code of both processors (Mach-O `fat_header`, big-endian)."""

from __future__ import annotations

import struct
from collections.abc import Sequence

_MAGIC = 0xCAFEBABE
_HEADER = struct.Struct(">II")  # magic, number of slices
_SLICE = struct.Struct(">IIIII")  # processor, its kind, offset, size, alignment as a power of two
_THIN = struct.Struct("<III")  # of each slice: magic, processor, its kind
_THIN_MAGIC = 0xFEEDFACF  # 64 bits
_ALIGNMENT = 14  # pages of 16 KiB, the largest of both processors


def universal(slices: Sequence[bytes]) -> bytes:
    """One file of several thin 64-bit libraries; the loader takes the slice of its processor."""
    start = _HEADER.size + _SLICE.size * len(slices)
    table, body = _HEADER.pack(_MAGIC, len(slices)), bytearray()
    for library in slices:
        magic, processor, kind = _THIN.unpack_from(library)
        assert magic == _THIN_MAGIC, "not a 64-bit Mach-O library"
        body += bytes(-(start + len(body)) % (1 << _ALIGNMENT))
        table += _SLICE.pack(processor, kind, start + len(body), len(library), _ALIGNMENT)
        body += library
    return table + bytes(body)
