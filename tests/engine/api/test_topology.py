"""Loops switched in a simulation: what the calls answer, what they refuse, and what snapshots and resets do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.api.impact import Impact
from limberjack.engine.model.system import Pose
from tests.engine.kernels.loops.oracle import Oracle
from tests.fmu.closed_model import docking


@pytest.fixture
def sim() -> lj.Simulation:
    return lj.Simulation(docking())


def kinetic(sim: lj.Simulation) -> float:
    return float(sim.output["energy.kinetic"])


def test_an_impact_says_what_it_took(sim):
    sim.step(20)
    before, momentum, q = kinetic(sim), sim.output["momentum"], sim.q
    frames = [sim.dynamics.pose(name, sim.q) for name in ("arm", "target")]
    apart = frames[1][1] - frames[0][1] - frames[0][0] @ [0.6, 0.0, 0.0]
    impact = sim.attach("grasp")
    assert isinstance(impact, Impact)
    assert (impact.loop, impact.time) == ("grasp", sim.time)
    assert impact.distance == pytest.approx(float(np.linalg.norm(apart)), rel=1e-12)
    assert before - kinetic(sim) == pytest.approx(impact.energy_loss, rel=1e-9)
    assert impact.energy_loss > 0.0
    assert sim.impacts == {"grasp": impact.energy_loss, "brake": 0.0}
    assert np.array_equal(sim.q, q)
    np.testing.assert_allclose(sim.output["momentum"], momentum, atol=1e-12)
    assert sim.command["grasp.closed"] == 1.0
    assert sim.closed("grasp")


def grasp_frame(sim: lj.Simulation) -> Pose:
    """The first frame of the grasp, at the arm's tip, in inertial axes."""
    R, p = sim.dynamics.pose("arm", sim.q)
    return Pose(R, p + R @ [0.6, 0.0, 0.0])


def grasped(sim: lj.Simulation) -> Oracle:
    """The dense reference with the target held by a frame where the arm's is now."""
    system, at = sim.system, grasp_frame(sim)
    R, p = sim.dynamics.pose("target", sim.q)
    grasp = system.loops[0]
    hinge = replace(grasp.hinge, outboard=Pose(R.T @ at.rotation, R.T @ (at.position - p)))
    held = replace(system, loops=(replace(grasp, hinge=hinge), *system.loops[1:]))
    return Oracle(held, closed=["grasp", "gear", "rod"])


def test_the_impulse_is_what_changes_the_targets_momentum(sim):
    """It acts where the loop holds the target's frame: at the origin of the arm's, in the axes of that."""
    sim.step(20)
    place = list(sim.system.velocity_names).index("target.wx")
    tip = grasp_frame(sim)

    def momentum() -> np.ndarray:
        """Of the target alone, about the arm's tip, inertial axes."""
        R, p = sim.dynamics.pose("target", sim.q)
        inertia = next(body.inertia for body in sim.system.bodies if body.name == "target")
        w, u = sim.v[place : place + 3], sim.v[place + 3 : place + 6]
        linear = inertia.mass * (R @ (u + np.cross(w, inertia.com)))
        arm = p + R @ inertia.com - tip.position
        return np.concatenate([R @ inertia.about_com @ w + np.cross(arm, linear), linear])

    before = momentum()
    impact = sim.attach("grasp")
    passed = np.concatenate([tip.rotation @ impact.impulse[:3], tip.rotation @ impact.impulse[3:]])
    np.testing.assert_allclose(momentum() - before, passed, atol=1e-12)


def test_an_impact_is_that_of_the_dense_reference(sim):
    """Gauss: of all velocities that keep every loop closed, v+ is the nearest to v in kinetic energy."""
    sim.step(20)
    after, loss = grasped(sim).impulse(sim.q, sim.v)
    impact = sim.attach("grasp")
    np.testing.assert_allclose(sim.v, after, atol=1e-14)
    assert impact.energy_loss == pytest.approx(loss, rel=1e-12)


