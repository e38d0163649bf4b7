"""`limberjack gateway`: one engine's telemetry to consoles and tools."""

from __future__ import annotations

import argparse
import logging
import signal
import sys
import threading

from limberjack.bridge.telemetry.commander import EVERYTHING
from limberjack.bridge.telemetry.gateway import Gateway
from limberjack.bridge.telemetry.outlets import KINDS, Context
from limberjack.engine.errors import ArgumentError
from limberjack.engine.kernel import announce_compilation


def gateway(options: argparse.Namespace) -> None:
    """Run a gateway until SIGINT or SIGTERM."""
    wanted = [(kind, text) for kind in KINDS for text in getattr(options, f"outlet_{kind.name}") or ()]
    if not wanted:
        names = ", ".join(f"--{kind.name}" for kind in KINDS)
        raise ArgumentError(f"this gateway would have no outlet. Give at least one of {names}.")
    logging.basicConfig(level=logging.WARNING, format="limberjack gateway: %(message)s", stream=sys.stderr)
    announce_compilation()
    rules = () if options.read_only else EVERYTHING
    telemetry = Gateway(options.engine, keys=options.keys, key_name=options.key_name, most_hz=options.rate, rules=rules)
    try:
        session = telemetry.connect(options.wait)
        for kind, text in wanted:
            telemetry.add(kind.make(text, Context(telemetry)))
        told = f"gateway of '{session.system.name}' at {options.engine}: {len(session.dictionary)} quantities"
        print(f"{told}; Ctrl-C ends it", file=sys.stderr, flush=True)
        telemetry.start()
        _until_told()
    finally:
        telemetry.stop()


def _until_told() -> None:
    """Wait for SIGINT or SIGTERM."""
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    while not ended.wait(1.0):
        pass
