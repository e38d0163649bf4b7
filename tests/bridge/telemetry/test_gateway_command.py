"""`limberjack gateway` and its file."""

from __future__ import annotations

import argparse
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from limberjack.bridge.telemetry.config import GatewaySpec, HistorySpec, load_config
from limberjack.bridge.telemetry.dictionary import dictionary_of
from limberjack.bridge.telemetry.history.history import History
from limberjack.bridge.telemetry.history.home import Home
from limberjack.bridge.telemetry.orders import Rule
from limberjack.bridge.telemetry.outlets.registry import KINDS, Context, kind_of
from limberjack.cli import main
from limberjack.commands.gateway import _history
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.common.errors import ArgumentError, ModelError
from tests.bridge.telemetry.engines import WAIT_S, engine

FILE = """
limberjack_gateway: 1
engine: ENGINE
rate_hz: 100
history: {file: past.db, full_minutes: 2, size_mb: 50}
allow:
  - {who: console/*, actions: [command, reset], targets: ["elbow*"]}
outlets:
  - {kind: print, to: "q.*", rate_hz: 20}
"""


def test_a_gateway_of_a_file(arm, endpoint, tmp_path):
    """Started as a user would: prints lines, keeps the past, ends with SIGINT, exit code 0."""
    path = tmp_path / "gateway.yaml"
    path.write_text(FILE.replace("ENGINE", endpoint))
    command = [sys.executable, "-m", "limberjack", "gateway", "--config", str(path), "--wait", "20"]
    with engine(arm, endpoint):
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert child.stdout is not None
        lines = [child.stdout.readline() for _ in range(20)]
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=WAIT_S)
    assert child.returncode == 0
    assert re.search(r"gateway of 'test arm' at ipc://\S+, \d+ quantities; Ctrl-C ends it", err)
    rows = [[float(each) for each in line.split("\t")] for line in lines[1:] + out.splitlines()]
    assert lines[0] == "time\tq.shoulder\tq.j1\tq.j2\n"
    times = [row[0] for row in rows]
    assert times == sorted(times)
    history = History(tmp_path / "past.db")
    history.open(dictionary_of(Simulation(arm)))
    kept = history.query(["time", "q.j1"], 0, 2**63 - 1, 100_000)
    at = dict(zip(kept["time"].last.tolist(), kept["q.j1"].last.tolist(), strict=True))
    assert all(at[row[0]] == row[2] for row in rows)
    history.close()


@pytest.mark.parametrize("others", [[], ["--history", "past.db"]])
def test_the_reader_of_standard_output_ends(arm, endpoint, tmp_path, others):
    """As `limberjack gateway … | head -3`: alone it ends without a word, beside another outlet it goes on."""
    command = [sys.executable, "-m", "limberjack", "gateway", endpoint, "--print", "q.*", "--wait", "20", *others]
    with engine(arm, endpoint):
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
        assert child.stdout is not None
        for _ in range(3):
            child.stdout.readline()
        child.stdout.close()
        if others:
            with pytest.raises(subprocess.TimeoutExpired):
                child.wait(3.0)
            child.send_signal(signal.SIGTERM)
        assert child.wait(WAIT_S) == 0
        assert child.stderr is not None
        lines = child.stderr.read().splitlines()
        child.stderr.close()
    assert "Ctrl-C ends it" in lines[0]
    assert not [line for line in lines[1:] if "engine.overrun_share" not in line]  # of a busy machine


def test_the_file_is_checked(tmp_path):
    path = tmp_path / "gateway.yaml"
    path.write_text(FILE)
    spec = load_config(path)
    assert spec.rules() == (Rule("console/*", ("command", "reset"), ("elbow*",)),)
    for old, new, text in (
        ("rate_hz: 100", "rate_hz: -1", r"gateway.yaml:4, rate_hz: .*above 0"),
        ("rate_hz: 100", "rates: 1", r"gateway.yaml:4.*docs/how-to/telemetry.md"),
        ("command, reset", "command, explode", r"gateway.yaml:7, allow\[0\].actions: 'explode' is not an action"),
        ("limberjack_gateway: 1", "", "limberjack_gateway"),
    ):
        path.write_text(FILE.replace(old, new))
        with pytest.raises(ModelError, match=text):
            load_config(path)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["gateway"], "no outlet. Give at least one of --print"),
        (["gateway", "--print", "q.*"], "no engine is given"),
        (["gateway", "tcp://127.0.0.1", "--print", "q.*"], "tcp://127.0.0.1:5555"),
        (["gateway", "--config", "no.yaml"], "no.yaml"),
        (["gateway", "tcp://127.0.0.1:5555", "--print", "q.*", "--rate", "0"], "the rate of states in Hz"),
    ],
)
def test_wrong_arguments(arguments, text, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert text in capsys.readouterr().err


def test_an_unknown_outlet_in_the_file(capsys, tmp_path):
    path = Path(tmp_path / "g.yaml")
    path.write_text("limberjack_gateway: 1\noutlets: [{kind: telex, to: x}]\n")
    assert main(["gateway", "--config", str(path)]) == 2
    assert re.search(r"outlets\[0\].kind: there is no outlet 'telex'. Use print, ", capsys.readouterr().err)


def test_options_of_outlets_that_have_none_and_paths_beside_the_file(tmp_path):
    with pytest.raises(ArgumentError, match="'print' has no options; leave rate out"):
        KINDS[0].make("q.*", Context(None, {"rate": 5}))
    mcap = kind_of("mcap")
    assert mcap is not None
    assert mcap.make("run.mcap", Context(None, folder=tmp_path)).path == tmp_path / "run.mcap"


def test_where_the_history_stands(tmp_path):
    """The command line comes first, then the gateway's file; "none" switches it off; else it is at home."""

    def place(option: str | None, spec: HistorySpec | None) -> Path | Home | None:
        options = argparse.Namespace(engine="tcp://127.0.0.1:5", history=option)
        return _history(options, GatewaySpec(limberjack_gateway=1, history=spec), tmp_path)

    home = Home("tcp://127.0.0.1:5")
    assert place(None, None) == home
    assert place("none", None) is None
    assert place("a.db", None) == Path("a.db")
    assert place(None, HistorySpec(size_mb=50)) == home
    assert place(None, HistorySpec(file="b.db")) == tmp_path / "b.db"
    assert place(None, HistorySpec(file="none")) is None
    assert place("none", HistorySpec(file="b.db")) is None
    assert place("a.db", HistorySpec(file="none")) == Path("a.db")
