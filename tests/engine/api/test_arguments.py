"""Every error of `Dynamics` and `Simulation` says what is wrong, where, and what to give instead."""

from __future__ import annotations

import re
from importlib.resources import files

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.api.stepping import MOST_SUBSTEPS
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.sensor import Sensor
from limberjack.engine.model.system import Body, Dof, Hinge, Inertia, Node, System
from limberjack.engine.model.validate import validate
from limberjack.engine.tables.reports import INTEGRATORS
from tests.engine.single_body import Z, one_body


def model(name: str = "arm") -> lj.System:
    """Free base, an elbow with a servo, a tool welded to it."""
    inertia = Inertia(1.0, np.zeros(3), np.eye(3))
    bodies = (
        Body("base", inertia, Hinge("float", "free", None)),
        Body("link", inertia, Hinge("elbow", "revolute", "base", axes=Z[None], dofs=(Dof(damping=0.1),))),
        Body("tool", inertia, Hinge("weld", "fixed", "link")),
    )
    actuators = (Actuator("drive", "elbow", "servo", kp=1.0, kd=1.0),)
    sensors = (Sensor("angle", "position", "elbow"),)
    return validate(System(name, bodies, (Node("tip", "tool"),), actuators, sensors))


@pytest.fixture
def dynamics() -> lj.Dynamics:
    return lj.Dynamics(model())


@pytest.fixture
def sim() -> lj.Simulation:
    return lj.Simulation(model(), dt=1e-3)


def refused(*words: str):
    """An ArgumentError with all these words, in this order."""
    return pytest.raises(lj.ArgumentError, match=".*".join(re.escape(word) for word in words))


Q, V = model().q0, model().v0
SCALED = Q * 1.1
NOT_FINITE = np.where(np.arange(7) == 5, np.nan, 0.0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((Q[:-1], V, V), ("q has shape (7,)", "needs (8,)")),
        ((Q, V[:-1], V), ("v has shape (6,)", "needs (7,)")),
        ((Q, V, np.zeros((7, 1))), ("tau has shape (7, 1)", "needs (7,)")),
        ((Q, V, 1.0), ("tau has shape ()", "needs (7,)")),
        ((Q, NOT_FINITE, V), ("v[5] is nan", "finite")),
        ((Q, V, NOT_FINITE + np.inf), ("tau[0] is inf", "finite")),
        ((Q, "fast", V), ("v must be numbers of shape (7,)", "'fast'")),
        ((Q, V, [None] * 7), ("tau must be numbers",)),
        ((Q, V, [{}] * 7), ("tau must be numbers",)),
        ((Q, V, [[1.0, 2.0], [3.0]]), ("tau must be numbers",)),
        ((Q, V + 1j, V), ("v must be numbers",)),
        ((SCALED, V, V), ("quaternion q[0:4]", "'float'", "length 1.1", "scale it to 1", "w, x, y, z")),
        ((0.0 * Q, V, V), ("quaternion q[0:4]", "length 0")),
    ],
)
def test_arrays(dynamics, arguments, words):
    with refused(*words):
        dynamics.forward(*arguments)


def test_every_call_checks_its_arrays(dynamics):
    bad_q, bad_v = Q[:-1], V[:-1]
    for call in (
        lambda: dynamics.inverse(bad_q, V, V),
        lambda: dynamics.inverse(Q, V, bad_v),
        lambda: dynamics.mass_matrix(bad_q),
        lambda: dynamics.bias(Q, bad_v),
        lambda: dynamics.pose("tip", bad_q),
        lambda: dynamics.velocity("tip", Q, bad_v),
        lambda: dynamics.acceleration("tip", Q, V, bad_v),
        lambda: dynamics.jacobian("tip", bad_q),
        lambda: dynamics.jacobian_rate("tip", Q, bad_v),
        lambda: dynamics.center_of_mass(bad_q),
        lambda: dynamics.momentum(Q, bad_v),
        lambda: dynamics.energy(Q, bad_v),
        lambda: dynamics.reaction("elbow", Q, V, bad_v),
        lambda: dynamics.passive(Q, bad_v),
    ):
        with refused("has shape", "but this model needs"):
            call()


@pytest.mark.parametrize(
    ("value", "words"), [([1.0, 2.0], "has shape (2,), but it must be one number"), ("1", "one number")]
)
def test_one_number_is_asked_for_in_words(dynamics, value, words):
    with refused("command['elbow']", words):
        lj.Simulation(dynamics.system).command["elbow"] = value


def test_lists_and_integers_are_numbers_and_arguments_stay_as_they_were(dynamics):
    q, v = [1, 0, 0, 0, 0, 0, 0, 0], [0] * 7
    mine = np.array(Q)
    mine.flags.writeable = False
    assert np.array_equal(dynamics.forward(q, v, v), dynamics.forward(mine, V, V))


