"""What a run of `limberjack bench --fmu` yields."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchmarks.fmu.cycles import Calls, CycleTime
from benchmarks.measure import Spread


@dataclass
class FmuBenchResult:
    """steps : the engine's step without FMI, in lj.Simulation; calls : of our FMUs; cycles : FMUs in order;
    echo_us : a bare round trip over ipc; remarks : what was left out, and why."""

    machine: dict[str, Any]
    commit: str | None
    core: int | None
    rounds: int
    cycle_count: int
    steps: list[CycleTime] = field(default_factory=list)
    calls: list[Calls] = field(default_factory=list)
    cycles: list[CycleTime] = field(default_factory=list)
    echo_us: Spread | None = None
    remarks: list[str] = field(default_factory=list)

    def over_step(self, name: str) -> Spread | None:
        """What a cycle of one of our FMUs costs beyond the engine's step, µs."""
        return next((calls.over for calls in self.calls if calls.name == name), None)

    def over_ipc(self) -> float | None:
        """Median of the process coupling's cycle less a bare round trip, µs."""
        found = [time for time in self.cycles if time.name.endswith("engine process")]
        return found[0].us.median - self.echo_us.median if found and self.echo_us else None

    def history_line(self, when: str) -> dict[str, Any]:
        """The run in short: medians and quartiles over the rounds, µs."""
        line: dict[str, Any] = {"commit": self.commit, "date": when, "machine": self.machine, "rounds": self.rounds}
        for key, times in (("steps", self.steps), ("cycles", self.cycles)):
            line[key] = {
                t.name: {"us": [_short(x) for x in (t.us.median, t.us.q1, t.us.q3)], "note": t.note} for t in times
            }
        for key in ("engine", "over"):
            parts = {calls.name: getattr(calls, key) for calls in self.calls}
            line[f"{key}_step_us"] = {
                name: [_short(x) for x in (part.median, part.q1, part.q3)] for name, part in parts.items()
            }
        over_ipc = self.over_ipc()
        if over_ipc is not None and self.echo_us is not None:
            line["over_ipc_us"], line["echo_us"] = _short(over_ipc), _short(self.echo_us.median)
        return line


def _short(x: float) -> float:
    return float(f"{x:.4g}")
