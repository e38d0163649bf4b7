"""The data that a client receives: the engine's description and its states, with access by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from limberjack.bridge.messages import FLOAT64, VECTOR_PARTS, Message, all_finite
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.common.nearest import nearest


def find(index: Mapping[str, int], name: str, what: str) -> int:
    """Place of a name; an unknown one raises ArgumentError with the nearest names."""
    try:
        return index[name]
    except KeyError:
        near = nearest(name, list(index), count=3) if isinstance(name, str) else []
        some = ", ".join(list(index)[:8]) + (", …" if len(index) > 8 else "")
        hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else f" It has {some or 'none'}."
        raise ArgumentError(f"the engine has no {what} named {name!r}.{hint}") from None


class Named(Mapping[str, float]):
    """A vector read by name, in the order the engine gives."""

    def __init__(self, index: Mapping[str, int], values: np.ndarray, what: str) -> None:
        self._index, self._values, self._what = index, values, what

    def __getitem__(self, name: str) -> float:
        return float(self._values[find(self._index, name, self._what)])

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)

    def __repr__(self) -> str:
        return repr(dict(self))


class Outputs(Mapping[str, Any]):
    """Outputs by name: each by its own, and a sensor of several components by the sensor's, an array."""

    def __init__(self, index: Mapping[str, int], sensors: Mapping[str, tuple[int, int]], values: np.ndarray) -> None:
        self._single, self._sensors, self._values = Named(index, values, "output"), sensors, values

    def __getitem__(self, name: str) -> Any:
        start, size = self._sensors.get(name, (0, 1))
        return self._values[start : start + size] if size > 1 else self._single[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._single)

    def __len__(self) -> int:
        return len(self._single)

    def __repr__(self) -> str:
        return repr(self._single)


@dataclass(frozen=True, eq=False)
class Description:
    """What the engine reported about itself.

    model, model_hash : name of the model, and the hash that says which
    mode, integrator : "lockstep" or "free", and the method
    dt : the step, s
    names, units : by part ("q", "v", "tau", "outputs", "command"), in the order of the vectors
    sensors : sensor → start and length of its components among the outputs
    bodies, nodes, parameters, loops : names; raw : the whole message as sent (docs/reference/protocol.md)
    """

    model: str
    model_hash: str
    mode: str
    integrator: str
    dt: float
    names: dict[str, tuple[str, ...]]
    units: dict[str, tuple[str, ...]]
    bodies: tuple[str, ...]
    nodes: tuple[str, ...]
    parameters: tuple[str, ...]
    loops: tuple[str, ...]
    sensors: dict[str, tuple[int, int]]
    raw: dict[str, Any]

    @classmethod
    def read(cls, raw: dict[str, Any]) -> Description:
        """From the body of a describe message."""
        fields: dict[str, Any] = {key: raw[key] for key in ("model", "model_hash", "mode", "integrator", "dt")}
        for key in ("names", "units"):
            fields[key] = {part: tuple(each) for part, each in raw[key].items()}
        for key in ("bodies", "nodes", "parameters"):
            fields[key] = tuple(raw[key])
        fields["loops"] = tuple(loop["name"] for loop in raw["loops"])
        fields["sensors"] = {name: (start, size) for name, (start, size) in raw.get("sensors", {}).items()}
        return cls(**fields, raw=raw)

    @cached_property
    def index(self) -> dict[str, dict[str, int]]:
        """For each part, name to place."""
        return {part: {name: i for i, name in enumerate(names)} for part, names in self.names.items()}

    @cached_property
    def slices(self) -> dict[str, slice]:
        """For each part, its place in the state vector."""
        slices, start = {}, 0
        for part in VECTOR_PARTS:
            stop = start + len(self.names[part])
            slices[part], start = slice(start, stop), stop
        return slices

    def command(self, values: Mapping[str, float] | np.ndarray | Sequence[float] | None) -> tuple:
        """Commands as they go on the wire: (indices, values), each bytes or None.

        values : name → number, or all commands as numbers (nu,). Raises ArgumentError for other names, shapes and NaN
        """
        if values is None:
            return None, None
        if isinstance(values, Mapping):
            index = self.index["command"]
            places = np.array([find(index, name, "command") for name in values], dtype="<u4")
            return places.tobytes(), _finite(_numbers(values), list(values))
        vector, names = np.asarray(values, FLOAT64), self.names["command"]
        if vector.shape != (len(names),):
            raise ArgumentError(f"command has shape {vector.shape}; it must be ({len(names)},).")
        return None, _finite(vector, names)


