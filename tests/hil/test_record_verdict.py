"""A run whose record is not complete has not passed: exit code, report, JUnit, result and console say so."""

from __future__ import annotations

import contextlib
import json
import xml.etree.ElementTree
from pathlib import Path

import pytest

from limberjack.cli import main
from limberjack.engine.common.errors import ArgumentError, ExitCode, LimberjackError, exit_code_of
from limberjack.hil.campaign.attempt import tried
from limberjack.hil.campaign.job import run_job
from limberjack.hil.campaign.runner import Summary
from limberjack.hil.campaign.sampling import Job
from limberjack.hil.campaign.table import Row
from limberjack.hil.errors import HilError
from limberjack.hil.scenario.execution import run_scenario
from tests.hil.test_scenario import PENDULUM, write

#: beside the scenario: a controller that harms the process that records, in the middle of the run
SABOTEUR = """
import os, resource, signal
from pathlib import Path

def recorder():
    children = [int(n) for task in Path("/proc/self/task").iterdir() for n in (task / "children").read_text().split()]
    return next(pid for pid in children if b"recording_process" in Path(f"/proc/{pid}/cmdline").read_bytes())

def kill(wiring):
    return lambda time, signals: act(time, signals, lambda pid: os.kill(pid, signal.SIGKILL))

def fill(wiring):
    limits = (1000, 1000)
    return lambda time, signals: act(time, signals, lambda pid: resource.prlimit(pid, resource.RLIMIT_FSIZE, limits))

def act(time, signals, harm):
    if abs(time - 0.2) < 1e-6:
        harm(recorder())
    return [0.0]
"""
DEVICE = "devices:\n  - {{name: d, uri: 'python:saboteur:{0}', signals: [v.swing], commands: [swing]}}\n"
FAILING = "criteria:\n  - {name: still, type: bounds, signals: [time], upper: 0.1}\n"
HARMS = {"kill": "its process ended with code -9", "fill": "File too large"}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "pendulum.yaml").write_text(PENDULUM)
    return tmp_path


def scenario(folder, harm, more=""):
    (folder / "saboteur.py").write_text(SABOTEUR)
    return write(folder, DEVICE.format(harm) + more)


@pytest.mark.parametrize("harm", HARMS)
def test_the_command_says_what_is_missing_and_ends_as_a_failure_of_the_machine(folder, harm, capsys):
    out = folder / "out"
    assert main(["hil", str(scenario(folder, harm)), "--out", str(out), "--no-pace"]) == ExitCode.MACHINE
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "test: FAILED" in shown
    assert HARMS[harm] in shown
    result = json.loads((out / "result.json").read_text())
    assert (result["passed"], result["exit_code"]) == (False, 3)
    assert result["criteria"][-1]["name"] == "record of the run"
    assert "rows were acknowledged and can be read" in result["criteria"][-1]["text"]
    suite = xml.etree.ElementTree.parse(out / "junit.xml").find("testsuite")
    assert (suite.get("failures"), suite.get("errors")) == ("0", "1")
    assert HARMS[harm] in suite.find(".//testcase[@name='record of the run']/error").get("message")
    report = (out / "report.html").read_text()
    assert '<span class="badge failed">failed</span></header>' in report
    assert HARMS[harm] in report


def test_a_criterion_that_fails_as_well_is_a_failed_run(folder):
    result = run_scenario(scenario(folder, "kill", FAILING), out=folder / "out", paced=False)
    assert [verdict.passed for verdict in result.criteria] == [True, False, False]
    assert result.exit_code == ExitCode.FAILED


def test_a_whole_record_passes_and_says_what_is_in_it(folder):
    result = run_scenario(write(folder, ""), out=folder / "out", paced=False)
    assert result.passed
    assert "51 rows and 1 events in record.mcap, events.jsonl" in result.criteria[-1].text
    assert result.exit_code == ExitCode.DONE


def test_a_run_that_writes_nothing_has_no_verdict_on_its_record(folder):
    assert [verdict.name for verdict in run_scenario(write(folder, ""), paced=False).criteria] == ["end of the run"]


