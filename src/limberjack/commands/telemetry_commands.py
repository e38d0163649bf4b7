"""The commands on telemetry: dictionary."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from limberjack.commands.parsing import command, load_arguments, load_options


def _dictionary(commands: Any) -> None:
    from limberjack.bridge.telemetry.exports import EXPORTS

    def work(options: argparse.Namespace) -> None:
        from limberjack.commands.dictionary import dictionary

        dictionary(options, load_options(options))

    text = "write the telemetry dictionary of a model or a running engine for a console; see docs/telemetry.md"
    parser = command(commands, "dictionary", work, text)
    parser.add_argument("model", metavar="MODEL", help="model file, or address of an engine, as tcp://127.0.0.1:5555")
    formats = "; ".join(f"{export.name}: {export.help}" for export in EXPORTS)
    text = f"{formats} (default: by the suffix of OUT, else {EXPORTS[0].name})"
    parser.add_argument("--format", choices=[export.name for export in EXPORTS], help=text)
    parser.add_argument("-o", "--out", type=Path, help="file or folder to write (default: print)")
    parser.add_argument("--packets", type=Path, metavar="FILE", help="packet sets of CCSDS (default: by group)")
    parser.add_argument("--keys", type=Path, metavar="DIR", help="CurveZMQ keys, for an engine that runs with keys")
    load_arguments(parser)


TELEMETRY_COMMANDS = (_dictionary,)