def _numbers(values: Mapping[str, float]) -> np.ndarray:
    """The values of commands by name, for the wire."""
    try:
        return np.array(list(values.values()), dtype="<f8")
    except (TypeError, ValueError):
        raise ArgumentError(f"each command must be one number, got {dict(values)!r:.200}.") from None


def _finite(vector: np.ndarray, names: Sequence[str]) -> bytes:
    """Wire bytes of a vector whose values must be finite."""
    if not all_finite(vector):
        bad = int(np.flatnonzero(~np.isfinite(vector))[0])
        raise ArgumentError(f"command {names[bad]!r} is {vector[bad]}; it must be finite.")
    return vector.tobytes()


class State:
    """One state of the engine: arrays (read-only views) and values by name. A client makes it.

    message : the state as it came;  description : of the engine that sent it

    time (s); step: steps taken since the start; sequence: of the reply, or the publication's number.
    ``state["elbow"]`` is a coordinate; ``.velocity``, ``.effort``, ``.output``, ``.command`` likewise.
    """

    __slots__ = ("_description", "sequence", "step", "time", "vector")

    def __init__(self, message: Message, description: Description) -> None:
        """``message``: a state message; ``vector`` holds q, v, tau, outputs and command, in this order."""
        self._description = description
        _, _, self.sequence, self.time, _, (self.step, data) = message
        self.vector = np.frombuffer(data, FLOAT64)

    def _part(self, part: str) -> np.ndarray:
        return self.vector[self._description.slices[part]]

    @property
    def q(self) -> np.ndarray:
        """Coordinates (nq,)."""
        return self._part("q")

    @property
    def v(self) -> np.ndarray:
        """Generalized velocities (nv,)."""
        return self._part("v")

    @property
    def tau(self) -> np.ndarray:
        """Generalized forces (nv,) of hinges and actuators at this state and these commands."""
        return self._part("tau")

    @property
    def outputs(self) -> np.ndarray:
        """Sensor outputs (ny,)."""
        return self._part("outputs")

    @property
    def commands(self) -> np.ndarray:
        """Commands held (nu,)."""
        return self._part("command")

    def __getitem__(self, name: str) -> float:
        """A coordinate by name; the error for an output or a velocity says how to read it."""
        index = self._description.index
        if name not in index["q"]:
            elsewhere = {"output": {*index["outputs"], *self._description.sensors}, "velocity": index["v"]}
            for part, names in elsewhere.items():
                if name in names:
                    raise ArgumentError(f"{name!r} is not a coordinate; read state.{part}[{name!r}].")
        return self.coordinate[name]

    @property
    def coordinate(self) -> Named:
        """Coordinates by name."""
        return self._named("q", "coordinate")

    @property
    def velocity(self) -> Named:
        """Velocities by name."""
        return self._named("v", "velocity")

    @property
    def effort(self) -> Named:
        """Generalized forces by name of their velocity."""
        return self._named("tau", "velocity")

    @property
    def output(self) -> Outputs:
        """Sensor outputs by name: ``output["load.nx"]``, or ``output["load"]`` for all components."""
        return Outputs(self._description.index["outputs"], self._description.sensors, self._part("outputs"))

    @property
    def command(self) -> Named:
        """Commands held, by name."""
        return self._named("command", "command")

    def _named(self, part: str, what: str) -> Named:
        return Named(self._description.index[part], self._part(part), what)

    def __repr__(self) -> str:
        return f"State(time={self.time:g}, step={self.step}, q={self.q!r})"
