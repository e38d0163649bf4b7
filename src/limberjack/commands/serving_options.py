"""Options of `limberjack run` for an engine that is served; this module imports nothing that serving needs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from limberjack.bridge.supervision_limits import Limits
from limberjack.engine.common.errors import ArgumentError

SUPERVISED = ("hung_after", "restarts", "hold_commands", "supervisor")
_SERVED = ("checkpoint", "checkpoint_dir", "resume", "go_on", "supervise", *SUPERVISED)


def add_arguments(parser: Any) -> None:
    """The options of an engine that is served."""
    kept = parser.add_argument_group("checkpoints, when serving")
    text = "time between two, as 10s, 500ms or 2min; `--resume` continues from one with the same bits"
    kept.add_argument("--checkpoint", metavar="TIME", help=text)
    text = "folder that keeps the newest two (default: results/<model>/checkpoints)"
    kept.add_argument("--checkpoint-dir", type=Path, metavar="DIR", help=text)
    text = "continue from a checkpoint, or from the newest in a folder; it holds the model too"
    kept.add_argument("--resume", type=Path, metavar="PATH", help=text)
    text = "continue from the newest in --checkpoint-dir, or begin if there is none yet: for services"
    kept.add_argument("--continue", dest="go_on", action="store_true", help=text)
    watched = parser.add_argument_group("supervision, when serving")
    text = "watch the engine from another process; replace one that hangs or dies, from its last checkpoint"
    watched.add_argument("--supervise", action="store_true", help=text)
    text = f"without a sign of life for this long it counts as hung (default: {Limits.hung_s:g})"
    watched.add_argument("--hung-after", type=float, metavar="S", help=text)
    text = f"replacements allowed in {Limits.within_s / 60:g} minutes at most (default: {Limits.restarts})"
    watched.add_argument("--restarts", type=int, metavar="N", help=text)
    text = "hold the last commands at a restart; otherwise drives come to rest until a client commands"
    watched.add_argument("--hold-commands", action="store_true", default=None, help=text)
    text = "where clients hear of it (default: request port + 3, or ipc path + .supervisor)"
    watched.add_argument("--supervisor", metavar="ENDPOINT", help=text)


def refuse_served(options: argparse.Namespace) -> None:
    """Raise ArgumentError for options of an engine that is served, in a driven run."""
    for name in _SERVED:
        if getattr(options, name):
            named = "continue" if name == "go_on" else name.replace("_", "-")
            raise ArgumentError(f"--{named} is for serving a model. Leave it out, or --duration.")
