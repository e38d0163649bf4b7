"""`lj.linearize` with flexible bodies: closed forms of beams, and complex steps through the workbench."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import eigvals

import limberjack as lj
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.sensor import Sensor
from limberjack.engine.model.flexible import modal_bodies
from limberjack.engine.model.system import Hinge, Loop, Pose, System
from limberjack.engine.model.validate import validate
from limberjack.engine.operators import Operators
from limberjack.engine.operators.closure import STEP
from limberjack.engine.operators.tree_model import moved_coordinates
from tests.engine.kernels.flexible.beams import Strip, hung, modal, on_a_hub, stiffness
from tests.engine.kernels.flexible.closed import looped, onto, rows
from tests.engine.kernels.flexible.linkages import beam
from tests.engine.kernels.flexible.particles import random_flexible, random_state
from tests.engine.kernels.flexible.test_frequencies import hub_and_beam, roots, spun
from tests.engine.motions import move
from tests.validation.figures import figure

EXAMPLES = Path(__file__).parents[4] / "examples"
SEEDS = range(4)
STRIP = Strip()


def test_a_clamped_beam_has_its_poles():
    """s = -ζω ± iω √(1 - ζ²) with ω = β² √(EI / ρA L⁴), βL = 1.8751, 4.6941, 7.8548."""
    data = replace(STRIP.data("cantilever", 6), damping=np.array([0.01, 0.02, 0.03, 0.1, 0.1, 0.1]))
    system = validate(System("strip", tuple(hung(data, Hinge("clamp", "fixed", None)))))
    model = lj.linearize(system)
    assert model.states[:2] == ("strip.modes.1", "strip.modes.2")
    assert model.states[6:8] == ("strip.modes.1.rate", "strip.modes.2.rate")
    assert model.state_units == ("m",) * 6 + ("m/s",) * 6
    omega = np.array([1.87510407, 4.69409113, 7.85475744]) ** 2 * STRIP.rate
    found = model.modes()[:3]
    figure(
        "frequencies of a clamped beam",
        [mode.frequency for mode in found],
        omega,
        unit="rad/s",
        oracle="βL in closed form",
        rtol=2e-5,
    )  # forty elements
    np.testing.assert_allclose([mode.damping for mode in found], [0.01, 0.02, 0.03], rtol=1e-9)
    exact = np.sqrt(stiffness(system))
    np.testing.assert_allclose([mode.frequency for mode in model.modes()], exact, rtol=1e-10)


def test_a_hub_with_a_beam_has_the_frequencies_of_the_transcendental_equation():
    """The hub turns the beam by its command: B = M⁻¹ of the hub's torque, the rigid pole is double."""
    scale = STRIP.line_mass * STRIP.length**3
    system = on_a_hub(STRIP.data("cantilever", 14), 0.1 * scale)
    sensors = (Sensor("turn", "position", "turn"), Sensor("tip", "node_position", "strip.tip"))
    system = validate(replace(system, actuators=(Actuator("motor", "turn"),), sensors=sensors))
    model = lj.linearize(system)
    expected = roots(hub_and_beam(0.1, 0.0, None), 0.3, 13.0, 3) ** 2 * STRIP.rate
    found = [mode.frequency for mode in model.modes() if not mode.rigid]
    figure(
        "frequencies of a hub with a beam", found[:3], expected, oracle="transcendental equation", rtol=2e-4
    )  # what fourteen modes leave out
    n, M = system.nv, lj.Dynamics(system).mass_matrix(system.q0)
    np.testing.assert_allclose(model.B[n:, 0], np.linalg.inv(M)[0], rtol=0, atol=1e-11 * np.abs(model.B).max())
    K = -M @ model.A[n:, :n]
    np.testing.assert_allclose(K, np.diag(stiffness(system)), rtol=0, atol=1e-9 * stiffness(system).max())
    (node,) = (body.hinge.attachment for body in system.bodies if body.hinge.attachment)
    tip = [model.outputs.index(f"tip.{axis}") for axis in "xyz"]
    np.testing.assert_allclose(model.C[tip, 1:n], node.Pt, rtol=0, atol=1e-11)
    np.testing.assert_allclose(model.C[tip, 0], [0.0, STRIP.length, 0.0], atol=1e-9)
    assert model.outputs[0] == "turn"
    np.testing.assert_allclose(model.C[0], np.eye(2 * n)[0], atol=1e-12)
    assert model.is_equilibrium()


