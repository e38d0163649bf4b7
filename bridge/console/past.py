"""The past as curves for a browser: points, extremes between them, and marks where telemetry is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from limberjack.bridge.console.envelope import Point, extremes

if TYPE_CHECKING:
    from limberjack.bridge.telemetry.history.history import Series


def curve(series: Series) -> list[tuple[float, float | None]]:
    """(ms since 1970, value) in order of time; the value is None where samples were lost, to interrupt the line."""
    if not len(series.unix_ns):
        return []
    at, last = 1e-6 * series.unix_ns.astype(np.float64), series.last
    before = np.concatenate([last[:1], last[:-1]])
    spacing = at[1] - at[0] if len(at) > 1 else 1.0  # the first point has been gathered as long as the others
    middle = 0.5 * (at + np.concatenate([at[:1] - spacing, at[:-1]]))
    low, high = extremes(before, last, series.minimum, series.maximum)
    points: list[tuple[float, float | None]] = []
    for k in range(len(at)):
        if series.gap[k] and k:
            points.append((float(middle[k]), None))
        between: list[Point] = [(float(middle[k]), float(each[k])) for each in (low, high) if np.isfinite(each[k])]
        points += [*between, (float(at[k]), float(last[k]) if np.isfinite(last[k]) else None)]
    return points
