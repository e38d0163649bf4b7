"""The console's server without a browser: live, past, orders, who may what, what it refuses."""

from __future__ import annotations

import csv
import dataclasses
import io
import itertools
import json
import math
import re
import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from limberjack.bridge.client import Client
from limberjack.bridge.console.access import Access, Address
from limberjack.bridge.console.switches import Switches
from limberjack.bridge.console.web_server import Console, Settings
from limberjack.bridge.errors import EndpointError
from limberjack.bridge.telemetry.dictionary import Dictionary, Quantity
from limberjack.bridge.telemetry.history.store import HistoryError
from limberjack.bridge.telemetry.orders import Actor, Order, OrderRefused
from limberjack.bridge.telemetry.sample import Notice, Sample
from limberjack.cli import main
from limberjack.engine.model.elements.alarm import Alarm, Bounds
from tests.bridge.console.asking import Ear
from tests.bridge.console.conftest import OPERATOR, TOKENS, VIEWER
from tests.bridge.telemetry.engines import until

pytestmark = pytest.mark.usefixtures("pretended")
BEARER = "Authorization"


@pytest.fixture
def bench(serve, dock):
    with serve(dock, rate_hz=100.0) as made:
        yield made


def test_live_telemetry_is_what_the_engine_sends(bench):
    with bench.ask.live() as ear:
        hello = ear.hear("hello")
        assert (hello["role"], hello["model"], hello["alarms"]) == ("operator", "dock", [])
        ear.say({"kind": "subscribe", "ids": ["q.elbow", "time", "energy.total"]})
        seen = [ear.hear("samples") for _ in range(4)]
    times = [point for message in seen[1:] for point in message["values"]["time"]]
    assert [at for at, _ in times] == sorted(at for at, _ in times)
    assert [value for _, value in times] == sorted(value for _, value in times)
    assert abs(times[-1][0] - 1e3 * time.time()) < 20e3
    newest = seen[-1]["values"]
    assert set(newest) == {"q.elbow", "time", "energy.total"}
    assert all(math.isfinite(points[-1][1]) for points in newest.values())


def test_first_values_come_though_the_engine_waits(serve, dock):
    with serve(dock, mode="lockstep") as bench, Client(bench.gateway.endpoint) as stepper, bench.ask.live() as ear:
        stepper.step(7)
        until(lambda: bench.ask.json("/api/status")["outlets"]["1.console"]["sent"], "no sample")
        ear.say({"kind": "subscribe", "ids": ["engine.step"]})
        until(lambda: ear.hear("samples")["values"]["engine.step"][-1][1] == 7, "the newest sample was not sent")
        assert ear.hear("condition")["utc"] > 0.0  # also while nothing happens


def test_messages_that_are_not_understood(bench):
    with bench.ask.live() as ear:
        for wrong in (
            "{",
            "[]",
            '"x"',
            '{"kind": 1}',
            '{"kind": "dance"}',
            '{"kind": "subscribe", "ids": ["q.nothing"]}',
        ):
            ear.say(wrong)
            assert "understood" in (text := ear.hear("problem")["text"]) or "no message of kind" in text
        ear.say({"kind": "subscribe", "ids": ["time"]})
        assert ear.hear("samples")


def test_the_past_has_the_samples(bench):
    end = 1e3 * time.time() + 60e3
    until(lambda: len(bench.ask.json(f"/api/history?ids=time&start=0&end={end}")["values"]["time"]) > 20, "no past")
    values = bench.ask.json(f"/api/history?ids=time&ids=q.elbow&start=0&end={end}&points=100000")["values"]
    steps = [value for _, value in values["time"] if value is not None]
    assert steps == sorted(steps)
    assert len(values["q.elbow"]) >= len(steps)
    few = bench.ask.json(f"/api/history?ids=time&start={end - 120e3}&end={end}&points=2")["values"]["time"]
    assert 0 < len(few) <= 8


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("ids=q.elbo&start=0&end=1", "unknown: q.elbo"),
        ("start=0&end=1", "give 1 to"),
        ("ids=time&start=x&end=1", "must be numbers"),
        ("ids=time&start=nan&end=1", "must be finite"),
        ("ids=time&start=0&end=1&points=0", "at least 1"),
        ("ids=time&start=0&end=1e300", "must be finite"),
    ],
)
def test_questions_about_the_past_that_make_no_sense(bench, query, text):
    status, answer, _ = bench.ask(f"/api/history?{query}")
    assert status == 400
    assert text in answer


