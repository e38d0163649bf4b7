"""The commands on telemetry: gateway, monitor, dictionary."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from limberjack.bridge.endpoints import DEFAULT_ENDPOINT
from limberjack.commands.parsing import command, load_arguments, load_options


def _curve_options(parser: Any) -> None:
    parser.add_argument("--keys", type=Path, metavar="DIR", help="CurveZMQ keys, for an engine that runs with keys")
    parser.add_argument("--key-name", default="client", metavar="NAME", help="of the key pair (default: client)")


def _key_options(parser: Any) -> None:
    _curve_options(parser)
    parser.add_argument("--wait", type=float, default=0.0, metavar="S", help="longest wait for the engine (default: 0)")


def _history_option(parser: Any) -> None:
    text = (
        "keep the history in this file; none: only until the end (default: one that each console of this engine uses)"
    )
    parser.add_argument("--history", metavar="FILE|none", help=text)


def _gateway(commands: Any) -> None:
    from limberjack.bridge.telemetry.outlets.registry import KINDS

    def work(options: argparse.Namespace) -> None:
        from limberjack.commands.gateway import gateway

        gateway(options)

    text = "send the telemetry of a running engine to consoles and tools; see docs/how-to/telemetry.md"
    parser = command(commands, "gateway", work, text)
    parser.add_argument("engine", nargs="?", metavar="ENGINE", help="address of the engine, as tcp://127.0.0.1:5555")
    _key_options(parser)
    parser.set_defaults(key_name=None)
    parser.add_argument("--config", type=Path, metavar="FILE", help="engine, history, rules and outlets from a file")
    _history_option(parser)
    parser.add_argument("--rate", type=float, metavar="HZ", help="at most this many states a second (default: all)")
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
    address = f"address of the engine (default: {DEFAULT_ENDPOINT})"
    parser.add_argument("engine", nargs="?", default=DEFAULT_ENDPOINT, metavar="ENGINE", help=address)
    _key_options(parser)
    text = "quantities to show, as 'q.*' (repeatable; default: all)"
    parser.add_argument("--show", action="append", metavar="PATTERN", help=text)
    parser.add_argument("--rate", type=float, default=10.0, metavar="HZ", help="pictures a second (default: 10)")
    parser.add_argument("--once", action="store_true", help="print one table and end")


def _console(commands: Any) -> None:
    def work(options: argparse.Namespace) -> None:
        from limberjack.commands.web_console import console

        console(options, load_options(options))

    text = "watch and command a running engine, or a model, in the browser; see docs/how-to/telemetry.md"
    parser = command(commands, "console", work, text)
    text = "address of a running engine (default: tcp://127.0.0.1:5555), or a model, to start one for"
    parser.add_argument("engine", nargs="?", metavar="ENGINE|MODEL", help=text)
    _key_options(parser)
    parser.add_argument("--host", default="127.0.0.1", help="where to listen; others need --tokens and TLS")
    parser.add_argument("--port", type=int, default=8080, help="default: 8080; 0 for any free one")
    parser.add_argument("--tokens", type=Path, metavar="FILE", help="file of those who may open it; made if missing")
    parser.add_argument("--tls-cert", type=Path, metavar="PEM", help="certificate, for https")
    parser.add_argument("--tls-key", type=Path, metavar="PEM", help="its key")
    parser.add_argument("--live-hz", type=float, metavar="HZ", help="messages a second to each browser (default: 10)")
    _history_option(parser)
    parser.add_argument("--read-only", action="store_true", help="refuse all commands")
    text = "show a record in place of an engine; its model is found where it was, or given as MODEL"
    parser.add_argument("--replay", type=Path, metavar="RECORD", help=text)
    install = parser.add_argument_group("the browser's libraries, once on a machine")
    install.add_argument("--install", action="store_true", help="fetch Open MCT and three.js from npm, and end")
    install.add_argument(
        "--registry", metavar="URL", help="npm registry (default: npm_config_registry, else the public)"
    )
    install.add_argument(
        "--tarballs", type=Path, metavar="DIR", help="folder with what 'npm pack' gave, without network"
    )
    model = parser.add_argument_group("with a model")
    model.add_argument("--rate", type=float, metavar="HZ", help="cycles a second of the engine")
    load_arguments(model)


def _dictionary(commands: Any) -> None:
    from limberjack.bridge.telemetry.exports.registry import EXPORTS

    def work(options: argparse.Namespace) -> None:
        from limberjack.commands.dictionary import dictionary

        dictionary(options, load_options(options))

    text = "write the telemetry dictionary of a model or a running engine for a console; see docs/how-to/telemetry.md"
    parser = command(commands, "dictionary", work, text)
    parser.add_argument("model", metavar="MODEL", help="model file, or address of an engine, as tcp://127.0.0.1:5555")
    formats = "; ".join(f"{export.name}: {export.help}" for export in EXPORTS)
    text = f"{formats} (default: by the suffix of OUT, else {EXPORTS[0].name})"
    parser.add_argument("--format", choices=[export.name for export in EXPORTS], help=text)
    parser.add_argument("-o", "--out", type=Path, help="file or folder to write (default: print)")
    parser.add_argument("--packets", type=Path, metavar="FILE", help="packet sets of CCSDS (default: by group)")
    _curve_options(parser)
    load_arguments(parser)


TELEMETRY_COMMANDS = (_gateway, _console, _monitor, _dictionary)
