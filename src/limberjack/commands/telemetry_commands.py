"""The commands on telemetry: gateway, monitor, dictionary."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from limberjack.commands.parsing import command, load_arguments, load_options


def _engine_options(parser: Any, count: str | None = None) -> None:
    parser.add_argument("engine", nargs=count, metavar="ENGINE", help="address of the engine, as tcp://127.0.0.1:5555")
    parser.add_argument("--keys", type=Path, metavar="DIR", help="CurveZMQ keys, for an engine that runs with keys")
    parser.add_argument("--key-name", default="client", metavar="NAME", help="of the key pair (default: client)")
    parser.add_argument("--wait", type=float, default=0.0, metavar="S", help="wait so long for the engine (default: 0)")


def _gateway(commands: Any) -> None:
    from limberjack.bridge.telemetry.outlets import KINDS

    def work(options: argparse.Namespace) -> None:
        from limberjack.commands.gateway import gateway

        gateway(options)

    text = "send the telemetry of a running engine to consoles and tools; see docs/telemetry.md"
    parser = command(commands, "gateway", work, text)
    _engine_options(parser, "?")
    parser.set_defaults(key_name=None)
    parser.add_argument("--config", type=Path, metavar="FILE", help="engine, history, rules and outlets from a file")
    parser.add_argument("--history", type=Path, metavar="FILE", help="keep the past in this file")
    parser.add_argument("--rate", type=float, metavar="HZ", help="take at most so many states a second (default: all)")
    parser.add_argument("--read-only", action="store_true", help="refuse commands from every outlet")
    outlets = parser.add_argument_group("outlets, each may be repeated")
    for kind in KINDS:
        option, target = f"--{kind.name}", f"outlet_{kind.name}"
        outlets.add_argument(option, action="append", dest=target, metavar=kind.metavar, help=kind.help)


def _monitor(commands: Any) -> None:
    def work(options: argparse.Namespace) -> None:
        from limberjack.commands.monitor import monitor

        monitor(options)

    text = "a running engine on the terminal: live values, sparklines, alarms, events; one table on a pipe"
    parser = command(commands, "monitor", work, text)
    _engine_options(parser)
    text = "quantities to show, as 'q.*' (repeatable; default: all)"
    parser.add_argument("--show", action="append", metavar="PATTERN", help=text)
    parser.add_argument("--rate", type=float, default=10.0, metavar="HZ", help="pictures a second (default: 10)")
    parser.add_argument("--once", action="store_true", help="print one table and end")


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


TELEMETRY_COMMANDS = (_gateway, _monitor, _dictionary)
