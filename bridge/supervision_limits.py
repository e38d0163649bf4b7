"""When a supervisor acts."""

from __future__ import annotations

from dataclasses import dataclass

from limberjack.engine.common import arguments


@dataclass(frozen=True)
class Limits:
    """When a supervisor acts.

    hung_s : an engine that gave no sign of life for so long hangs, s of wall time
    restarts, within_s : most restarts in such a time, s;  start_s : longest time that one takes to start, s
    rest : whether commands come to rest at a restart, or are held as they were
    """

    hung_s: float = 5.0
    restarts: int = 5
    within_s: float = 600.0
    start_s: float = 300.0
    rest: bool = True

    def __post_init__(self) -> None:
        """Raises ArgumentError."""
        for name in ("hung_s", "within_s", "start_s"):
            arguments.positive(name, getattr(self, name))
        arguments.count("restarts", self.restarts, 0, 1000)
