"""The commands for starting a new model, scenario or controller: `new`, and `messages`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from limberjack.commands.parsing import command
from limberjack.engine.common.nearest import nearest

#: argument of `new` → its kinds, the default first; commands/new.py has the files of each
KINDS = {"model": ("arm", "satellite"), "controller": ("python", "zmq", "udp", "shm", "octave")}


def _messages(commands: Any) -> None:
    def work(options: argparse.Namespace) -> None:
        from limberjack.commands.messages import messages

        messages(options.scenario, options.device, options.out)

    text = (
        "what a scenario's devices are sent and send, byte by byte with units, or, with -o, code for C or MATLAB and "
        "Octave that reads and writes it; see docs/reference/devices.md"
    )
    parser = command(commands, "messages", work, text)
    parser.add_argument("scenario", type=Path, metavar="SCENARIO", help="scenario (.yaml)")
    parser.add_argument("--device", metavar="NAME", help="which device (default: all; of -o the only one)")
    text = "file to write: a header in C (.h), or functions for MATLAB and Octave (<device>_messages.m)"
    parser.add_argument("-o", "--out", type=Path, metavar="FILE", help=text)


def _new(commands: Any) -> None:
    def work(options: argparse.Namespace) -> None:
        from limberjack.commands.new import new

        new(options.what, options.name, _kind(parser, options), options.model)

    text = "write a model, a scenario or a controller to start from, which run at once; overwrites nothing"
    parser = command(commands, "new", work, text)
    parser.add_argument("what", choices=("model", "scenario", "controller"), help="what to write")
    parser.add_argument("name", metavar="NAME", help="its name: of NAME.yaml, of a controller's folder")
    listed = "; ".join(f"{what}: {', '.join(kinds)}" for what, kinds in KINDS.items())
    parser.add_argument("--kind", metavar="KIND", help=f"{listed} (default: the first)")
    text = "of a scenario or controller: your model (default: one that comes with it)"
    parser.add_argument("--model", type=Path, metavar="MODEL", help=text)


def _kind(parser: Any, options: argparse.Namespace) -> str | None:
    """The kind; an unknown kind is an error of the command line."""
    kinds: tuple[str, ...] = KINDS.get(options.what, ())
    kind: str | None = options.kind
    if kind is not None and kind not in kinds:
        near = nearest(kind, kinds)
        known = f"choose from {', '.join(kinds)}" if kinds else f"a {options.what} has no kinds; leave it out"
        meant = f"did you mean '{near[0]}'?" if near else known
        parser.error(f"argument --kind: '{kind:.100}': {meant}")
    if options.model is not None and options.what == "model":
        parser.error("argument --model: belongs to scenarios and controllers; leave it out")
    return kind


CONTROLLER_COMMANDS = (_new, _messages)
