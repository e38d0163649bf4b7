"""The gateway: exact numbers, gaps, restarts, outlets that are slow, fail or hang."""

from __future__ import annotations

import math
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from limberjack.bridge import Client
from limberjack.bridge.errors import EngineTimeoutError, KeyRefusedError
from limberjack.bridge.keys import keygen
from limberjack.bridge.telemetry import session
from limberjack.bridge.telemetry.alarms import Alarms
from limberjack.bridge.telemetry.dictionary import Dictionary, Quantity, dictionary_of
from limberjack.bridge.telemetry.gateway import Gateway
from limberjack.bridge.telemetry.history.history import History
from limberjack.bridge.telemetry.limiter import Limiter
from limberjack.bridge.telemetry.orders import Actor, Order, OrderRefused
from limberjack.bridge.telemetry.outlets.printing import PrintOutlet
from limberjack.bridge.telemetry.outlets.registry import KINDS, Context, kind_of
from limberjack.bridge.telemetry.queues import Feed
from limberjack.bridge.telemetry.sample import Notice, Sample
from limberjack.bridge.telemetry.session import Session
from limberjack.engine.api.dynamics import Dynamics
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.common.errors import ArgumentError
from tests.bridge.telemetry.engines import Recorder, engine, gateway, until


def by_group(recorder: Recorder, sample: Sample) -> dict[str, np.ndarray]:
    return {group: sample.vector[place] for group, place in recorder.dictionaries[-1].groups.items()}


def test_samples_are_the_engine_s_numbers(arm, endpoint):
    """Lockstep: every published state arrives in order, bit for bit; energy and momentum are those of Dynamics."""
    twin, recorder = Simulation(arm), Recorder()
    with engine(arm, endpoint, mode="lockstep"), gateway(endpoint, recorder), Client(endpoint) as client:
        until(lambda: recorder.samples, "no first state came")
        until(lambda: client.step(1) and len(recorder.samples) > 1, "the stream brings nothing")
        client.reset()
        until(lambda: recorder.samples[-1].time == 0.0, "the reset did not arrive")
        at = len(recorder.samples)
        for _ in range(20):
            client.step(5, {"shoulder": 1.5})
        until(lambda: len(recorder.samples) == at + 20, "states are missing")
    twin.command["shoulder"] = 1.5
    dynamics = Dynamics(arm)
    for sample in recorder.samples[at:]:
        twin.step(5)
        parts = by_group(recorder, sample)
        assert sample.time == parts["time"][0] == twin.time
        assert sample.gap == 0
        for part, expected in (("q", twin.q), ("v", twin.v), ("tau", twin.tau), ("output", twin.output_vector)):
            np.testing.assert_array_equal(parts[part], expected)
        kinetic, potential = dynamics.energy(twin.q, twin.v)
        np.testing.assert_allclose(parts["energy"], [kinetic, potential, 0.0, kinetic + potential], rtol=1e-13)
        np.testing.assert_allclose(parts["momentum"], dynamics.momentum(twin.q, twin.v), rtol=1e-12, atol=1e-14)
        assert parts["engine"][:2].tolist() == [1.0, twin.step_count]
    assert [b.sequence - a.sequence for a, b in zip(recorder.samples[at:], recorder.samples[at + 1 :])].count(1) >= 18
    assert all(a.unix_ns < b.unix_ns for a, b in zip(recorder.samples, recorder.samples[1:]))


def test_an_engine_that_cannot_keep_pace_is_in_alarm(arm, endpoint):
    """A cycle of 1 µs: every one comes late, time is given up. The limits are the dictionary's own."""
    recorder = Recorder()
    with engine(arm, endpoint, dt=1e-6, rate_hz=1e6), gateway(endpoint, recorder) as running:
        until(lambda: running.condition().state == "overrunning", "not overrunning")
        until(lambda: "engine.overrun_share" in running.alarms(), "no alarm of overruns")
        until(lambda: recorder.value("engine.overrun_share") > 0.9, "few overruns")
        until(lambda: running.alarms()["engine.overrun_share"].severity == 2, "a mild alarm")
        until(lambda: recorder.value("engine.late") > 0.0, "no delay")
        assert recorder.value("engine.late") <= recorder.value("engine.late_max")
        until(lambda: any("engine.overrun_share" in text for text in recorder.texts("alarm")), "no notice of it")


