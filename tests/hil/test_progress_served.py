"""A run that is served: its progress as events, its condition, and what clients and the gateway ask of it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from limberjack.bridge.client import Client
from limberjack.bridge.errors import EngineLostError, EngineTimeoutError, RefusedError
from limberjack.bridge.messages import PROTOCOL_VERSION, Message
from limberjack.bridge.roles import Role, needed
from limberjack.bridge.telemetry.orders import Actor, Order, OrderRefused
from tests.bridge.telemetry.conftest import dock  # noqa: F401  (fixture)
from tests.bridge.telemetry.engines import Recorder, engine, gateway, until
from tests.hil.progress_runs import write

ALICE = Actor("console", "alice", "operator")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[tuple[str, subprocess.Popen]]:
    """Address and process of a scenario that is served."""
    endpoint = f"ipc://{tmp_path}/b"
    command = [sys.executable, "-m", "limberjack", "hil", str(write(tmp_path)), "--out", "out", "--serve", endpoint]
    with open(tmp_path / "said", "w") as said:
        process = subprocess.Popen(command, cwd=tmp_path, stdout=said, stderr=said)
    try:
        yield endpoint, process
    finally:
        process.kill()
        process.wait()


def connected(endpoint: str) -> Client:
    """A client, once the bench answers; the first run on a machine compiles."""
    found: list[Client] = []

    def connect() -> bool:
        try:
            found.append(Client(endpoint, name="alice", timeout_s=5.0))
        except (EngineTimeoutError, EngineLostError):
            return False
        return True

    for _ in range(20):
        if connect():
            return found[0]
    raise AssertionError("the bench never answered")


def next_progress(client: Client, *states: str) -> dict:
    """The next event of progress in one of these states."""
    for _ in range(2000):
        kind, body = client.next_event(timeout_s=20.0)
        if kind == "event" and body["event"] == "progress" and body["state"] in states:
            return body
    raise AssertionError(f"no progress with {states}")


@pytest.mark.long
def test_a_client_sees_progress_and_pauses_steps_and_aborts(bench, tmp_path):
    endpoint, process = bench
    with connected(endpoint) as client:
        seen = next_progress(client, "running")
        assert (seen["scenario"], seen["duration"]) == ("watched", 60.0)
        assert {each["name"]: each["state"] for each in seen["criteria"]}["comes to rest"] == "undecided"
        client.run("pause", "to look")
        seen = next_progress(client, "paused")
        assert seen["why"] == "by 'alice': to look"
        assert client.status()["paused"] == "by 'alice': to look"
        at = client.state().time
        client.run("step", frames=3)
        until(lambda: client.state().time > at + 0.029, "the frames did not come")
        assert client.state().time == pytest.approx(at + 0.03)
        with pytest.raises(RefusedError, match="pause, resume, step, abort"):
            client.run("dance")
        with pytest.raises(RefusedError, match="frames"):
            client.run("step", frames=0)
        with pytest.raises(RefusedError, match="printable"):
            client.run("abort", "\x1b[2J")
        client.run("resume")
        assert next_progress(client, "running")["time"] > at
        client.run("abort", "enough")
        assert next_progress(client, "ended")["why"] == "aborted: by 'alice': enough"
    assert process.wait(60) == 130
    assert "by &#x27;alice&#x27;: enough" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.long
def test_the_gateway_keeps_progress_and_reports_criteria(bench):
    endpoint, process = bench
    connected(endpoint).close()
    outlet = Recorder()
    with gateway(endpoint, outlet) as running:
        until(lambda: running.progress() is not None, "no progress came")
        until(lambda: any("criterion slow is failing" in each.text for each in outlet.notices), "no notice came")
        assert not any("criterion near" in each.text for each in outlet.notices)
        running.commander.execute(Order("pause", reason="tea"), ALICE)
        until(lambda: running.condition().state == "paused", "it is not paused")
        assert "tea" in running.condition().text
        until(lambda: running.progress()["state"] == "paused", "the progress does not say so")
        at = running.progress()["time"]
        running.commander.execute(Order("single_step"), ALICE)
        until(lambda: running.progress()["time"] > at, "no frame came")
        assert running.condition().state == "paused"
        running.commander.execute(Order("resume"), ALICE)
        until(lambda: running.condition().state in ("live", "overrunning"), "it does not go on")
        with pytest.raises(OrderRefused, match="needs a reason"):
            running.commander.execute(Order("abort"), ALICE)
        with pytest.raises(OrderRefused, match="printable"):
            running.commander.execute(Order("abort", reason="\n"), ALICE)
        running.commander.execute(Order("abort", reason="smoke"), ALICE)
        until(lambda: running.progress()["state"] == "ended", "no last word came")
    assert process.wait(60) == 130


def test_an_engine_has_no_run(dock, endpoint):  # noqa: F811
    with engine(dock, endpoint), gateway(endpoint) as running:
        assert running.progress() is None
        with pytest.raises(OrderRefused, match="Only a test bench has"):
            running.commander.execute(Order("pause"), ALICE)
        with Client(endpoint) as client, pytest.raises(RefusedError, match="an engine has no run to pause"):
            client.run("pause")


@pytest.mark.parametrize(
    ("what", "role"), [("pause", Role.COMMAND), ("step", Role.COMMAND), ("abort", Role.ADMIN)]
)  # fmt: skip
def test_roles(what, role):
    assert needed(Message(PROTOCOL_VERSION, "run", 1, 0.0, 1, [what, None, None])) is role
