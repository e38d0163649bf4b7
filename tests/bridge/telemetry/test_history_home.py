"""A history where nobody said where: it survives kills, one gateway uses it, and damage is never fatal."""

from __future__ import annotations

import dataclasses
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from limberjack.bridge.telemetry.alarm_desk import Entry, Mark, Shelf, from_text, to_text
from limberjack.bridge.telemetry.dictionary import Dictionary, Quantity
from limberjack.bridge.telemetry.gateway import Gateway
from limberjack.bridge.telemetry.history.history import History
from limberjack.bridge.telemetry.history.home import Home
from limberjack.bridge.telemetry.orders import Actor, Order
from limberjack.bridge.telemetry.sample import Notice, Sample
from limberjack.engine.model.elements.alarm import Alarm, Bounds
from limberjack.engine.model.system import System
from tests.bridge.bridge_helpers import make_arm
from tests.bridge.telemetry.engines import WAIT_S, engine, gateway, until

S = 1_000_000_000
BOTH = {"q.shoulder", "q.j1"}
ALICE = Actor("console", "alice", "operator")
IDS = Dictionary("m", "hash of m", (Quantity("time", "q", "", ""), Quantity("q.a", "q", "", "")))


@pytest.fixture(autouse=True)
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The user's folder of state."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def hot(arm: System) -> System:
    """An arm whose first hinge and second hinge are in alarm from the beginning."""
    alarms = tuple(Alarm(f"q.{name}", critical=Bounds(5.0, 6.0)) for name in ("shoulder", "j1"))
    return dataclasses.replace(arm, alarms=alarms)


def filled(path: Path) -> None:
    """A history with a sample, an order and an alarm."""
    history = History(path)
    history.open(IDS)
    history.sample(Sample(1, 0.0, S, np.zeros(2)))
    for k in range(2000):
        history.notice(Notice("command", 0, f"alice: order {k} {'x' * 100}", 0.0, S + k, {"who": "alice"}))
    history.close()


def spoil_everything(path: Path) -> None:
    path.write_bytes(b"no database" * 1000)


