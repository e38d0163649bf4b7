"""A bench that is served: clients see it as a free-running engine, change what it runs, and the record has it all."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.bridge.client import Client
from limberjack.bridge.errors import EngineLostError, EngineTimeoutError, LeaseError, RefusedError
from limberjack.bridge.fault_state import FaultState
from limberjack.bridge.link import Link
from limberjack.bridge.settings import Settings
from limberjack.bridge.telemetry.commander import Commander
from limberjack.bridge.telemetry.orders import Actor, Order, OrderRefused
from limberjack.bridge.telemetry.session import Session
from limberjack.cli import main
from limberjack.hil.record.mcap_file import McapFile
from limberjack.hil.record.replay import replay
from limberjack.hil.scenario.execution import run_scenario
from limberjack.hil.scenario.results import Result
from limberjack.hil.scenario.scenario_file import load_scenario
from limberjack.hil.served_bench import served

WAIT_S = 20.0
MODEL = """\
limberjack: 1
name: pair
simulation: {dt: 0.001, integrator: rk4}
bodies:
  - {name: rod, mass: 2, com: [0, 0, -0.5], inertia: {xx: 0, yy: 0, zz: 0},
     hinge: {name: swing, type: revolute, parent: world, axis: [0, 1, 0], damping: 0.2}}
  - {name: disk, mass: 1, inertia: {xx: 0.1, yy: 0.1, zz: 0.2},
     hinge: {name: turn, type: revolute, parent: world, axis: [0, 0, 1], damping: 0.1}}
loops:
  - {name: swing_lock, type: lock, hinge: swing, switchable: true, closed: false}
actuators:
  - {name: swing, coordinate: swing}
  - {name: turn, coordinate: turn}
"""
SCENARIO = """\
limberjack_scenario: 1
name: served
model: pair.yaml
duration: 60
steps_per_frame: 4
pacing: {real_time: true}
initial: {coordinates: {swing: 0.3}}
devices: [{name: motor, uri: "python:law:steady", signals: [q.swing], commands: [swing]}]
watchdogs: [{name: fast, type: limit, signals: [v.turn], upper: 3.0, safe: zero, commands: [turn], latched: true}]
faults:
  - {name: dead, type: effectiveness, commands: [swing], factor: 0}
  - {name: heavy, type: parameter, factors: {body.rod.mass: 2}}
  - {name: blind, type: dropout, signals: [q.swing], value: 9}
