"""Acknowledged and shelved alarms: what operators do, what alarms do meanwhile, and what everybody learns."""

from __future__ import annotations

import pytest

from limberjack.bridge.telemetry.alarm_desk import AlarmDesk, Entry
from limberjack.bridge.telemetry.alarms import Alarm
from limberjack.bridge.telemetry.orders import Actor, Order, OrderRefused, Rule
from tests.bridge.telemetry.engines import Recorder, engine, gateway, until

ALICE, BOB = Actor("console", "alice", "operator"), Actor("console", "bob", "operator")
GUEST = Actor("console", "guest")
S = 1_000_000_000


class Desk:
    """A desk, its clock, and alarms as `Alarms` would bring them."""

    def __init__(self) -> None:
        self.now = 0
        self.desk = AlarmDesk(lambda: self.now)

    def alarms(self, **severities: int) -> None:
        self.now += S
        self.desk.take({id: Alarm(id, severity, 1.0, 0.0, self.now) for id, severity in severities.items()})

    def do(self, action: str, target: str, value: float | None = None, reason: str = "", by: Actor = ALICE) -> dict:
        return self.desk.carry_out(Order(action, target, value, reason=reason), by)

    def __getitem__(self, id: str) -> Entry:
        return self.desk.entries()[id]


def test_an_alarm_that_ends_unseen_stays_until_it_is_acknowledged():
    desk = Desk()
    desk.alarms(hot=2)
    desk.alarms()
    assert (desk["hot"].severity, desk["hot"].worst, desk["hot"].waits) == (0, 2, True)
    assert desk.do("acknowledge", "hot") == {"alarms": ["hot"]}
    assert desk.desk.entries() == {}


def test_an_acknowledged_alarm_goes_when_it_ends_and_waits_again_when_it_gets_worse_or_returns():
    desk = Desk()
    desk.alarms(hot=1, cold=1)
    desk.do("acknowledge", "hot", by=BOB)
    assert (desk["hot"].acknowledged.who, desk["hot"].waits, desk["cold"].waits) == ("console/bob", False, True)
    desk.alarms(hot=2, cold=1)
    assert desk["hot"].waits, "it got worse"
    desk.do("acknowledge", "*")
    desk.alarms(hot=1, cold=1)
    assert not desk["hot"].waits, "it got better"
    desk.alarms()
    assert desk.desk.entries() == {}
    desk.alarms(hot=1)
    assert desk["hot"].waits, "it is another one"


def test_a_shelved_alarm_waits_for_nobody_until_its_time_is_over():
    desk = Desk()
    desk.alarms(hot=1)
    assert desk.do("shelve", "hot", 60.0, "sensor is being changed") == {"until": 61e3}
    shelf = desk["hot"].shelved
    assert (shelf.who, shelf.until_ns, shelf.reason) == ("console/alice", 61 * S, "sensor is being changed")
    for severity in (2, 0, 1):
        desk.alarms(**({"hot": severity} if severity else {}))
        assert not desk["hot"].waits
    with pytest.raises(OrderRefused, match="no alarm waits"):
        desk.do("acknowledge", "*")
    desk.now = 60 * S
    assert desk.desk.look() == []
    desk.now = 61 * S
    assert desk.desk.look() == ["hot"]
    assert (desk["hot"].waits, desk["hot"].shelved, desk["hot"].worst) == (True, None, 1)


def test_what_is_shelved_before_it_is_in_alarm_and_what_ended_meanwhile_is_gone():
    desk = Desk()
    desk.do("shelve", "hot", 60.0, "test of the heater")
    assert not desk["hot"].waits
    desk.alarms(hot=2)
    desk.alarms()
    desk.do("unshelve", "hot")
    assert desk.desk.entries() == {}


@pytest.mark.parametrize(
    ("action", "target", "text"),
    [
        ("acknowledge", "cold", "cold is not in alarm"),
        ("acknowledge", "seen", "acknowledged already, by console/alice"),
        ("unshelve", "seen", "not shelved"),
        ("unshelve", "cold", "not in alarm"),
    ],
)
def test_what_cannot_be_done(action, target, text):
    desk = Desk()
    desk.alarms(seen=1)
    desk.do("acknowledge", "seen")
    before = desk.desk.entries()
    with pytest.raises(OrderRefused, match=text) as caught:
        desk.do(action, target)
    assert caught.value.code == "state"
    assert desk.desk.entries() is before


@pytest.fixture(scope="module")
def running(dock, tmp_path_factory):
    """A gateway whose rules let bob acknowledge alone, an outlet that remembers; an engine in lockstep."""
    endpoint = f"ipc://{tmp_path_factory.mktemp('e')}/e"
    rules = (Rule("*/alice"), Rule("*/bob", ("acknowledge",)))
    recorder = Recorder()
    with engine(dock, endpoint, mode="lockstep"), gateway(endpoint, recorder, rules=rules) as made:
        yield made, recorder


@pytest.mark.parametrize(
    ("order", "actor", "code"),
    [
        (Order("acknowledge", "*"), GUEST, "role"),
        (Order("shelve", "time", 60.0, reason="x"), GUEST, "role"),
        (Order("shelve", "time", 60.0, reason="x"), BOB, "not_allowed"),
        (Order("acknowledge", "q.elbwo"), ALICE, "unknown"),
        (Order("acknowledge", "q.elbow"), BOB, "state"),
        (Order("shelve", "time", 60.0), ALICE, "malformed"),
        (Order("shelve", "time", 60.0, reason=" "), ALICE, "malformed"),
        (Order("shelve", "time", 60.0, reason="x" * 201), ALICE, "malformed"),
        (Order("shelve", "time", 60.0, reason="a\nb"), ALICE, "malformed"),
        (Order("shelve", "time", reason="x"), ALICE, "malformed"),
        (Order("shelve", "time", 0.5, reason="x"), ALICE, "range"),
        (Order("shelve", "time", 28801.0, reason="x"), ALICE, "range"),
        (Order("shelve", "time", float("nan"), reason="x"), ALICE, "non_finite"),
    ],
    ids=lambda each: None,
)
def test_roles_rules_and_checks_are_those_of_orders(order, actor, code, running):
    made, recorder = running
    recorder.notices.clear()
    with pytest.raises(OrderRefused) as caught:
        made.commander.execute(order, actor)
    assert caught.value.code == code
    until(lambda: recorder.texts("refused"), "the refusal was not reported")
    assert str(actor) in recorder.texts("refused")[0]
    assert made.commander.desk.entries() == {}


def test_everybody_learns_who_shelved_what_and_why(running):
    made, recorder = running
    made.commander.execute(Order("shelve", "q.elbow", 1.0, reason="sensor is being changed"), ALICE)
    reported = "console/alice: shelve q.elbow for 1 s: sensor is being changed."
    until(lambda: reported in recorder.texts("command"), "it was not reported")
    until(lambda: any("is active again" in each for each in recorder.texts("alarm")), "the time did not end")
    assert made.commander.desk.entries() == {}
