"""The progress of a run."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

#: states of criteria, in the order in which they are shown
STATES = ("failing", "undecided", "passing")


@dataclass(frozen=True)
class Progress:
    """One sample.

    state : "starting", "running", "paused" or "ended";  why : who paused or ended it, and for what reason
    time, duration : simulated time so far and in all, s;  to_go : time on the clock until the end, s, None if unknown
    frames : so far;  overruns, late_max : frames that overran, and the longest time by which one ended too late, s;
        None of a run in lockstep
    criteria : name, state (of STATES) and text of each;  faults : name, since (s), by of those that act
    tripped : name and since (s) of watchdogs in their safe state
    next : time (s) and text of the timeline's next entry; None when nothing is left
    lost : events that were lost on the way here; counts that follow from events may lack them
    """

    scenario: str
    state: str
    time: float
    duration: float
    to_go: float | None = None
    why: str = ""
    frames: int = 0
    overruns: int | None = None
    late_max: float | None = None
    criteria: list[dict[str, str]] = field(default_factory=list)
    faults: list[dict[str, Any]] = field(default_factory=list)
    tripped: list[dict[str, Any]] = field(default_factory=list)
    next: dict[str, Any] | None = None
    lost: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers and texts."""
        return asdict(self)

    def counts(self) -> dict[str, int]:
        """State → number of criteria."""
        return {state: sum(each["state"] == state for each in self.criteria) for state in STATES}
