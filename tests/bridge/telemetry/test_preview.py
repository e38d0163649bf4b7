"""What an order would change, and refusals before it is given: compared with what the engine then does."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from limberjack.bridge import Client
from limberjack.bridge.telemetry.loop_states import LoopStates, words
from limberjack.bridge.telemetry.orders import Actor, Order, OrderRefused
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.model.elements.loop import Loop
from tests.bridge.telemetry.engines import Recorder, engine, gateway

ALICE, GUEST = Actor("console", "alice", "operator"), Actor("console", "guest")


@pytest.fixture(scope="module")
def far(dock):
    """The dock, whose frames are farther apart than its reach."""
    return replace(dock, loops=(replace(dock.loops[0], reach=0.01), dock.loops[1]))


@pytest.fixture(scope="module")
def running(far, tmp_path_factory):
    """A gateway of a dock in lockstep, an outlet that remembers, another client."""
    endpoint = f"ipc://{tmp_path_factory.mktemp('e')}/e"
    recorder = Recorder()
    with engine(far, endpoint, mode="lockstep"), gateway(endpoint, recorder) as made, Client(endpoint) as client:
        yield made.commander, recorder, client


def test_numbers_are_those_of_the_engine_and_nothing_is_changed_or_reported(running):
    commander, recorder, client = running
    client.command({"elbow": 0.5})
    client.release()
    recorder.notices.clear()
    shown = commander.preview(Order("command", values={"elbow": -1.0}), ALICE)
    (line,) = shown.lines
    assert (line.name, line.now, line.then, line.change, line.unit) == ("elbow", 0.5, -1.0, -1.5, "N·m")
    assert "next step" in shown.note
    (line,) = commander.preview(Order("parameter", "hinge.elbow.damping", 2.0), ALICE).lines
    assert (line.now, line.then, line.low, line.high) == (client.parameter("hinge.elbow.damping"), 2.0, 0.0, math.inf)
    (line,) = commander.preview(Order("reset"), ALICE).lines
    assert (line.then, line.unit) == (0.0, "s")
    (line,) = commander.preview(Order("give_up"), ALICE).lines
    assert (line.now, line.then, line.change) == ("free", "free", None)
    (line,) = commander.preview(Order("lock", "elbow"), ALICE).lines
    assert (line.name, line.now, line.then) == ("brake", "free", "locked")
    assert commander.preview(Order("acknowledge", "*"), ALICE).lines == ()
    assert client.state().command["elbow"] == 0.5
    assert not client.status()["closed"]["brake"]
    assert recorder.texts("command") == recorder.texts("refused") == []


@pytest.mark.parametrize(
    "order",
    [
        Order("attach", "dock"),
        Order("release", "dock"),
        Order("unlock", "elbow"),
        Order("parameter", "hinge.elbow.damping", -1.0),
        Order("parameter", "noise.seed", 0.5),
        Order("parameter", "hinge.elbow.upper", 1.0),
    ],
    ids=str,
)
def test_what_the_engine_refuses_is_refused_in_the_same_words(order, running):
    commander, _, client = running
    before = client.snapshot()
    with pytest.raises(OrderRefused) as early:
        commander.preview(order, ALICE)
    with pytest.raises(OrderRefused) as late:
        commander.execute(order, ALICE)
    commander.execute(Order("give_up"), ALICE)
    assert (early.value.code, str(early.value)) == (late.value.code, str(late.value))
    assert client.snapshot() == before


def test_who_may_not_and_who_must_wait(running):
    commander, _, client = running
    order = Order("command", values={"elbow": 0.0})
    with pytest.raises(OrderRefused, match="may only watch"):
        commander.preview(order, GUEST)
    client.acquire()
    with pytest.raises(OrderRefused, match="holds the command lease") as caught:
        commander.preview(order, ALICE)
    assert caught.value.code == "lease"
    client.release()
    assert commander.preview(order, ALICE).lines


def test_an_order_that_is_late_is_not_carried_out(running):
    commander, _, client = running
    before = client.state().command["elbow"]
    with pytest.raises(OrderRefused, match="time limit") as caught:
        commander.execute(Order("command", values={"elbow": 9.0}, before_ns=1), ALICE)
    assert caught.value.code == "late"
    assert client.state().command["elbow"] == before


def test_a_loop_within_reach_says_how_near_it_is(dock, endpoint):
    with engine(dock, endpoint, mode="lockstep"), gateway(endpoint) as made:
        (line,) = made.commander.preview(Order("attach", "dock"), ALICE).lines
        impact = made.commander.execute(Order("attach", "dock"), ALICE)
    assert (line.now, line.then) == (f"open (reach 0.2 m, now {impact['distance']:.3g} m)", "closed")


def test_the_distance_of_a_loop_is_the_engines_own(far, running):
    """The engine says how far apart the frames are when it refuses to close them."""
    found = LoopStates(running[0]._session())
    simulation = Simulation(far)
    for _ in range(3):
        simulation.step(50)
        distance = found.distances(simulation.q, simulation.v)
        with pytest.raises(ArgumentError, match=f"are {distance['dock']:.6g} m apart"):
            simulation.attach("dock")
        assert distance["brake"] == 0.0


def test_a_loop_that_was_asked_to_close_waits_for_its_reach(running):
    commander, _, client = running
    found = LoopStates(commander._session())

    def states() -> dict[str, str]:
        state, status = client.state(), client.status()
        return found.states(state.q, state.v, state.commands, status["closed"])

    assert states() == {"dock": "open", "brake": "free"}
    client.command({"dock.closed": 1.0, "brake.closed": 1.0})
    client.step(1)
    state = client.state()
    distance = found.distances(state.q, state.v)["dock"]
    assert states() == {"dock": f"waiting (reach 0.01 m, now {distance:.3g} m)", "brake": "locked"}
    client.command({"dock.closed": 0.0, "brake.closed": 0.0})
    client.step(1)
    assert states() == {"dock": "open", "brake": "free"}
    client.release()


@pytest.mark.parametrize(
    ("closed", "wanted", "distance", "expected"),
    [
        (False, False, 1.81, "open"),
        (False, True, 1.81, "waiting (reach 0.05 m, now 1.81 m)"),
        (False, True, 0.04, "closed"),  # the heartbeat is older than the command
        (True, True, 0.06, "closed"),
        (True, False, 0.0, "open"),
    ],
)
def test_words(closed, wanted, distance, expected):
    assert words(Loop("grasp", "weld", switchable=True, reach=0.05), closed, wanted, distance) == expected
