"""Results of a table of runs: the margin of each run to each limit, the worst runs, and correlations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from limberjack.engine.common.errors import LimberjackError
from limberjack.hil.campaign.campaign_file import Campaign
from limberjack.hil.campaign.table import Row
from limberjack.hil.scenario import schema_criteria as schema
from limberjack.hil.scenario.scenario_file import load_scenario

#: fewer runs than this do not show a correlation
FEWEST = 5
#: quantile of the normal distribution beyond which 1 of 20 correlations of independent quantities lies
_CHANCE = 1.959963984540054


@dataclass(frozen=True)
class Limits:
    """The range that a criterion allows for its measured value."""

    lower: float = -math.inf
    upper: float = math.inf

    def margin(self, value: float) -> float:
        """Distance to the nearer limit, negative beyond it; NaN of NaN."""
        return min(value - self.lower, self.upper - value)

    @property
    def levels(self) -> list[float]:
        """The finite limits."""
        return [level for level in (self.lower, self.upper) if math.isfinite(level)]

    def __str__(self) -> str:
        match (math.isfinite(self.lower), math.isfinite(self.upper)):
            case (True, True):
                return f"{self.lower:.6g} … {self.upper:.6g}"
            case (True, False):
                return f"≥ {self.lower:.6g}"
            case (False, True):
                return f"≤ {self.upper:.6g}"
        return ""


def limits_of(campaign: Campaign) -> dict[str, Limits]:
    """Criterion → its limits, if they are the same in all runs; empty if the scenario cannot be read."""
    try:
        criteria = load_scenario(campaign.scenario).spec.criteria
    except LimberjackError:
        return {}
    if any(path.startswith("criteria") for path in campaign.spec.vary):
        return {}
    return {criterion.name: limits(criterion) for criterion in criteria}


def requirements_of(campaign: Campaign) -> dict[str, tuple[str, ...]]:
    """Criterion → requirements that it shows, "" → those of the scenario; of a scenario that cannot be read none."""
    try:
        spec = load_scenario(campaign.scenario).spec
    except LimberjackError:
        return {}
    return {"": spec.requirements} | {criterion.name: criterion.requirements for criterion in spec.criteria}


def limits(criterion: Any) -> Limits:
    """The limits of a criterion for its measured number."""
    match criterion:
        case schema.BoundsSpec():
            lower = -math.inf if criterion.lower is None else criterion.lower
            return Limits(lower, math.inf if criterion.upper is None else criterion.upper)
        case schema.SettlingSpec():
            return Limits(upper=criterion.within)
        case schema.RmsSpec():
            return Limits(upper=criterion.most)
        case schema.FinalSpec():
            return Limits(criterion.target - criterion.tolerance, criterion.target + criterion.tolerance)
        case schema.DeadlineSpec() | schema.CaptureSpec():
            return Limits(upper=criterion.by)
        case schema.EventSpec():
            return Limits(lower=float(criterion.least))
        case schema.NoEventSpec():
            return Limits(upper=0.0)
        case schema.ContactSpec():
            return Limits(upper=criterion.most_force or criterion.most_speed or math.inf)
    return Limits()


def judged(rows: Sequence[Row]) -> list[Row]:
    """Runs that ended with a verdict."""
    return [row for row in rows if row.status in ("passed", "failed")]


def criteria_of(rows: Sequence[Row]) -> list[str]:
    """Names of all criteria that measured a value, or failed, in their order."""
    return list(dict.fromkeys([*(c for row in rows for c in row.measured), *(c for row in rows for c in row.failed)]))


def worst(rows: Sequence[Row], criterion: str, bounds: Limits, most: int) -> list[Row]:
    """The runs that came nearest to a criterion's limits, or farthest beyond them: failed ones first.

    A failed run without a measured value counts as worse than all others.
    """

    def key(row: Row) -> tuple[bool, float, int]:
        margin = bounds.margin(row.measured.get(criterion, math.nan))
        failed = criterion in row.failed
        return not failed, (-math.inf if failed else math.inf) if math.isnan(margin) else margin, row.run

    known = [row for row in judged(rows) if criterion in row.measured or criterion in row.failed]
    known = [row for row in known if key(row)[0] is False or math.isfinite(key(row)[1])]
    return sorted(known, key=key)[:most]


def worst_of_all(rows: Sequence[Row], bounds: Mapping[str, Limits], most: int) -> list[Row]:
    """The worst run of each criterion, then each one's second, until there are so many; failing criteria first."""
    failures = {name: sum(name in row.failed for row in rows) for name in criteria_of(judged(rows))}
    ordered = sorted(failures, key=lambda name: -failures[name])
    ranks = [worst(rows, name, bounds.get(name, Limits()), most) for name in ordered]
    found: dict[int, Row] = {}
    for place in range(most):
        for ranked in ranks:
            if place < len(ranked) and len(found) < most:
                found.setdefault(ranked[place].run, ranked[place])
    return list(found.values())


def varied(rows: Sequence[Row]) -> dict[str, np.ndarray]:
    """Path → values (runs,) of those that were varied and are numbers, or true and false as 1 and 0."""
    found = {}
    for path in dict.fromkeys(path for row in rows for path in row.values):
        values = [row.values.get(path) for row in rows]
        if all(isinstance(value, (int, float)) for value in values) and len(set(values)) > 1:
            found[path] = np.array(values, dtype=float)
    return found


def measured(rows: Sequence[Row], criterion: str) -> np.ndarray:
    """The value that a criterion measured in each run (runs,), NaN if none."""
    return np.array([row.measured.get(criterion, math.nan) for row in rows], dtype=float)


def ranks(values: np.ndarray) -> np.ndarray:
    """Rank of each value (n,) from 1; equal values share the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    means: np.ndarray = (last - 0.5 * (counts - 1))[place]
    return means


def rank_correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Spearman's ρ of x and y (n,): the correlation of their ranks, over the pairs without NaN.

    ρ = Σ (r − r̄)(s − s̄) / √(Σ (r − r̄)² Σ (s − s̄)²); infinite values are ranked as the largest. NaN of fewer than
    FEWEST pairs, and where one of the two is constant.
    """
    there = ~(np.isnan(x) | np.isnan(y))
    if there.sum() < FEWEST:
        return math.nan
    r, s = (ranks(each[there]) for each in (x, y))
    r, s = r - r.mean(), s - s.mean()
    spread = math.sqrt(float(r @ r) * float(s @ s))
    return float(r @ s) / spread if spread > 0.0 else math.nan


def chance(count: int) -> float:
    """|ρ| that 1 of 20 pairs of independent quantities exceeds: var ρ = 1 / (n − 1) (Kendall and Gibbons, 1990)."""
    return min(_CHANCE / math.sqrt(count - 1), 1.0) if count > 1 else 1.0
