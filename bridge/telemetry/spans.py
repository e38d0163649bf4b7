"""How small a difference of a quantity may be and still be worth a picture: one floor a unit.

Rounding moves every number a little: a wheel at rest shows 1e-13 rad/s. A plot or sparkline that fills its height with
whatever moves would draw that as motion. So its axis spans at least the floor of its unit, and at least what rounding
may do to numbers of that size.
"""

from __future__ import annotations

#: unit → least height of an axis, in this unit; below it lies nothing that an operator looks for
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
#: of the size of the numbers themselves: what thousands of rounded steps may add up to
ROUNDING = 1e-9


def least_span(unit: str, size: float = 0.0) -> float:
    """Least height of an axis for numbers of this unit and of this size (largest magnitude), in the unit."""
    return max(FLOORS.get(unit, FLOOR), ROUNDING * abs(size))