def test_parameters_reach_the_mirror(arm, endpoint):
    """Set before the gateway came and while it runs: the potential energy follows."""
    recorder = Recorder()
    with engine(arm, endpoint, mode="lockstep"), Client(endpoint) as client:
        client.parameter("gravity.z", -1.0)
        with gateway(endpoint, recorder):
            until(lambda: recorder.samples, "no state came")
            twin = Simulation(arm)
            twin.parameters["gravity.z"] = -1.0
            assert recorder.value("energy.potential") == pytest.approx(twin.output["energy.potential"], rel=1e-13)
            client.parameter("gravity.z", -2.0)
            twin.parameters["gravity.z"] = -2.0
            wanted = pytest.approx(twin.output["energy.potential"], rel=1e-13)
            until(lambda: recorder.value("energy.potential") == wanted, "the mirror has the old gravity")
    assert any("gravity.z to -2" in text for text in recorder.texts("engine"))


def test_an_engine_without_a_bench_has_no_times_of_frames_and_no_alarm(arm, endpoint):
    recorder = Recorder()
    with engine(arm, endpoint), gateway(endpoint, recorder) as running:
        until(lambda: len(recorder.samples) > 10, "no state came")
        assert all(math.isnan(recorder.value(f"engine.frame_{part}")) for part in ("p50", "p99"))
        assert recorder.value("engine.running") == 1.0
        assert "engine.frame_p50" not in running.alarms()
    assert not any("frame_p" in text for text in recorder.texts("alarm"))


def test_events_that_were_lost(arm, endpoint):
    """More parameters set at once than the engine publishes events: the mirror has the last one all the same."""
    recorder = Recorder()
    with engine(arm, endpoint) as server, gateway(endpoint, recorder), Client(endpoint) as client:
        until(lambda: recorder.samples, "no state came")
        for k in range(100):
            client.parameter("gravity.z", -0.1 * k)
        twin = Simulation(arm)
        twin.parameters["gravity.z"] = -0.1 * 99

        def potential_is_right() -> bool:
            sample = recorder.samples[-1]
            parts = by_group(recorder, sample)
            twin.q, twin.v = parts["q"], parts["v"]
            return bool(abs(parts["energy"][1] - twin.output["energy.potential"]) < 1e-12)

        until(potential_is_right, "the mirror has another gravity")
        assert server.service.parameters_set == 100


def test_of_many_notices_the_number_is_reported():
    limiter = Limiter(3)
    assert [limiter.admits("overrun") for _ in range(5)] == [True] * 3 + [False] * 2
    assert limiter.admits("trip")
    assert limiter.rest() == {"overrun": 2}
    assert limiter.rest() == {}
    assert limiter.admits("overrun")


def test_an_engine_that_is_started_again(arm, dock, endpoint):
    """Killed: reported. Same model: outlets go on. Another model: they open again for it."""
    recorder = Recorder()
    with engine(arm, endpoint):
        made = gateway(endpoint, recorder)
        running = made.__enter__()
        until(lambda: len(recorder.samples) > 5, "no states")
    until(lambda: any("lost" in text for text in recorder.texts("link")), "the loss was not reported")
    before = len(recorder.samples)
    with engine(arm, endpoint):
        until(lambda: len(recorder.samples) > before + 5, "states do not come again")
    assert len(recorder.dictionaries) == 1
    with engine(dock, endpoint):
        until(lambda: len(recorder.dictionaries) == 2, "the other model was not reported")
        until(
            lambda: recorder.samples and len(recorder.samples[-1].vector) == len(recorder.dictionaries[1]), "no state"
        )
        assert running.session().system.name == "dock"
    made.__exit__(None, None, None)
    assert recorder.closed == 2
    assert sum("again after" in text for text in recorder.texts("link")) == 2


def test_an_engine_with_keys(arm, endpoint, folder):
    """Telemetry and orders go through with keys, and not without."""
    recorder, keys = Recorder(), folder / "keys"
    keygen(keys, ("client",))
    with engine(arm, endpoint, keys=keys):
        with gateway(endpoint, recorder, keys=keys) as running:
            until(lambda: recorder.samples, "no samples")
            running.commander.execute(Order("command", values={"shoulder": 1.0}), Actor("test", "a", "operator"))
            until(lambda: recorder.value("command.shoulder") == 1.0, "the command is not in the telemetry")
        with pytest.raises(KeyRefusedError, match="keys"), gateway(endpoint):
            pass


