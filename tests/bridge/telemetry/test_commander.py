"""Orders of operators: carried out by the engine, or refused with a reason that everybody sees."""

from __future__ import annotations

import math
import pickle
import time

import pytest

from limberjack.bridge import Client
from limberjack.bridge.telemetry.orders import Actor, Order, OrderRefused, Rule
from tests.bridge.telemetry.engines import Recorder, engine, gateway, until

ALICE, GUEST = Actor("console", "alice", "operator"), Actor("console", "guest")


def test_orders_reach_the_engine(dock, endpoint):
    recorder = Recorder()
    with engine(dock, endpoint, mode="lockstep"), gateway(endpoint, recorder) as running, Client(endpoint) as reader:
        do = running.commander.execute
        assert do(Order("command", values={"elbow": 0.25}), ALICE) == {}
        assert reader.state().command["elbow"] == 0.25
        assert do(Order("parameter", "gravity.z", -1.5), ALICE) == {"value": -1.5}
        assert reader.parameter("gravity.z") == -1.5
        assert do(Order("lock", "elbow"), ALICE)["energy_loss"] > 0.0
        assert reader.status()["closed"]["brake"]
        do(Order("unlock", "elbow"), ALICE)
        assert not reader.status()["closed"]["brake"]
        assert do(Order("reset"), ALICE) == {"time": 0.0}
        assert reader.status()["lease"] == "gateway"
        do(Order("give_up"), ALICE)
        assert reader.status()["lease"] is None
        until(lambda: len(recorder.texts("command")) == 6, "orders were not reported")
        assert recorder.texts("command")[0] == "console/alice: command elbow = 0.25."
        assert recorder.texts("command")[1] == "console/alice: parameter gravity.z = -1.5."


def test_what_was_ordered_outlives_the_gateway(dock, endpoint, tmp_path):
    """Who, what and with what result, in the file of the history."""
    past = tmp_path / "past.db"
    with engine(dock, endpoint, mode="lockstep"):
        with gateway(endpoint, history=past) as running:
            assert running.keeps_history
            assert running.history.notices(0, 2**62, what="orders") == []
            running.commander.execute(Order("command", values={"elbow": 0.25}), ALICE)
            with pytest.raises(OrderRefused):
                running.commander.execute(Order("reset"), GUEST)
        with gateway(endpoint, history=past) as running:
            found = running.history.notices(0, 2**62, what="orders")
            running.commander.execute(Order("give_up"), ALICE)
    reported = [(each.kind, each.data["who"], each.data["order"], each.data.get("code")) for each in found]
    assert reported == [
        ("command", "console/alice", "command elbow = 0.25", None),
        ("refused", "console/guest", "reset", "role"),
    ]


@pytest.mark.parametrize(
    ("order", "code", "text"),
    [
        (Order("command", values={"elbo": 1.0}), "unknown", "did you mean 'elbow'"),
        (Order("command", values={"elbow": math.nan}), "non_finite", "cannot be nan"),
        (Order("command", values={"elbow": 10**400}), "non_finite", "finite number"),
        (Order("command", values={"elbow": "1"}), "malformed", "needs a number"),
        (Order("command", values={"elbow": True}), "malformed", "needs a number"),
        (Order("command"), "malformed", "needs values"),
        (Order("command", values={"x" * 10**4: 1.0}), "malformed", "at most 200"),
        (Order("explode"), "malformed", "not an action"),
        (Order("parameter", "gravity.w", 1.0), "unknown", "did you mean 'gravity"),
        (Order("parameter", "gravity.z"), "malformed", "needs a number"),
        (Order("attach", "brakes"), "unknown", "did you mean 'brake'"),
        (Order("lock", "base"), "unknown", "no lock of hinge is called 'base'"),
        (Order("release", "dock"), "argument", "open"),
    ],
    ids=lambda each: None,
)
def test_refusals(order, code, text, served_dock):
    """Nothing changes, the reason is in the error and sent to all outlets."""
    running, recorder = served_dock
    recorder.notices.clear()
    with pytest.raises(OrderRefused, match=text) as caught:
        running.commander.execute(order, ALICE)
    assert caught.value.code == code
    until(lambda: recorder.texts("refused"), "the refusal was not reported")
    reported = recorder.texts("refused")[0]
    assert reported.startswith("console/alice: ")
    assert f"refused ({code})" in reported
    assert len(reported) < 1000
    assert pickle.loads(pickle.dumps(caught.value)).code == code


@pytest.fixture(scope="module")
def served_dock(dock, tmp_path_factory):
    """A gateway of a dock engine in lockstep, with an outlet that remembers."""
    endpoint = f"ipc://{tmp_path_factory.mktemp('e')}/e"
    recorder = Recorder()
    with engine(dock, endpoint, mode="lockstep"), gateway(endpoint, recorder) as running:
        yield running, recorder


def test_who_may_do_what(dock, endpoint):
    rules = [Rule("console/al*", ("command",), ("elbow",)), Rule("ccsds/*", ("parameter", "reset"), ("gravity.*", ""))]
    with engine(dock, endpoint, mode="lockstep"), gateway(endpoint, rules=rules) as running:
        do, ground = running.commander.execute, Actor("ccsds", "apid 3", "operator")
        do(Order("command", values={"elbow": 0.1}), ALICE)
        do(Order("parameter", "gravity.x", 0.1), ground)
        do(Order("reset"), ground)
        for order, actor, code in (
            (Order("command", values={"elbow": 0.1}), GUEST, "role"),
            (Order("command", values={"elbow": 0.1, "dock.closed": 1.0}), ALICE, "not_allowed"),
            (Order("command", values={"elbow": 0.1}), ground, "not_allowed"),
            (Order("parameter", "hinge.elbow.damping", 0.1), ground, "not_allowed"),
            (Order("reset"), ALICE, "not_allowed"),
        ):
            with pytest.raises(OrderRefused) as caught:
                do(order, actor)
            assert caught.value.code == code
    with engine(dock, endpoint), gateway(endpoint, rules=()) as running, pytest.raises(OrderRefused, match="no rule"):
        running.commander.check(Order("reset"), ALICE)


