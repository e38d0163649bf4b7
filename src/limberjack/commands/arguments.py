"""Arguments of the command line that are checked before any work begins."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from limberjack.bridge.endpoints import DEFAULT_ENDPOINT, check_binding
from limberjack.bridge.settings import Settings
from limberjack.engine.common.errors import ArgumentError

#: with --duration: the engine is started for one controller, so any free port will do
FREE_PORT = "tcp://127.0.0.1:*"
MAX_DURATION_S = 1e6


def run_settings(options: argparse.Namespace) -> Settings:
    """Settings of the engine process of `limberjack run`. Raises ArgumentError for options that do not combine.

    With --duration the engine steps when the controller asks; --real-time then paces the controller.
    """
    if options.rate is not None and not options.real_time:
        raise ArgumentError("--rate is the rate of a paced run. Add --real-time, or leave --rate out.")
    driven = options.duration is not None
    if driven and not 0.0 < options.duration < MAX_DURATION_S:
        raise ArgumentError(f"--duration is {options.duration:g}; give seconds above 0 and below {MAX_DURATION_S:g}.")
    if not driven and options.out is not None:
        raise ArgumentError("--out is the results folder of a driven run. Add --duration, or leave --out out.")
    if driven and (options.substeps != 1 or options.with_parent):
        raise ArgumentError("--substeps and --with-parent are for serving a model. Leave them out, or --duration.")
    if options.parent_folder is not None and not options.with_parent:
        raise ArgumentError("--parent-folder goes with --with-parent. Add it, or leave --parent-folder out.")
    check_processors(options.cpu or ())
    fallback = FREE_PORT if driven else DEFAULT_ENDPOINT
    endpoint = fallback if options.endpoint is None else options.endpoint
    check_binding(endpoint, keyed=options.keys is not None)
    return Settings(
        endpoint=endpoint,
        mode="free-running" if options.real_time and not driven else "lockstep",
        rate_hz=options.rate,
        publish_divisor=options.publish_every,
        lease_s=options.lease,
        keys=options.keys,
        cpus=tuple(options.cpu) if options.cpu else None,
        priority=options.priority,
    )


def check_processors(wanted: Sequence[int]) -> None:
    """Raise ArgumentError for processors that this process may not run on."""
    if not wanted or not hasattr(os, "sched_getaffinity"):
        return
    allowed = sorted(os.sched_getaffinity(0))
    absent = sorted(set(wanted) - set(allowed))
    if absent:
        raise ArgumentError(f"processor {', '.join(map(str, absent))} is not available. Choose from {allowed}.")