def test_a_gateway_whose_key_may_only_read(arm, endpoint, folder):
    """It shows everything, its orders are refused, and notices say in words what happens to keys and connections."""
    recorder, keys = Recorder(), folder / "keys"
    keygen(keys, ("client",), "read")
    with engine(arm, endpoint, keys=keys), gateway(endpoint, recorder, keys=keys) as running:
        until(lambda: recorder.samples, "no samples")
        for order in (Order("command", values={"shoulder": 1.0}), Order("reset")):
            with pytest.raises(OrderRefused) as refused:
                running.commander.execute(order, Actor("test", "a", "operator"))
            assert refused.value.code == "role"
        keygen(keys, ("late",), "command")
        until(lambda: any("keys changed: added late" in n.text for n in recorder.notices), "no notice of the key")
        reader = running.session().client
        assert reader.state().step >= 0


def test_the_past_of_two_gateways(arm, endpoint, tmp_path):
    """One history over two gateways; the break between them shows."""
    path = tmp_path / "past"
    with engine(arm, endpoint, mode="lockstep"), Client(endpoint) as client:
        for _ in range(2):
            with gateway(endpoint, history=path) as running:
                past = running.history
                start = len(past.query(["time"], 0, 2**63, 10_000)["time"].last)
                until(lambda: client.step(1) and _count(past) >= start + 10, "nothing is kept")  # noqa: B023
        with gateway(endpoint, history=path) as running:
            series = running.history.query(["time"], 0, 2**63, 10_000)["time"]
    assert np.count_nonzero(series.gap) >= 2
    assert (np.diff(series.last) >= 0.0).all()


def _count(past: History) -> int:
    return len(past.query(["time"], 0, 2**63, 10_000)["time"].last)


def test_what_cannot_be_read_does_not_end_the_source(arm, endpoint, monkeypatch):
    recorder, whole = Recorder(), Session.sample

    def damaged(session, state, sequence, unix_ns, gap):
        if sequence == 5:
            monkeypatch.setattr(Session, "sample", whole)
            raise KeyError("q")
        return whole(session, state, sequence, unix_ns, gap)

    monkeypatch.setattr(Session, "sample", damaged)
    with engine(arm, endpoint, rate_hz=200.0), gateway(endpoint, recorder):
        until(lambda: any("cannot be read, KeyError" in text for text in recorder.texts("link")), "it was not reported")
        until(lambda: any("again after" in text for text in recorder.texts("link")), "it does not go on")
        until(lambda: any(each.gap == 1 for each in recorder.samples), "the break does not show")


def test_no_engine(endpoint, monkeypatch):
    monkeypatch.setattr("limberjack.bridge.telemetry.session._REQUEST_S", 0.2)
    with pytest.raises(EngineTimeoutError, match="^no reply to .* nothing listens there"), gateway(endpoint):
        pass
    with pytest.raises(EngineTimeoutError, match=r"^waited 0\.3 s: no reply"):
        Gateway(endpoint).connect(0.3)


def sample(k: int, gap: int = 0) -> Sample:
    return Sample(k, 1e-3 * k, 1_000_000 * k, np.zeros(1), gap)


def fed(recorder: Recorder, **options) -> Feed:
    notices = recorder.notices
    feed = Feed(recorder, lambda severity, text: notices.append(Notice("link", severity, text, 0.0, 0)), **options)
    feed.start(None)
    return feed


def test_a_slow_outlet_loses_the_oldest_and_sees_the_gap():
    recorder = Recorder()
    feed = fed(recorder, samples=10)
    recorder.go_on.clear()
    feed.offer_sample(sample(0))
    until(lambda: feed.busy_s() > 0.0, "the outlet does not work")
    for k in range(1, 101):
        feed.offer_sample(sample(k, gap=2 if k == 50 else 0))
    recorder.go_on.set()
    assert feed.close(5.0)
    assert [each.sequence for each in recorder.samples] == [0, *range(91, 101)]
    assert [each.gap for each in recorder.samples] == [0, 92, *[0] * 9]
    assert (feed.counts.sent, feed.counts.dropped, recorder.closed) == (11, 90, 1)


def test_thinning_is_no_gap_but_keeps_gaps():
    recorder = Recorder()
    feed = fed(recorder, rate_hz=100.0)
    for k in range(100):  # one each ms
        feed.offer_sample(sample(k, gap=3 if k == 15 else 0))
    assert feed.close(5.0)
    assert [each.sequence for each in recorder.samples] == list(range(0, 100, 10))
    assert [each.gap for each in recorder.samples] == [0, 0, 3, *[0] * 7]
    assert (feed.counts.thinned, feed.counts.dropped) == (90, 0)


