"""A chain of flexible beams, and the two ways to its accelerations (003 §3 and §5)."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial

import numpy as np

from benchmarks.engines import Timer, python_time
from benchmarks.ours import loops
from benchmarks.states import COUNT
from limberjack.engine.api.dynamics import Dynamics
from limberjack.engine.common.errors import MissingExtraError
from limberjack.engine.kernels.entry_points import entries
from limberjack.engine.model.flexible import modal_bodies, undeformed
from limberjack.engine.model.system import Body, Hinge, Pose, System
from limberjack.engine.model.validate import validate
from limberjack.engine.modes.frame import Beam, Frame, Material, rectangle
from limberjack.engine.modes.frame_structure import frame_structure
from limberjack.engine.modes.integrals import integrals
from limberjack.engine.modes.reduction import Reduction, reduce_structure

ALUMINIUM = Material(70e9, 26e9, 2700.0)
LENGTH, WIDTH, HEIGHT, ELEMENTS = 1.0, 0.05, 0.03, 20


def chain(bodies: int, modes: int, variant: str = "full") -> System:
    """Slender beams, each hinged on the tip of the one before, about y and z in turn; with 0 modes rigid ones."""
    ends = np.array([[0.0, 0.0, 0.0], [LENGTH, 0.0, 0.0]])
    beam = Beam(("root", "tip"), rectangle(WIDTH, HEIGHT), ALUMINIUM, np.array([0.0, 0.0, 1.0]), ELEMENTS)
    structure = frame_structure(Frame("beam", ("root", "tip"), ends, (beam,)))
    data = reduce_structure(structure, Reduction("cantilever", "root", ("tip",), max(modes, 1)))
    made = integrals(data, "root", ["tip"], None, variant)
    links: list[Body] = []
    for k in range(bodies):
        parent = f"beam{k - 1}.tip" if k and modes else f"beam{k - 1}" if k else None
        axes = np.array([[0.0, 0.0, 1.0]] if k % 2 else [[0.0, 1.0, 0.0]])
        hinge = Hinge(f"hinge{k}", "revolute", parent, axes=axes)
        rigid = [Body(f"beam{k}", undeformed(made), _moved(hinge, k))]
        links += modal_bodies(f"beam{k}", hinge, made) if modes else rigid
    return validate(System(f"chain of {bodies}, {modes} modes each", tuple(links)))


def _moved(hinge: Hinge, k: int) -> Hinge:
    return replace(hinge, inboard=Pose(np.eye(3), np.array([LENGTH, 0.0, 0.0]))) if k else hinge


class States:
    """States to call with in turn: q, v, tau (COUNT, n); modes are deformed as by forces of the order of 1 N."""

    def __init__(self, system: System, seed: int = 3) -> None:
        rng = np.random.default_rng(seed)
        dofs = [(dof, body.hinge.modes) for body in system.bodies for dof in body.hinge.dofs]
        soft = np.array([1.0 / dof.stiffness if modes is not None else 0.5 for dof, modes in dofs])
        self.q = soft * rng.normal(size=(COUNT, system.nq))
        self.v, self.tau = soft * rng.normal(size=(COUNT, system.nv)), rng.normal(size=(COUNT, system.nv))


class Articulated:
    """Articulated-body forward dynamics in a compiled loop."""

    name, note = "articulated body", "compiled loop"

    def __init__(self, system: System, states: States) -> None:
        plant = Dynamics(system).plant
        self._arguments = plant.ints, plant.floats, plant.new_work(), states.q, states.v, states.tau
        self._states, self._out = states, np.zeros(system.nv)
        loops().forward_loop(COUNT, *self._arguments, self._out)
        self.timers: dict[str, Timer] = {"forward": self._time}

    def _time(self, calls: int) -> float:
        begin = time.thread_time()
        loops().forward_loop(calls, *self._arguments, self._out)
        return time.thread_time() - begin

    def result(self, operation: str, k: int) -> np.ndarray:
        ints, floats, work, *_ = self._arguments
        s = self._states
        loops().forward_loop(1, ints, floats, work, s.q[k : k + 1], s.v[k : k + 1], s.tau[k : k + 1], self._out)
        return self._out.copy()


class Composite:
    """Mass matrix by composite bodies, bias by inverse dynamics, LAPACK's Cholesky (dposv): O(N³)."""

    name, note = "composite body", "three calls from Python, about 2 µs of them"

    def __init__(self, system: System, states: States) -> None:
        try:
            from scipy.linalg.lapack import dposv
        except ImportError as error:
            raise MissingExtraError("the composite-body comparison", "scipy", "modes") from error
        self._solve, self._states = dposv, states
        plant = Dynamics(system).plant
        model = plant.ints, plant.floats, plant.new_work()
        self._mass, self._bias = np.zeros((system.nv, system.nv)), np.zeros(system.nv)
        still = np.zeros(system.nv)
        self._mass_matrix = entries().mass_matrix.bind(*model, None, self._mass)
        self._inverse = entries().inverse_dynamics.bind(*model, None, None, still, False, self._bias)
        self.timers: dict[str, Timer] = {"forward": partial(python_time, lambda k: self.result("forward", k))}

    def result(self, operation: str, k: int) -> np.ndarray:
        s = self._states
        self._mass_matrix(s.q[k])
        self._inverse(s.q[k], s.v[k])
        return np.asarray(self._solve(self._mass.T, s.tau[k] - self._bias, lower=0, overwrite_a=1)[1])