def test_a_release_takes_nothing(sim):
    sim.attach("grasp")
    sim.step(10)
    v = sim.v
    impact = sim.release("grasp")
    assert impact.energy_loss == 0.0
    assert not np.any(impact.impulse)
    assert np.array_equal(sim.v, v)
    assert sim.command["grasp.closed"] == 0.0
    assert not sim.closed("grasp")


def test_a_lock_holds_its_hinge(sim):
    place = list(sim.system.velocity_names).index("elbow")
    v = sim.v
    v[place], v[place + 1] = 0.3, 3.0  # its gear turns the motor
    sim.v = v
    impact = sim.lock("elbow")
    assert impact.loop == "brake"
    assert isinstance(impact.impulse, float)
    assert impact.distance == 0.0
    assert abs(sim.v[place]) < 1e-12
    sim.step(50)
    assert sim.q[list(sim.system.coordinate_names).index("elbow")] == pytest.approx(0.1, abs=1e-9)
    assert sim.unlock("elbow").loop == "brake"
    assert not sim.closed("brake")


@pytest.mark.parametrize(
    ("call", "name", "words"),
    [
        ("attach", "grasps", "no loop is called 'grasps'; did you mean 'grasp'"),
        ("release", "elbow", "no loop is called 'elbow'"),
        ("closed", "nothing", "no loop is called"),
        ("attach", "gear", "always closed"),
        ("release", "rod", "always closed and cannot be released; write 'switchable: true'"),
        ("release", "grasp", "open already"),
        ("unlock", "elbow", "open already"),
        ("lock", "motor", "hinge 'motor' has no lock"),
        ("unlock", "motor", "declare one among the model's loops"),
        ("lock", "elbows", "no hinge is called 'elbows'; did you mean 'elbow'"),
        ("attach", 3, "no loop is called"),
        ("lock", None, "no hinge is called"),
    ],
)
def test_refusals_change_nothing(sim, call, name, words):
    sim.step(3)
    before = sim.snapshot()
    with pytest.raises(lj.ArgumentError, match=words):
        getattr(sim, call)(name)
    assert sim.snapshot() == before


def test_out_of_reach(sim):
    near = replace(docking().loops[0], reach=1e-3)
    system = replace(docking(), loops=(near, *docking().loops[1:]))
    far = lj.Simulation(system)
    before = far.snapshot()
    with pytest.raises(lj.ArgumentError, match=r"'grasp' is out of reach: its frames are 0\.\d+ m apart .* 0\.001 m"):
        far.attach("grasp")
    assert far.snapshot() == before
    far.command["grasp.closed"] = 1.0
    far.step(5)
    assert not far.closed("grasp")


def test_twice_is_refused(sim):
    sim.attach("grasp")
    with pytest.raises(lj.ArgumentError, match="closed already"):
        sim.attach("grasp")


def test_a_call_withdraws_a_command_that_has_not_been_followed():
    """The grasp waits for its reach, or its release for the next step: the call that says otherwise counts."""
    system = docking()
    sim = lj.Simulation(replace(system, loops=(replace(system.loops[0], reach=1e-3), *system.loops[1:])))
    sim.command["grasp.closed"] = 1.0
    sim.step(2)
    assert not sim.closed("grasp")
    impact = sim.release("grasp")
    assert (impact.energy_loss, sim.command["grasp.closed"]) == (0.0, 0.0)
    assert impact.distance > 1e-3
    with pytest.raises(lj.ArgumentError, match="open already"):
        sim.release("grasp")
    sim.lock("elbow")
    sim.command["brake.closed"] = 0.0
    assert sim.lock("elbow").energy_loss == 0.0
    sim.step(2)
    assert sim.closed("brake")


def test_call_and_command_give_the_same_bits(sim):
    commanded = lj.Simulation(docking())
    sim.step(10)
    commanded.step(10)
    sim.attach("grasp")
    commanded.command["grasp.closed"] = 1.0
    sim.step(40)
    commanded.step(40)
    assert sim.snapshot() == commanded.snapshot()
    sim.release("grasp")
    commanded.command["grasp.closed"] = 0.0
    sim.step(40)
    commanded.step(40)
    assert sim.snapshot() == commanded.snapshot()


