"""A campaign in a process of its own, to be killed: python -m tests.hil.campaign_main FILE OUT WORKERS."""

from __future__ import annotations

import sys

from limberjack.hil.campaign.runner import run_campaign
from tests.hil.campaign_runs import slow

if __name__ == "__main__":
    run_campaign(sys.argv[1], out=sys.argv[2], workers=int(sys.argv[3]), resume=True, run=slow)