def with_dofs(system: System, **values: float) -> System:
    """The system with these values in the data of all degrees of freedom."""
    bodies = []
    for body in system.bodies:
        dofs = tuple(replace(dof, **values) for dof in body.hinge.dofs)
        bodies.append(replace(body, hinge=replace(body.hinge, dofs=dofs)))
    return replace(system, bodies=tuple(bodies))


def exact(system: System, q: np.ndarray, v: np.ndarray, vdot: np.ndarray) -> np.ndarray:
    """(nv, 2 nv) slopes of dv/dt by complex steps through the workbench's [T]_θ, and in v by its quadratic form."""
    dynamics, n, units = lj.Dynamics(system), system.nv, np.eye(system.nv)

    def force(step: np.ndarray) -> np.ndarray:
        o = Operators(system, moved_coordinates(system, q, 1j * STEP * step), v)
        return (o.H * (o.phi * (o.M * (o.phi.T * (o.H.T * vdot + o.a + o.g)) + o.b))).to_array().imag / STEP

    moved = np.column_stack([force(unit) for unit in units])
    quick = np.column_stack([0.5 * (dynamics.bias(q, v + unit) - dynamics.bias(q, v - unit)) for unit in units])
    dofs = [dof for body in system.bodies for dof in body.hinge.dofs]
    K, C = np.diag([dof.stiffness for dof in dofs]), np.diag([dof.damping for dof in dofs])
    assert moved.shape == (n, n)
    return np.linalg.solve(dynamics.mass_matrix(q), -np.hstack([moved + K, quick + C]))


@pytest.mark.parametrize("seed", SEEDS)
def test_slopes_are_those_of_complex_steps(seed):
    """At a deformed, moving, accelerating state, gravity and curved displacements included."""
    rng = np.random.default_rng(seed)
    system = random_flexible(rng, 0.1).system
    q, v = random_state(system, rng, 0.05)
    model = lj.linearize(system, q, v, rng.normal(size=system.nv))
    expected = exact(system, q, v, model.vdot)
    for row, other in zip(model.A[system.nv :].T, expected.T):
        figure("slopes", row, other, oracle="complex steps through the workbench", atol=1e-11 * np.abs(expected).max())
    M = lj.Dynamics(system).mass_matrix(q)
    np.testing.assert_allclose(M @ model.B[system.nv :], np.eye(system.nv), rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", ["long_arm", "solar_satellite"])
def test_spacecraft_too(name):
    system = lj.load(EXAMPLES / f"{name}.yaml")
    rng = np.random.default_rng(1)
    q, v = random_state(system, rng, 1e-4)
    bare = replace(with_dofs(system, friction=0.0), actuators=(), sensors=())
    v[modal(system)] *= 1e-3
    model = lj.linearize(bare, q, v)
    expected = exact(bare, q, v, model.vdot)
    figure(
        "slopes of spacecraft",
        model.A[system.nv :],
        expected,
        oracle="complex steps through the workbench",
        atol=1e-10 * np.abs(expected).max(),
    )


def test_a_flexible_body_in_orbit_feels_the_gradient_of_the_field():
    """∂v̇/∂p = µ/r³ (3 e e* - 1) of the whole, at a distance at which a millimetre changes nothing."""
    mu, r = 3.986004418e14, 7.0e6
    root = Hinge("root", "free", None, q0=np.array([1.0, 0, 0, 0, r, 0, 0]))
    field = lj.CentralGravity(mu, gradient=False)
    system = validate(System("orbit", tuple(hung(STRIP.data("cantilever", 3), root)), gravity=np.zeros(3)))
    model = lj.linearize(replace(system, central=field))
    places = [system.velocity_names.index(f"root.v{axis}") for axis in "xyz"]
    gradient = model.A[np.ix_([system.nv + i for i in places], places)]
    expected = mu / (r + 0.5 * STRIP.length) ** 3 * np.diag([2.0, -1.0, -1.0])
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-8 * mu / r**3)


