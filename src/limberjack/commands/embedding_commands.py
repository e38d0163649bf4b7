"""Commands for programs in C and C++: `limberjack compile` and `limberjack embed`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from limberjack.commands.parsing import command, load_options, model_options, step_options
from limberjack.engine.common.errors import ArgumentError


def _compile(commands: Any) -> None:
    def work(options: argparse.Namespace) -> None:
        from limberjack.engine.model.load import load
        from limberjack.engine.native.compiled_model import compile_model

        out = options.out or Path(f"{options.model.stem}.ljm")
        if out.resolve() == options.model.resolve():
            raise ArgumentError(f"{out}: the output would overwrite the model; give another file with -o.")
        system = load(options.model, **load_options(options))
        stepped = {name: getattr(options, name) for name in ("dt", "integrator", "substeps")}
        print(compile_model(system, out, **stepped))

    text = "write a model for C and C++ programs, which step it with the library; see docs/reference/c-interface.md"
    parser = command(commands, "compile", work, text)
    model_options(parser)
    step_options(parser)
    parser.add_argument("--substeps", type=int, default=1, metavar="N", help="equal parts of a step (default: 1)")
    parser.add_argument("-o", "--out", type=Path, metavar="LJM", help="file to write (default: <model>.ljm)")


def _embed(commands: Any) -> None:
    def work(options: argparse.Namespace) -> None:
        from limberjack.engine.native.embedding import embed

        print(embed(options.folder, options.platform))

    text = (
        "write what C and C++ programs are compiled with: limberjack.h, the library, files for CMake and pkg-config; "
        "prints the folder, for CMAKE_PREFIX_PATH"
    )
    parser = command(commands, "embed", work, text)
    text = "folder to write them to (default: one in the user's cache)"
    parser.add_argument("folder", nargs="?", type=Path, metavar="PREFIX", help=text)
    parser.add_argument("--platform", default="host", metavar="NAME", help="platform of the programs, as for export")


EMBEDDING_COMMANDS = (_compile, _embed)
