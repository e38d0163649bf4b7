"""What leaves the engine: messages of the engine process as bytes, files of FMUs, and their results in an importer."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import tempfile
import warnings
import zipfile
from pathlib import Path
from typing import Any

import fmpy
import numpy as np

import limberjack as lj
from limberjack.bridge import Client
from limberjack.bridge.process import EngineProcess

#: what differs from one run to the next: identifiers, times of making, versions
_PASSING = re.compile(rb'(guid|instantiationToken|generationDateAndTime|generationTool|version)="[^"]*"')

#: keys of a description that differ from one start of the same engine to the next
_OWN = ("session", "run", "endpoints", "version", "pid")


def _plain(value: Any) -> Any:
    """A description without what differs from run to run, as JSON can hold it."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items() if k not in _OWN}
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def wire(path: Path) -> str:
    """The description that the process gives, and the bytes of its state after 50 steps."""
    with EngineProcess(path) as engine, engine.client() as client:
        described = json.dumps(_plain(client.describe()), sort_keys=True, default=str)
        states = [client.step(10, command=dict.fromkeys(_first_commands(client), 0.1)) for _ in range(5)]
    made = hashlib.sha256(described.encode())
    for state in states:
        for part in (state.q, state.v, state.tau, state.outputs):
            made.update(np.asarray(part).tobytes())
    return made.hexdigest()[:20]


def _first_commands(client: Client) -> list[str]:
    names = client.describe().names["command"]
    return [name for name in names if not name.endswith(".closed")][:2]


def fmu(system: lj.System, fmi: str) -> str:
    """Every file of the FMU but its binaries, and what FMPy computes with it."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = lj.export_fmu(system, Path(folder) / "model.fmu", fmi=fmi, platforms="host")
        made = hashlib.sha256()
        with zipfile.ZipFile(path) as archive:
            for name in sorted(archive.namelist()):
                if name == "modelDescription.xml" or name.endswith((".csv", ".xml")):
                    made.update(name.encode() + _PASSING.sub(b"", archive.read(name)))
        result = fmpy.simulate_fmu(str(path), stop_time=0.05, output_interval=0.01)
        return made.hexdigest()[:20] + " " + hashlib.sha256(result.tobytes()).hexdigest()[:20]
