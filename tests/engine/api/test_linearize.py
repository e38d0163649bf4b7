"""`lj.linearize`: against differences of the simulation's own accelerations and outputs, closed forms, and motion."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import expm

import limberjack as lj
from limberjack.engine.api import linearize
from limberjack.engine.common.errors import ArgumentError, UnknownNameError
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.sensor import Sensor
from limberjack.engine.model.system import Body, Dof, Hinge, Inertia, Node, Pose, System
from limberjack.engine.model.validate import validate
from tests.engine.dense import quaternion_matrix
from tests.engine.full_model import full_model
from tests.engine.kernels.slopes.test_derivatives import differences
from tests.engine.motions import hinges, move, quaternion_product
from tests.engine.random_systems import random_state, random_system
from tests.validation.figures import figure

EXAMPLES = Path(__file__).parents[3] / "examples"
#: of the largest number of a row; differences over the stiff friction of the model are good to about 1e-8
TOLERANCE = 1e-7
MASS, STIFFNESS, DAMPING = 2.0, 50.0, 3.0


def cart(**changes) -> System:
    """A mass on a spring and damper along x, with position, rate and force as outputs."""
    dof = Dof(stiffness=STIFFNESS, damping=DAMPING, rest=0.1)
    hinge = Hinge("slide", "prismatic", None, axes=np.array([[1.0, 0.0, 0.0]]), dofs=(dof,), q0=np.array([0.1]))
    sensors = tuple(Sensor(name, name, "slide") for name in ("position", "rate", "effort"))
    body = Body("cart", Inertia(MASS), hinge)
    return validate(System("cart", (body,), sensors=sensors, gravity=np.zeros(3), **changes))


def close(actual: np.ndarray, expected: np.ndarray, floor: float = 0.1) -> None:
    """Row by row; the reaction of a free hinge is zero."""
    for a, b in zip(actual, expected):
        if np.size(b):
            atol = TOLERANCE * max(np.abs(b).max(initial=0.0), floor)
            figure("matrices", a, b, oracle="differences of the simulation's own", atol=atol)


@pytest.fixture(scope="module")
def state():
    """A state of the full model in which stops, drives below and at their limits act and all but one hinge moves."""
    system, rng = full_model(), np.random.default_rng(0)
    q = move(system, system.q0, 0.1 * rng.normal(size=system.nv))
    v = system.v0 + 0.1 * rng.normal(size=system.nv)
    for hinge, _, own in hinges(system):
        if hinge.type == "custom":
            v[own] = 0.0
    return system, q, v


def test_matrices_are_slopes_of_the_simulation(state):
    system, q, v = state
    simulation, model, nv = lj.Simulation(system), lj.linearize(system, q, v), system.nv

    def at(x: np.ndarray, u: np.ndarray) -> np.ndarray:
        simulation.q, simulation.v = move(system, q, x[:nv]), v + x[nv:]
        simulation.command_vector = u
        return np.concatenate([simulation.vdot, simulation.output_vector])

    zero = np.zeros(2 * nv)
    of_x = differences(lambda x: at(x, model.u), 2 * nv, 2e-4)
    of_u = differences(lambda u: at(zero, model.u + u), len(model.u), 2e-4)
    close(np.vstack([model.A[nv:], model.C]), of_x)
    close(np.vstack([model.B[nv:], model.D]), of_u)
    assert np.array_equal(np.concatenate([model.vdot, model.y]), at(zero, model.u))
    assert np.array_equal(model.A[:nv, nv:], np.eye(nv))
    assert not model.B[:nv].any()
    assert not model.is_equilibrium()


def displacement(system: System, q: np.ndarray, moved: np.ndarray) -> np.ndarray:
    """δ with moved = q ⊕ δ, to first order."""
    out = np.zeros(system.nv)
    for hinge, i, j in hinges(system):
        if not hinge.kind.quasi:
            out[j] = moved[i] - q[i]
            continue
        a, b = q[i], moved[i]
        turn = 2.0 * quaternion_product(a[:4] * [1, -1, -1, -1], b[:4])[1:]
        full = np.concatenate([turn, quaternion_matrix(a[:4]).T @ (b[4:] - a[4:])]) if len(a) == 7 else turn
        out[j] = full if hinge.map is None else np.linalg.lstsq(hinge.map, full, rcond=None)[0]
    return out


def test_displacements_of_moving_quaternion_hinges():
    """d(δq)/dt from two neighbouring motions, a short while before and after."""
    rng = np.random.default_rng(1)
    system = random_system(["free", "spherical", "revolute", "gimbal", "free"], rng)
    (q, v), h, small = random_state(system, rng), 1e-4, 1e-5
    model, nv = lj.linearize(system, q, v), system.nv
    for _ in range(5):
        d, e = small * rng.normal(size=(2, nv))
        after, before = (
            displacement(system, move(system, q, t * v), move(system, move(system, q, d), t * (v + e))) for t in (h, -h)
        )
        rate = model.A[:nv] @ np.concatenate([d, e])
        figure(
            "rates of displacements",
            (after - before) / (2.0 * h),
            rate,
            oracle="two neighbouring motions",
            atol=1e-3 * np.abs(rate).max(),
        )


def test_cart_by_hand():
    model = lj.linearize(cart())
    assert (model.states, model.state_units) == (("slide", "slide.rate"), ("m", "m/s"))
    assert (model.inputs, model.input_units) == (("slide",), ("N",))
    assert (model.outputs, model.output_units[2]) == (("position", "rate", "effort"), "N")
    figure("A of a cart", model.A, [[0.0, 1.0], [-STIFFNESS / MASS, -DAMPING / MASS]], oracle="by hand", rtol=1e-14)
    figure("B of a cart", model.B, [[0.0], [1.0 / MASS]], oracle="by hand", rtol=1e-14)
    figure("C of a cart", model.C, [[1.0, 0.0], [0.0, 1.0], [-STIFFNESS, -DAMPING]], oracle="by hand", rtol=1e-14)
    np.testing.assert_allclose(model.D, [[0.0], [0.0], [1.0]], rtol=1e-14)
    assert model.is_equilibrium()
    (mode,) = model.modes()
    figure("frequency", mode.frequency, np.sqrt(STIFFNESS / MASS), unit="rad/s", oracle="√(k/m)", rtol=1e-14)
    figure("damping", mode.damping, DAMPING / (2.0 * np.sqrt(STIFFNESS * MASS)), oracle="c / 2√(km)", rtol=1e-13)
    assert mode.hertz == pytest.approx(mode.frequency / (2.0 * np.pi))
    np.testing.assert_allclose(mode.shape[1] / mode.shape[0], mode.pole, rtol=1e-12)
    np.testing.assert_allclose(sorted(model.poles, key=np.imag), [mode.pole.conjugate(), mode.pole], rtol=1e-13)
    omega = np.array([0.0, 1.0, 5.0, 40.0])
    expected = 1.0 / (STIFFNESS - MASS * omega**2 + 1j * omega * DAMPING)
    figure("response", model.response(omega)[:, 0, 0], expected, unit="m/N", oracle="1/(k - mω² + iωc)", rtol=1e-12)


def test_drives_and_their_limits():
    servo = Actuator("servo", "slide", "servo", kp=30.0, kd=4.0, limit=10.0)
    system = cart(actuators=(servo,))
    model = lj.linearize(system, command={"servo": 0.2})
    assert model.inputs == ("servo", "servo.rate", "servo.torque")
    assert model.input_units == ("m", "m/s", "N")
    np.testing.assert_allclose(model.A[1], [-(STIFFNESS + 30.0) / MASS, -(DAMPING + 4.0) / MASS], rtol=1e-14)
    np.testing.assert_allclose(model.B[1], np.array([30.0, 4.0, 1.0]) / MASS, rtol=1e-14)
    assert model.vdot[0] == pytest.approx(30.0 * 0.1 / MASS)
    beyond = lj.linearize(system, command=[5.0, 0.0, 0.0])
    assert not beyond.B.any()
    np.testing.assert_allclose(beyond.A[1], [-STIFFNESS / MASS, -DAMPING / MASS], rtol=1e-14)
    without = lj.linearize(system, tau=[0.0])
    np.testing.assert_allclose(without.A, beyond.A, rtol=1e-14)
    assert without.inputs == ("slide",)


def test_small_motion_follows_the_model():
    """A chain that hangs in gravity, let go near its equilibrium: x(t) = exp(A t) x(0) to first order."""
    hinge = {"type": "revolute", "axes": np.array([[0.0, 1.0, 0.0]]), "dofs": (Dof(damping=0.05),)}
    rod = Inertia(1.0, np.array([0.0, 0.0, -0.25]), np.diag([0.02, 0.02, 0.001]))
    first = Body("upper", rod, Hinge("a", parent=None, **hinge))
    lower = Hinge("b", parent="upper", inboard=Pose(position=np.array([0, 0, -0.5])), **hinge)
    system = validate(System("double", (first, Body("lower", rod, lower)), dt=1e-3))
    model, x = lj.linearize(system), 1e-5 * np.array([1.0, -2.0, 3.0, 1.0])
    assert model.is_equilibrium()
    simulation = lj.Simulation(system)
    simulation.q, simulation.v = x[:2], x[2:]
    simulation.step(500)
    expected = expm(0.5 * model.A) @ x
    figure(
        "motion of a hanging chain",
        np.r_[simulation.q, simulation.v],
        expected,
        oracle="exp(A t) x",
        atol=1e-7 * np.abs(expected).max(),
    )
    assert all(0.0 < mode.damping < 1.0 and not mode.rigid for mode in model.modes())


def test_a_free_body_has_rigid_modes_only():
    system = random_system(["free"], np.random.default_rng(0), gravity=np.zeros(3))
    model = lj.linearize(system, v=np.zeros(6))
    assert all(mode.rigid for mode in model.modes())
    assert model.states[:6] == ("h0.rx", "h0.ry", "h0.rz", "h0.x", "h0.y", "h0.z")
    assert model.state_units[3:9] == ("m", "m", "m", "rad/s", "rad/s", "rad/s")
    assert np.array_equal(model.C, np.eye(12))
    assert model.outputs == model.states
    assert "rigid" in str(model)


def test_a_model_that_does_not_move_has_an_empty_model():
    model = lj.linearize(random_system(["fixed"], np.random.default_rng(0), merge=False))
    assert (model.A.shape, model.modes(), len(model.poles)) == ((0, 0), (), 0)
    assert "0 states" in str(model)


def test_the_table_says_what_it_is_about():
    text = str(lj.linearize(cart(), tau=[4.0]))
    assert "2 states, 1 inputs, 3 outputs" in text
    assert "no equilibrium: d(slide)/dt = 0, d(slide.rate)/dt = 2" in text
    assert "-0.75 ± 4.943j" in text
    assert "equilibrium\n" in str(lj.linearize(cart()))


def test_misuse_is_reported():
    system = cart(actuators=(Actuator("push", "slide"),))
    with pytest.raises(ArgumentError, match="both tau and command"):
        lj.linearize(system, tau=[0.0], command=[0.0])
    with pytest.raises(ArgumentError, match=r"q has shape \(2,\)"):
        lj.linearize(system, q=[0.0, 1.0])
    with pytest.raises(ArgumentError, match=r"command has shape"):
        lj.linearize(system, command=[0.0, 1.0])
    with pytest.raises(UnknownNameError, match="did you mean 'push'"):
        lj.linearize(system, command={"pusch": 0.0})
    with pytest.raises(ArgumentError, match="a System is needed"):
        lj.linearize("cart.yaml")
    undamped = validate(System("spring", (Body("b", Inertia(1.0), spring()),), gravity=np.zeros(3)))
    with pytest.raises(ArgumentError, match="undamped pole"):
        lj.linearize(undamped).response(2.0)
    with pytest.raises(ArgumentError, match="frequencies"):
        lj.linearize(system).response([[1.0]])
    with pytest.raises(ArgumentError, match="frequencies must be numbers"):
        lj.linearize(system).response("fast")
    with pytest.raises(UnknownNameError, match="no command is called 'push'; there is none"):
        lj.linearize(cart(), command={"push": 0.0})


def spring() -> Hinge:
    return Hinge("s", "prismatic", None, axes=np.array([[1.0, 0.0, 0.0]]), dofs=(Dof(stiffness=4.0),))


def test_a_custom_hinge_whose_map_is_not_closed_must_rest():
    screw = np.array([[0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]]).T
    hinge = Hinge("odd", "custom", None, map=screw)
    system = validate(System("odd", (Body("b", Inertia(1.0, about_com=np.diag([1.0, 2.0, 2.5])), hinge),)))
    assert lj.linearize(system).states == ("odd.d1", "odd.d2", "odd.1", "odd.2")
    with pytest.raises(ArgumentError, match="hinge 'odd' moves"):
        lj.linearize(system, v=[1.0, 2.0])


def test_forces_in_the_place_of_drives_leave_the_sensors_of_drives_out():
    system = lj.load(EXAMPLES / "instruments" / "servicer.yaml")
    driven = {sensor.name for sensor in system.sensors if sensor.type.startswith(("motor_", "thrust"))}
    model = lj.linearize(system, tau=np.zeros(system.nv))
    shown = {name.split(".")[0] for name in model.outputs}
    assert driven
    assert shown == {sensor.name for sensor in system.sensors} - driven
    assert model.inputs == system.velocity_names


def test_a_sensor_without_a_closed_form_has_slopes_by_differences(monkeypatch):
    """And not rows of zeros."""
    hinge = Hinge("turn", "revolute", None, axes=np.array([[0.0, 0.0, 1.0]]))
    bodies, nodes = (Body("arm", Inertia(2.0, np.array([0.3, 0.0, 0.0])), hinge),), (Node("tip", "arm"),)
    system = validate(
        System("arm", bodies, nodes, (), (Sensor("seen", "gyro", "tip"),), gravity=np.array([0, -9.8, 0]))
    )
    known = lj.linearize(system, v=[0.7])
    monkeypatch.setattr(linearize, "CLOSED_FORMS", linearize.CLOSED_FORMS - {"gyro"})
    found = lj.linearize(system, v=[0.7])
    assert np.abs(known.C).max() > 0.5
    for name in "ABCD":
        np.testing.assert_allclose(getattr(found, name), getattr(known, name), rtol=0, atol=1e-8)
    assert found.accuracy > known.accuracy
