"""`figure`: one call that compares a number with its oracle, asserts the tolerance, and records both for the report.

The validation report has no comparison of its own: what it shows is what the test asserted.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

#: name → worst entry, of the test that runs; None between tests
_recorded: dict[str, dict[str, Any]] | None = None


def figure(
    name: str,
    found: Any,
    expected: Any = None,
    *,
    oracle: str,
    unit: str = "",
    atol: float = 0.0,
    rtol: float = 0.0,
    below: float | None = None,
    above: float | None = None,
) -> None:
    """Assert a comparison and record it. AssertionError where it does not hold, ValueError where nothing is compared.

    Either |found - expected| <= max(atol, rtol |expected|) for each entry, or found <= below, or found >= above.

    name : what is compared;  unit : of found;  oracle : where expected, or the bound, comes from
    found, expected : numbers or arrays of one shape;  expected may be one number for all
    """
    if sum(way is not None for way in (expected, below, above)) != 1:
        raise ValueError(f"figure {name!r}: give one of expected, below and above")
    if expected is not None and not (atol > 0.0 or rtol > 0.0):
        raise ValueError(f"figure {name!r}: give atol or rtol, above zero")
    values = np.asarray(found)
    if values.size == 0:
        raise ValueError(f"figure {name!r}: nothing is compared")
    entry = _near(values, np.asarray(expected), atol, rtol) if expected is not None else _bounded(values, below, above)
    entry = {"name": name, "unit": unit, "oracle": oracle, **entry}
    _record(entry)
    assert entry["holds"], said(entry)


def _near(values: np.ndarray, expected: np.ndarray, atol: float, rtol: float) -> dict[str, Any]:
    """The entry that is worst, by its error over its tolerance; of a complex number by its modulus."""
    if expected.shape not in (values.shape, ()):
        raise ValueError(f"found has the shape {values.shape}, expected {expected.shape}")
    wanted = np.broadcast_to(expected, values.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.where(values == wanted, 0.0, np.abs(values - wanted))
        tolerance = np.maximum(atol, rtol * np.abs(wanted)) if rtol > 0.0 else np.full(wanted.shape, atol)
        share = np.where(error == 0.0, 0.0, error / tolerance)
    share = np.where(np.isnan(share), np.inf, share)
    worst = int(np.argmax(share))
    sizes = [np.abs(array) if np.iscomplexobj(array) else array for array in (values, wanted)]
    numbers = (float(array.flat[worst]) for array in (*sizes, error, tolerance, share))
    holds = bool(np.all(error <= tolerance))
    return _entry("near", *numbers, values.size, holds) | {"relative": bool(atol == 0.0)}


def _bounded(values: np.ndarray, below: float | None, above: float | None) -> dict[str, Any]:
    """The entry that comes nearest to the bound, or is farthest beyond; one that is NaN is beyond."""
    least = below is None
    bound = float(above if below is None else below)  # type: ignore[arg-type]
    worst = float(values.min() if least else values.max())  # NaN if one is
    small, large = (bound, worst) if least else (worst, bound)
    holds = small <= large
    share = small / large if large > 0.0 else 0.0
    share = share if holds or share > 1.0 else math.inf
    return _entry("above" if least else "below", worst, bound, worst, bound, share, values.size, holds)


def _entry(
    way: str, found: float, expected: float, error: float, tolerance: float, share: float, count: int, holds: bool
) -> dict[str, Any]:
    numbers = {"found": found, "expected": expected, "error": error, "tolerance": tolerance, "share": share}
    plain = {key: float(value) for key, value in numbers.items()}  # NumPy's numbers do not go from worker to worker
    return {"way": way, **plain, "count": count, "holds": bool(holds)}


def _record(entry: dict[str, Any]) -> None:
    """Keep the worst of what is recorded under one name."""
    if _recorded is None:
        return
    before = _recorded.get(entry["name"])
    if before is not None:
        worst = max(before, entry, key=lambda one: (not one["holds"], float(one["share"])))
        entry = {**worst, "count": before["count"] + entry["count"]}
    _recorded[entry["name"]] = entry


def said(entry: dict[str, Any]) -> str:
    """A comparison in words."""
    unit = f" {entry['unit']}" if entry["unit"] else ""
    head = f"{entry['name']}: {entry['found']:.12g}{unit}"
    if entry["way"] == "near":
        error = f"error {entry['error']:.3g} above {entry['tolerance']:.3g}"
        return f"{head}, expected {entry['expected']:.12g}, {error} ({entry['oracle']})"
    bound = "at most" if entry["way"] == "below" else "at least"
    return f"{head}, expected {bound} {entry['tolerance']:g} ({entry['oracle']})"


def begin() -> None:
    """Record what follows."""
    global _recorded
    _recorded = {}


def end() -> list[dict[str, Any]]:
    """What was recorded since `begin`; nothing is recorded from here on."""
    global _recorded
    found, _recorded = list((_recorded or {}).values()), None
    return found
