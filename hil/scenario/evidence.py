"""What verdicts are made from, and what they say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limberjack.hil.events import EventLog
from limberjack.hil.scenario.tape import Columns

#: times are compared within this part of a second, so that 3 × 0.1 s is 0.3 s
TIME_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Verdict:
    """What became of one criterion.

    name : the criterion's;  passed : whether it holds;  text : what was found, in words
    value, bound : what was measured (NaN if nothing could be) and its limit, in unit SI;  time : when, s, or NaN
    unit : of value and bound;  machine : if it failed, the machine did, not what was tested
    undecided : it did not pass, because the run lacks the data to decide it
    aborted : a person ended the run; the text gives the reason
    requirements : identifiers of what it shows
    """

    name: str
    passed: bool
    text: str
    value: float = float("nan")
    bound: float = float("nan")
    time: float = float("nan")
    unit: str = ""
    machine: bool = False
    undecided: bool = False
    aborted: bool = False
    requirements: tuple[str, ...] = ()

    @property
    def word(self) -> str:
        """passed, failed or undecided."""
        return "passed" if self.passed else "undecided" if self.undecided else "failed"


@dataclass(frozen=True)
class Evidence:
    """What verdicts are made from.

    signals : criterion's name → signals that its patterns mean
    duration : how long the run was to last, s
    meant : whether it ended as it was meant to: what lasts to the end of the run lasts to there
    """

    tape: Columns
    log: EventLog
    signals: dict[str, tuple[str, ...]]
    duration: float = 0.0
    meant: bool = True

    def window(self, start: float, until: float | None) -> np.ndarray:
        """Which rows lie in a window of time (rows,)."""
        time = self.tape.table[:, 0]
        inside = time >= start - TIME_TOLERANCE
        return inside if until is None else inside & (time <= until + TIME_TOLERANCE)

    def unit(self, signal: str) -> str:
        """Unit of a signal, "" where it has none."""
        return str(self.tape.units[self.tape.names.index(signal)])

    @property
    def end(self) -> float:
        """Time of the last row, s."""
        return float(self.tape.table[-1, 0]) if len(self.tape.table) else 0.0