def test_snapshots_and_resets(sim):
    sim.attach("grasp")
    sim.step(10)
    saved = sim.snapshot()
    sim.step(10)
    after = sim.state
    sim.release("grasp")
    other = lj.Simulation(docking())
    other.restore(saved)
    assert other.closed("grasp")
    other.step(10)
    assert np.array_equal(other.state, after)
    sim.reset()
    assert not sim.closed("grasp")
    assert sim.impacts["grasp"] == 0.0
    assert np.array_equal(sim.state, lj.Simulation(docking()).state)


def test_outputs_follow_from_the_state_alone(sim):
    """Whatever was closed before: an open loop carries nothing, and a simulation made again shows the same bits."""
    for change in ("attach", "release"):
        sim.step(10)
        getattr(sim, change)("grasp")
        for _ in range(2):
            other = lj.Simulation(docking())
            other.restore(sim.snapshot())
            assert sim.output_vector.tobytes() == other.output_vector.tobytes()
            assert (sim.tau.tobytes(), sim.vdot.tobytes()) == (other.tau.tobytes(), other.vdot.tobytes())
            assert np.any(sim.output["load"]) == sim.closed("grasp")
            sim.step(10)


def only_the_grasp() -> lj.System:
    """The docking model without loops that are always closed, so that none at all is after a release."""
    system = docking()
    return replace(system, loops=system.loops[:1], sensors=system.sensors[:3], actuators=())


def test_the_last_loop_that_opens_carries_nothing_more():
    sim = lj.Simulation(only_the_grasp())
    sim.attach("grasp")
    sim.step(5)
    assert np.any(sim.output["load"])
    sim.release("grasp")
    assert not np.any(sim.output["load"])


def test_a_loop_that_stays_open_is_named(sim):
    """The rod is given as 5 cm long; the slider runs a metre beside its end."""
    sim.command["rod.position"] = -1.2
    time = sim.time
    with pytest.raises(lj.SimulationError, match=r"loop 'rod' cannot be closed again, .* are left in the step after t"):
        sim.step(50)
    assert sim.time >= time
    sim.reset()
    sim.step(5)


def test_models_without_loops_have_none():
    system = replace(docking(), loops=(), sensors=())
    plain = lj.Simulation(system)
    assert plain.impacts == {}
    with pytest.raises(lj.ArgumentError, match="there is none"):
        plain.attach("grasp")


def test_outputs_of_loops(sim):
    assert sim.output["held"] == 0.0
    assert sim.output["lost"] == 0.0
    assert not np.any(sim.output["load"])
    forces = sim.dynamics.loop_forces(sim.q, sim.v, sim.tau)
    assert sim.output["torque"] == pytest.approx(forces["gear"], rel=1e-9)
    impact = sim.attach("grasp")
    assert sim.output["held"] == 1.0
    assert sim.output["lost"] == impact.energy_loss
    assert abs(sim.output["gap"]) < 1e-12


def test_forces_of_loops_after_an_attach_are_those_of_the_dense_reference(sim):
    """The weld loads the gear; `dynamics` stays at the start, with the weld open."""
    sim.step(20)
    oracle = grasped(sim)
    sim.attach("grasp")
    for _ in range(2):
        expected = oracle.solve(sim.q, sim.v, sim.tau)
        np.testing.assert_allclose(sim.vdot, expected.vdot, atol=1e-12)
        np.testing.assert_allclose(sim.output["load"], expected.loop["grasp"], atol=1e-12)
        assert sim.output["torque"] == pytest.approx(expected.loop["gear"][0], rel=1e-9)
        assert sim.output["torque"] != pytest.approx(sim.dynamics.loop_forces(sim.q, sim.v, sim.tau)["gear"], rel=0.01)
        sim.step(50)


def test_wrong_switches_in_a_snapshot(sim):
    start, length = sim.state_layout["switch"]
    assert length == 32
    forged = bytearray(sim.snapshot())
    at = len(forged) - 8 * (len(sim.state) - start)
    forged[at : at + 8] = np.array([0.3]).tobytes()
    with pytest.raises(lj.ArgumentError, match="neither closed nor open"):
        sim.restore(bytes(forged))
