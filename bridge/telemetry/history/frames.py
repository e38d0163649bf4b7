"""The values of all quantities at given times, from a history, for replays."""

from __future__ import annotations

from limberjack.bridge.telemetry.dictionary import Dictionary
from limberjack.bridge.telemetry.history.history import History
from limberjack.bridge.telemetry.sample import Sample


def frames(history: History, dictionary: Dictionary, moments_ns: list[int]) -> list[Sample]:
    """The newest sample at or before each time (ns since 1970, ascending); times without a sample are left out.

    Where single samples have been dropped, it is the last of a second or of 30 s. Raises HistoryError.
    """
    made: list[Sample] = []
    for moment in moments_ns:
        found = history.newest_at(moment)
        if found is not None and len(found[1]) == len(dictionary):
            at, vector = found
            made.append(Sample(0, float(vector[0]), at, vector))
    return made