@contextlib.contextmanager
def full(out, name):
    """While the run lasts, a file of its folder comes to stand on a disk that is full."""

    class Nobody:
        def command(self, commands):
            pass

        def visit(self, bench):
            if not (out / name).is_symlink():
                (out / name).symlink_to("/dev/full")

    yield Nobody()


@pytest.mark.parametrize("name", ["events.jsonl", "signals.csv"])
def test_signals_and_events_are_part_of_the_record(folder, name):
    path = write(folder, "record: {csv: true}\n")
    result = run_scenario(path, out=folder / "out", paced=False, visit=lambda built: full(folder / "out", name))
    assert result.exit_code == ExitCode.MACHINE
    assert f"{name}: cannot be written whole, No space left on device" in result.criteria[-1].text


@pytest.mark.parametrize("name", ["report.html", "junit.xml", "result.json"])
def test_where_no_report_can_be_written_none_is_left_that_says_passed(folder, name):
    out = folder / "out"
    with pytest.raises(HilError, match=r"cannot be written, No space left on device; there is none. The run passed:"):
        run_scenario(write(folder, ""), out=out, paced=False, visit=lambda built: full(out, name))
    assert {path.name for path in out.iterdir()} <= {"record.mcap", "events.jsonl", "signals.csv"}


def test_a_run_of_a_campaign_without_its_record_is_no_passed_run(folder):
    row = run_job(scenario(folder, "kill"), Job(3, 5, {}), folder / "out")
    assert row.status == "error"
    assert "ended with code -9" in row.cause


def rows(*statuses):
    return [Row(number, 0, status) for number, status in enumerate(statuses)]


@pytest.mark.parametrize(
    ("statuses", "least", "code"),
    [
        (["passed", "passed"], 1.0, 0),
        (["passed", "failed"], 1.0, 1),
        (["passed", "failed"], 0.5, 0),
        (["passed", "error"], 1.0, 3),
        (["passed", "lost"], 1.0, 3),
        (["lost", "failed", "failed"], 0.5, 1),
        (["lost", "passed", "failed"], 0.6, 3),
    ],
)
def test_a_campaign_that_cannot_be_judged_is_a_failure_of_the_machine(statuses, least, code):
    assert Summary("c", rows(*statuses), [], least).exit_code == code


@pytest.mark.parametrize(
    ("error", "status"),
    [(ArgumentError("bad"), "invalid"), (HilError("gone"), "error"), (MemoryError(), "error"), (ValueError(), "error")],
)
def test_what_a_job_raises_has_its_status(error, status):
    def run(path, job):
        raise error

    assert tried(run, Path("x"), Job(0, 0, {})).status == status


def own_cause():
    error = HilError("again")
    error.__cause__ = error
    return error


def raised(text, cause):
    try:
        raise ArgumentError(text) from cause
    except ArgumentError as error:
        return error


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ArgumentError("a"), ExitCode.BAD_INPUT),
        (raised("a", OSError(28, "No space left on device")), ExitCode.MACHINE),
        (raised("a", OSError(13, "Permission denied")), ExitCode.BAD_INPUT),
        (FileNotFoundError(2, "No such file"), ExitCode.BAD_INPUT),
        (OSError(28, "No space left on device", "x"), ExitCode.MACHINE),
        (OSError(5, "Input/output error", "x"), ExitCode.MACHINE),
        (MemoryError(), ExitCode.MACHINE),
        (HilError("a"), ExitCode.MACHINE),
        (KeyboardInterrupt(), ExitCode.STOPPED),
        (own_cause(), ExitCode.MACHINE),
    ],
)
def test_exit_codes(error, code):
    assert exit_code_of(error) == code


def test_every_error_of_input_is_bad_input():
    """A class that is a ValueError is about what was given, so it says so."""
    import limberjack.bridge.console.assets
    import limberjack.bridge.telemetry.history.history
    import limberjack.fmu.export  # noqa: F401

    def kinds(base):
        for kind in base.__subclasses__():
            yield kind
            yield from kinds(kind)

    found = [kind for kind in kinds(LimberjackError) if issubclass(kind, ValueError)]
    assert len(found) > 6
    assert [kind for kind in found if kind.exit_code != ExitCode.BAD_INPUT] == []