@pytest.mark.parametrize("call", ["pose", "jacobian"])
def test_unknown_node_offers_the_nearest_name(dynamics, call):
    with refused("no body or node is called 'tpi'", "did you mean 'tip'?"):
        getattr(dynamics, call)("tpi", Q)
    with refused("no body or node is called 'zzzzz'", "there are 4: base, link, tool, tip"):
        getattr(dynamics, call)("zzzzz", Q)


def test_what_a_notebook_shows_of_a_model_and_its_values(sim):
    sim.command["drive"] = 0.5
    assert repr(sim.system) == "System('arm', 3 bodies, 8 coordinates, 7 velocities, 0 loops)"
    assert repr(sim.command) == "{'drive': 0.5, 'drive.rate': 0.0, 'drive.torque': 0.0}"
    assert repr(sim.output).startswith("{'angle': 0.0, 'base.position': [0. 0. 0.], ")
    assert "\n" not in repr(sim.output)
    some = lj.Simulation(lj.load(files("limberjack.examples") / "torque_arm.yaml")).parameters
    assert repr(some).endswith(f", … {len(some)} in all}}")
    assert repr(some).count(": ") == 20


@pytest.mark.parametrize(
    ("external", "words"),
    [
        ({"tpi": np.zeros(6)}, ("no node is called 'tpi'", "did you mean 'tip'?")),
        ({"tip": np.zeros(3)}, ("external['tip'] has shape (3,)", "(6,)")),
        ({"tip": [0, 0, 0, 0, 0, np.nan]}, ("external['tip'][5] is nan",)),
        (np.zeros((3, 6)), ("external has shape (3, 6)", "needs (4, 6)")),
        (np.full((4, 6), np.inf), ("external[0, 0] is inf",)),
    ],
)
def test_external_forces(dynamics, external, words):
    with refused(*words):
        dynamics.forward(Q, V, V, external)
    with refused(*words):
        dynamics.inverse(Q, V, V, external)


def test_reactions_of_unknown_and_merged_hinges(dynamics):
    with refused("no hinge is called 'elbo'", "did you mean 'elbow'?"):
        dynamics.reaction("elbo", Q, V, V)
    with refused("hinge 'weld' is fixed and merged", "merge: false"):
        dynamics.reaction("weld", Q, V, V)


def test_a_model_without_moving_mass_has_no_centre():
    hinge = Hinge("weld", "fixed", None)
    still = lj.Dynamics(validate(System("still", (Body("post", Inertia(1.0, np.zeros(3), np.eye(3)), hinge),))))
    with refused("no moving mass"):
        still.center_of_mass([])
    assert still.mass_matrix([]).shape == (0, 0)
    assert still.forward([], [], []).shape == (0,)
    assert still.energy([], []) == (0.0, 0.0)


def test_singular_mass_matrix_is_reported_by_name():
    """Made by hand and not validated: nothing turns with the second hinge."""
    inertia = Inertia(1.0, np.zeros(3), np.eye(3))
    arm = Body("arm", inertia, Hinge("shoulder", "revolute", None, axes=Z[None], q0=np.zeros(1), v0=np.zeros(1)))
    ghost = Body("ghost", Inertia(), Hinge("spin", "revolute", "arm", axes=Z[None], q0=np.zeros(1), v0=np.zeros(1)))
    dynamics = lj.Dynamics(System("ghostly", (arm, ghost)))
    with refused("not finite at 'shoulder'", "mass matrix is singular", "armature"):
        dynamics.forward([0.0, 0.0], [0.0, 0.0], [0.0, 1.0])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dt": 0.0}, ("dt is 0", "positive")),
        ({"dt": -1e-3}, ("dt is -0.001", "positive")),
        ({"dt": np.nan}, ("dt is nan", "finite")),
        ({"dt": "1 ms"}, ("dt must be one number", "'1 ms'")),
        ({"dt": [1e-3, 1e-3]}, ("dt has shape (2,)",)),
        ({"integrator": "rk5"}, ("no integrator is called 'rk5'", *INTEGRATORS)),
        ({"substeps": 0}, ("substeps is 0", f"1 to {MOST_SUBSTEPS}")),
        ({"substeps": 2.5}, ("substeps is 2.5", "whole number")),
        ({"substeps": MOST_SUBSTEPS + 1}, (f"substeps is {MOST_SUBSTEPS + 1}",)),
    ],
)
def test_simulation_options(options, words):
    with refused(*words):
        lj.Simulation(model(), **options)


@pytest.mark.parametrize("steps", [-1, 1.5, "10", None])
def test_step_takes_whole_numbers(sim, steps):
    with refused("the number of steps is", repr(steps), "whole number"):
        sim.step(steps)
    assert sim.step_count == 0


