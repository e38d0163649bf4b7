"""Forward dynamics of many states at once: `Batch.forward_dynamics` beside Pinocchio's parallel articulated bodies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.peer_build import require
from benchmarks.pinocchio_peer import wheel_model
from benchmarks.states import pinocchio_orders
from benchmarks.trees import tree_of
from limberjack.engine.api.batch import Batch
from limberjack.engine.model.system import System

#: how far two engines' accelerations may be apart, relative to the largest
AGREED = 1e-10


def runs(system: System, states: int, cores: int) -> dict[str, Callable[[], int]]:
    """What is timed, by name; each run computes `states` accelerations. States are random, equal for all.

    PeerUnavailableError where the wheel of Pinocchio is missing, ValueError for models that it does not have,
    RuntimeError where the engines' results differ.
    """
    if system.loops:
        raise ValueError("Pinocchio's parallel routine has no loops.")
    q, v, tau = _states(system, states)
    batches = {1: Batch(system, states, threads=1), cores: Batch(system, states, threads=cores)}
    theirs = _pinocchio(system, q, v, tau)
    ours = batches[1].forward_dynamics(q, v, tau)
    apart = np.abs(ours - theirs(1)).max() / np.abs(ours).max()
    if not apart < AGREED:
        raise RuntimeError(f"accelerations of Limberjack and Pinocchio differ by {apart:.1e} of the largest.")

    def run(compute: Callable[[], Any]) -> Callable[[], int]:
        return lambda: (compute(), states)[1]

    return {
        "batch": run(lambda: batches[1].forward_dynamics(q, v, tau)),
        "batch, all cores": run(lambda: batches[cores].forward_dynamics(q, v, tau)),
        "Pinocchio": run(lambda: theirs(1)),
        "Pinocchio, all cores": run(lambda: theirs(cores)),
    }


def _states(system: System, states: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coordinates within 1 rad or m of the model's own, rates and forces of the order of 1."""
    rng = np.random.default_rng(11)
    q = np.tile(system.q0, (states, 1))
    q[:, system.nq - system.nv :] += rng.uniform(-1.0, 1.0, (states, system.nv))
    if system.nq > system.nv:  # a free base: its orientation, a unit quaternion, comes first
        q[:, :4] = rng.normal(size=(states, 4))
        q[:, :4] /= np.linalg.norm(q[:, :4], axis=1, keepdims=True)
    v, tau = rng.normal(size=(2, states, system.nv))
    return q, v, tau


def _pinocchio(system: System, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> Callable[[int], np.ndarray]:
    """Accelerations (states, nv) in our order, by so many threads."""
    require(["pin"])
    import pinocchio

    tree = tree_of(system)
    pool = pinocchio.ModelPool(wheel_model(pinocchio, tree))
    q_order, v_order = pinocchio_orders(tree)
    columns = [np.asfortranarray(rows[:, order].T) for rows, order in ((q, q_order), (v, v_order), (tau, v_order))]
    out = np.zeros_like(columns[1])

    def accelerations(threads: int) -> np.ndarray:
        pool.resize(threads)
        pinocchio.abaInParallel(threads, pool, *columns, out)
        return out.T[:, v_order]

    return accelerations
