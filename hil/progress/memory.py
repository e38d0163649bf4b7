"""The memory that a bench shares with the process that observes its run."""

from __future__ import annotations

import mmap
import os
import tempfile

import numpy as np

#: numbers at the start: overruns, longest lateness, ns; messages written, length of each of the two
OVERRUNS, LATE, MESSAGES, LENGTH = range(4)
_NUMBERS = 8
#: bytes of a message
MESSAGE_MOST = 1 << 16
_ROWS_AT = 8 * _NUMBERS + 2 * MESSAGE_MOST


class Shared:
    """Numbers and rows of the bench, messages of the process; neither waits for the other.

    descriptor : of the file behind the memory; None: make one
    counts : the bench's two numbers;  rows : (rows, columns) of float64
    """

    def __init__(self, shape: tuple[int, int], descriptor: int | None = None) -> None:
        size = _ROWS_AT + 8 * shape[0] * shape[1]
        self.descriptor = _file(size) if descriptor is None else descriptor
        self._memory = memoryview(mmap.mmap(self.descriptor, size))
        self._numbers = self._memory[: 8 * _NUMBERS].cast("q")
        self.counts = self._numbers[:MESSAGES]
        self.rows = np.frombuffer(self._memory[_ROWS_AT:], dtype=np.float64).reshape(shape)

    @property
    def used(self) -> bool:
        """Whether a message was ever written."""
        return self._numbers[MESSAGES] > 0

    def write(self, message: bytes) -> None:
        """Put a message into the slot that nobody reads, then announce it. One that is too long is left out."""
        if len(message) <= MESSAGE_MOST:
            count = self._numbers[MESSAGES] + 1
            self._numbers[LENGTH + count % 2] = len(message)
            self._place(count)[: len(message)] = message
            self._numbers[MESSAGES] = count

    def read(self, seen: int) -> tuple[int, bytes]:
        """The number of the newest message, and the message; `seen` and b"" if there is no newer one."""
        count = self._numbers[MESSAGES]
        if count == seen:
            return seen, b""
        message = bytes(self._place(count)[: self._numbers[LENGTH + count % 2]])
        torn = self._numbers[MESSAGES] != count  # the writer may have begun to overwrite it: read again
        return (seen, b"") if torn else (count, message)

    def _place(self, count: int) -> memoryview:
        start = 8 * _NUMBERS + count % 2 * MESSAGE_MOST
        return self._memory[start : start + MESSAGE_MOST]

    def close(self) -> None:
        """Close the file; the memory lasts as long as it is mapped."""
        os.close(self.descriptor)


def _file(size: int) -> int:
    with tempfile.TemporaryFile() as made:
        descriptor = os.memfd_create("limberjack-progress") if hasattr(os, "memfd_create") else os.dup(made.fileno())
    os.ftruncate(descriptor, size)
    return descriptor
