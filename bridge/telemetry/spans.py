"""The least span of an axis for each unit, below which differences are not worth plotting.

Rounding changes every number a little: a wheel at rest shows 1e-13 rad/s. A plot or sparkline that scales its axis to
the data would show that as motion. Its axis therefore spans at least the floor of its unit, and at least the possible
rounding errors of numbers of that size.
"""

from __future__ import annotations

#: unit → least height of an axis, in this unit; smaller differences do not matter to operators
FLOORS = {
    "rad": 1e-4,
    "rad/s": 1e-4,
    "rad/s²": 1e-3,
    "m": 1e-4,
    "m/s": 1e-4,
    "m/s²": 1e-3,
    "N": 1e-3,
    "N·m": 1e-3,
    "J": 1e-3,
    "N·s": 1e-3,
    "N·m·s": 1e-3,
    "T": 1e-9,
    "s": 1e-4,
}
#: of units that have no line: ratios, parts of quaternions, modal coordinates
FLOOR = 1e-4
#: as a share of the numbers themselves: the sum of rounding errors of thousands of steps
ROUNDING = 1e-9


def least_span(unit: str, size: float = 0.0) -> float:
    """Least height of an axis for numbers of this unit and of this size (largest magnitude), in the unit."""
    return max(FLOORS.get(unit, FLOOR), ROUNDING * abs(size))