def test_orders(bench):
    done = bench.ask.json("/api/order", {"action": "command", "values": {"elbow": 0.25}})
    assert done["text"] == "Done: command elbow = 0.25."
    with Client(bench.gateway.endpoint) as reader:
        assert reader.state().command["elbow"] == 0.25
    assert bench.ask.json("/api/order", {"action": "lock", "target": "elbow"})["answer"]["energy_loss"] >= 0.0
    assert bench.ask.json("/api/parameter?name=gravity.z")["value"] == 0.0
    assert bench.ask("/api/parameter?name=gravity.w")[0] == 404
    panel = bench.ask.json("/api/panel")
    assert panel["locks"] == [{"hinge": "elbow", "loop": "brake"}]
    assert (panel["loops"], panel["faults"]) == (["dock"], [])
    with bench.ask.live() as ear:
        bench.ask.json("/api/order", {"action": "give_up"})
        until(lambda: ear.hear("notice")["text"] == "console/127.0.0.1: give_up.", "the order was not reported")


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        (b"{", 400, "not JSON"),
        ([], 400, "not a JSON object"),
        ({"action": 5}, 400, "action, target and reason are texts"),
        ({"action": "command", "vales": {}}, 400, "unknown: vales"),
        ({"action": "command", "values": {"elbow": None}}, 409, "needs a number"),
        (b'{"action": "command", "values": {"elbow": NaN}}', 409, "finite"),
        ({"action": "explode"}, 409, "not an action"),
        ({"action": "attach", "target": "brakes"}, 409, "did you mean 'brake'"),
        (b"x" * 100_000, 413, ""),
    ],
)
def test_orders_that_are_refused(bench, body, status, text):
    found, answer, _ = bench.ask("/api/order", body)
    assert found == status
    assert text in answer


def test_pages_of_other_sites_get_nothing(bench):
    """A page anywhere can make a browser ask loopback addresses: by form, by script, or by a name that it rebinds."""
    order = {"action": "reset"}
    assert bench.ask("/api/order", order, {"Origin": "http://evil.example"})[0] == 403
    assert bench.ask("/api/objects", None, {"Host": "evil.example:8080"})[0] == 403
    assert bench.ask("/api/order", json.dumps(order).encode(), {"Content-Type": "text/plain"})[0] == 415
    with pytest.raises(Exception, match="403"), bench.ask.live({"Origin": "http://evil.example"}):
        pass
    own = f"http://127.0.0.1:{bench.console.port}"
    assert bench.ask("/api/objects", None, {"Origin": own})[0] == 200
    assert "frame-ancestors 'self'" in bench.ask("/")[2]["Content-Security-Policy"]


def test_tokens_and_roles(serve, dock):
    order = {"action": "command", "values": {"elbow": 0.5}}
    with serve(dock, Access(TOKENS)) as bench:
        assert bench.ask("/")[0] == bench.ask("/api/order", order)[0] == 401
        assert bench.ask("/api/objects", None, {BEARER: "Bearer wrong"})[0] == 401
        assert bench.ask("/api/panel", None, {BEARER: f"Bearer {VIEWER}"})[0] == 200
        status, text, _ = bench.ask("/api/order", order, {BEARER: f"Bearer {VIEWER}"})
        assert (status, "may only watch" in text) == (403, True)
        assert bench.ask("/api/order", order, {BEARER: f"Bearer {OPERATOR}"})[0] == 200
        status, _, headers = bench.ask(f"/?token={VIEWER}&x=1")
        assert (status, headers["Location"]) == (302, "/?x=1")
        cookie = headers["Set-Cookie"]
        assert cookie.startswith(f"limberjack_token_{bench.console.port}="), "of another console at another port"
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        with bench.ask.live({"Cookie": cookie.split(";")[0]}) as ear:
            assert ear.hear("hello")["role"] == "viewer"
        assert bench.ask("/?token=wrong")[0] == 401
        end = 1e3 * time.time() + 60e3
        path = f"/api/events?start=0&end={end}"
        texts = [each["text"] for each in json.loads(bench.ask(path, None, {BEARER: f"Bearer {VIEWER}"})[1])["notices"]]
        assert any(text.startswith("console/alice: command elbow") for text in texts)
        assert any("may only watch" in text for text in texts)


