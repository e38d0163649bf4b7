"""`Dynamics` against Pinocchio: robots from their URDF files, and random trees of the joints that both know.

Tolerance: 1e-9 relative to the largest element is the contract; both sides are within a few hundred roundings, so
1e-12 holds with room for the condition of a humanoid's mass matrix, and is what is asked here.
"""

from __future__ import annotations

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.model.system import Hinge
from tests.engine.dense import skew
from tests.engine.random_systems import random_state, random_system
from tests.engine.robots import FILES, ROBOTS, Order, load_robot, pinocchio_order, robot_state
from tests.validation.figures import figure

pin = pytest.importorskip("pinocchio")

TOLERANCE = 1e-12
SEEDS = (0, 1, 2)


def close(name: str, actual, expected, scale: float = 0.0) -> None:
    size = max(float(np.max(np.abs(expected))), scale)
    figure(name, actual, expected, oracle="Pinocchio", atol=TOLERANCE * size)


class Peer:
    """A Pinocchio model of a robot at one state; results in our order: [angular; linear], our coordinates."""

    def __init__(self, name: str, seed: int) -> None:
        self.system = load_robot(name)
        file, base = FILES[name]
        root = (pin.JointModelFreeFlyer(),) if base == "free" else ()
        self.model = pin.buildModelFromUrdf(str(ROBOTS / file), *root)
        self.model.gravity.linear = self.system.gravity
        self.data = self.model.createData()
        self.order = pinocchio_order(self.system, self.model)
        self.rng = np.random.default_rng(seed)
        self.q, self.v = robot_state(self.system, self.rng)

    def to_q(self, q):
        out = np.zeros(self.model.nq)
        out[self.order.q] = q
        return out

    def to_v(self, v):
        out = np.zeros(self.model.nv)
        out[self.order.v] = v
        return out

    @property
    def state(self):
        return self.to_q(self.q), self.to_v(self.v)


def angular_first(rows: np.ndarray) -> np.ndarray:
    """[v; ω] → [ω; v]."""
    return np.concatenate([rows[3:], rows[:3]])


@pytest.fixture(params=[(name, seed) for name in FILES for seed in SEEDS], ids=lambda p: f"{p[0]}-{p[1]}")
def peer(request) -> Peer:
    return Peer(*request.param)


def test_forces_and_accelerations(peer):
    ours, order = lj.Dynamics(peer.system), peer.order
    q, v = peer.state
    tau, vdot = peer.rng.normal(size=(2, peer.system.nv)) * 10.0
    expected = pin.aba(peer.model, peer.data, q, v, peer.to_v(tau))[order.v]
    M = pin.crba(peer.model, peer.data, q)[np.ix_(order.v, order.v)]
    close("mass matrix", ours.mass_matrix(peer.q), M)
    close(
        "inverse dynamics",
        ours.inverse(peer.q, peer.v, vdot),
        pin.rnea(peer.model, peer.data, q, v, peer.to_v(vdot))[order.v],
    )
    close("bias forces", ours.bias(peer.q, peer.v), pin.nonLinearEffects(peer.model, peer.data, q, v)[order.v])
    gravity = pin.computeGeneralizedGravity(peer.model, peer.data, q)[order.v]
    coriolis = (pin.computeCoriolisMatrix(peer.model, peer.data, q, v) @ v)[order.v]
    close(
        "Coriolis forces",
        ours.bias(peer.q, peer.v) - ours.bias(peer.q, 0 * peer.v),
        coriolis,
        scale=np.abs(gravity).max(),
    )
    # Forward dynamics also carry the condition of M, of the order of 1e6 for a hand on an arm: 1e-16 · 1e6.
    figure(
        "forward dynamics",
        ours.forward(peer.q, peer.v, tau),
        expected,
        oracle="Pinocchio",
        atol=1e-10 * np.abs(expected).max(),
    )


def test_every_frame(peer):
    ours, frame_of = lj.Dynamics(peer.system), pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    q, v = peer.state
    pin.forwardKinematics(peer.model, peer.data, q, v, 0 * v)
    pin.updateFramePlacements(peer.model, peer.data)
    for name in peer.system.node_names:
        index = peer.model.getFrameId(name, pin.FrameType.BODY)
        R, p = ours.pose(name, peer.q)
        close("rotations", R, peer.data.oMf[index].rotation)
        close("positions", p, peer.data.oMf[index].translation, scale=1.0)
        velocity = pin.getFrameVelocity(peer.model, peer.data, index, frame_of)
        close("velocities of nodes", ours.velocity(name, peer.q, peer.v), angular_first(velocity.vector), scale=1.0)
        rate = pin.getFrameClassicalAcceleration(peer.model, peer.data, index, frame_of)
        close("rates of Jacobians", ours.jacobian_rate(name, peer.q, peer.v), angular_first(rate.vector), scale=1.0)
    for name in peer.system.node_names:
        index = peer.model.getFrameId(name, pin.FrameType.BODY)
        J = pin.computeFrameJacobian(peer.model, peer.data, q, index, frame_of)
        close("Jacobians", ours.jacobian(name, peer.q), angular_first(J)[:, peer.order.v], scale=1.0)