"""
LAW = "def steady(wiring):\n    return lambda time, signals: [2.0 if signals[0] < 5.0 else -1.0]\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("pair.yaml", MODEL), ("served.yaml", SCENARIO), ("law.py", LAW)):
        (tmp_path / name).write_text(text)
    return tmp_path


class Run:
    """A scenario that runs in a thread, and a client of its bench."""

    def __init__(self, folder: Path, out: str = "", **overrides: object) -> None:
        self.endpoint = f"ipc://{folder}/b"
        scenario = load_scenario(folder / "served.yaml", overrides)
        ready = threading.Event()

        def visit(built):
            self.built, self.stop = built, built.executive.stop
            ready.set()
            return served(scenario, built, Settings(self.endpoint, lease_s=0.5), print)

        self._work = partial(run_scenario, scenario, out=folder / out if out else None, visit=visit)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert ready.wait(30 * WAIT_S)  # the first run compiles
        self.result: Result
        self.client = Client(self.endpoint, name="console", timeout_s=WAIT_S)

    def _run(self) -> None:
        self.result = self._work()

    def wait(self) -> Result:
        self._thread.join(30 * WAIT_S)  # it draws and writes its report, which takes processor time
        assert not self._thread.is_alive()
        return self.result

    def end(self) -> Result:
        self.client.close()
        self.stop()
        return self.wait()


@pytest.fixture
def bench(folder: Path) -> Iterator[Callable[..., Run]]:
    runs: list[Run] = []

    def start(out: str = "", **overrides: object) -> Run:
        runs.append(Run(folder, out, **overrides))
        return runs[-1]

    yield start
    for run in runs:
        run.stop()
        run.wait()
        run.client.close()


def steps_on(client: Client, count: int = 20) -> int:
    """Let the bench go on for some steps; the number of the last."""
    wanted = client.state().step + count
    while (now := client.state().step) < wanted:
        pass
    return now


def column(result: Result, signal: str) -> np.ndarray:
    return result.built.tape.columns([signal])[:, 0]


def replayed(folder: Path) -> None:
    """The record comes out bit for bit."""
    record = McapFile(folder / "out" / "record.mcap")
    found = replay(record, lj.load(folder / "pair.yaml"))
    assert found.equal, found.difference or found.stopped
    assert found.frames > 10


def test_a_command_from_outside_ends_a_ramp(bench):
    run = bench(timeline=[{"at": 0, "ramp": {"to": {"turn": 0.2}, "duration": 50}}])
    steps_on(run.client, 2)  # the ramp has begun
    run.client.command({"turn": -0.1})
    steps_on(run.client)
    assert column(run.end(), "command.turn")[-1] == -0.1


def test_it_looks_like_a_free_running_engine_to_clients(bench):
    run = bench()
    client = run.client
    about = client.describe()
    assert (about.mode, about.model) == ("free-running", "pair")
    assert about.raw["bench"] == {
        "scenario": "served",
        "paced": True,
        "faults": [{"name": name, "type": kind, "active": False, "by": None, "since": None} for name, kind in
                   (("dead", "effectiveness"), ("heavy", "parameter"), ("blind", "dropout"))],
        "devices": {"swing": "motor"},
    }  # fmt: skip
    assert lj.Simulation(client.model()).model_hash == about.model_hash
    first, second = client.latest(), client.latest()
    assert second.step > first.step
    assert second.step % 4 == 0
    assert second.command["swing"] == 2.0
    body = next(body for topic, body in iter(client.next_event, None) if topic == "heartbeat")
    assert 0.0 < body["frame_p50_s"] <= body["frame_p99_s"]
    assert body["real_time_factor"] > 0.0
    assert {"overruns", "late_max_s", "lost_s", "events_dropped"} <= set(body)
    for work in (client.reset, lambda: client.restore(client.snapshot()), client.step):
        with pytest.raises(RefusedError, match="plays the scenario 'served'"):
            work()
    client.command({"turn": 20.0})
    while getattr(body := client.next_event(timeout_s=WAIT_S)[1], "get", {}.get)("kind") != "trip":
        pass
    assert (body["event"], body["source"]) == ("bench", "fast")
    assert "above 3" in body["text"]
    assert client.state().command["turn"] == 0.0
    with Client(run.endpoint, timeout_s=WAIT_S) as other, pytest.raises(LeaseError, match="console"):
        other.acquire()
    client.shutdown()
    result = run.wait()
    assert (result.outcome.reason, result.exit_code) == ("stopped", 130)
    assert "the client 'console'" in result.outcome.text


def through_the_gateway(endpoint: str, fault: str) -> None:
    """What a console's buttons do, by way of the gateway."""
    session, operator = Session(endpoint, None, "client"), Actor("test", "somebody", "operator")
    commander = Commander(endpoint, lambda: session, lambda *_, **__: None)
    for action in ("fault", "clear", "fault"):
        answer = commander.execute(Order(action, fault), operator)
        assert (answer["active"], answer["by"], answer["changed"]) == (action == "fault", "gateway", True)
        again = commander.execute(Order(action, fault), operator)
        assert again == {**answer, "changed": False}
    with pytest.raises(OrderRefused, match=f"no fault is called 'blnd'; did you mean '{fault}'"):
        commander.execute(Order("fault", "blnd"), operator)
    commander.close()
    session.client.close()


def test_faults_parameters_and_locks_from_outside_act_and_replay(bench, folder):
    run = bench(out="out")
    client = run.client
    steps_on(client)
    assert client.fault("dead") == FaultState(False, None, None, False)
    begun = client.fault("dead", True)
    assert (begun.active, begun.by, begun.changed) == (True, "console", True)
    assert client.fault("dead", True) == replace(begun, changed=False)
    steps_on(client)
    assert client.state().command["swing"] == 0.0
    assert client.fault("dead", False).active is False
    assert client.parameter("hinge.turn.damping", 0.5) == 0.5
    client.fault("heavy", True)
    assert client.parameter("body.rod.mass") == 4.0
    with pytest.raises(RefusedError, match="no fault 'ded'; it has dead, heavy, blind"):
        client.fault("ded", True)
    with pytest.raises(RefusedError, match="did you mean 'hinge.turn.damping'"):
        client.parameter("hinge.turn.dampin", 0.5)
    steps_on(client)
    assert client.lock("swing").energy_loss >= 0.0
    steps_on(client)
    assert client.state().v[0] == 0.0
    client.unlock("swing")
    client.release()
    through_the_gateway(run.endpoint, "blind")
    steps_on(client)
    assert client.state().command["swing"] == -1.0
    log = run.end().outcome.log
    assert begun.since == log.of("fault")[0].time
    events = [(event.kind, event.source) for event in log.events if "client" in event.data]
    assert events == [
        ("fault", "dead"), ("clear", "dead"), ("parameter", "hinge.turn.damping"), ("fault", "heavy"),
        ("lock", "swing"), ("unlock", "swing"), ("fault", "blind"), ("clear", "blind"), ("fault", "blind"),
    ]  # fmt: skip
    dead, alive = (log.of(kind)[0].data["frame"] for kind in ("fault", "clear"))
    command = column(run.result, "command.swing")
    assert np.all(command[dead:alive] == 0.0)
    assert command[dead - 1] == 2.0
    assert command[alive] == 2.0
    replayed(folder)