def hear_alarm(ear: Ear, fits: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """The alarm of the elbow once it fits, empty where there is none. An engine that is late has others."""
    while True:
        found = {each["id"]: each for each in ear.hear("alarms")["alarms"]}.get("command.elbow", {})
        if fits(found):
            return found


def test_alarms_are_reported(serve, dock):
    limit = Alarm("command.elbow", critical=Bounds(-0.5, 0.5))
    with serve(dataclasses.replace(dock, alarms=(limit,)), rate_hz=100.0) as bench, bench.ask.live() as ear:
        assert ear.hear("hello")["alarms"] == []
        bench.ask.json("/api/order", {"action": "command", "values": {"elbow": 0.75}})
        alarm = hear_alarm(ear, lambda each: each and each["severity"] == 2)
        assert (alarm["value"], alarm["waits"], alarm["acknowledged"]) == (0.75, True, None)
        with bench.ask.live() as late:
            assert alarm in late.hear("hello")["alarms"]
            order = {"action": "shelve", "target": "command.elbow", "value": 60, "reason": "a test"}
            bench.ask.json("/api/order", order)
            for each in (ear, late):
                assert hear_alarm(each, lambda alarm: alarm["shelved"])["shelved"]["reason"] == "a test"
            bench.ask.json("/api/order", {"action": "unshelve", "target": "command.elbow"})
            bench.ask.json("/api/order", {"action": "acknowledge", "target": "*"})
            for each in (ear, late):
                alarm = hear_alarm(each, lambda alarm: alarm["acknowledged"])
                assert (alarm["acknowledged"]["who"], alarm["shelved"]) == ("console/127.0.0.1", None)
        bench.ask.json("/api/order", {"action": "command", "values": {"elbow": 0.25}})
        hear_alarm(ear, lambda alarm: not alarm)
        end = 1e3 * time.time() + 1e6
        notices = bench.ask.json(f"/api/alarms?start=0&end={end}")["notices"]
        texts = [each["text"].split(":")[1] for each in notices if each["what"] == "command"]
        assert texts == [" shelve command.elbow for 60 s", " unshelve command.elbow.", " acknowledge *"]


def test_orders_can_be_asked_for_and_saved(bench):
    """Names of clients are no formulas to the program that opens the file."""
    who = Actor("console", '=cmd|"/c calc"!A1', "viewer")
    with pytest.raises(OrderRefused):
        bench.gateway.commander.execute(Order("reset"), who)
    bench.gateway.commander.warn("=1+1")
    span = f"start=0&end={1e3 * time.time() + 1e6}"
    until(lambda: "=1+1" in bench.ask(f"/api/orders.csv?{span}")[1], "the history has not got it")
    row = bench.ask.json(f"/api/orders?{span}&search=calc")["orders"][-1]
    assert (row["who"], row["order"], row["result"]) == (str(who), "reset", "role")
    status, text, headers = bench.ask(f"/api/orders.csv?{span}")
    assert (status, headers["Content-Type"]) == (200, "text/csv; charset=utf-8")
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[-1][2:] == ["", "", "", "'=1+1"]
    assert rows[-2][2:5] == [str(who), "reset", "role"]
    assert rows[-2][0].endswith("Z")
    assert bench.ask(f"/api/orders?{span}&search={'x' * 300}")[0] == 503
    assert bench.ask("/api/orders")[0] == 400


def test_what_an_order_would_change_can_be_asked_for(bench):
    shown = bench.ask.json("/api/preview", {"action": "command", "values": {"elbow": 0.25}})
    (line,) = shown["lines"]
    assert (line["name"], line["then"], line["unit"], line["low"]) == ("elbow", 0.25, "N·m", None)
    assert line["change"] == line["then"] - line["now"]
    assert 1e3 * time.time() < shown["before"] < 1e3 * time.time() + 40e3
    assert bench.ask("/api/preview", {"action": "command", "values": {"elbow": None}})[0] == 409
    status, text, _ = bench.ask("/api/order", {"action": "reset", "before": 1000})
    assert (status, "time limit" in text) == (409, True)
    assert bench.ask("/api/order", {"action": "reset", "before": "now"})[0] == 400


def test_states_of_faults_say_who_set_them_and_since_when(bench):
    session = bench.gateway.session()
    faults = [{"name": "wheel", "active": True, "by": "alice", "since": 3.0}]
    reported = SimpleNamespace(**vars(session) | {"status": {**session.status, "faults": faults}})
    sample = Sample(0, 0.0, 0, np.zeros(len(session.dictionary)))
    message = Switches(SimpleNamespace(session=lambda: reported)).message(sample)
    assert message["faults"] == {"wheel": "active since 3 s, set by 'alice'"}
    assert message["loops"]["brake"] == "free"


def test_states_of_loops_come_as_words(bench):
    with bench.ask.live() as ear:
        ear.say({"kind": "stream", "name": "switches", "on": True})
        assert set(ear.hear("switches")["loops"]) == {"dock", "brake"}


def test_a_browser_that_does_not_read_loses_and_knows_it(serve, dock):
    """Its connection fills, its queue is bounded; others are served, and what it lost is counted."""
    with serve(dock, rate_hz=100.0, live_hz=50.0) as bench, bench.ask.live() as frozen, bench.ask.live() as ear:
        bench.console.running.live.streams["much"] = lambda sample: {"much": "x" * 300_000}
        frozen.say({"kind": "subscribe", "ids": ["time"]})
        frozen.say({"kind": "stream", "name": "much", "on": True})
        ear.say({"kind": "subscribe", "ids": ["time"]})
        browsers = bench.console.running.live.browsers
        until(lambda: any(each.dropped > 5 for each in browsers), "nothing was dropped")
        assert ear.hear("samples")["dropped"] == 0
        until(lambda: frozen.hear("samples")["dropped"] > 0, "what was lost is not reported")


def test_a_browser_that_is_behind_gets_more_in_fewer_messages(serve, dock):
    """Once it has confirmed one, two are on their way at most; then what waited comes in one, and nothing is lost."""
    with serve(dock, rate_hz=100.0, live_hz=50.0) as bench, bench.ask.live() as ear:
        ear.say({"kind": "subscribe", "ids": ["time"]})
        ear.hear("samples")
        ear.say({"kind": "seen"})
        (browser,) = bench.console.running.live.browsers
        until(lambda: len(browser.waiting) > 20, "messages are sent to one that is behind")
        sent = browser.unseen
        assert sent == 2
        points = []
        while len(points) < 20:
            message = ear.hear("samples")
            ear.say({"kind": "seen"})
            points = message["values"]["time"]
            assert message["dropped"] == 0
        assert [value for _, value in points] == sorted(value for _, value in points)
        assert max(b[0] - a[0] for a, b in itertools.pairwise(points)) < 1000.0


def test_a_stream_that_fails_takes_nothing_along(bench):
    bench.console.running.live.streams["bad"] = lambda sample: {"bad": 1.0 / 0.0}
    with bench.ask.live() as ear:
        ear.say({"kind": "stream", "name": "bad", "on": True})
        assert "cannot make bad" in ear.hear("problem")["text"]
        ear.say({"kind": "subscribe", "ids": ["time"]})
        assert ear.hear("samples")


def test_the_console_opens_again(bench):
    """As the gateway does when the engine runs another model: the same address, and browsers can come back."""
    port = bench.console.port
    with bench.ask.live() as ear:
        ear.hear("hello")
        bench.console.close()
        with pytest.raises(Exception, match="1001|closed|sent"):
            ear.hear("nothing")
    bench.console.open(bench.gateway.session().dictionary)
    assert bench.console.port == port
    assert bench.ask("/api/panel")[0] == 200


def test_a_port_that_is_taken(bench):
    second = Console(Settings(Address(port=bench.console.port)), bench.gateway)
    with pytest.raises(EndpointError, match="cannot listen on 127.0.0.1"):
        second.open(bench.gateway.session().dictionary)


# ---- without an engine


def test_an_address_without_its_transport_is_no_model(monkeypatch, capsys):
    monkeypatch.setattr("limberjack.commands.web_console.installed_folder", lambda package: None)
    assert main(["console", "127.0.0.1:5555"]) == 2
    assert "For a running engine give tcp://127.0.0.1:5555" in capsys.readouterr().err


def test_many_notices_at_once_reach_a_browser(still):
    """As when a failure puts all quantities in alarm."""
    with still.ask.live() as ear:
        ear.hear("hello")
        for k in range(300):
            still.console.notice(Notice("alarm", 2, f"alarm {k}", 0.0, k))
        assert [ear.hear("notice")["text"] for _ in range(300)] == [f"alarm {k}" for k in range(300)]


def test_much_asked_at_once_is_answered(still):
    """As a page with many values does; and what nobody can read is no reason to end the connection."""
    still.console.sample(Sample(1, 0.5, 10**18, np.zeros(301)))
    with still.ask.live() as ear:
        ear.hear("hello")
        until(lambda: still.console.running.live._envelope.newest is not None, "no sample")
        for k in range(300):
            ear.say({"kind": "subscribe", "ids": [f"q.{k}"]})
        seen: set[str] = set()
        while len(seen) < 300:
            message = ear.hear("samples")
            assert message["dropped"] == 0
            seen |= set(message["values"])
        ear.say("[" * 60_000)
        assert "RecursionError" in ear.hear("problem")["text"]
    assert still.ask("/api/order", b"[" * 60_000)[:2] == (400, "The order is not JSON.")


def test_names_that_cannot_be_shown_stay_out_of_notices(still):
    """Half of a surrogate pair cannot be encoded, an escape sequence commands a terminal."""
    for action, target in (("parameter", r"\ud800"), ("attach", r"x\u001b[2J\n"), (r"\u001b", "x")):
        body = f'{{"action": "{action}", "target": "{target}", "value": 1}}'.encode()
        status, text, _ = still.ask("/api/order", body)
        assert (status, text.isprintable()) == (409, True), text
    assert len(still.gateway.texts) == 3
    assert all(text.isprintable() for text in still.gateway.texts)
    assert Notice("link", 0, "a\ud800\x1b[2J\nb", 0.0, 0).text == "a??[2J b"


def test_an_order_does_not_wait_for_questions_about_the_past(still):
    go_on = threading.Event()
    still.gateway.history.query = lambda *_: go_on.wait(20.0) and {}
    asked = "/api/history?ids=q.1&start=0&end=1"
    threads = [threading.Thread(target=still.ask, args=(asked,)) for _ in range(8)]
    for each in threads:
        each.start()
    routes = still.console.running._routes
    until(lambda: routes._questions == 8, "the questions did not come")
    assert still.ask("/api/order", {"action": "explode"})[0] == 409
    go_on.set()
    for each in threads:
        each.join()


def test_a_history_that_cannot_answer_says_why(still):
    def fail(*_: object) -> None:
        raise HistoryError("past.db: the history cannot be used (database or disk is full). Make room.")

    still.gateway.history.query = still.gateway.history.notices = fail
    for asked in ("history?ids=q.1&start=0&end=1", "events?start=0&end=1"):
        status, text, _ = still.ask(f"/api/{asked}")
        assert (status, "Make room" in text) == (503, True), text


@pytest.mark.parametrize("path", ["//evil.example/?token=x", "/%2Fevil.example?token=x", "/\\evil.example?token=x"])
def test_a_token_in_an_address_leads_to_this_console_only(still, path):
    place = still.ask(path)[2]["Location"]
    assert re.match(r"/(?![/\\])", place), "a browser takes two slashes for the name of another machine"
    assert "evil" in place


def test_a_model_of_the_same_numbers_and_other_names_is_another_page(still):
    """The hash is of the numbers alone; a page of the old names would stay."""
    reported = []
    for id in ("q.elbow", "q.elbow", "q.wrist"):
        still.console.close()
        still.console.open(Dictionary("still", "hash", (Quantity("time", "time", "s", ""), Quantity(id, "q", "", ""))))
        with still.ask.live() as ear:
            reported.append(ear.hear("hello")["signature"])
    assert reported[0] == reported[1] != reported[2]