def test_samples_and_notices_stay_in_order():
    order: list[object] = []
    recorder = Recorder()
    recorder.sample = lambda each: order.append(each.sequence)  # type: ignore[method-assign]
    recorder.notice = lambda each: order.append(each.text)  # type: ignore[method-assign]
    feed = fed(recorder)
    for k in range(50):
        feed.offer_sample(sample(k))
        feed.offer_notice(Notice("engine", 0, f"n{k}", 0.0, 0))
    assert feed.close(5.0)
    assert order == [each for k in range(50) for each in (k, f"n{k}")]


def test_an_outlet_that_fails_is_opened_again_and_one_that_hangs_is_left(arm, endpoint, monkeypatch):
    monkeypatch.setattr("limberjack.bridge.telemetry.gateway._HANGS_S", 0.3)
    monkeypatch.setattr("limberjack.bridge.telemetry.gateway._CLOSE_S", 0.3)
    monkeypatch.setattr("limberjack.bridge.telemetry.queues._PAUSES_S", (0.05, 0.1))
    good, bad, stuck = Recorder("good"), Recorder("bad"), Recorder("stuck")
    bad.fails = True
    with engine(arm, endpoint):
        with gateway(endpoint, good, bad, stuck) as running:
            until(lambda: len(bad.dictionaries) > 1, "the failing outlet was not opened again")
            bad.fails = False
            stuck.go_on.clear()
            until(lambda: any("stuck hangs" in text for text in good.texts("link")), "nobody reported that one hangs")
            until(lambda: bad.samples, "the outlet that failed does not go on")
            status = running.status()
        assert status["1.bad"]["failures"] >= 5
        assert any("bad failed, RuntimeError: made to fail" in text for text in good.texts("link"))
        assert good.closed == 1
        assert not any(each.gap for each in good.samples)
    stuck.go_on.set()


def test_an_outlet_that_fails_at_notices_floods_nobody():
    """Each failure would be a notice, at which it fails again."""
    recorder, reported = Recorder(), []

    def fail(notice: Notice) -> None:
        raise OSError("no way to the address")

    def notify(severity: int, text: str) -> None:
        reported.append(text)
        feed.offer_notice(Notice("link", severity, text, 0.0, 0))

    recorder.notice = fail  # type: ignore[method-assign]
    feed = Feed(recorder, notify)
    feed.start(None)
    notify(0, "first")
    for k in range(50):
        feed.offer_sample(sample(k))
        until(lambda: not feed.waiting, "the outlet does not work")
    assert feed.close(5.0)
    assert reported == ["first", "outlet recorder failed, OSError: no way to the address"]
    assert feed.counts.failures == 2


def test_an_outlet_that_opens_but_never_works_is_opened_less_and_less_often(monkeypatch):
    monkeypatch.setattr("limberjack.bridge.telemetry.queues._PAUSES_S", (0.001, 100.0))
    recorder, pauses = Recorder(), []
    recorder.fails = True
    feed = Feed(recorder, lambda severity, text: None)
    feed._closing.wait = pauses.append  # type: ignore[method-assign, assignment]
    feed.start(None)
    for k in range(50):
        feed.offer_sample(sample(k))
    until(lambda: len(pauses) == 10, "the outlet is not opened again")
    assert feed.close(5.0)
    assert pauses == [0.001 * 2**k for k in range(10)]


@pytest.mark.parametrize("opens", [True, False])
def test_an_outlet_that_only_fails_gets_no_more_at_the_end(opens):
    """It fails while its queue drains, or it cannot be opened and its queue is full by the end."""
    recorder, reported = Recorder(), []
    feed = Feed(recorder, lambda severity, text: reported.append(text))
    feed.start(None)
    recorder.fails = True
    if opens:
        recorder.go_on.clear()
        feed.offer_sample(sample(0))
        until(lambda: feed.busy_s() > 0.0, "the outlet does not work")
    else:
        recorder.open = recorder.sample  # type: ignore[method-assign, assignment]
        for k in range(5):
            feed.offer_sample(sample(k))
        until(lambda: feed.counts.failures == 5, "the outlet does not fail")
    for k in range(5, 1005):
        feed.offer_sample(sample(k))
    feed.end()
    recorder.go_on.set()
    assert feed.close(5.0)
    assert len(reported) == (1 if opens else 2)
    assert feed.counts.failures == 5
    assert feed.counts.dropped == (996 if opens else 1000)
    assert feed.waiting == 0


