"""`limberjack dictionary`: the telemetry dictionary of a model, or of a running engine, in a console's format."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from limberjack.bridge.client import Client
from limberjack.bridge.telemetry.dictionary import dictionary_of
from limberjack.bridge.telemetry.exports.registry import EXPORTS, Export, Subject, export_of
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.model.load import load
from limberjack.engine.model.system import System


def dictionary(options: argparse.Namespace, load_options: dict[str, Any]) -> None:
    """Write the dictionary to the file or folder of --out, or print it."""
    export = _format(options.format, options.out)
    system = _system(options, load_options)
    simulation = Simulation(system)
    files = export.make(Subject(simulation, dictionary_of(simulation), options.packets))
    if isinstance(files, str):
        _write_file(files, options.out)
    else:
        _write_folder(files, options.out, export)


def _format(name: str | None, out: Path | None) -> Export:
    """The format of --format, else the only one with the file's suffix; Markdown on a terminal."""
    if name is not None:
        return export_of(name)
    if out is None:
        return EXPORTS[0]
    fitting = [export for export in EXPORTS if export.suffix and export.suffix == out.suffix.lower()]
    if len(fitting) != 1:
        names = ", ".join(each.name for each in fitting or EXPORTS)
        raise ArgumentError(f"{out}: the name does not determine the format. Add --format with one of {names}.")
    return fitting[0]


def _system(options: argparse.Namespace, load_options: dict[str, Any]) -> System:
    """The model of a file, or of an engine."""
    if "://" not in options.model:
        return load(Path(options.model), **load_options)
    with Client(options.model, name="dictionary", keys=options.keys, key_name=options.key_name) as engine:
        return engine.model()


def _write_file(text: str, out: Path | None) -> None:
    if out is None:
        print(text, end="")
        return
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text, encoding="utf-8", newline="\n")
    print(out)


def _write_folder(files: Mapping[str, str], out: Path | None, export: Export) -> None:
    if out is None:
        raise ArgumentError(
            f"the format {export.name} is a folder of {len(files)} files. Give the folder with -o FOLDER."
        )
    for name, text in files.items():
        _write_file(text, out / name)
