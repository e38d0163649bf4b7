"""Ctrl-C and SIGTERM end a run in order: its devices get their last messages, and its record is closed."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

#: a run that has not ended so long after Ctrl-C says why, s
_PATIENCE_S = 1.0
_WAITING = "the run ends after the present frame, which takes long. Press Ctrl-C again to end it at once, unjudged."


@contextlib.contextmanager
def interrupts(stop: Callable[[str], None]) -> Iterator[None]:
    """Within this context the first SIGINT or SIGTERM calls `stop` with its reason; a second one acts as usual.

    A run that goes on for a second after the first, as in a controller that hangs, says on standard error what a
    second one does. Only the main thread can have this; in others nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = signal.SIGINT, signal.SIGTERM
    before: dict[signal.Signals, Any] = {number: signal.getsignal(number) for number in numbers}
    patience = threading.Timer(_PATIENCE_S, _say)
    patience.daemon = True

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def ask(number: int, _: object) -> None:
        restore()
        stop(f"stopped by {signal.Signals(number).name}.")
        patience.start()

    for number in numbers:
        signal.signal(number, ask)
    try:
        yield
    finally:
        restore()
        patience.cancel()


def _say() -> None:
    with contextlib.suppress(OSError, ValueError):
        print(_WAITING, file=sys.stderr, flush=True)