def test_totals(peer):
    ours = lj.Dynamics(peer.system)
    q, v = peer.state
    c = pin.centerOfMass(peer.model, peer.data, q)
    close("centre of mass", ours.center_of_mass(peer.q), c)
    h = pin.computeCentroidalMomentum(peer.model, peer.data, q, v)
    about_origin = h.angular + np.cross(c, h.linear)
    close("momentum", ours.momentum(peer.q, peer.v), np.concatenate([about_origin, h.linear]))
    kinetic, potential = ours.energy(peer.q, peer.v)
    figure(
        "kinetic energy",
        kinetic,
        pin.computeKineticEnergy(peer.model, peer.data, q, v),
        unit="J",
        oracle="Pinocchio",
        rtol=TOLERANCE,
    )
    close(
        "potential energy",
        potential,
        pin.computePotentialEnergy(peer.model, peer.data, q),
        scale=pin.computeTotalMass(peer.model),
    )


def test_reactions_and_external_forces(peer):
    ours, system = lj.Dynamics(peer.system), peer.system
    q, v = peer.state
    vdot, wrench = peer.rng.normal(size=system.nv), peer.rng.normal(size=6) * 20.0
    tip = system.body_names[-1]
    frame = peer.model.frames[peer.model.getFrameId(tip, pin.FrameType.BODY)]
    R, _ = ours.pose(tip, peer.q)
    forces = [pin.Force.Zero() for _ in range(peer.model.njoints)]
    local = pin.Force(R.T @ wrench[3:], R.T @ wrench[:3])
    forces[frame.parentJoint] = frame.placement.act(local)
    expected = pin.rnea(peer.model, peer.data, q, v, peer.to_v(vdot), forces)[peer.order.v]
    close("inverse dynamics", ours.inverse(peer.q, peer.v, vdot, {tip: wrench}), expected)
    for joint, name in enumerate(peer.model.names):
        if name not in ("universe", "root_joint"):
            reaction = ours.reaction(name, peer.q, peer.v, vdot, {tip: wrench})
            close(
                "reactions of hinges", reaction, angular_first(peer.data.f[joint].vector), scale=np.abs(expected).max()
            )


# --- random trees, built through Pinocchio's own interface


def peer_joint(hinge: Hinge):
    """The Pinocchio joint of a hinge in its own hinge frame; free, spherical and planar ones along its axes."""
    a = hinge.axes
    match hinge.type:
        case "revolute":
            return pin.JointModelRevoluteUnaligned(a[0])
        case "prismatic":
            return pin.JointModelPrismaticUnaligned(a[0])
        case "helical":
            return pin.JointModelHelicalUnaligned(a[0], hinge.pitch)
        case "universal":
            return pin.JointModelUniversal(a[0], a[1])
        case "spherical":
            return pin.JointModelSpherical()
        case "planar":
            return pin.JointModelPlanar()
    return pin.JointModelFreeFlyer()


def peer_coordinates(hinge: Hinge, q: np.ndarray) -> np.ndarray:
    """Quaternions x y z w; planar [x, y, cos, sin]; free [position, quaternion]."""
    if hinge.type == "spherical":
        return q[[1, 2, 3, 0]]
    if hinge.type == "free":
        return q[[4, 5, 6, 1, 2, 3, 0]]
    if hinge.type == "planar":
        return np.array([q[1], q[2], np.cos(q[0]), np.sin(q[0])])
    return q


