"""`limberjack console`: a gateway with the web console, for a running engine or for a model."""

from __future__ import annotations

import argparse
import logging
import re
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from limberjack.bridge.console.access import Address
from limberjack.bridge.console.antechamber import Antechamber
from limberjack.bridge.console.assets import PACKAGES, install, installed_folder
from limberjack.bridge.endpoints import DEFAULT_ENDPOINT
from limberjack.bridge.process import EngineProcess
from limberjack.bridge.settings import Settings
from limberjack.bridge.telemetry.gateway import Gateway
from limberjack.bridge.telemetry.orders import Rule
from limberjack.bridge.telemetry.outlets.registry import kind_of
from limberjack.commands.arguments import FREE_PORT
from limberjack.commands.gateway import Wanted, history_place, run_gateway
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.model.load import load
from limberjack.engine.model.system import System

_SETTINGS = ("tokens", "tls_cert", "tls_key", "live_hz")


def console(options: argparse.Namespace, load_options: dict[str, Any]) -> None:
    """Install the browser's libraries, or serve the console until SIGINT or SIGTERM."""
    if options.install:
        install(options.registry, options.tarballs, say=lambda text: print(text, file=sys.stderr))
        return
    if options.registry is not None or options.tarballs is not None:
        raise ArgumentError("--registry and --tarballs say where --install gets its packages. Add --install.")
    for package in PACKAGES:
        installed_folder(package)
    settings = {name: getattr(options, name) for name in _SETTINGS if getattr(options, name) is not None}
    if options.replay is not None:
        from limberjack.commands.record_console import record_console

        record_console(options, settings, load_options)
        return
    logging.basicConfig(level=logging.WARNING, format="limberjack console: %(message)s", stream=sys.stderr)
    with ExitStack() as stack:
        address = Address(options.host, options.port)
        chamber, model = None, _model(options, load_options)
        if address.local and options.tls_cert is None:  # elsewhere nobody without a token may learn anything
            chamber = stack.enter_context(Antechamber(address, "The engine is getting ready"))
            address = chamber.address
            print(f"opening http://{address}/, which fills when the engine is ready", file=sys.stderr, flush=True)
        endpoint = _engine(options, model, stack)
        rules = () if options.read_only else (Rule(),)
        keys = {"keys": options.keys, "key_name": options.key_name}
        given = options.engine or DEFAULT_ENDPOINT
        history = history_place(options.history, given if "://" in given else "")
        telemetry = Gateway(endpoint, **keys, rules=rules, history=history)
        kind = kind_of("console")
        assert kind is not None
        wanted = Wanted(kind, str(address), Path(), settings=settings)
        room = (lambda: None) if chamber is None else chamber.close
        run_gateway(telemetry, [wanted], options.wait, with_history=True, ready=room)


def _model(options: argparse.Namespace, load_options: dict[str, Any]) -> System | None:
    """The model of an engine that is started here; None where the address of a running one is given."""
    given = options.engine or DEFAULT_ENDPOINT
    if "://" in given:
        if options.rate is not None:
            raise ArgumentError("--rate is the rate of an engine that is started here. Give a model, or leave it out.")
        return None
    if re.fullmatch(r".+:\d+", given) and not Path(given).exists():
        raise ArgumentError(f"{given}: there is no such model file. For a running engine give tcp://{given}.")
    if options.keys is not None:
        raise ArgumentError("--keys are those of a running engine. Give its address, or leave them out.")
    return load(Path(given), **load_options)


def _engine(options: argparse.Namespace, model: System | None, stack: ExitStack) -> str:
    """Address of the engine: the given one, or that of an engine that is started here and ends with the console."""
    if model is None:
        return str(options.engine or DEFAULT_ENDPOINT)
    settings = Settings(endpoint=FREE_PORT, mode="free-running", rate_hz=options.rate)
    return stack.enter_context(EngineProcess(model, settings)).endpoints.request