@pytest.mark.parametrize("seed", SEEDS)
def test_sensors_are_those_of_the_engine_a_little_away(seed):
    rng = np.random.default_rng(seed)
    system = random_flexible(rng, 0.1).system
    kinds = ("node_position", "node_angular_velocity", "node_linear_velocity", "accelerometer")
    sensors = tuple(Sensor(f"hand {kind}", kind, "hand") for kind in kinds)
    sensors += (Sensor("bend", "position", "boom.modes.1"), Sensor("pull", "effort", "panel.modes.1"))
    sensors += (Sensor("strain", "strain_energy", "boom"), Sensor("load", "reaction", "boom.node1"))
    system = validate(replace(system, sensors=sensors))
    q, v = random_state(system, rng, 0.05)
    model, simulation = lj.linearize(system, q, v, np.zeros(system.nv)), lj.Simulation(system)
    n, h, columns = system.nv, 1e-4, []
    for unit in np.eye(2 * n):
        seen = []
        for t in (h, -h):
            simulation.q, simulation.v = move(system, q, t * unit[:n]), v + t * unit[n:]
            seen.append(simulation.output_vector)
        columns.append((seen[0] - seen[1]) / (2 * h))
    for row, other in zip(model.C, np.column_stack(columns)):
        np.testing.assert_allclose(row, other, rtol=0, atol=1e-5 * max(1.0, np.abs(other).max()))


@pytest.mark.parametrize("kind", ["point", "weld"])
def test_loops_by_force(kind):
    """Slopes of the accelerations between neighbouring states that keep the loop closed."""
    system, q, v, rng = looped(2, kind)
    free, dynamics = lj.Dynamics(replace(system, loops=())), lj.Dynamics(system)
    v = onto(rows(system, free, q), v)
    model = lj.linearize(system, q, v, np.zeros(system.nv))
    n = len(model.v)
    assert n == system.nv - len(rows(system, free, q))
    own = [system.velocity_names.index(name.removesuffix(".rate")) for name in model.states[n:]]
    rest = [j for j in range(system.nv) if j not in own]

    def whole(q: np.ndarray, given: np.ndarray) -> np.ndarray:
        J, v = rows(system, free, q), np.zeros(system.nv)
        v[own], v[rest] = given, -np.linalg.solve(J[:, rest], J[:, own] @ given)
        return v

    def acceleration(d: np.ndarray) -> np.ndarray:
        at = lj.assemble(system, move(system, q, whole(q, d[:n])), v).q0
        moving = whole(at, v[own] + d[n:])
        return dynamics.forward(at, moving, dynamics.passive(at, moving))[own]

    for direction in rng.normal(size=(4, 2 * n)):
        h, expected = 1e-4, model.A[n:] @ direction
        found = (acceleration(h * direction) - acceleration(-h * direction)) / (2 * h)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("spin", [0.0, 8.0])
def test_the_slopes_of_a_spinning_beam_are_those_of_its_differential_equation(spin):
    """-M ∂v̇/∂η = K + ∂b/∂η: three frequencies in the plane of rotation; without damping no pole moves off the axis."""
    system = with_dofs(on_a_hub(STRIP.data("cantilever", 12), 1.0, 0.5 * STRIP.length), damping=0.0)
    model, places = lj.linearize(system, v=np.eye(system.nv)[0] * spin * STRIP.rate), modal(system)
    M = lj.Dynamics(system).mass_matrix(system.q0)
    stiffened = -(M @ model.A[system.nv :, : system.nv])[np.ix_(places, places)]
    np.testing.assert_allclose(stiffened, stiffened.T, rtol=0, atol=1e-9 * np.abs(stiffened).max())
    found = np.sqrt(np.sort(eigvals(stiffened, M[np.ix_(places, places)]).real)[:3]) / STRIP.rate
    figure(
        "frequencies of a spinning beam",
        found,
        roots(spun(spin, 0.5, True), 0.5, 130.0, 3),
        oracle="its differential equation",
        rtol=1e-3,
    )
    if spin == 0.0:
        assert all(abs(mode.damping) < 1e-9 for mode in model.modes() if not mode.rigid)


