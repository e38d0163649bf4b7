"""`limberjack run` without --duration: serves an engine, if requested with checkpoints, resumed, or supervised."""

from __future__ import annotations

import argparse
import re
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from limberjack.bridge.checkpoint_file import CheckpointError, Resume, read_checkpoint
from limberjack.bridge.checkpoint_writer import MODEL, newest
from limberjack.bridge.endpoints import Endpoints
from limberjack.bridge.notify import Notify
from limberjack.bridge.parent import end_with_parent
from limberjack.bridge.process import EngineProcess
from limberjack.bridge.server import serve
from limberjack.bridge.settings import Settings
from limberjack.bridge.supervision_limits import Limits
from limberjack.bridge.supervisor import Supervisor
from limberjack.bridge.upkeep import Signs
from limberjack.commands.serving_options import SUPERVISED
from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.model.load import load
from limberjack.engine.model.system import System

_UNITS = {"": 1.0, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}


def serve_model(options: argparse.Namespace, load_options: dict[str, Any], settings: Settings) -> None:
    """Serve until asked to stop."""
    clear = end_with_parent(options.parent_folder) if options.with_parent else None
    _check(options)
    resume, path = _resume(options)
    system = load(path, **load_options)
    settings = _with_checkpoints(options, settings, path)
    steps = {"dt": options.dt, "integrator": options.integrator, "substeps": options.substeps}
    notify = Notify()
    try:
        if options.supervise:
            _supervise(options, system, settings, steps, resume, notify)
            return

        def ready(endpoints: Endpoints) -> None:
            _announce(system, settings, endpoints, resume)
            notify.send("READY=1")

        serve(system, settings, **steps, ready=ready, resume=resume, signs=Signs(notify=notify))
        notify.send("STOPPING=1")
    finally:
        if clear is not None:
            clear()


def _announce(system: System, settings: Settings, at: Endpoints, resume: Resume | None, more: str = "") -> None:
    begins = "" if resume is None else f", goes on from t = {resume.checkpoint.time:.6g} s ({resume.where})"
    print(
        f"engine '{system.name}' ({settings.mode}) answers at {at.request}, states at {at.state}, topics at "
        f"{at.topics}{more}{begins}; Ctrl-C ends it",
        file=sys.stderr,
        flush=True,
    )


def _supervise(
    options: argparse.Namespace,
    system: System,
    settings: Settings,
    steps: dict[str, Any],
    resume: Resume | None,
    notify: Notify,
) -> None:
    given = {"hung_s": options.hung_after, "restarts": options.restarts}
    limits = Limits(
        rest=not options.hold_commands, **{name: value for name, value in given.items() if value is not None}
    )
    supervisor = Supervisor(
        system,
        settings,
        steps=steps,
        limits=limits,
        resume=resume,
        address=options.supervisor,
        notify=notify,
        say=lambda text: print(f"limberjack: {text}", file=sys.stderr, flush=True),
    )
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: supervisor.stop())

    def ready(engine: EngineProcess) -> None:
        _announce(system, settings, engine.endpoints, resume, f", supervisor at {supervisor.post.address}")

    supervisor.run(ready)


def _check(options: argparse.Namespace) -> None:
    """Raise ArgumentError for options that cannot be combined."""
    if not options.supervise:
        for name in SUPERVISED:
            if getattr(options, name) is not None:
                raise ArgumentError(f"--{name.replace('_', '-')} goes with --supervise. Add it, or leave this out.")
    if options.checkpoint is None and (options.checkpoint_dir is not None or options.go_on):
        raise ArgumentError("--checkpoint-dir and --continue go with --checkpoint TIME. Say how often, as 10s.")
    if options.resume is not None and options.go_on:
        raise ArgumentError("--resume names a checkpoint, --continue takes the newest. Leave one of them out.")


def _warn(text: str) -> None:
    print(f"limberjack: warning: {text}", file=sys.stderr)


def _resume(options: argparse.Namespace) -> tuple[Resume | None, Path]:
    """The checkpoint from which to continue, and the model's file. Raises CheckpointError or ArgumentError."""
    place = options.resume
    if options.go_on:
        if options.model is None and options.checkpoint_dir is None:
            raise ArgumentError("give the model, or --checkpoint-dir, to continue with.")
        place = _folder(options, options.model)
    if place is None:
        if options.model is None:
            raise ArgumentError("no model is given. Give its file, or --resume PATH to go on from a checkpoint.")
        return None, options.model
    model = options.model or (place if place.is_dir() else place.parent) / MODEL
    if place.is_dir() or options.go_on:
        found = newest(place, _warn)
        if found is None and not options.go_on:
            raise CheckpointError(f"{place}: this folder has no checkpoint. Give one that --checkpoint wrote to.")
    else:
        found = place, read_checkpoint(place)
    if not model.is_file():
        raise ArgumentError(f"{model}: there is no such model file. Give the model's file with --resume or --continue.")
    return None if found is None else Resume(str(found[0]), found[1]), model


def _folder(options: argparse.Namespace, model: Path) -> Path:
    folder: Path = options.checkpoint_dir or Path("results") / model.stem / "checkpoints"
    return folder


def _with_checkpoints(options: argparse.Namespace, settings: Settings, model: Path) -> Settings:
    if options.checkpoint is None:
        return settings
    resumed = options.resume if options.resume is None or options.resume.is_dir() else options.resume.parent
    folder = options.checkpoint_dir or resumed or _folder(options, model)
    return replace(settings, checkpoint_s=seconds("--checkpoint", options.checkpoint), checkpoints=folder)


def seconds(name: str, text: str) -> float:
    """The seconds of a text such as "10s", "500ms", "2min" or "10". Raises ArgumentError."""
    found = re.fullmatch(r"([0-9.eE+-]+)\s*([a-z]*)", text.strip())
    try:
        if found is None or found[2] not in _UNITS:
            raise ValueError
        return arguments.positive(name, float(found[1]) * _UNITS[found[2]])
    except ValueError:
        raise ArgumentError(f"{name} {text!r:.40} is not a time; write it as 10s, 500ms or 2min.") from None
