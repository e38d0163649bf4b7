"""Whether runs of a campaign are stepped together as worlds of a batch, and how many."""

from __future__ import annotations

import math

from limberjack.engine.common.errors import LimberjackError
from limberjack.hil.campaign.campaign_file import Campaign
from limberjack.hil.campaign.sampling import Job
from limberjack.hil.campaign.table import Row
from limberjack.hil.scenario.scenario_file import load_scenario
from limberjack.hil.worlds.batchable import why_alone

#: largest number of worlds of a batch: rows reach the disk, and progress shows, only when a batch has ended
MOST_TOGETHER = 256
#: number of worlds beside the first run in the first batch, whose first row must be that of this run alone
WITNESSES = 16
#: largest relative difference of its numbers that counts as rounding
ROUNDING = 1e-9


def why_one_by_one(campaign: Campaign, job: Job) -> str:
    """Why a campaign's runs cannot be stepped together, as far as one of its jobs shows; "" if they can."""
    try:
        return why_alone(load_scenario(campaign.scenario, job.values))
    except LimberjackError as error:
        return str(error)


def size_of(jobs: int, workers: int) -> int:
    """Number of worlds of a batch that gives all workers the same amount of work."""
    rounds = -(-jobs // (workers * MOST_TOGETHER))
    return max(1, -(-jobs // (workers * max(rounds, 1))))


def difference(alone: Row, together: Row) -> tuple[str, float]:
    """Why rows of one run are not the same, "" if they are, and the largest relative difference of their numbers.

    Numbers may differ by ROUNDING if the verdicts are the same: for some models the code for several worlds fuses
    different products with sums (docs/decisions/0021).
    """
    if repr(alone) == repr(together):
        return "", 0.0
    what = f"run {alone.run} {alone.status} by itself and {together.status} among others"
    largest = 0.0
    if alone.measured and (alone.status, alone.failed) == (together.status, together.failed):
        apart = {name: _apart(value, together.measured[name]) for name, value in alone.measured.items()}
        name = max(apart, key=lambda name: apart[name])
        largest = apart[name]
        if largest <= ROUNDING:
            return "", largest
        one, other = alone.measured[name], together.measured[name]
        what = f"'{name}' of run {alone.run} is {one!r} by itself, {other!r} among others"
    return f"{what}: a controller or the model does other arithmetic for several worlds than for one", largest


def _apart(one: float, other: float) -> float:
    """Relative difference; 0 of equal numbers, of two infinities and of two NaN."""
    if one == other or (math.isnan(one) and math.isnan(other)):
        return 0.0
    size = max(abs(one), abs(other))
    return abs(one - other) / size if math.isfinite(size) and not math.isnan(one - other) else math.inf