def test_the_lease(dock, endpoint):
    """Held by another: refused, with its name. Unused for a while: given up by itself."""
    with engine(dock, endpoint, mode="lockstep"), gateway(endpoint) as running, Client(endpoint, name="robot") as other:
        running.commander._idle_s = 0.2
        other.acquire()
        with pytest.raises(OrderRefused, match="'robot' holds") as caught:
            running.commander.execute(Order("reset"), ALICE)
        assert caught.value.code == "lease"
        other.release()
        running.commander.execute(Order("reset"), ALICE)
        until(lambda: other.status()["lease"] is None, "the gateway keeps a lease that it does not use")
        other.acquire()


def test_an_order_that_the_engine_refuses_does_not_keep_the_lease(dock, endpoint):
    with engine(dock, endpoint, mode="lockstep"), gateway(endpoint) as running, Client(endpoint) as other:
        running.commander._idle_s = 0.1
        with pytest.raises(OrderRefused, match="open"):
            running.commander.execute(Order("release", "dock"), ALICE)
        until(lambda: other.status()["lease"] is None, "the gateway keeps a lease that it does not use")


def test_a_parameter_is_known_at_once(served_dock):
    """Not only when the engine's next heartbeat reports it: who has set one looks at it then."""
    running, _ = served_dock
    for value in (-1.25, -1.5):
        running.commander.execute(Order("parameter", "gravity.x", value), ALICE)
        assert running.session().mirror.simulation.parameters["gravity.x"] == value


def test_rules_for_targets_let_pass_what_has_none():
    rule = Rule("console/*", ("command", "reset", "give_up"), ("wheel_*",))
    assert all(rule.fits(ALICE, Order(action)) for action in ("reset", "give_up"))
    assert rule.fits(ALICE, Order("command", values={"wheel_1": 0.0}))
    assert not rule.fits(ALICE, Order("command", values={"wheel_1": 0.0, "arm": 0.0}))
    assert not rule.fits(ALICE, Order("attach"))


def test_orders_when_the_engine_goes_and_comes(arm, dock, endpoint, monkeypatch):
    """Gone: refused as lost, bounded. Back: orders work. Another model: refused until its dictionary is there."""
    monkeypatch.setattr("limberjack.bridge.telemetry.commander.ANSWER_S", 0.5)
    recorder = Recorder()
    with engine(arm, endpoint, mode="lockstep"):
        context = gateway(endpoint, recorder)
        running = context.__enter__()
        do = running.commander.execute
        do(Order("command", values={"shoulder": 1.0}), ALICE)
    with pytest.raises(OrderRefused) as caught:
        do(Order("command", values={"shoulder": 1.0}), ALICE)
    assert caught.value.code == "lost"
    with engine(arm, endpoint, mode="lockstep"):
        do(Order("command", values={"shoulder": 2.0}), ALICE)
        with Client(endpoint) as reader:
            assert reader.state().command["shoulder"] == 2.0
    with engine(dock, endpoint, mode="lockstep"):
        until(lambda: len(recorder.dictionaries) == 2, "the other model was not noticed")
        do(Order("command", values={"elbow": 2.0}), ALICE)
        with pytest.raises(OrderRefused) as caught:
            do(Order("command", values={"shoulder": 1.0}), ALICE)
        assert caught.value.code == "unknown"
    context.__exit__(None, None, None)


def test_a_restart_of_the_engine_is_no_flood_of_refusals(arm, endpoint):
    """Its clients, for states and for orders, beat on; each learns that another engine answers, and says hello again.

    Beats that waited while no engine ran are refused too, hence no exact number: the refusals end.
    """
    recorder = Recorder()
    with engine(arm, endpoint, mode="lockstep", lease_s=0.3):
        context = gateway(endpoint, recorder)
        running = context.__enter__()
        running.commander.execute(Order("command", values={"shoulder": 1.0}), ALICE)
    with engine(arm, endpoint, mode="lockstep", lease_s=0.3) as server:
        until(lambda: server.service.status()["refused"], "the gateway does not ask the new engine")
        time.sleep(1.0)
        refused = server.service.status()["refused"]["unknown_client"]
        time.sleep(1.5)  # fifteen beats of each client
        assert server.service.status()["refused"]["unknown_client"] == refused
        assert len([text for text in recorder.texts("engine") if "hello" in text]) <= refused < 10
    context.__exit__(None, None, None)


def test_a_flood_of_refusals_is_reported_in_part(served_dock):
    running, recorder = served_dock
    recorder.notices.clear()
    for _ in range(200):
        with pytest.raises(OrderRefused):
            running.commander.execute(Order("reset"), GUEST)
    assert len(recorder.texts("refused")) <= 20 * 4
    rest = "were not reported"
    until(lambda: _refused(running) or rest in "".join(recorder.texts("refused")), "the rest is not counted")


def _refused(running) -> None:
    with pytest.raises(OrderRefused):
        running.commander.execute(Order("reset"), GUEST)
