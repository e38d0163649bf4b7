"""What a run of the benchmarks of closed chains yields."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.measure import Timing
from benchmarks.result import short

EMBED, FORCE = "Limberjack embed", "Limberjack force"
OURS = (EMBED, FORCE)
PEERS = ("Pinocchio lcaba", "Pinocchio constraintDynamics", "MuJoCo")


@dataclass(frozen=True)
class LoopResult:
    """Timings of all engines on one closed chain; ratios are over the faster of our two methods.

    bodies, nv : of the tree; loops : closed ones; size : what a family of models is drawn over
    errors : engine → largest difference of its accelerations from the dense reference, relative to the largest number
    """

    name: str
    family: str
    size: int
    bodies: int
    nv: int
    loops: int
    timings: tuple[Timing, ...]
    errors: dict[str, float]

    def of(self, operation: str) -> dict[str, Timing]:
        """engine → timing of one operation."""
        return {timing.engine: timing for timing in self.timings if timing.operation == operation}

    def best(self, operation: str, engines: tuple[str, ...]) -> Timing | None:
        """The fastest of some engines."""
        found = [timing for name, timing in self.of(operation).items() if name in engines]
        return min(found, key=lambda timing: timing.us.median, default=None)


@dataclass
class LoopBenchResult:
    """A run: models in order, remarks on what was left out."""

    machine: dict[str, Any]
    commit: str | None
    core: int | None
    repeats: int
    models: list[LoopResult] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def family(self, name: str) -> list[LoopResult]:
        """The models of one family, by size."""
        return sorted((model for model in self.models if model.family == name), key=lambda model: model.size)

    def as_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return asdict(self)

    def history_line(self, when: str) -> dict[str, Any]:
        """The run in short: medians and quartiles of the ratios, rounded to four digits."""
        models: dict[str, Any] = {}
        for model in self.models:
            entry = models.setdefault(model.name, {"bodies": model.bodies, "nv": model.nv, "loops": model.loops})
            for t in model.timings:
                ratio = [short(x) for x in (t.ratio.median, t.ratio.q1, t.ratio.q3)]
                entry.setdefault(t.operation, {})[t.engine] = {"us": short(t.us.median), "ratio": ratio}
            entry["errors"] = {engine: float(f"{error:.1e}") for engine, error in model.errors.items()}
        line = {"commit": self.commit, "date": when, "machine": self.machine, "repeats": self.repeats}
        return line | {"models": models, "notes": self.notes()}

    def notes(self) -> list[str]:
        """How each engine was called, model by model where that differs."""
        return sorted({f"{t.engine}: {t.note}" for model in self.models for t in model.timings})
