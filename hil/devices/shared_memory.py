"""Shared memory: one slot for each direction, newest message only.

A file in /dev/shm: 8 bytes "LJSHM001"; u32 bytes of a signals message, u32 of a commands message; then the slot of
signals and the slot of commands, each: u64 counter, the message, padding to 8 bytes. Numbers are little-endian. A
writer makes the counter odd, writes the message, and makes the counter even; a reader accepts a message between two
equal even readings. If a processor reorders stores, the message's own check refuses what the counter does not detect.
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import re
import struct
import time
from pathlib import Path

from limberjack.engine.common.errors import ArgumentError
from limberjack.hil.devices.device import Link
from limberjack.hil.devices.message import Message
from limberjack.hil.errors import HilError

MAGIC = b"LJSHM001"
_HEAD = struct.Struct("<8sII")
_COUNTER_BYTES = 8
_TRIES = 8
#: readings in a row before the process sleeps, and for how long
_SPINS, _NAP_S = 50, 20e-6


def path_of(name: str, where: str) -> Path:
    """The file of a name."""
    if not re.fullmatch(r"[A-Za-z0-9_.-]{1,100}", name) or name.startswith("."):
        raise ArgumentError(
            f"{where}: '{name}' is not a name; use letters, digits, '_', '-' and '.', as in shm://servo."
        )
    return Path("/dev/shm", f"limberjack-{name}")


class ShmChannel:
    """One side of the memory.

    owner : whether this is the bench, which makes and removes the file; a lock shows whether a bench still uses a file
    """

    def __init__(self, path: Path, owner: bool) -> None:
        self._path, self._owner = path, owner
        self._file = -1
        self._map: mmap.mmap | None = None
        #: the map in u64, each read and written at once; struct would clear a counter before it writes it
        self._words = memoryview(b"")
        self._out = self._in = self._in_size = 0
        self._seen = 0

    def open(self, outgoing: Message, incoming: Message | None, link: Link) -> None:
        """Make or find the memory. Raises HilError if another bench uses it or if it has another format."""
        self.close()
        size_in = incoming.size if incoming is not None else 0
        sizes = (outgoing.size, size_in) if self._owner else (size_in, outgoing.size)
        first = _HEAD.size
        second = first + _COUNTER_BYTES + -(-sizes[0] // 8) * 8
        total = second + _COUNTER_BYTES + -(-sizes[1] // 8) * 8
        self._file = self._make(total) if self._owner else self._find()
        try:
            self._map = mmap.mmap(self._file, total)
        except (OSError, ValueError) as error:
            self.close()
            raise HilError(f"shm: {self._path} cannot be used ({error}); both sides need the same layout.") from None
        if self._owner:
            _HEAD.pack_into(self._map, 0, MAGIC, *sizes)
        elif _HEAD.unpack_from(self._map) != (MAGIC, *sizes):
            self.close()
            raise HilError(f"shm: {self._path} holds other messages; both sides need the same layout.")
        self._words = memoryview(self._map).cast("Q")
        self._out, self._in = (first, second) if self._owner else (second, first)
        self._in_size, self._seen = size_in, 0

    def push(self, data: bytes) -> bool:
        """Put a message into the slot; the one before it is overwritten."""
        if self._map is None:
            return False
        counter = self._words[self._out // 8] | 1
        start = self._out + _COUNTER_BYTES
        self._words[self._out // 8] = counter
        self._map[start : start + len(data)] = data
        self._words[self._out // 8] = (counter + 1) % 2**64
        return True

    def pull(self) -> bytes | None:
        """The message in the slot, if it is new and complete."""
        if self._map is None:
            return None
        start = self._in + _COUNTER_BYTES
        for _ in range(_TRIES):
            counter = self._count()
            if counter == self._seen:
                return None
            if counter % 2:
                continue
            data = self._map[start : start + self._in_size]
            if self._count() == counter:
                self._seen = counter
                return data
        return None

    def wait(self, limit_s: float) -> None:
        """Wait until the counter changes: a short spin, then sleeps."""
        deadline = time.monotonic() + limit_s
        spins = 0
        while self._map is not None:
            counter = self._count()
            if (counter != self._seen and counter % 2 == 0) or time.monotonic() >= deadline:
                return
            spins += 1
            if spins > _SPINS:
                time.sleep(_NAP_S)

    def close(self) -> None:
        """Unmap; the bench removes the file."""
        if self._map is not None:
            self._words.release()
            self._map.close()
            self._map = None
        if self._file >= 0:
            if self._owner:
                with contextlib.suppress(OSError):
                    if os.path.samestat(os.fstat(self._file), os.stat(self._path)):
                        self._path.unlink()
            os.close(self._file)
            self._file = -1

    def _count(self) -> int:
        return self._words[self._in // 8]

    def _make(self, total: int) -> int:
        """A new file, locked; the file of a dead bench is removed unchanged, as a controller may still use it."""
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        left = made = -1
        try:
            left = os.open(self._path, flags, 0o600)
            fcntl.flock(left, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.path.samestat(os.fstat(left), os.stat(self._path)):
                raise BlockingIOError
            self._path.unlink()
            made = os.open(self._path, flags | os.O_EXCL, 0o600)
            fcntl.flock(made, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(made, total)
        except OSError as error:
            if made >= 0:
                os.close(made)
            why = (
                "in use by another bench" if isinstance(error, BlockingIOError) else f"not available ({error.strerror})"
            )
            raise HilError(f"shm: {self._path} is {why}; choose another name.") from None
        finally:
            if left >= 0:
                os.close(left)
        return made

    def _find(self) -> int:
        try:
            return os.open(self._path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError as error:
            raise HilError(f"shm: {self._path} cannot be opened ({error.strerror}); start the bench first.") from None
