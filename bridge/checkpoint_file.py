"""A checkpoint: all that an engine needs to continue with the same bits, in a file that is complete or absent.

The file: 8 bytes of magic, the SHA-256 of the rest, then a msgpack map (docs/how-to/real-time.md, "Checkpoints").
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import msgpack  # type: ignore[import-untyped]

from limberjack.bridge.errors import BridgeError
from limberjack.engine.api.named_values import assign
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.common.errors import ArgumentError, ExitCode
from limberjack.engine.files.bounded_file import is_special
from limberjack.version import __version__

_MAGIC = b"LJCHECK1"
_HEAD = len(_MAGIC) + hashlib.sha256().digest_size
#: bytes of the largest checkpoint that is read
_LARGEST = 1 << 30
_TYPES = {"str": str, "float": float, "int": int, "bytes": bytes, "dict[str, float]": dict}


class CheckpointError(BridgeError, ValueError):
    """A checkpoint that cannot be used: damaged, of another model, or of another version."""

    exit_code = ExitCode.BAD_INPUT


@dataclass(frozen=True)
class Checkpoint:
    """The state of a run at some time.

    model : its name;  engine : version of Limberjack;  time : simulated time, s;  step : steps since the start
    snapshot : of the simulation, commands and switches included;  parameters : those that clients had set
    written : time of day, s since 1970
    """

    model: str
    model_hash: str
    engine: str
    dt: float
    integrator: str
    substeps: int
    step: int
    time: float
    written: float
    snapshot: bytes
    parameters: dict[str, float]

    @classmethod
    def of(cls, simulation: Simulation, parameters: Mapping[str, float]) -> Checkpoint:
        """The present state."""
        return cls(
            model=simulation.system.name,
            model_hash=simulation.model_hash,
            engine=__version__,
            dt=simulation.dt,
            integrator=simulation.integrator,
            substeps=simulation.substeps,
            step=simulation.step_count,
            time=simulation.time,
            written=time.time(),
            snapshot=simulation.snapshot(),
            parameters=dict(parameters),
        )

    def to_bytes(self) -> bytes:
        """The content of the file."""
        body: bytes = msgpack.packb(asdict(self))
        return _MAGIC + hashlib.sha256(body).digest() + body


@dataclass(frozen=True)
class Resume:
    """A checkpoint from which to continue, and its file."""

    where: str
    checkpoint: Checkpoint

    def steps(self, dt: float | None, integrator: str | None, substeps: int) -> tuple[float, str, int]:
        """The settings of steps: as requested, else those of the checkpoint."""
        was = self.checkpoint
        return dt or was.dt, integrator or was.integrator, was.substeps if substeps == 1 else substeps

    def apply(self, simulation: Simulation) -> None:
        """Bring a simulation to this state. Raises CheckpointError if its model or its settings of steps differ."""
        was = self.checkpoint
        if was.model_hash != simulation.model_hash:
            raise CheckpointError(
                f"{self.where}: it is of another model, '{was.model}' ({was.model_hash}); this one is "
                f"'{simulation.system.name}' ({simulation.model_hash}). Give the model as it was, or start without it."
            )
        for name in ("dt", "integrator", "substeps"):
            before, now = getattr(was, name), getattr(simulation, name)
            if before != now:
                raise CheckpointError(
                    f"{self.where}: it was written with {name} = {before}, this engine has {now}. Give --{name} "
                    f"{before}, or leave --{name} out."
                )
        try:
            assign(simulation.parameters, was.parameters)
            simulation.restore(was.snapshot)
        except ArgumentError as error:
            raise CheckpointError(f"{self.where}: {error} Use an older checkpoint, or start without it.") from None


def write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically: on the disk it is complete, or as it was before. Raises OSError."""
    part = path.with_name(f".{path.name}.part")
    with part.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(part, path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def read_checkpoint(path: Path) -> Checkpoint:
    """The checkpoint in a file. Raises CheckpointError with place, cause and remedy; OSError if it cannot be read."""
    remedy = "Use another checkpoint, or start without it"
    if is_special(path):  # a named pipe would be waited for
        raise CheckpointError(f"{path}: this is not a file. {remedy}.")
    if path.stat().st_size > _LARGEST:
        raise CheckpointError(f"{path}: it is larger than {_LARGEST} bytes, so it is not a checkpoint. {remedy}.")
    content = path.read_bytes()
    if not content.startswith(_MAGIC[:-1]):
        raise CheckpointError(f"{path}: it is not a checkpoint. Give one that 'limberjack run --checkpoint' wrote.")
    if not content.startswith(_MAGIC):
        raise CheckpointError(f"{path}: its format belongs to another version. {remedy}.")
    if len(content) < _HEAD or hashlib.sha256(content[_HEAD:]).digest() != content[len(_MAGIC) : _HEAD]:
        raise CheckpointError(f"{path}: it is damaged: its checksum does not match. {remedy}.")
    found = _read_body(content[_HEAD:])
    if found is None:
        raise CheckpointError(f"{path}: its content is not that of a checkpoint. {remedy}.")
    if found.engine != __version__:
        raise CheckpointError(
            f"{path}: it was written by Limberjack {found.engine}, and this is {__version__}, whose bits may differ. "
            f"Resume it with that version, or start without it."
        )
    return found


def _read_body(body: bytes) -> Checkpoint | None:
    """The checkpoint in these bytes; None if a field is missing or of another type."""
    try:
        found: Any = msgpack.unpackb(body, max_ext_len=0)
    except (ValueError, TypeError, RecursionError, msgpack.UnpackException):
        return None
    wanted = {part.name: _TYPES[str(part.type)] for part in fields(Checkpoint)}
    if type(found) is not dict or found.keys() != wanted.keys():
        return None
    if any(type(found[name]) is not kind for name, kind in wanted.items()):
        return None
    if any(type(name) is not str or type(value) is not float for name, value in found["parameters"].items()):
        return None
    return Checkpoint(**found)
