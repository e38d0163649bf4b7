"""What a benchmark run yields."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.measure import Timing


@dataclass(frozen=True)
class ModelResult:
    """Timings of all engines on one model; bodies counts moving ones.

    agreement : engine → operation → largest difference of its result from ours, relative to the largest number
    """

    name: str
    bodies: int
    nv: int
    chain: bool
    timings: tuple[Timing, ...]
    agreement: dict[str, dict[str, float]]

    def of(self, operation: str) -> list[Timing]:
        """The timings of one operation."""
        return [timing for timing in self.timings if timing.operation == operation]


@dataclass
class BenchResult:
    """A run: models in order, peers that appeared, remarks on what was left out, the round trips if measured."""

    machine: dict[str, Any]
    commit: str | None
    core: int | None
    repeats: int
    models: list[ModelResult] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    round_trips: list[dict[str, Any]] = field(default_factory=list)

    @property
    def peers(self) -> list[str]:
        """Names of the other engines, in order of appearance."""
        names = {t.engine: None for model in self.models for t in model.timings}
        return [name for name in names if name != "Limberjack"]

    def as_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return asdict(self)

    def history_line(self, when: str) -> dict[str, Any]:
        """The run in short: medians and quartiles, rounded to four digits."""
        models = {}
        for model in self.models:
            entry: dict[str, Any] = {"bodies": model.bodies, "nv": model.nv}
            for t in model.timings:
                us, ratio = short(t.us.median), [short(x) for x in (t.ratio.median, t.ratio.q1, t.ratio.q3)]
                entry.setdefault(t.operation, {})[t.engine] = {"us": us, "ratio": ratio}
            models[model.name] = entry
        line: dict[str, Any] = {"commit": self.commit, "date": when, "machine": self.machine, "repeats": self.repeats}
        line |= {"models": models, "notes": sorted({f"{t.engine}: {t.note}" for m in self.models for t in m.timings})}
        return line | ({"round_trips": self.round_trips} if self.round_trips else {})


def short(x: float) -> float:
    """`x` to four digits."""
    return float(f"{x:.4g}")
