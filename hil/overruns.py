"""The policy for frames that end after their deadlines, and how often that may happen."""

from __future__ import annotations

from dataclasses import dataclass

from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError

POLICIES = ("catch_up", "skip", "stop")
MOST_FRAMES = 2**53


@dataclass(frozen=True)
class OverrunPolicy:
    """A frame overruns if its work ends after the next frame's deadline.

    policy : "catch_up": the next frames start at once until the deadlines, which never move, are met again;
        "skip": deadlines that have passed are left out, simulated time lags by so many frames;
        "stop": the first overrun ends the run
    most_total, most_consecutive : the run ends when there are more, None: any number
    start_up_frames : so many frames at the start count against `most_start_up` only, None: any number
    """

    policy: str = "catch_up"
    most_total: int | None = None
    most_consecutive: int | None = None
    start_up_frames: int = 0
    most_start_up: int | None = None

    def __post_init__(self) -> None:
        if self.policy not in POLICIES:
            raise ArgumentError(f"no overrun policy is called {self.policy!r:.40}; choose {', '.join(POLICIES)}.")
        arguments.count("start_up_frames", self.start_up_frames, 0, MOST_FRAMES)
        for name in ("most_total", "most_consecutive", "most_start_up"):
            value = getattr(self, name)
            if value is not None:
                arguments.count(name, value, 0, MOST_FRAMES)


class Overruns:
    """The overruns of a run, counted and judged.

    total, start_up : frames that overran after and within the start-up frames
    consecutive, most_consecutive : in a row now, and at most;  skipped : deadlines left out
    latest_ns : longest time by which a frame after the start-up frames ended too late
    """

    def __init__(self, policy: OverrunPolicy, period_ns: int) -> None:
        self.policy, self._period_ns = policy, period_ns
        self.latest_ns = self.total = self.start_up = self.consecutive = self.most_consecutive = self.skipped = 0

    def next_deadline(self, deadline_ns: int, end_ns: int) -> int:
        """When the next frame is to start: period after period from the first, so that lateness never adds up."""
        following = deadline_ns + self._period_ns
        if end_ns <= following or self.policy.policy != "skip":
            return following
        missed = -((following - end_ns) // self._period_ns)
        self.skipped += missed
        return following + missed * self._period_ns

    def count(self, frame: int, slack_ns: int) -> str:
        """Count a frame (from 1) by the time left to its deadline; why the run must end, "" if it may go on."""
        if slack_ns >= 0:
            self.consecutive = 0
            return ""
        self.consecutive += 1
        self.most_consecutive = max(self.most_consecutive, self.consecutive)
        if frame <= self.policy.start_up_frames:
            self.start_up += 1
            return self._beyond("overruns at start-up", self.start_up, self.policy.most_start_up)
        self.total += 1
        self.latest_ns = max(self.latest_ns, -slack_ns)
        if self.policy.policy == "stop":
            return f"frame {frame} ended {-1e-3 * slack_ns:.1f} µs after its deadline."
        return self._beyond("overruns", self.total, self.policy.most_total) or self._beyond(
            "overruns in a row", min(self.consecutive, self.total), self.policy.most_consecutive
        )

    @staticmethod
    def _beyond(what: str, found: int, most: int | None) -> str:
        return "" if most is None or found <= most else f"{found} {what}; the scenario allows {most}."
