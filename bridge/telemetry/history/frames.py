"""What a history knows of all quantities at one time, for replays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from limberjack.bridge.telemetry.history.encoding import LAST
from limberjack.bridge.telemetry.sample import Sample

if TYPE_CHECKING:
    from limberjack.bridge.telemetry.dictionary import Dictionary
    from limberjack.bridge.telemetry.history.history import History


def frames(history: History, dictionary: Dictionary, moments_ns: list[int]) -> list[Sample]:
    """The newest sample at or before each time (ns since 1970, rising); without those of which nothing is known.

    Where single samples are forgotten, it is the last of a second or of 30 s. Raises HistoryError.
    """
    made: list[Sample] = []
    for moment in moments_ns:
        found = history.newest_at(moment)
        if found is not None and len(found[1]) == len(dictionary):
            at, vector = found
            made.append(Sample(0, float(vector[0]), at, vector))
    return made


def newest_of(blocks: list[tuple[np.ndarray, np.ndarray]], moment_ns: int) -> tuple[int, np.ndarray] | None:
    """Of blocks (times (n,), values (quantities, 3, n)) the newest point at or before a time, and its last values."""
    best: tuple[int, np.ndarray] | None = None
    for times, values in blocks:
        place = int(np.searchsorted(times, moment_ns, side="right")) - 1
        if place >= 0 and (best is None or times[place] > best[0]):
            best = int(times[place]), values[:, LAST, place].copy()
    return best
