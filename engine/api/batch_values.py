"""Mappings of names to values of all worlds of a batch: commands, parameters, outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from limberjack.engine.api.named_values import Outputs, Parameters
from limberjack.engine.api.world_lanes import Numbers
from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.model import arguments as model_arguments
from limberjack.engine.model.plant import Plant
from limberjack.engine.model.system import System


class Worlds(Protocol):
    """What the mappings are of: a `Batch`.

    n : worlds;  layout : part of the State → its first place and its length;  states : State vectors
    floats : the constants of each world, None while all share the Plant's
    """

    n: int
    system: System
    plant: Plant
    layout: dict[str, tuple[int, int]]
    states: Numbers
    floats: Numbers | None

    def changed(self) -> None:
        """Outputs are computed again at the next look."""

    def own_floats(self) -> Numbers:
        """The constants of each world, its own from now on."""

    def observed(self) -> Numbers:
        """Outputs of sensors at the present states."""

    def surveyed(self) -> Numbers:
        """Energy, momentum and motions of nodes at the present states."""


def of_worlds(name: str, value: ArrayLike, n: int, *shape: int) -> np.ndarray:
    """`value` as (n, …): one for all worlds, or one for each. ArgumentError names the world that has no number."""
    try:
        given = np.shape(value)
    except ValueError as error:
        raise ArgumentError(f"{name} must be numbers of shape {(n, *shape)}, got {value!r:.80}.") from error
    if given in ((), shape):
        return np.broadcast_to(arguments.vector(name, np.broadcast_to(value, shape), shape), (n, *shape)).copy()
    return arguments.vector(name, value, (n, *shape))


def coordinates_of_worlds(
    system: System, value: ArrayLike, n: int, worlds: Sequence[int] | np.ndarray | None = None
) -> np.ndarray:
    """`value` as coordinates (n, nq) with unit quaternions. ArgumentError names the world of one that is not.

    worlds : numbers of the n worlds, 0 … n - 1 if None
    """
    given = of_worlds("q", value, n, system.nq)
    off = np.zeros(n, dtype=bool)
    for start, _ in model_arguments.quaternions(system):
        lengths = np.linalg.norm(given[:, start : start + 4], axis=1)
        off |= np.abs(lengths - 1.0) > model_arguments.QUATERNION_TOLERANCE
    for world in np.flatnonzero(off):
        try:
            model_arguments.coordinates(system, given[world])
        except ArgumentError as error:
            number = int(world) if worlds is None else int(worlds[int(world)])
            raise ArgumentError(f"world {number}: {error}") from error
    return given


class BatchCommands(MutableMapping[str, np.ndarray]):
    """Command name → values (n,), held until changed; one number sets all worlds."""

    def __init__(self, batch: Worlds) -> None:
        self._batch = batch
        self._index = {name: i for i, name in enumerate(batch.system.command_names)}

    def _columns(self, name: str) -> slice:
        if name not in self._index:
            arguments.index_of("command", name, self._index)
        first = self._batch.layout["command"][0] + self._index[name]
        return slice(first, first + 1)

    def __getitem__(self, name: str) -> np.ndarray:
        return self._batch.states.get(self._columns(name))[:, 0]

    def __setitem__(self, name: str, value: ArrayLike) -> None:
        columns = self._columns(name)
        self._batch.states.put(columns, of_worlds(f"command['{name}']", value, self._batch.n)[:, None])
        self._batch.changed()

    def __delitem__(self, name: str) -> None:
        raise ArgumentError("a command cannot be removed; set it instead.")

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)


@dataclass
class _World:
    """One world's constants, as `Parameters` sets them."""

    system: System
    plant: Plant

    def changed(self) -> None:
        """Nothing is computed from them here."""


class BatchParameters(MutableMapping[str, np.ndarray]):
    """Parameter name → values (n,); one number sets all worlds. Worlds share their constants until they differ."""

    def __init__(self, batch: Worlds) -> None:
        self._batch = batch

    def __getitem__(self, name: str) -> np.ndarray:
        place = self._place(name)
        floats = self._batch.floats
        if floats is None:
            return np.full(self._batch.n, self._batch.plant.floats[place])
        return floats.get(slice(place, place + 1))[:, 0]

    def __setitem__(self, name: str, value: ArrayLike) -> None:
        batch, self_place = self._batch, self._place(name)
        try:
            given = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"parameters['{name}'] must be numbers, got {value!r:.80}.") from error
        if given.shape not in ((), (batch.n,)):
            raise ArgumentError(f"parameters['{name}'] has shape {given.shape}, but this batch has {batch.n} worlds.")
        values = np.broadcast_to(given, (batch.n,))
        own = batch.floats
        rows = np.tile(batch.plant.floats, (batch.n, 1)) if own is None else own.rows(np.arange(batch.n))
        for world in np.flatnonzero(rows[:, self_place] != values):
            plant = replace(batch.plant, floats=rows[world])
            try:
                Parameters(_World(batch.system, plant))[name] = float(values[world])  # type: ignore[arg-type]
            except ArgumentError as error:
                raise ArgumentError(f"world {world}: {error}") from error
        batch.own_floats().put_rows(np.arange(batch.n), rows)
        batch.changed()

    def _place(self, name: str) -> int:
        if name not in self._batch.plant.parameters:
            arguments.index_of("parameter", name, self._batch.plant.parameters)
        return self._batch.plant.parameters[name]

    def __delitem__(self, name: str) -> None:
        raise ArgumentError("a parameter cannot be removed; set it instead.")

    def __iter__(self) -> Iterator[str]:
        return iter(self._batch.plant.parameters)

    def __len__(self) -> int:
        return len(self._batch.plant.parameters)


class BatchOutputs(Mapping[str, np.ndarray]):
    """Output name → values at the present state, (n,) or (n, k), as `Simulation.output` has them for one world."""

    def __init__(self, batch: Worlds, one: Outputs) -> None:
        self._batch, self._one = batch, one

    def __getitem__(self, name: str) -> np.ndarray:
        which, columns = self._one.place(name)
        found = (self._batch.observed() if which == "sensor" else self._batch.surveyed()).get(columns)
        return found[:, 0] if found.shape[1] == 1 else found

    def __iter__(self) -> Iterator[str]:
        return iter(self._one)

    def __len__(self) -> int:
        return len(self._one)
