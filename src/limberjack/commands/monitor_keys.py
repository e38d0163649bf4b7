"""Keys of a terminal, one at a time, without waiting for Enter."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import termios
import tty
from collections.abc import Iterator

#: escape sequences that terminals send for keys without a character
_NAMES = {
    "\x1b[A": "up",
    "\x1b[B": "down",
    "\x1bOA": "up",
    "\x1bOB": "down",
    "\x1b[5~": "page up",
    "\x1b[6~": "page down",
    "\x1b[H": "home",
    "\x1b[F": "end",
    "\x1b[1~": "home",
    "\x1b[4~": "end",
    "\x1b[Z": "back tab",
    "\t": "tab",
    "\r": "enter",
    "\n": "enter",
    "\x7f": "backspace",
    "\x08": "backspace",
    "\x1b": "escape",
}


class Keys:
    """Keys that were pressed; `read` waits a bounded time for keys. None if standard input is not a terminal.

    there : whether there are any;  descriptors : what to wait on for keys and other things at once
    """

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor
        self.there, self.descriptors = descriptor is not None, [] if descriptor is None else [descriptor]

    def read(self, wait_s: float) -> list[str]:
        """Names ("up", "page down", …) or characters of the keys pressed; empty if there were none in that time."""
        if self._descriptor is None:
            select.select([], [], [], wait_s)
            return []
        if not select.select([self._descriptor], [], [], wait_s)[0]:
            return []
        data = os.read(self._descriptor, 256)
        if not data:  # the terminal is gone
            return ["q"]
        return list(split(data.decode(errors="replace")))


def split(text: str) -> Iterator[str]:
    """The keys in what a terminal sent."""
    longest = max(map(len, _NAMES))
    while text:
        length = next((n for n in range(longest, 0, -1) if text[:n] in _NAMES), 0)
        if length:
            yield _NAMES[text[:length]]
        elif text[0].isprintable():
            yield text[0]
        text = text[max(length, 1) :]


@contextlib.contextmanager
def keyboard() -> Iterator[Keys]:
    """Keys of standard input while this lasts; the terminal is left as it was."""
    if not sys.stdin.isatty():
        yield Keys(None)
        return
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    tty.setcbreak(descriptor)
    try:
        yield Keys(descriptor)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