def test_an_outlet_that_is_added_while_the_model_changes():
    """It was not among those that are asked to open again."""
    made, recorder = Gateway("ipc:///nowhere"), Recorder()
    time = (Quantity("time", "time", "s", ""),)
    old, new = (SimpleNamespace(dictionary=Dictionary(name, name, time)) for name in ("old", "new"))
    made._source.session = old

    def opened(dictionary: Dictionary) -> None:
        recorder.dictionaries.append(dictionary)
        made._source.session = new

    recorder.open = opened  # type: ignore[method-assign]
    made.add(recorder)
    until(lambda: len(recorder.dictionaries) == 2, "the outlet keeps the old model")
    assert recorder.dictionaries == [old.dictionary, new.dictionary]
    made._feeds[0].close(5.0)


def test_the_clock_goes_on_when_the_machine_s_is_set_back(monkeypatch):
    """Else rates of outlets, alarms and curves would stand still until the old time is reached again."""
    day, steady = [10**18], [5 * 10**9]
    monkeypatch.setattr(session.time, "time_ns", lambda: day[0])
    monkeypatch.setattr(session.time, "monotonic_ns", lambda: steady[0])
    clock = session.Clock()
    assert (clock.now(), clock.now()) == (10**18, 10**18 + 1)
    day[0], steady[0] = 10**18 - 3600 * 10**9, steady[0] + 10**9
    assert clock.now() == 10**18 + 10**9
    day[0] = 2 * 10**18
    assert clock.now() == 2 * 10**18


def test_print_outlet(arm, capsys):
    recorder = PrintOutlet(["q.*"])
    dictionary = dictionary_of(Simulation(arm))
    recorder.open(dictionary)
    recorder.sample(Sample(1, 0.5, 0, np.arange(float(len(dictionary))), 0))
    recorder.sample(Sample(3, 0.6, 0, np.arange(float(len(dictionary))), 1))
    recorder.notice(Notice("alarm", 2, "too hot.", 0.6, 0))
    out, err = capsys.readouterr()
    assert out.splitlines() == ["time\tq.shoulder\tq.j1\tq.j2", "0.0\t1.0\t2.0\t3.0", "", "0.0\t1.0\t2.0\t3.0"]
    assert err == "t = 0.6 s: critical: too hot.\n"
    with pytest.raises(ArgumentError, match="fits 'nothing'"):
        PrintOutlet(["nothing"]).open(dictionary)
    with pytest.raises(ArgumentError, match="--print needs"):
        kind_of("print").make(" , ", Context(None))
    assert len({kind.name for kind in KINDS}) == len(KINDS)


def test_a_prompt_outlet_has_its_sample_at_once():
    """On the thread that offers it; a failing one keeps its failure on its own thread, and loses nothing."""
    recorder, reported = Recorder(), []
    recorder.prompt = True
    feed = Feed(recorder, lambda severity, text: reported.append(text))
    feed.start(Dictionary("m", "h", (Quantity("time", "time", "s", ""),)))
    for k in range(5):
        feed.offer_sample(Sample(k, 0.0, k + 1, np.zeros(0)))
        assert len(recorder.samples) == k + 1
    recorder.fails = True
    feed.offer_sample(Sample(5, 0.0, 6, np.zeros(0)))
    until(lambda: feed.counts.failures == 1, "the failure is not counted")
    assert "made to fail" in reported[0]
    recorder.fails = False
    feed.offer_sample(Sample(6, 0.0, 7, np.zeros(0)))
    until(lambda: len(recorder.samples) == 6, "it does not go on")
    feed.reopen(Dictionary("m", "h", (Quantity("time", "time", "s", ""),)))
    until(lambda: len(recorder.dictionaries) == 2, "it does not open again")
    until(lambda: feed.offer_sample(Sample(7, 0.0, 8, np.zeros(0))) or recorder.samples[-1].sequence == 7, "closed")
    assert feed.close(10.0)