def spoil_the_head(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(bytes(16384))


def spoil_the_middle(path: Path) -> None:
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 4)
        file.write(os.urandom(size // 2))


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def of_another_version(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 77")
    connection.close()


def without_a_column(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("ALTER TABLE order_notice DROP COLUMN severity")
    connection.close()


SPOILS = [spoil_everything, spoil_the_head, spoil_the_middle, cut, of_another_version, without_a_column]


@pytest.mark.parametrize("spoil", SPOILS)
def test_a_damaged_file_is_set_aside_and_reported(spoil: Callable[[Path], None], state: Path):
    path = state / "m.db"
    filled(path)
    spoil(path)
    spoiled, said = path.read_bytes(), []
    history = History(path, say=said.append)
    history.open(IDS)
    (aside,) = state.glob("m.db.damaged-*[0-9]")
    assert said == [f"{path} is damaged. It is kept as {aside.name}, and another history begins."]
    assert history.kept
    assert len(aside.read_bytes()) == len(spoiled)
    history.notice(Notice("command", 0, "bob: another", 0.0, S, {}))
    assert [each.text for each in history.notices(0, 10 * S)] == ["bob: another"]
    history.close()


def test_a_few_damaged_files_are_kept(state: Path, monkeypatch: pytest.MonkeyPatch):
    path = state / "m.db"
    for second in range(4):
        monkeypatch.setattr("time.strftime", lambda *_, second=second: f"2026-{second}")
        spoil_everything(path)
        history = History(path, say=lambda text: None)
        history.open(IDS)
        history.close()
    assert sorted(each.name for each in state.glob("*.damaged-*")) == ["m.db.damaged-2026-2", "m.db.damaged-2026-3"]


def test_what_proves_to_be_damaged_while_it_is_used_is_set_aside_when_it_is_opened_again(state: Path):
    """As the gateway does with an outlet that failed some times."""
    path, said = state / "m.db", []
    filled(path)
    history = History(path, say=said.append)
    history.open(IDS)
    store = history._opened()
    with pytest.raises(ValueError, match="cannot be used"), store._explained():
        raise damage()
    history.close()
    history.open(IDS)
    assert len(said) == 1
    assert history.notices(0, 10 * S) == []
    history.close()


def damage() -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError("database disk image is malformed")
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error


def test_where_no_file_can_be_made_the_history_is_temporary(state: Path):
    (state / "limberjack").write_text("a file where the folder should be")
    said: list[str] = []
    history = History(Home().file("m"), say=said.append)
    history.open(IDS)
    assert not history.kept
    assert len(said) == 1
    assert said[0].endswith("The history of this gateway is temporary and ends with it.")
    history.close()


def test_each_model_and_engine_has_its_file(state: Path):
    pairs = [
        ("arm", ""),
        ("arm", "tcp://127.0.0.1:5555"),
        ("arm", "tcp://127.0.0.1:5556"),
        ("a/../b", ""),
        ("a-..-b", ""),
    ]
    names = [Home(engine).file(model) for model, engine in pairs]
    assert len(set(names)) == len(pairs)
    assert {each.parent for each in names} == {state / "limberjack" / "history"}
    assert names[0].name == "arm.db"
    assert Home("ipc://" + "x" * 500).file("y" * 500).name.isascii()


def test_a_second_gateway_says_so_and_has_a_history_of_its_own(arm: System, endpoint: str):
    with engine(arm, endpoint), gateway(endpoint, history=Home(endpoint)) as first:
        _ = first.history
        assert first.keeps_history
        with gateway(endpoint, history=Home(endpoint)) as second:
            history = second.history
            assert not second.keeps_history
            until(lambda: history.notices(0, 2**62), "the second says nothing")
            (notices,) = [each.text for each in history.notices(0, 2**62) if "another gateway" in each.text]
            assert "temporary" in notices
            second.commander.execute(Order("shelve", "time", 60.0, reason="a test"), ALICE)
            until(lambda: history.notices(0, 2**62, what="orders"), "the order is not kept")
        assert first.history.notices(0, 2**62, what="orders") == []
    with engine(arm, endpoint), gateway(endpoint, history=Home(endpoint)) as third:
        _ = third.history
        assert third.keeps_history


SERVED = """
import sys
from limberjack.bridge.telemetry.gateway import Gateway
from limberjack.bridge.telemetry.history.home import Home
from limberjack.bridge.telemetry.orders import Actor, Order
gateway = Gateway(sys.argv[1], history=Home(sys.argv[1]))
gateway.connect(20.0)
_ = gateway.history
gateway.start()
while not {"q.shoulder", "q.j1"} <= {*gateway.commander.desk.entries()}:
    pass
alice = Actor("console", "alice", "operator")
gateway.commander.execute(Order("acknowledge", "q.shoulder"), alice)
gateway.commander.execute(Order("shelve", "q.j1", 3600.0, reason="a test"), alice)
def kept(what):
    return gateway.history.notices(0, 2**62, what=what)
while len(kept("orders")) < 2 or sum(each.kind == "alarm" for each in kept("alarms")) < 2:
    pass
print("done", flush=True)
sys.stdin.read()
"""


def test_killed_and_started_again(hot: System, endpoint: str):
    """Orders, alarms, acknowledgements and shelves of a gateway that was killed with SIGKILL are those of the next."""
    with engine(hot, endpoint):
        command = [sys.executable, "-c", SERVED, endpoint]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == "done\n"
            os.kill(child.pid, signal.SIGKILL)
            child.wait(WAIT_S)
        with gateway(endpoint, history=Home(endpoint)) as again:
            history, desk = again.history, again.commander.desk
            orders = history.notices(0, 2**62, what="orders")
            assert [each.data["order"] for each in orders] == [
                "acknowledge q.shoulder",
                "shelve q.j1 for 3600 s: a test",
            ]
            notices = history.notices(0, 2**62, what="alarms")
            assert {each.data["id"] for each in notices if each.kind == "alarm"} >= BOTH
            until(lambda: {*again.alarms()} >= BOTH, "no sample comes")
            entries = desk.entries()
            assert (entries["q.shoulder"].acknowledged or Mark("", 0)).who == "console/alice"
            assert not entries["q.shoulder"].waits
            assert (entries["q.j1"].shelved or Shelf("", 0, "")).reason == "a test"
            assert {entries[id].severity for id in BOTH} == {2}
            assert entries["q.shoulder"].since_unix_ns < orders[0].unix_ns, "since it began, and not since the restart"


def test_another_model_begins_with_an_empty_desk(hot: System, endpoint: str):
    home = Home(endpoint)
    with engine(hot, endpoint), gateway(endpoint, history=home) as first:
        _ = first.history
        until(lambda: {*first.commander.desk.entries()} >= BOTH, "no alarms")
        first.commander.execute(Order("acknowledge", "q.shoulder"), ALICE)
    with engine(make_arm(2), endpoint), gateway(endpoint, history=home) as other:
        assert other.history.notices(0, 2**62, what="orders"), "the history is that of the engine"
        assert not BOTH & {*other.commander.desk.entries()}


def test_an_alarm_that_ended_while_no_gateway_ran(endpoint: str):
    """Acknowledged before: it is over. Not acknowledged: it is listed until somebody does."""
    made = Gateway(endpoint)
    desk = made.commander.desk
    saved = {id: Entry(id, 2, 2, 1.0, S, mark) for id, mark in (("a", Mark("alice", S)), ("b", None))}
    desk.restore(from_text(to_text(saved)))
    assert desk.entries() == saved
    desk.take({})
    assert list(desk.entries()) == ["b"]
    assert desk.entries()["b"].severity == 0
    assert desk.entries()["b"].waits


@pytest.mark.parametrize("text", ["", "{}x", "[1]", '[{"id": 1}]', "null", '{"a": 1}'])
def test_a_desk_that_cannot_be_read_is_no_obstacle(text: str, arm: System, endpoint: str, caplog):
    home = Home(endpoint)
    with engine(arm, endpoint), gateway(endpoint, history=home) as first:
        hash = first.session().dictionary.model_hash
        first.history.keep_desk(hash, text)
        first._keeper = None
    with engine(arm, endpoint), gateway(endpoint, history=home) as second:
        assert second.history.desk(hash) == text
        restored = [name for name in second.commander.desk.entries() if name != "engine.late"]  # of a busy machine
        assert restored == []
    assert "cannot be read" in caplog.text
