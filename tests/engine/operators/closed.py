"""Random closed graphs for the operators, made once: all loops embedded, or some of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

import limberjack as lj
from limberjack.engine.operators import Operators
from tests.engine.kernels.loops.random_graphs import EMBEDDABLE, KINDS, Closed, random_closed
from tests.engine.random_systems import ALL_TYPES

#: identities hold to 1e-10 for blocks of D up to this condition number
MOST_CONDITION = 1e4
_TRIES = 20
COUNT = 24


@dataclass
class Drawn:
    """A closed graph, the operators of some choice of its loops to embed, those of its spanning tree, forces (nv,)."""

    graph: Closed
    ops: Operators
    tree: Operators
    tau: np.ndarray


@lru_cache
def embedded(seed: int) -> Drawn:
    """One to three loops of every kind that can be embedded, all of them embedded."""
    return _drawn(seed, "embed")


@lru_cache
def mixed(seed: int) -> Drawn:
    """One to three loops of every kind, half of them embedded, at least one by force."""
    return _drawn(seed, "some")


@lru_cache
def forced(seed: int) -> Drawn:
    """One to three loops of every kind by force; the first one twice with every other seed."""
    return _drawn(seed, "force")


def _drawn(seed: int, method: str) -> Drawn:
    for attempt in range(_TRIES):
        rng = np.random.default_rng([seed, attempt, len(method)])
        every = EMBEDDABLE if method == "embed" else KINDS
        kinds = [every[(seed + i) % len(every)] for i in range(3)]  # each kind comes three times
        graph = _graph(rng, kinds, method == "force" and seed % 2 == 1)
        if graph is None or not graph.system.loops:
            continue
        names = list(graph.system.loop_names)
        chosen = {"embed": names, "some": names[: len(names) // 2], "force": []}[method]
        ops = Operators(graph.system, graph.q, graph.v, embed=chosen)
        if _well_conditioned(ops) and len(ops.velocity_names):
            tree = Operators(graph.system, graph.q, graph.v, embed=())
            return Drawn(graph, ops, tree, rng.normal(size=graph.system.nv))
    raise AssertionError(f"no usable graph with seed {seed}")


def _graph(rng: np.random.Generator, kinds: list[str], twice: bool) -> Closed | None:
    try:
        bodies, loops = int(rng.integers(2, 9)), int(rng.integers(1, 4))
        return random_closed(rng, bodies=bodies, loops=loops, kinds=kinds, types=ALL_TYPES, twice=twice)
    except lj.ModelError:  # a loop that forbids nothing
        return None


def _well_conditioned(ops: Operators) -> bool:
    """No node whose directions nearly coincide: D⁻¹ has lost as many digits as D's condition number has."""
    return all(np.linalg.cond(ops.D[name]) < MOST_CONDITION for name in ops.block_names if ops.D[name].size)
