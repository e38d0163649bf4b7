"""Functions that add commands and arguments to the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any


def command(commands: Any, name: str, work: Callable[[argparse.Namespace], int | None], text: str) -> Any:
    """Add a command; `work` does it and may return the exit code."""
    parser = commands.add_parser(name, help=text, description=text)
    parser.set_defaults(work=work)
    return parser


def load_arguments(parser: Any) -> None:
    """Add the arguments for reading a model file."""
    parser.add_argument("--base", choices=("fixed", "free"), help="hold the root body, or let it float")
    parser.add_argument(
        "--strict",
        action=argparse.BooleanOptionalAction,
        help="turn every warning into an error; --no-strict keeps inertias that no real body has",
    )
    parser.add_argument(
        "--mimic",
        choices=("couple", "independent", "refuse"),
        default="couple",
        help="URDF joints that mimic another: couple them (default), let them move on their own, or refuse the model",
    )
    parser.add_argument(
        "--gravity",
        nargs=3,
        type=float,
        metavar=("X", "Y", "Z"),
        help="m/s², instead of the file's uniform or central field",
    )
    parser.add_argument(
        "--merge",
        action=argparse.BooleanOptionalAction,
        help="fold fixed hinges into their parents; --no-merge keeps them, with their reactions",
    )
    parser.add_argument(
        "--contacts",
        action="store_true",
        help="let geoms of an MJCF file touch as it says; give collision shapes of a URDF file names",
    )


def load_options(options: argparse.Namespace) -> dict[str, Any]:
    """The same for `limberjack.load`."""
    names = ("base", "strict", "mimic", "gravity", "merge", "contacts")
    return {name: getattr(options, name) for name in names}


def model_options(parser: argparse.ArgumentParser, count: str | None = None) -> None:
    """Add the model file and the arguments for reading it."""
    parser.add_argument("model", nargs=count, type=Path, metavar="MODEL", help=".yaml, .urdf, .xml (MJCF) or .ljm")
    load_arguments(parser)


def step_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for stepping a model, except substeps."""
    parser.add_argument("--dt", type=float, help="step, s (default: the model's)")
    parser.add_argument("--integrator", choices=("rk4", "semi_implicit", "implicit"), help="default: the model's")
