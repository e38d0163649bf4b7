"""Connect, weld and joint equalities against MuJoCo, both loading the same MJCF text.

MuJoCo's equalities are soft: its accelerations leave the constraint by R f, with R at least 1e-4 of the rows' inverse
inertia (the impedance is limited to 0.9999), and it drops (dJ/dt) v. So its own Jacobian, mass matrix and forces are
taken, and the hard solution is formed from them; (dJ/dt) v comes from eighth-order differences, good to 1e-9. Its soft
accelerations at rest are compared as well, to the 1e-3 that this softness and two loops' interplay leave.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest

import limberjack as lj
from tests.engine.kernels.loops.agreement import close
from tests.engine.kernels.loops.oracle import Oracle, split
from tests.engine.kernels.sweeps.test_mujoco import Peer
from tests.engine.mjcf_writer import to_mjcf
from tests.engine.motions import derivative, move, unit_quaternions
from tests.engine.random_systems import random_system

mujoco = pytest.importorskip("mujoco")

TYPES = ["spherical", "revolute", "prismatic", "revolute", "spherical", "revolute", "prismatic", "revolute"]


@dataclass
class Case:
    """One model on both sides and a state at which its loops are closed."""

    system: lj.System
    oracle: Oracle
    model: object
    q: np.ndarray
    v: np.ndarray
    rng: np.random.Generator

    def forward(self, method: str, tau: np.ndarray) -> np.ndarray:
        """The engine's accelerations."""
        loops = tuple(replace(loop, method=method) for loop in self.system.loops)
        return lj.Dynamics(replace(self.system, loops=loops)).forward(self.q, self.v, tau)

    def peer(self, q: np.ndarray, v: np.ndarray) -> Peer:
        return Peer(self.oracle.tree, self.model, q, v)


def equalities(kinds: list[str], rng: np.random.Generator, solimp: str) -> str:
    """Elements between bodies far from each other in the tree, or joints 1, 5 and 7."""
    pairs = iter([("b7", "b2"), ("b4", "b6")])
    lines = []
    for kind in kinds:
        if kind == "joint":
            c = rng.uniform(0.2, 0.8, 4)
            lines.append(f'<joint joint1="h7" joint2="h1" polycoef="0 {c[0]} {c[1]} {c[2]} {c[3]}" {solimp}/>')
            continue
        a, b = next(pairs)
        x, y, z = rng.uniform(-0.3, 0.3, 3)
        lines.append(f'<{kind} name="{kind}{a}" body1="{a}" body2="{b}" anchor="{x} {y} {z}" {solimp}/>')
    return "<equality>" + "".join(lines) + "</equality>"


def case(kinds: list[str], seed: int, folder, solimp: str = "") -> Case:
    rng = np.random.default_rng(seed)
    tree = random_system(TYPES, rng, parents=[None, 0, 1, 0, 3, 4, 3, 6], armature=False)
    text = to_mjcf(tree).replace("</mujoco>", equalities(kinds, rng, solimp) + "</mujoco>")
    file = folder / "closed.xml"
    file.write_text(text)
    system = lj.load(file)
    oracle = Oracle(system)
    model = mujoco.MjModel.from_xml_path(str(file))
    model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    nearby = move(oracle.tree, system.q0, 0.3 * rng.normal(size=system.nv))
    q = oracle.close(unit_quaternions(oracle.tree, nearby))
    return Case(system, oracle, model, q, oracle.impulse(q, rng.normal(size=system.nv))[0], rng)


def jacobian(peer: Peer) -> np.ndarray:
    """Rows of MuJoCo's equalities over our velocities."""
    rows = peer.data.efc_J.reshape(-1, peer.model.nv)
    return rows[peer.data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY] @ peer.map.S


def hard_accelerations(case: Case, tau: np.ndarray) -> np.ndarray:
    """From MuJoCo's M, bias and J: the accelerations that keep J v = 0."""
    peer, zero = case.peer(case.q, case.v), np.zeros(case.system.nv)
    J, M, bias = jacobian(peer), peer.mass_matrix(), peer_bias(peer)
    slow = 0.2 * case.v  # (dJ/dt) v is quadratic in v
    drift = 25.0 * derivative(case.oracle.tree, case.q, slow, zero, lambda q, v: jacobian(case.peer(q, v)) @ v)
    pseudo, N = split(J)
    particular = -pseudo @ drift
    return particular + N @ np.linalg.solve(N.T @ M @ N, N.T @ (tau - bias - M @ particular))


def peer_bias(peer: Peer) -> np.ndarray:
    """M (dS/dt v) and MuJoCo's own bias, along our velocities."""
    rate = np.zeros(peer.model.nv)
    mujoco.mj_mulM(peer.model, peer.data, rate, peer.map.S_rate_v)
    return peer.map.S.T @ (peer.data.qfrc_bias + rate)


Solver = Callable[[Case, np.ndarray], np.ndarray]
SOLVERS: dict[str, Solver] = {
    "reference": lambda case, tau: case.oracle.solve(case.q, case.v, tau).vdot,
    "embed": lambda case, tau: case.forward("embed", tau),
    "force": lambda case, tau: case.forward("force", tau),
}
KINDS = [["connect"], ["weld"], ["joint"], ["connect", "joint"], ["connect", "weld"]]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kinds", KINDS, ids="-".join)
@pytest.mark.parametrize("seed", range(3))
def test_accelerations(solver, kinds, seed, tmp_path):
    both = case(kinds, seed, tmp_path)
    assert np.abs(both.oracle.gaps(both.q)).max() < 1e-12
    tau = both.rng.normal(size=both.system.nv)
    close(
        SOLVERS[solver](both, tau), hard_accelerations(both, tau), name="accelerations", oracle="MuJoCo's M, bias and J"
    )


@pytest.mark.filterwarnings("ignore::limberjack.ModelWarning")
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kinds", KINDS[:4], ids="-".join)
def test_soft_accelerations_at_rest(solver, kinds, tmp_path):
    both = case(kinds, 7, tmp_path, 'solimp="0.9999 0.9999 0.001"')
    both.v = 0.0 * both.v
    tau = both.rng.normal(size=both.system.nv)
    peer = both.peer(both.q, both.v)
    peer.model.opt.tolerance, peer.model.opt.iterations = 0.0, 200
    close(
        SOLVERS[solver](both, tau),
        peer.forward(tau),
        tolerance=1e-3,
        name="accelerations",
        oracle="MuJoCo's soft loops",
    )
