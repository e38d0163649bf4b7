"""Whether runs of a campaign are made many at once, and how many."""

from __future__ import annotations

from collections.abc import Sequence

from limberjack.engine.common.errors import LimberjackError
from limberjack.hil.campaign.campaign_file import Campaign
from limberjack.hil.campaign.sampling import Job
from limberjack.hil.campaign.table import Row
from limberjack.hil.scenario.scenario_file import load_scenario
from limberjack.hil.worlds.batchable import why_alone

#: most worlds of a batch: rows reach the disk, and progress is seen, when a batch has ended
MOST_TOGETHER = 256
#: worlds of the first batch, whose first row is compared with that of the same run by itself
WITNESSES = 16


def why_one_by_one(campaign: Campaign, job: Job) -> str:
    """Why a campaign's runs cannot be made many at once, as far as one of its jobs tells; "" if they can."""
    try:
        return why_alone(load_scenario(campaign.scenario, job.values))
    except LimberjackError as error:
        return str(error)


def size_of(jobs: int, workers: int) -> int:
    """Worlds of a batch so that every worker has as much to do."""
    rounds = -(-jobs // (workers * MOST_TOGETHER))
    return max(1, -(-jobs // (workers * max(rounds, 1))))


def difference(alone: Row, together: Row) -> str:
    """Why rows of one run are not the same, "" if they are: bits are compared, and NaN is NaN."""
    if repr(alone) == repr(together):
        return ""
    found: Sequence[str] = [
        f"'{name}' is {alone.measured[name]!r} by itself and {together.measured.get(name)!r} among others"
        for name in alone.measured
        if repr(alone.measured[name]) != repr(together.measured.get(name))
    ]
    what = found[0] if found else f"it {alone.status} by itself and {together.status} among others"
    return f"of run {alone.run}, {what}: a controller does other arithmetic for several worlds than for one"
