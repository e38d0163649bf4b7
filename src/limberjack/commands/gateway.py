"""`limberjack gateway`: one engine's telemetry to consoles and tools."""

from __future__ import annotations

import argparse
import logging
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from limberjack.bridge.telemetry.config import GatewaySpec, load_config
from limberjack.bridge.telemetry.gateway import Gateway
from limberjack.bridge.telemetry.history.home import Home
from limberjack.bridge.telemetry.outlets.registry import KINDS, Context, Kind, kind_of
from limberjack.bridge.telemetry.sample import Outlet
from limberjack.engine.common.errors import ArgumentError


@dataclass(frozen=True)
class Wanted:
    """A requested outlet."""

    kind: Kind
    text: str
    folder: Path
    rate_hz: float | None = None
    settings: dict[str, Any] = field(default_factory=dict)


def gateway(options: argparse.Namespace) -> None:
    """Run a gateway until SIGINT or SIGTERM, or until the reader of its only outlet, its standard output, ends."""
    spec = GatewaySpec(limberjack_gateway=1) if options.config is None else load_config(options.config)
    folder = Path() if options.config is None else options.config.parent
    wanted = [*_from_options(options), *_from_file(spec, folder, options.config)]
    history = _history(options, spec, folder)
    with_history = isinstance(history, Path)
    if not wanted and not with_history:
        names = ", ".join(f"--{kind.name}" for kind in KINDS)
        raise ArgumentError(f"this gateway would have no outlet. Give at least one of {names}, or --history FILE.")
    logging.basicConfig(level=logging.WARNING, format="limberjack gateway: %(message)s", stream=sys.stderr)
    run_gateway(_made(options, spec, folder, history), wanted, options.wait, with_history)


def run_gateway(
    telemetry: Gateway,
    wanted: list[Wanted],
    wait_s: float,
    with_history: bool,
    ready: Callable[[], None] = lambda: None,
) -> None:
    """Connect, open the outlets, print them, and run until asked to stop, or until nobody reads any outlet.

    ready : called when the engine has answered
    """
    outlets: list[Outlet] = []
    try:
        session = telemetry.connect(wait_s)
        ready()
        if with_history:
            _ = telemetry.history
        for each in wanted:
            context = Context(telemetry, each.settings, each.folder)
            outlets.append(each.kind.make(each.text, context))
            telemetry.add(outlets[-1], rate_hz=each.rate_hz)
        message = f"gateway of '{session.system.name}' at {telemetry.endpoint}, {len(session.dictionary)} quantities"
        print(f"{message}; Ctrl-C ends it", file=sys.stderr, flush=True)
        telemetry.start()
        until_stopped(lambda: not with_history and all(getattr(each, "finished", False) for each in outlets))
    finally:
        telemetry.stop()


def history_place(file: str | Path | None, engine: str) -> Path | Home | None:
    """Path of the history: as requested, in the user's data, or None for "none".  engine : as for `Home`"""
    if file is None:
        return Home(engine)
    return None if str(file) == "none" else Path(file)


def _history(options: argparse.Namespace, spec: GatewaySpec, folder: Path) -> Path | Home | None:
    """The command line has precedence; paths in the gateway's file are relative to that file."""
    engine = options.engine or spec.engine or ""
    named = None if spec.history is None else spec.history.file
    if options.history is not None or named is None or named == "none":
        return history_place(options.history or named, engine)
    return folder / named


def _made(options: argparse.Namespace, spec: GatewaySpec, folder: Path, history: Path | Home | None) -> Gateway:
    engine = options.engine or spec.engine
    if engine is None:
        raise ArgumentError("no engine is given. Give its address, as tcp://127.0.0.1:5555.")
    keys = options.keys if options.keys is not None else None if spec.keys is None else folder / spec.keys
    named: dict[str, Any] = {}
    if spec.history is not None:
        named["full_s"], named["history_bytes"] = 60.0 * spec.history.full_minutes, int(1e6 * spec.history.size_mb)
    return Gateway(
        engine,
        keys=keys,
        key_name=options.key_name or spec.key_name,
        most_hz=spec.rate_hz if options.rate is None else options.rate,
        rules=() if options.read_only else spec.rules(),
        history=history,
        **named,
    )


def _from_options(options: argparse.Namespace) -> Iterator[Wanted]:
    for kind in KINDS:
        for text in getattr(options, f"outlet_{kind.name}") or ():
            yield Wanted(kind, text, Path())


def _from_file(spec: GatewaySpec, folder: Path, file: Path) -> Iterator[Wanted]:
    for place, each in enumerate(spec.outlets):
        kind = kind_of(each.kind)
        if kind is None:
            names = ", ".join(each.name for each in KINDS)
            raise ArgumentError(f"{file}, outlets[{place}].kind: there is no outlet '{each.kind}'. Use {names}.")
        yield Wanted(kind, each.to, folder, each.rate_hz, each.options)


def until_stopped(finished: Callable[[], bool] = lambda: False) -> None:
    """Wait for SIGINT or SIGTERM, or until there is nothing left to do, which is looked at once a second."""
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    while not (ended.wait(1.0) or finished()):
        pass