def test_commands(sim):
    with refused("no command is called 'drvie'", "did you mean 'drive'?"):
        sim.command["drvie"] = 1.0
    with refused("no command is called 'drvie'"):
        sim.command["drvie"]
    with refused("command['drive'] is nan; give finite"):
        sim.command["drive"] = np.nan
    with refused("command['drive']", "'up'"):
        sim.command["drive"] = "up"
    with refused("command has shape (2,)", "needs (3,)"):
        sim.command_vector = [0.0, 0.0]
    with refused("cannot be removed"):
        del sim.command["drive"]
    assert dict(sim.command) == {"drive": 0.0, "drive.rate": 0.0, "drive.torque": 0.0}
    assert len(sim.command) == 3


def test_parameters(sim):
    with refused("no parameter is called 'hinge.elbow.dampng'", "did you mean 'hinge.elbow.damping'?"):
        sim.parameters["hinge.elbow.dampng"] = 1.0
    with refused("parameter 'hinge.elbow.damping' must not be negative", "-1"):
        sim.parameters["hinge.elbow.damping"] = -1.0
    with refused("parameters['actuator.drive.kp'] is inf"):
        sim.parameters["actuator.drive.kp"] = np.inf
    with refused("cannot be removed"):
        del sim.parameters["gravity.z"]
    sim.parameters["hinge.elbow.damping"] = 0.7
    assert sim.parameters["hinge.elbow.damping"] == 0.7
    assert len(sim.parameters) == len(list(sim.parameters))


def test_limits_as_parameters(sim):
    with refused("parameter 'hinge.elbow.upper' cannot be set", "no limits", "limit_stiffness"):
        sim.parameters["hinge.elbow.upper"] = 1.0
    limited = lj.Simulation(one_body("revolute", [Z], dofs=(Dof(lower=-1.0, upper=1.0),), q0=[0.5]))
    with refused("'hinge.hinge.lower' = 1.5", "between 1.5 and 1"):
        limited.parameters["hinge.hinge.lower"] = 1.5
    with refused("'hinge.hinge.upper' = -1", "between -1 and -1"):
        limited.parameters["hinge.hinge.upper"] = -1.0
    assert limited.tau[0] == 0.0
    limited.parameters["hinge.hinge.upper"] = 0.4
    assert limited.tau[0] < 0.0


def test_outputs(sim):
    with refused("no output is called 'angel'", "did you mean 'angle'?"):
        sim.output["angel"]
    with refused("no output is called 'tip.positon'", "did you mean 'tip.position'?"):
        sim.output["tip.positon"]
    assert "tip.velocity" in sim.output
    assert len(sim.output) == 1 + 3 * 4 + 5


def test_state_assignments(sim):
    with refused("q has shape (7,)", "needs (8,)"):
        sim.q = Q[:-1]
    with refused("quaternion", "'float'"):
        sim.q = SCALED
    with refused("v[5] is nan"):
        sim.v = NOT_FINITE
    assert np.array_equal(sim.q, Q)
    assert np.array_equal(sim.v, V)


def test_snapshots(sim):
    snapshot = sim.snapshot()
    with refused("not a snapshot", "give the bytes"):
        sim.restore(b"")
    with refused("not a snapshot, or it is damaged"):
        sim.restore(snapshot[:-1])
    with refused("not a snapshot, or it is damaged"):
        sim.restore(b"X" + snapshot[1:])
    other = lj.Simulation(validate(System("b", model().bodies, gravity=np.zeros(3))))
    with refused("another model", sim.model_hash, other.model_hash):
        other.restore(snapshot)
    with refused("snapshot[", "give finite numbers"):
        sim.restore(snapshot[:-8] + np.array([np.nan]).tobytes())
    assert np.array_equal(sim.q, Q)


def test_reaction_sensor_of_a_merged_hinge_is_a_model_error():
    system = model()
    sensors = (Sensor("load", "reaction", "weld"),)
    bad = System("arm", system.bodies, system.nodes, sensors=sensors)
    with pytest.raises(lj.ModelError, match=r"'weld'.*fixed and merged.*merge: false"):
        lj.Dynamics(bad)


def test_limits_on_a_massless_hinge_are_a_model_error():
    """Their stiffness cannot be chosen from an inertia that is zero."""
    ghost = Hinge("spin", "revolute", None, axes=Z[None], dofs=(Dof(upper=1.0),), q0=np.zeros(1), v0=np.zeros(1))
    with pytest.raises(lj.ModelError, match=r"not positive definite.*limit_stiffness"):
        lj.Dynamics(System("ghost", (Body("ghost", Inertia(), ghost),)))