def test_a_fault_shows_whether_it_is_active_who_set_it_and_since_when(bench):
    run = bench(timeline=[{"at": 0.02, "fault": "dead"}])
    client = run.client
    steps_on(client, 30)

    def reported() -> dict[str, tuple[bool, str | None, float | None]]:
        describe, status = client._link.request("describe").body["bench"]["faults"], client.status()["faults"]
        assert describe == status
        return {fault["name"]: (fault["active"], fault["by"], fault["since"]) for fault in status}

    assert client.fault("dead", True) == FaultState(True, "scenario", pytest.approx(0.02), False)
    assert reported() == {
        "dead": (True, "scenario", pytest.approx(0.02)),
        "heavy": (False, None, None),
        "blind": (False, None, None),
    }
    ended = client.fault("dead", False)
    heavy = client.fault("heavy", True)
    assert reported() == {
        "dead": (False, "console", ended.since),
        "heavy": (True, "console", heavy.since),
        "blind": (False, None, None),
    }
    assert 0.02 < ended.since <= heavy.since <= client.state().time
    _, heard = next((topic, body) for topic, body in iter(client.next_event, None) if topic == "heartbeat")
    assert {fault["name"] for fault in heard["faults"]} == {"dead", "heavy", "blind"}


def test_a_client_takes_a_command_from_a_device_until_it_gives_the_lease_up_or_falls_silent(bench, folder):
    run = bench(out="out")
    client = run.client
    client.command({"turn": 0.25, "swing": 0.5})
    steps_on(client)
    assert (client.state().command["turn"], client.state().command["swing"]) == (0.25, 0.5)
    client.release()
    steps_on(client)
    state = client.state()
    assert (state.command["turn"], state.command["swing"]) == (0.25, 2.0)
    silent = Link(run.endpoint, WAIT_S, None)
    silent.request("hello", {"name": "silent"})
    silent.request("command", [np.uint32([0]).tobytes(), np.float64([0.75]).tobytes()])
    while client.state().command["swing"] != 2.0:
        pass
    silent.close()
    log = run.end().outcome.log
    texts = [f"{event.source}: {event.text}" for event in log.of("command")]
    assert texts == [
        "swing: taken over from the devices by 'console'",
        "swing: 0.5",
        "turn: 0.25",
        "swing: back to the devices: 'console' no longer holds the lease",
        "swing: taken over from the devices by 'silent'",
        "swing: 0.75",
        "swing: back to the devices: 'silent' no longer holds the lease",
    ]
    replayed(folder)


def test_runs_without_pace_are_served_too_and_clients_see_the_end(bench, folder):
    (folder / "law.py").write_text("from time import sleep\n" + LAW.replace("[2.0", "sleep(2e-4) or [2.0"))
    run = bench("out", **{"pacing.real_time": False, "duration": 8})
    client = run.client
    assert client.describe().raw["bench"]["paced"] is False
    client.fault("heavy", True)
    client.next_event()
    while True:
        topic, body = client.next_event(timeout_s=10 * WAIT_S)
        if topic == "event" and body.get("kind") == "end":
            break
    assert body["source"] == "completed"
    assert run.wait().passed
    with pytest.raises((EngineLostError, EngineTimeoutError)):
        client.state(timeout_s=0.5)
    replayed(folder)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--keys", "keys"], "--keys is for a bench that is served"),
        (["--serve", "tcp://0.0.0.0:5555"], "other machines"),
        (["--serve", "udp://127.0.0.1:5555"], "tcp"),
        (["--serve", "tcp://127.0.0.1:*", "--publish-every", "0"], "publish_divisor is 0"),
    ],
)
def test_options_that_cannot_be(folder, capsys, options, message):
    assert main(["hil", str(folder / "served.yaml"), *options]) == 2
    assert message in capsys.readouterr().err
