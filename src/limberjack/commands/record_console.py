"""`limberjack console --replay RECORD`: the web console of a record."""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from limberjack.bridge.telemetry.outlets.registry import Context, kind_of
from limberjack.bridge.telemetry.recorded import Recorded
from limberjack.commands.gateway import until_stopped
from limberjack.commands.replay import recorded_model
from limberjack.engine.common.errors import ArgumentError
from limberjack.hil.events import Event
from limberjack.hil.record.mcap_file import McapFile

if TYPE_CHECKING:
    from limberjack.bridge.telemetry.gateway import Gateway

#: kinds of events that are shown as warnings
_SEVERITY = {"trip": 2, "failed": 2, "alarm": 1, "fault": 1, "overrun": 1, "device": 1, "gap": 1, "refused": 1}


def record_console(options: argparse.Namespace, settings: dict[str, Any], load_options: dict[str, Any]) -> None:
    """Serve the console of a record until SIGINT or SIGTERM."""
    given = [name for name in ("keys", "history", "rate") if getattr(options, name) is not None]
    if given:
        raise ArgumentError(f"--{given[0]} is for an engine; leave it out with --replay.")
    logging.basicConfig(level=logging.WARNING, format="limberjack console: %(message)s", stream=sys.stderr)
    recorded = read_record(options.replay, options.engine, load_options)
    try:
        kind = kind_of("console")
        assert kind is not None
        context = Context(cast("Gateway", recorded), settings, Path())
        outlet = kind.make(f"{options.host}:{options.port}", context)
        outlet.open(recorded.dictionary)
        if recorded.first is not None:
            outlet.sample(recorded.first)
        try:
            print(f"replay of {options.replay}; Ctrl-C ends it", file=sys.stderr, flush=True)
            until_stopped()
        finally:
            outlet.close()
    finally:
        recorded.history.close()


def read_record(path: Path, model: str | None, load_options: dict[str, Any]) -> Recorded:
    """A whole record as a history. Raises ArgumentError if it is of another model, or empty."""
    record = McapFile(path)
    system = recorded_model(record, None if model is None else Path(model), load_options)
    recorded: Recorded | None = None
    before = -1
    for batch in record.batches():
        if recorded is None and len(batch.rows):
            place = record.names.index("time")
            started = int(batch.walls[0]) - round(1e9 * float(batch.rows[0, place]))
            recorded = Recorded(system, record.names, path.name, started)
            _check(recorded, record)
        if recorded is None:
            continue
        for event in batch.events:
            recorded.add_notice("engine", _SEVERITY.get(event.kind, 0), _said(event), event.time, event.data)
        gaps = np.diff(batch.numbers, prepend=before) - 1
        recorded.add_rows(batch.rows, np.maximum(gaps, 0).tolist())
        before = int(batch.numbers[-1]) if len(batch.numbers) else before
    if recorded is None:
        raise ArgumentError(f"{path}: the record has no rows; there is nothing to replay.")
    if record.trouble:
        print(f"limberjack: warning: {path}: {record.trouble}", file=sys.stderr)
    return recorded


def _check(recorded: Recorded, record: McapFile) -> None:
    made, recorded_hash = recorded.dictionary.model_hash, record.meta.get("model_hash")
    if recorded_hash is not None and recorded_hash != made:
        raise ArgumentError(
            f"{record.path}: the record is of the model '{record.meta.get('model')}' ({recorded_hash}), not of "
            f"'{recorded.dictionary.model}' ({made}). Give the same file, with the same load options."
        )


def _said(event: Event) -> str:
    """The event as one sentence."""
    return f"{event.kind}, {event.source}: {event.text}" if event.text else f"{event.kind}, {event.source}."
