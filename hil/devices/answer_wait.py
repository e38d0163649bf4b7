"""Waiting for a controller's answer, no longer than allowed."""

from __future__ import annotations

import time
from collections.abc import Callable


def await_answer(take: Callable[[], tuple[bool, bool]], wait: Callable[[float], object], limit_s: float) -> bool:
    """Take messages until the answer arrives or limit_s of wall time is over; returns whether any was new.

    take : reads what is there: (anything new, the answer among it);  wait : sleeps until more comes, at most so many s
    """
    deadline, came = time.monotonic() + limit_s, False
    while True:
        new, answered = take()
        came = came or new
        left = deadline - time.monotonic()
        if answered or left <= 0.0:
            return came
        wait(left)