def test_a_prompt_outlet_is_never_entered_by_two_threads():
    """While its own thread is in it, samples wait for that thread."""
    recorder, inside, go_on = Recorder(), threading.Event(), threading.Event()
    recorder.prompt = True
    recorder.notice = lambda notice: inside.set() or go_on.wait()  # type: ignore[method-assign]
    feed = Feed(recorder, lambda severity, text: None)
    feed.start(Dictionary("m", "h", (Quantity("time", "time", "s", ""),)))
    feed.offer_notice(Notice("link", 0, "now", 0.0, 0))
    assert inside.wait(5.0)
    feed.offer_sample(sample(1))
    assert recorder.samples == []
    go_on.set()
    until(lambda: recorder.samples, "the sample that waited is not handed over")
    assert feed.close(10.0)
    feed.offer_sample(sample(2))
    assert len(recorder.samples) == 1  # it is closed


def test_samples_that_an_outlet_does_not_want_are_no_gap_but_keep_gaps():
    recorder = Recorder()

    def wants(each: Sample) -> bool:
        if each.sequence == 25:
            raise RuntimeError("of no use to the source")
        return each.sequence % 10 == 0

    recorder.wants = wants
    feed = fed(recorder)
    for k in range(40):
        feed.offer_sample(sample(k, gap=3 if k == 15 else 0))
    assert feed.close(5.0)
    assert [(each.sequence, each.gap) for each in recorder.samples] == [(0, 0), (10, 0), (20, 3), (25, 0), (30, 0)]
    assert (feed.counts.thinned, feed.counts.dropped) == (35, 0)


def test_threads_are_woken_after_what_needs_none_and_before_what_takes_longer():
    made, order = Gateway("ipc:///nowhere"), []
    time = Dictionary("m", "h", (Quantity("time", "time", "s", ""),))
    made._source.session, made._alarms = SimpleNamespace(dictionary=time), Alarms(time)
    kinds = {"sends": ("sends", True), "woken": ("", 0), "patient": ("patience_s", 60.0), "prompt": ("prompt", True)}
    for name, (attribute, value) in kinds.items():
        recorder = Recorder(name)
        setattr(recorder, attribute, value)
        made.add(recorder)
        offer = made._feeds[-1].offer_sample
        made._feeds[-1].offer_sample = lambda each, name=name, offer=offer: order.append(name) or offer(each)
    made.sample(sample(1))
    assert order == ["patient", "prompt", "woken", "sends"]
    assert [each.split(".")[1] for each in made.status()] == list(kinds)
    for feed in made._feeds:
        assert feed.close(5.0)


def test_an_outlet_gets_many_samples_at_once_in_order_with_notices():
    recorder, taken = Recorder(), []
    recorder.patience_s = 60.0
    recorder.sample_many = lambda samples: taken.append(samples) or [recorder.sample(each) for each in samples]
    feed = Feed(recorder, lambda severity, text: None, samples=100)
    feed.start(Dictionary("m", "h", (Quantity("time", "time", "s", ""),)))
    until(lambda: feed._idle, "its thread does not wait")
    with feed._lock:  # so that all wait before the thread looks
        feed._idle = False
    for k in range(150):  # 50 are too many
        feed.offer_sample(sample(k))
        if k == 119:
            feed.offer_notice(Notice("link", 0, "now", 0.0, 0))
    feed._bell.release()
    until(lambda: len(recorder.samples) == 100, "it does not get what waits")
    assert [len(each) for each in taken] == [70, 30]
    assert [(each.sequence, each.gap) for each in recorder.samples] == [(50, 50), *((k, 0) for k in range(51, 150))]
    assert (feed.counts.sent, feed.counts.dropped, feed.counts.notices) == (100, 50, 1)
    assert feed.close(10.0)


def test_a_patient_outlet_is_woken_seldom_and_gets_all():
    recorder, wakes = Recorder(), []
    recorder.patience_s = 60.0
    feed = Feed(recorder, lambda severity, text: None, samples=100)
    feed.start(Dictionary("m", "h", (Quantity("time", "time", "s", ""),)))
    until(lambda: feed._idle, "its thread does not wait")
    for k in range(50):
        feed.offer_sample(Sample(k, 0.0, k + 1, np.zeros(0)))
        wakes.append(len(recorder.samples))
    assert wakes == [0] * 50  # half of the queue wakes it, as does a notice
    feed.offer_notice(Notice("link", 0, "now", 0.0, 0))
    until(lambda: len(recorder.samples) == 50, "it does not get what waits")
    assert [each.sequence for each in recorder.samples] == list(range(50))
    assert feed.close(10.0)
