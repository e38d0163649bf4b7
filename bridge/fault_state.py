"""The state of a fault of a test bench's scenario, for clients."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class FaultState:
    """Whether a fault acts.

    by : who set it so, a client's name or "scenario" for the timeline, None while nobody has
    since : simulated time, s, at which that was, None while nobody has
    changed : whether the request that was answered changed it
    """

    active: bool = False
    by: str | None = None
    since: float | None = None
    changed: bool = False

    def __str__(self) -> str:
        """In words: "active since 3 s, set by 'console'"."""
        word = "active" if self.active else "not active"
        return word if self.since is None else f"{word} since {self.since:.6g} s, set by '{self.by}'"

    def as_dict(self) -> dict[str, Any]:
        """Its fields, as answers to orders have them."""
        return asdict(self)

    def shown(self) -> dict[str, Any]:
        """The same without `changed`, as `describe` and heartbeats have them."""
        return {"active": self.active, "by": self.by, "since": self.since}
