"""A hinge of several dofs moves like a chain of simple hinges with massless bodies between them."""

from __future__ import annotations

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.model.system import Body, Hinge, Inertia, Pose, System
from limberjack.engine.model.validate import validate
from tests.engine.random_systems import coordinates, inertia, pose, random_system, rotation
from tests.validation.figures import figure

#: compound type → (simple type, index of its axis, sign) from the parent outwards; -1: the cross of the two axes given
CHAINS = {
    "universal": [("revolute", 0), ("revolute", 1)],
    "gimbal": [("revolute", 0), ("revolute", 1), ("revolute", 2)],
    "cylindrical": [("revolute", 0), ("prismatic", 0)],
    "planar": [("prismatic", 1), ("prismatic", -1), ("revolute", 0)],
}
#: order of the compound's velocities in that chain
ORDER = {"universal": [0, 1], "gimbal": [0, 1, 2], "cylindrical": [0, 1], "planar": [2, 0, 1]}


def compound_and_chain(hinge_type: str, rng: np.random.Generator) -> tuple[lj.System, lj.System]:
    """The hinge between a swinging body and one that carries another, both ways."""
    axes = rotation(rng)[: {"cylindrical": 1, "gimbal": 3}.get(hinge_type, 2)]
    inboard, outboard = pose(rng), pose(rng)
    first = Body("first", inertia(rng), Hinge("swing", "revolute", None, pose(rng), pose(rng), rotation(rng)[:1]))
    load, last = inertia(rng), inertia(rng)
    end = Hinge("end", "revolute", "load", pose(rng), pose(rng), rotation(rng)[:1])
    whole = Body("load", load, Hinge("joint", hinge_type, "first", inboard, outboard, axes))
    parts = CHAINS[hinge_type]
    chain, parent = [], "first"
    for i, (simple, axis) in enumerate(parts):
        tip = i == len(parts) - 1
        name = "load" if tip else f"link{i}"
        direction = np.cross(axes[0], axes[1]) if axis < 0 else axes[axis]
        hinge = Hinge(
            f"joint{i}", simple, parent, inboard if i == 0 else Pose(), outboard if tip else Pose(), direction[None]
        )
        chain.append(Body(name, load if tip else Inertia(), hinge))
        parent = name
    tail = Body("last", last, end)
    compound = validate(System("compound", (first, whole, tail)))
    return compound, validate(System("chain", (first, *chain, tail)))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("hinge_type", CHAINS)
def test_compound_hinge_equals_its_chain(hinge_type, seed):
    rng = np.random.default_rng(seed)
    compound, chain = compound_and_chain(hinge_type, rng)
    n = len(ORDER[hinge_type])
    order = np.array([0, *(1 + i for i in ORDER[hinge_type]), n + 1])  # place in the chain of each of the compound's
    q = np.concatenate([rng.normal(size=1), coordinates(hinge_type, rng), rng.normal(size=1)])
    v, tau, vdot = rng.normal(size=(3, compound.nv))
    q2, v2, tau2, vdot2 = (np.empty(chain.nv) for _ in range(4))
    q2[order], v2[order], tau2[order], vdot2[order] = q, v, tau, vdot
    one, other = lj.Dynamics(compound), lj.Dynamics(chain)
    M = one.mass_matrix(q)
    figure(
        "mass matrix",
        other.mass_matrix(q2)[np.ix_(order, order)],
        M,
        oracle="a chain of simple hinges",
        atol=1e-13 * np.abs(M).max(),
    )
    expected = one.inverse(q, v, vdot)
    figure(
        "inverse dynamics",
        other.inverse(q2, v2, vdot2)[order],
        expected,
        oracle="a chain of simple hinges",
        atol=1e-12 * np.abs(expected).max(),
    )
    expected = one.forward(q, v, tau)
    atol = 1e-12 * np.linalg.cond(M) * np.abs(expected).max()
    figure(
        "forward dynamics", other.forward(q2, v2, tau2)[order], expected, oracle="a chain of simple hinges", atol=atol
    )
    for node in ("load", "last"):
        figure(
            "velocities",
            other.velocity(node, q2, v2),
            one.velocity(node, q, v),
            oracle="a chain of simple hinges",
            atol=1e-12,
        )


@pytest.mark.parametrize("base", ["fixed", "free"])
def test_long_chains_keep_their_accuracy(base):
    """Inverse undoes forward over 300 bodies: the residual stays within rounding of the terms that cancel."""
    rng = np.random.default_rng(4)
    types = [base, *rng.choice(["revolute", "revolute", "prismatic", "universal"], 300)]
    system = random_system(types, rng, parents=[None, *range(300)], armature=False)
    dynamics = lj.Dynamics(system)
    q = np.concatenate([coordinates(body.hinge.type, rng) for body in system.bodies])
    v, tau = 0.1 * rng.normal(size=(2, system.nv))
    vdot = dynamics.forward(q, v, tau)
    terms = np.abs(dynamics.mass_matrix(q)) @ np.abs(vdot) + np.abs(dynamics.bias(q, v))
    figure(
        "torques after forward and inverse dynamics of 300 bodies",
        dynamics.inverse(q, v, vdot),
        tau,
        oracle="identity",
        atol=1e-12 * terms.max(),
    )
