"""`limberjack bench --fmu`: a quick run, and what it does without a compiler or a peer."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks import peer_build
from benchmarks.fmu import fmu_bench, models, report
from benchmarks.fmu.cycles import Calls, CycleTime
from benchmarks.fmu.result import FmuBenchResult
from benchmarks.measure import Spread
from benchmarks.models import chain_system
from limberjack.engine.common.errors import LimberjackError, MissingExtraError


def cycle_time(name: str, us: float) -> CycleTime:
    return CycleTime(name, "made up", Spread(us, 0.9 * us, 1.1 * us, 0.8 * us), Spread(2 * us, us, 3 * us, us))


def made_up() -> FmuBenchResult:
    result = FmuBenchResult({"cpu": "x"}, "abc", 1, 3, 100, echo_us=Spread(30.0, 29.0, 31.0, 28.0))
    result.steps.append(cycle_time("engine step, Simulation", 1.1))
    result.calls.append(Calls("Limberjack FMI 2", Spread(1.0, 0.9, 1.2, 0.8), Spread(0.5, 0.4, 0.7, -0.1)))
    result.cycles += [cycle_time("Limberjack FMI 2", 1.5), cycle_time("Limberjack, engine process", 50.0)]
    result.remarks.append("no PythonFMU: because")
    return result


def test_differences() -> None:
    result = made_up()
    assert result.over_step("Limberjack FMI 2").median == 0.5
    assert result.over_step("Limberjack, engine process") is None
    assert result.over_ipc() == pytest.approx(20.0)
    line = result.history_line("2026-01-01")
    assert line["engine_step_us"] == {"Limberjack FMI 2": [1.0, 0.9, 1.2]}
    assert line["over_step_us"] == {"Limberjack FMI 2": [0.5, 0.4, 0.7]}
    assert line["over_ipc_us"] == 20.0
    assert line["cycles"]["Limberjack FMI 2"]["us"] == [1.5, 1.35, 1.65]


def test_table_and_plot(tmp_path: Path) -> None:
    console = Console(record=True, width=80, quiet=False, file=(tmp_path / "screen").open("w"))
    report.print_table(made_up(), console)
    text = console.export_text()
    assert "1.5 (1.35–1.65)" in text
    assert "0.5 (0.4–0.7)" in text
    assert "20.0 µs over a bare round trip" in text
    assert "no PythonFMU: because" in text
    assert "…" not in text
    report.draw(made_up(), tmp_path / "fmu.png")
    assert (tmp_path / "fmu.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_without_a_compiler_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = peer_build.version_of
    monkeypatch.setattr(fmu_bench, "version_of", lambda name: "none" if name == "ziglang" else real(name))
    with pytest.raises(MissingExtraError, match=r"ziglang.*limberjack\[bench\]"):
        fmu_bench.bench(quick=True, out=tmp_path, console=Console(quiet=True))


@pytest.mark.long
def test_quick_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("ziglang")
    real = peer_build.version_of
    monkeypatch.setattr(peer_build, "version_of", lambda name: "none" if name == "pythonfmu" else real(name))
    result = fmu_bench.bench(quick=True, out=tmp_path, console=Console(quiet=True))
    assert result.remarks == ["no PythonFMU: the package pythonfmu is not installed"]
    names = [time.name for time in result.cycles]
    assert names[:3] == ["Limberjack FMI 2", "Limberjack FMI 3", "Limberjack FMI 3 scalar"]
    assert {"plain C", "Limberjack, engine process"} <= set(names)
    assert all(0.0 < time.us.least <= time.us.q1 <= time.us.median <= time.us.q3 for time in result.cycles[:4])
    assert [calls.name for calls in result.calls] == names[: fmu_bench.OURS]
    stored = json.loads((tmp_path / "fmu.json").read_text())
    assert [time["name"] for time in stored["cycles"]] == names
    assert (tmp_path / "fmu.png").exists()
    assert not (tmp_path / "fmu-history.jsonl").exists()


@pytest.mark.long
def test_a_host_that_fails_is_reported(tmp_path: Path) -> None:
    pytest.importorskip("ziglang")
    facts = tmp_path / "facts.txt"
    facts.write_text("version 2\nlibrary /no/such/file.so\nresources x\ntoken x\nflags - co_simulation\nstep 0.001\n")
    subject = models.Subject("nothing", "no FMU at all", facts)
    with pytest.raises(LimberjackError, match=r"nothing: the host ends with 2: .*no/such/file"):
        fmu_bench.cycle_times.run_host(fmu_bench._host(tmp_path), subject, 10)


@pytest.mark.long
def test_what_calls_cost_is_measured_on_the_same_motion(tmp_path: Path) -> None:
    """The host compares what both halves of a pair end in, to the last bit, and ends where the work is not the same."""
    pytest.importorskip("ziglang")
    host = fmu_bench._host(tmp_path)
    subject = models.chain(chain_system(models.N), tmp_path, "2.0", "angle")
    (calls,) = fmu_bench.cycle_times.calls(host, [subject], 1, 5000)
    assert 0.0 < calls.engine.least <= calls.engine.median
    half = replace(subject, step=0.5 * subject.step)  # one doStep divides differently then: 250 steps, not 500 shorter
    with pytest.raises(LimberjackError, match="end in different states"):
        fmu_bench.cycle_times.run_host(host, half, 1, 20)