def velocity_map(hinge: Hinge, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """S and (dS/dt) v with peer_v = S v: free [v, ω]; planar [v along the turned axes, rate of the angle]."""
    if hinge.type == "free":
        return np.eye(6)[[3, 4, 5, 0, 1, 2]], np.zeros(6)
    if hinge.type != "planar":
        return np.eye(hinge.nv), np.zeros(hinge.nv)
    c, s = np.cos(q[0]), np.sin(q[0])
    S = np.array([[0.0, c, s], [0.0, -s, c], [1.0, 0.0, 0.0]])
    S_rate = v[0] * np.array([[0.0, -s, c], [0.0, -c, -s], [0.0, 0.0, 0.0]])
    return S, S_rate @ v


def planar_axes(hinge: Hinge) -> np.ndarray:
    """Pinocchio's planar joint turns about its z and slides along x and y: R from its axes to the hinge's."""
    if hinge.type != "planar":
        return np.eye(3)
    normal, x = hinge.axes
    return np.column_stack([x, np.cross(normal, x), normal])


def peer_model(system: lj.System):
    model, joint_of, frame_of = pin.Model(), {None: 0}, {None: pin.SE3.Identity()}
    model.gravity.linear = system.gravity
    for body in system.bodies:
        hinge, A = body.hinge, pin.SE3(planar_axes(body.hinge), np.zeros(3))
        inboard = pin.SE3(hinge.inboard.rotation, hinge.inboard.position)
        outboard = pin.SE3(hinge.outboard.rotation, hinge.outboard.position)
        placement = frame_of[hinge.parent] * inboard * A
        joint = model.addJoint(joint_of[hinge.parent], peer_joint(hinge), placement, hinge.name)
        frame_of[body.name] = (outboard * A).inverse()
        inertia = pin.Inertia(body.inertia.mass, body.inertia.com, body.inertia.about_com)
        model.appendBodyToJoint(joint, inertia, frame_of[body.name])
        joint_of[body.name] = joint
    return model


@pytest.mark.parametrize("seed", range(12))
def test_random_trees(seed):
    rng = np.random.default_rng(seed)
    known = ["revolute", "prismatic", "helical", "universal", "spherical", "planar", "free"]
    types = [*rng.permutation(known), *rng.choice(known, 3)]
    parents = [None, *(int(rng.integers(max(0, i - 2), i)) for i in range(1, len(types)))]
    system = random_system(types, rng, parents=depth_first(parents), armature=False)
    q, v = random_state(system, rng)
    model = peer_model(system)
    compare_trees(system, model, q, v, rng)


def depth_first(parents: list[int | None]) -> list[int | None]:
    """The same tree counted depth first, as Pinocchio's composite-body recursion needs it."""
    order, stack = [], [0]
    while stack:
        k = stack.pop()
        order.append(k)
        stack += [i for i, above in enumerate(parents) if above == k]
    return [None if parents[k] is None else order.index(parents[k]) for k in order]


def compare_trees(system: lj.System, model, q: np.ndarray, v: np.ndarray, rng: np.random.Generator) -> None:
    data, ours = model.createData(), lj.Dynamics(system)
    pin_q, S, S_rate_v = mapped(system, q, v)
    pin_v = S @ v
    tau, vdot = rng.normal(size=(2, system.nv))
    M = S.T @ pin.crba(model, data, pin_q) @ S
    close("mass matrix", ours.mass_matrix(q), M)
    expected = S.T @ pin.rnea(model, data, pin_q, pin_v, S @ vdot + S_rate_v)
    close("inverse dynamics", ours.inverse(q, v, vdot), expected)
    pin_tau = np.linalg.solve(S.T, tau)
    expected = np.linalg.solve(S, pin.aba(model, data, pin_q, pin_v, pin_tau) - S_rate_v)
    atol = TOLERANCE * np.linalg.cond(M) * np.abs(expected).max()
    figure("forward dynamics", ours.forward(q, v, tau), expected, oracle="Pinocchio", atol=atol)
    close("kinetic energy", ours.energy(q, v)[0], pin.computeKineticEnergy(model, data, pin_q, pin_v))
    close("centre of mass", ours.center_of_mass(q), pin.centerOfMass(model, data, pin_q))


def mapped(system: lj.System, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pinocchio's q, and S, (dS/dt) v of the whole tree, whose hinges come in the same order."""
    parts, S, rate = [], np.zeros((system.nv, system.nv)), np.zeros(system.nv)
    i = j = 0
    for body in system.bodies:
        h = body.hinge
        parts.append(peer_coordinates(h, q[i : i + h.kind.nq]))
        rows = slice(j, j + h.nv)
        S[rows, rows], rate[rows] = velocity_map(h, q[i : i + h.kind.nq], v[rows])
        i, j = i + h.kind.nq, j + h.nv
    return np.concatenate(parts), S, rate


def test_the_order_maps_are_not_the_identity():
    """A wrong map that leaves everything in place would compare nothing."""
    peer = Peer("talos", 0)
    assert isinstance(peer.order, Order)
    assert not np.array_equal(peer.order.v, np.arange(peer.system.nv))
    assert sorted(peer.order.q) == list(range(peer.system.nq))
    assert np.allclose(skew(np.array([1.0, 2.0, 3.0])), pin.skew(np.array([1.0, 2.0, 3.0])))