def test_a_beam_in_gravity_hangs_in_its_equilibrium():
    """η = K⁻¹ S* g, and there the model is at rest."""
    data = STRIP.data("cantilever", 4)
    upright = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # the beam's y axis is vertical
    hinge = Hinge("clamp", "fixed", None, inboard=Pose(upright))
    system = validate(System("strip", tuple(hung(data, hinge, variant="linearized"))))
    sag = -lj.Dynamics(system).bias(system.q0, np.zeros(system.nv)) / stiffness(system)
    model = lj.linearize(system, sag)
    assert not lj.linearize(system).is_equilibrium()
    assert model.is_equilibrium()


def tied_rod(length: float, modes: int, method: str) -> System:
    """A rod of 20 mm by 8 mm on a universal joint, its tip tied by a point: it may bend and twist, but not turn."""
    axes = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    root = Hinge("root", "universal", None, axes=axes, q0=np.array([0.3, 0.2]))
    bodies = tuple(modal_bodies("rod", root, beam(length, modes, "craig-bampton")))
    loose = validate(System("rod", bodies, gravity=np.zeros(3)))
    tip = Pose(*lj.Dynamics(loose).pose("rod.tip", loose.q0))
    tie = Loop("tie", "point", Hinge("tie", "spherical", "rod.tip", outboard=tip), None, method=method)
    return validate(replace(loose, loops=(tie,)))


@pytest.mark.parametrize("method", ["force", "embed"])
@pytest.mark.parametrize("modes", [2, 4, 8])
@pytest.mark.parametrize("length", [1.0, pytest.param(2.0, marks=pytest.mark.long), 4.0])
def test_steps_stay_where_a_slender_body_has_a_mass_matrix(length, modes, method):
    """A step of 1e-3 rad of the joint bends the rod beyond the range of its inertia.

    Poles at rest, where nothing is strained and rows do not turn: those of X* M X ξ̈ + X* K X ξ = 0.
    """
    system = tied_rod(length, modes, method)
    model = lj.linearize(system, system.q0, np.zeros(system.nv))
    X, M = Operators(system, system.q0, embed=["tie"]).X.to_array(), lj.Dynamics(system).mass_matrix(system.q0)
    squares = eigvals(X.T @ np.diag(stiffness_of(system)) @ X, X.T @ M @ X).real
    np.testing.assert_allclose([mode.frequency for mode in model.modes()], np.sqrt(np.sort(squares)), rtol=1e-8)


def stiffness_of(system: System) -> list[float]:
    """Along every velocity."""
    return [dof.stiffness for body in system.bodies for dof in body.hinge.dofs]


def test_a_body_bent_beyond_its_range_is_named():
    system = replace(tied_rod(2.0, 4, "force"), loops=())
    q = system.q0.copy()
    q[2:4] = 1e3
    with pytest.raises(lj.ArgumentError, match=r"not positive definite.*flexible body 'rod'.*`limberjack modes`"):
        lj.linearize(system, q)


def test_a_simulation_does_not_return_nan():
    """Of a body bent beyond its range, where a step is refused, and so are the accelerations that it would take."""
    system = replace(tied_rod(2.0, 4, "force"), loops=())
    simulation = lj.Simulation(system)
    q = system.q0.copy()
    q[2:4] = 1e3
    simulation.q = q
    for asked in (lambda: simulation.vdot, lambda: simulation.output_vector):
        with pytest.raises(lj.SimulationError, match=r"not finite at 'root.*flexible body 'rod'"):
            asked()
