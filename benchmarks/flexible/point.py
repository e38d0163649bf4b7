"""What is measured of one chain of beams by both routes."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.flexible.operations import articulated_body, composite_body
from benchmarks.measure import Timing


@dataclass(frozen=True)
class Point:
    """One chain: articulated first. errors: largest difference of the two routes, relative."""

    variant: str
    bodies: int
    modes: int
    error: float
    timings: tuple[Timing, ...]

    @property
    def counted(self) -> float:
        """The paper's operations of the composite route over those of the articulated one."""
        return composite_body(self.bodies, self.modes) / articulated_body(self.bodies, self.modes)
