"""The process that shows the progress of a run: `python -m limberjack.commands.progress MEMORY HEARS SAYS`.

It samples the bench's shared memory, receives its events, and judges the criteria so far. It shows all this on the
terminal (as plain lines if there is none), and passes the operator's orders to the bench.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import sys
import time
from collections.abc import Iterator

from limberjack import children
from limberjack.commands.monitor_keys import Keys, keyboard
from limberjack.commands.progress_view import Lines, Operator, Screen
from limberjack.hil.progress.memory import Shared
from limberjack.hil.progress.observer import Observer

#: time between two samples, s
_SAMPLE_S = 0.25
_CHUNK = 1 << 16


class Hearing:
    """Reads the lines that the bench writes."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor, self.over, self._rest = descriptor, False, b""

    def lines(self) -> Iterator[bytes]:
        """The lines that have arrived; waits if there is none."""
        data = os.read(self.descriptor, _CHUNK)
        self.over = not data
        *whole, self._rest = (self._rest + data).split(b"\n")
        yield from filter(None, whole)


def main(memory: int, hears: int, says: int) -> None:
    """Show the progress until the run or the bench ends."""
    children.ignore_interrupts()  # Ctrl-C ends the bench in order, which ends this process
    hearing, first = Hearing(hears), list[bytes]()
    while not first and not hearing.over:
        first = list(hearing.lines())
    if not first:
        return
    about = json.loads(first[0])
    shared = Shared(tuple(about["shape"]), memory)
    observer = Observer(about, shared)
    for line in first[1:]:
        observer.hear(line)
    os.write(says, b"\n")
    with _own_keyboard() as keys:
        _follow(observer, hearing, shared, says, keys)


@contextlib.contextmanager
def _own_keyboard() -> Iterator[Keys]:
    """The terminal's keyboard, if this process may read it: a background process would be stopped if it tried."""
    if not (sys.stderr.isatty() and sys.stdin.isatty() and os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()):
        yield Keys(None)
        return
    with keyboard() as keys:
        yield keys


def _follow(observer: Observer, hearing: Hearing, shared: Shared, says: int, keys: Keys) -> None:
    operator = Operator(keys.there)
    with Screen() if sys.stderr.isatty() else Lines() as view:
        while not hearing.over and not observer.ended:
            due = time.monotonic() + _SAMPLE_S
            while (left := due - time.monotonic()) > 0.0 and not hearing.over and not observer.ended:
                if select.select([hearing.descriptor, *keys.descriptors], [], [], left)[0] == [hearing.descriptor]:
                    for line in hearing.lines():
                        observer.hear(line)
                    continue
                for order in operator.press(keys.read(0.0)):
                    _ask(says, order)
                view.show(observer.look(), operator)
            progress = observer.look()
            shared.write(json.dumps(progress.as_dict()).encode())
            view.show(progress, operator)


def _ask(says: int, order: dict[str, str]) -> None:
    with contextlib.suppress(OSError):  # the bench has ended; the next sample shows that
        os.write(says, json.dumps(order).encode() + b"\n")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]))
