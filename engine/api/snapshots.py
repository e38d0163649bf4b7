"""A State vector as bytes: what a simulation, a batch and an engine process give away and take back."""

from __future__ import annotations

import struct
from typing import Protocol

import numpy as np

from limberjack.engine.api.stepping import MOST_STEPS
from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.model import arguments as model_arguments
from limberjack.engine.model.system import System
from limberjack.engine.tables import plant as layout
from limberjack.engine.tables.loops import SW_CLOSED, SWITCH

_SNAPSHOT = struct.Struct("<8s32sdQ")
_MAGIC = b"LJSNAP02"


class Snapshotted(Protocol):
    """What a snapshot is of: a `Simulation`."""

    @property
    def system(self) -> System:
        """Its model."""

    @property
    def model_hash(self) -> str:
        """Hash of the model, which both ends of a snapshot must share."""

    @property
    def dt(self) -> float:
        """Step, s."""

    @property
    def state(self) -> np.ndarray:
        """A State vector (ns,)."""

    @property
    def state_layout(self) -> dict[str, tuple[int, int]]:
        """Part of the State → its first place and its length."""


def packed(simulation: Snapshotted, state: np.ndarray) -> bytes:
    """A State vector (ns,) of the simulation's model as a snapshot."""
    return _SNAPSHOT.pack(_MAGIC, simulation.model_hash.encode(), simulation.dt, len(state)) + state.tobytes()


def opened(simulation: Snapshotted, snapshot: bytes) -> np.ndarray:
    """The State vector (ns,) in a snapshot, every part of it checked; ArgumentError as `restore`."""
    if not isinstance(snapshot, (bytes, bytearray, memoryview)) or len(snapshot) < _SNAPSHOT.size:
        raise ArgumentError("this is not a snapshot; give the bytes that `snapshot` returned.")
    magic, model, dt, size = _SNAPSHOT.unpack_from(snapshot)
    if magic != _MAGIC or len(snapshot) != _SNAPSHOT.size + 8 * size:
        raise ArgumentError("this is not a snapshot, or it is damaged.")
    own = len(simulation.state)
    if size != own or model != simulation.model_hash.encode():
        raise ArgumentError(
            f"the snapshot belongs to another model ({model.decode(errors='replace')}, {size} numbers; this one is "
            f"{simulation.model_hash}, {own} numbers)."
        )
    if dt != simulation.dt:
        raise ArgumentError(
            f"the snapshot was taken with dt = {dt:g} s, this simulation runs with {simulation.dt:g} s."
        )
    state = arguments.vector("snapshot", np.frombuffer(snapshot, "<f8", offset=_SNAPSHOT.size), (size,))
    steps = state[layout.S_STEPS]
    if not (0 <= steps <= MOST_STEPS and steps == int(steps) and state[layout.S_TIME] == steps * dt):
        raise ArgumentError(f"the snapshot is damaged: its time is not that of {steps:g} steps of {dt:g} s.")
    start, length = simulation.state_layout["q"]
    model_arguments.coordinates(simulation.system, state[start : start + length])
    start, length = simulation.state_layout["switch"]
    if not np.all(np.isin(state[start + SW_CLOSED : start + length : SWITCH], (0.0, 1.0))):
        raise ArgumentError("the snapshot is damaged: a loop in it is neither closed nor open.")
    return state
