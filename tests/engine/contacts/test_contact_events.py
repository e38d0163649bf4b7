"""Events of contacts: when shapes touch and lift off, how fast they came, what captures."""

from __future__ import annotations

import math

import numpy as np
import pytest

import limberjack as lj
from tests.engine.contacts.scenes import FLOOR, ball, scene, sensors, sphere
from tests.engine.contacts.touching import bouncing, latched

G = 9.80665


def test_a_dropped_ball_touches_when_and_as_fast_as_it_must(tmp_path):
    """√(2H/g) after its release, at √(2 g H); after restitution e again 2 e √(2H/g) later, at e times that speed."""
    height, e, dt = 0.5, 0.8, 1e-3
    simulation = lj.Simulation(bouncing(tmp_path), dt=dt)
    falls = math.sqrt(2.0 * height / G)
    first = simulation.step_until("touch", most=1000)
    assert first.kind == "touch"
    assert first.source == "bounce"
    assert first.shapes == ("floor", "ball")
    assert simulation.time == first.time
    assert abs(first.time - falls) <= dt
    assert abs(first.speed - G * falls) <= G * dt
    second = simulation.step_until("touch bounce", most=1000)
    assert abs(second.time - falls * (1.0 + 2.0 * e)) <= 3.0 * dt
    assert abs(second.speed / first.speed - e) < 2.0 * G * dt / first.speed
    assert simulation.step_until("touch", most=10) is None


def test_speeds_are_those_of_the_points_that_touch(tmp_path):
    """A ball that turns and slides past: only what it comes with along the normal counts, on both moving bodies."""
    bodies = [
        ball("left", (-0.3, 0, 0), "{vx: 2.0, wz: 9.0}"),
        ball("right", (0.3, 0, 0), "{vx: -1.0, vy: 0.4}"),
    ]
    law = "{name: hit, first: left, second: right}"
    system = scene(tmp_path, bodies, [sphere("left"), sphere("right")], [law], "gravity: [0, 0, 0]")
    simulation = lj.Simulation(system, dt=1e-4)
    event = simulation.step_until("touch", most=5000)
    # centres: x apart by 0.6 - 3 t, y by 0.4 t; they touch at 0.2 m and approach along the line between them
    t = np.roots([9.16, -3.6, 0.32]).min()
    d = np.array([0.6 - 3.0 * t, 0.4 * t])
    assert abs(event.time - t) <= 1e-4
    assert event.speed == pytest.approx(-(d @ [-3.0, 0.4]) / 0.2, abs=3e-3)


def test_a_lift_off_says_how_long_and_how_hard(tmp_path):
    """A spring floor, m d²δ/dt² = -k δ without gravity: half a period π √(m/k), at most v √(k m)."""
    k, mass, speed, dt = 1e4, 1.0, 0.5, 1e-4
    law = f"{{name: bounce, first: floor, second: ball, stiffness: {k}}}"
    more = "gravity: [0, 0, 0]\n" + sensors("bounce")
    system = scene(tmp_path, [ball("ball", (0, 0, 0.11), f"{{vz: -{speed}}}")], [FLOOR, sphere("ball")], [law], more)
    simulation = lj.Simulation(system, dt=dt)
    touched, left = simulation.step_until("touch", 1000), simulation.step_until("lift_off", 1000)
    assert touched.speed == pytest.approx(speed, rel=1e-12)
    assert left is not None
    assert left.shapes == touched.shapes
    assert left.lasted == pytest.approx(left.time - touched.time, abs=1e-12)  # also for a watch that began since

    again = lj.Simulation(system, dt=dt)
    events = []
    lj.ContactWatch(again, events.append).step(2000)
    assert [event.kind for event in events] == ["touch", "lift_off"]
    assert events[1].lasted == pytest.approx(math.pi * math.sqrt(mass / k), abs=2.0 * dt)
    assert events[1].force == pytest.approx(speed * math.sqrt(k * mass), rel=2e-3)


def test_a_loop_that_closes_while_shapes_touch_captures(tmp_path):
    simulation = lj.Simulation(latched(tmp_path), dt=1e-3)
    simulation.command["latch.closed"] = 1.0
    touched = simulation.step_until("touch", most=500)
    simulation = lj.Simulation(latched(tmp_path), dt=1e-3)
    simulation.command["latch.closed"] = 1.0
    captured = simulation.step_until("capture latch", most=500)
    assert simulation.closed("latch")
    assert captured.source == "latch"
    assert captured.contacts == ("guide",)
    assert captured.speed == touched.speed == pytest.approx(0.1, rel=1e-12)
    assert captured.lasted == pytest.approx(captured.time - touched.time)


def test_a_loop_that_closes_before_shapes_touch_captures_nothing(tmp_path):
    simulation = lj.Simulation(latched(tmp_path, reach=0.05), dt=1e-3)
    simulation.command["latch.closed"] = 1.0
    assert simulation.step_until("capture", most=50) is None
    assert simulation.closed("latch")


def test_watching_changes_no_bit_and_jumps_are_no_events(tmp_path):
    plain, watched = (lj.Simulation(bouncing(tmp_path), dt=1e-3) for _ in range(2))
    events = []
    watch = lj.ContactWatch(watched, events.append)
    start = watched.snapshot()
    plain.step(1500)
    watch.step(1500)
    assert watched.state.tobytes() == plain.state.tobytes()
    assert [event.kind for event in events[:3]] == ["touch", "lift_off", "touch"]
    simulation = lj.Simulation(bouncing(tmp_path), dt=1e-3)
    simulation.step_until("touch", 1000)
    resting = simulation.snapshot()
    events.clear()
    watched.restore(start)
    watch.begin()
    watch.step(10)
    watched.restore(resting)
    watch.begin()
    assert not events
    assert list(watch.touching) == ["bounce"]


def test_any_function_can_be_awaited(tmp_path):
    simulation = lj.Simulation(bouncing(tmp_path), dt=1e-3)
    assert simulation.step_until(lambda sim: sim.output["gap"] < 0.1 and sim.time, most=1000) == simulation.time
    assert simulation.output["gap"] < 0.1
    assert simulation.step_until(lambda sim: False, most=3) is None


def test_events_that_cannot_come_are_refused(tmp_path):
    simulation = lj.Simulation(bouncing(tmp_path))
    with pytest.raises(lj.UnknownNameError, match="no kind of contact event is called 'tuch'; did you mean 'touch'"):
        simulation.step_until("tuch", 10)
    with pytest.raises(lj.UnknownNameError, match="no contact is called 'floor'"):
        simulation.step_until("touch floor", 10)
    with pytest.raises(lj.ArgumentError, match="no loop that can be switched"):
        simulation.step_until("capture", 10)
    with pytest.raises(lj.ArgumentError, match="has no contacts, so nothing can touch"):
        lj.Simulation(lj.load("examples/torque_arm.yaml")).step_until("touch", 10)
