"""What a campaign's table shows: rank correlations, margins, worst runs; its report and its JUnit."""

from __future__ import annotations

import math
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.stats import spearmanr

from limberjack.cli import main
from limberjack.engine.common.errors import ExitCode
from limberjack.hil.campaign.campaign_file import load_campaign
from limberjack.hil.campaign.findings import (
    Limits,
    chance,
    limits_of,
    rank_correlation,
    ranks,
    requirements_of,
    varied,
    worst,
    worst_of_all,
)
from limberjack.hil.campaign.plot import criterion_figure
from limberjack.hil.campaign.report import Found, write_campaign_junit, write_report
from limberjack.hil.campaign.runner import Summary, report_worst, run_campaign
from limberjack.hil.campaign.table import Row
from tests.hil.progress_runs import write

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize("seed", range(20))
def test_rank_correlations_are_those_of_scipy(seed):
    """Ties, infinite values (ranked, as scipy does) and pairs with NaN (left out)."""
    random = np.random.default_rng(seed)
    count = int(random.integers(5, 200))
    x = random.integers(0, 12, count) + (random.random(count) if seed % 2 else 0.0)
    y = np.round(x * random.normal() + 4.0 * random.normal(size=count), seed % 3)
    y[random.random(count) < 0.1] = np.inf
    holes = random.random(count) < (0.1 if count > 20 else 0.0)
    y = np.where(holes, np.nan, y)
    expected = spearmanr(x[~holes], y[~holes]).statistic
    assert rank_correlation(x, y) == pytest.approx(expected, abs=1e-12)


def test_what_cannot_be_correlated_is_nan():
    five = np.arange(5.0)
    assert rank_correlation(five, five) == pytest.approx(1.0)
    assert math.isnan(rank_correlation(five, np.ones(5)))
    assert math.isnan(rank_correlation(five[:4], five[:4]))
    assert math.isnan(rank_correlation(five, np.array([0.0, 1.0, 2.0, 3.0, NAN])))
    assert ranks(np.array([3.0, 1.0, 3.0, np.inf])).tolist() == [2.5, 1.0, 2.5, 4.0]


def test_one_in_twenty_correlations_of_nothing_is_beyond_chance():
    random = np.random.default_rng(0)
    found = [abs(rank_correlation(random.random(60), random.random(60))) > chance(60) for _ in range(4000)]
    assert np.mean(found) == pytest.approx(0.05, abs=0.015)


def row(run: int, value: float, *failed: str, status: str = "", **values: object) -> Row:
    word = status or ("failed" if failed else "passed")
    return Row(run, 1, word, "why" if word != "passed" else "", {"a": float(run), **values}, {"c": value}, [*failed])


def test_the_worst_runs_are_the_failed_ones_then_those_nearest_to_a_limit():
    """Never settled is worse than late; without limits only failures are known to be worse."""
    rows = [row(0, 1.0), row(1, 9.0, "c"), row(2, INF, "c"), row(3, 4.9), row(4, NAN, "c"), row(5, -0.5)]
    rows += [row(6, 99.0, status="lost")]
    assert [each.run for each in worst(rows, "c", Limits(-1.0, 5.0), 9)] == [2, 4, 1, 3, 5, 0]
    assert {each.run for each in worst(rows, "c", Limits(), 9)[:3]} == {1, 2, 4}


def test_every_criterion_has_its_worst_run_before_any_has_its_second():
    rows = [
        Row(run, 1, "passed", measured={"x": float(run), "y": -float(run)}) for run in range(5)
    ]  # fmt: skip
    found = worst_of_all(rows, {"x": Limits(upper=9.0), "y": Limits(upper=9.0)}, 3)
    assert [each.run for each in found] == [4, 0, 3]
    assert worst_of_all(rows, {}, 0) == []


def test_texts_are_no_numbers_and_constants_do_not_vary():
    rows = [row(run, 1.0, word="x", flag=run > 2, same=3) for run in range(5)]
    assert {path: values.tolist() for path, values in varied(rows).items()} == {
        "a": [0.0, 1.0, 2.0, 3.0, 4.0], "flag": [0.0, 0.0, 0.0, 1.0, 1.0],
    }  # fmt: skip


def campaign(folder: Path, more: str = "", vary: str = '"initial.coordinates[swing]": {uniform: [0.1, 0.6]}') -> Path:
    """Of the watched pendulum, five runs."""
    write(folder)
    path = folder / "c.yaml"
    path.write_text(
        f"limberjack_campaign: 1\nname: swings <b>\nscenario: watched.yaml\nruns: 6\nseed: 1\n{more}vary:\n  {vary}\n"
    )
    return path


def test_limits_are_those_of_the_scenario(tmp_path):
    found = limits_of(load_campaign(campaign(tmp_path)))
    assert found == {"near": Limits(-1, 1), "slow": Limits(-0.1, 0.1), "comes to rest": Limits(-0.01, 0.01)}
    assert [str(each) for each in (Limits(upper=2), Limits(lower=-1), Limits(0, 1), Limits())] == [
        "≤ 2", "≥ -1", "0 … 1", "",
    ]  # fmt: skip
    assert limits_of(load_campaign(campaign(tmp_path, vary='"criteria[near].upper": {uniform: [1, 2]}'))) == {}
    (tmp_path / "watched.yaml").write_text("limberjack_scenario: 1\n")
    assert limits_of(load_campaign(tmp_path / "c.yaml")) == {}


def test_limits_are_in_the_picture():
    rows = [row(run, 1.0 + 0.1 * run) for run in range(20)]
    figure = criterion_figure(rows, "c", Limits(-1000.0, 3.2))
    histogram, scatter = figure.axes[:2]
    assert [line.get_xdata()[0] for line in histogram.lines] == [3.2]  # the other would squeeze the rest to a line
    assert 3.2 in [line.get_ydata()[0] for line in scatter.lines if len(line.get_ydata())]
    assert criterion_figure([row(0, NAN)], "c", Limits()) is None


def found_of(folder: Path, rows: list[Row], more: str = "") -> tuple[Found, Summary]:
    loaded = load_campaign(campaign(folder, more))
    summary = Summary(loaded.spec.name, rows, [], loaded.spec.least_passed)
    bounds = {"c": Limits(upper=5.0)}
    return Found(loaded, rows, bounds, "passed" if summary.passed else "failed", folder), summary


def junit(path: Path) -> list[tuple[str, str, str]]:
    """Name, tag and type of each case."""
    (suite,) = ElementTree.parse(path).getroot()
    tags = [next(iter(case)) for case in suite]
    assert suite.get("failures") == str(sum(tag.tag == "failure" for tag in tags))
    assert suite.get("errors") == str(sum(tag.tag == "error" for tag in tags))
    assert suite.get("skipped") == str(sum(tag.tag == "skipped" for tag in tags))
    return [(str(case.get("name")), tag.tag, tag.get("type", "")) for case, tag in zip(suite, tags)]


ROWS = [row(0, 1.0), row(1, 9.0, "c"), row(2, 2.0), row(3, 0.0, status="lost"), row(4, 3.0)]


@pytest.mark.parametrize(
    ("rows", "more", "cases"),
    [
        (ROWS, "", ["failure campaign", "", "failure failed", "", "error lost", ""]),
        (ROWS, "least_passed: 0.5\n", ["", "", "skipped", "", "skipped", ""]),
        (ROWS, "least_passed: 0.8\n", ["error machine", "", "failure failed", "", "error lost", ""]),
        ([row(0, 1.0)], "", ["", ""]),
    ],
)
def test_junit_agrees_with_the_exit_code(tmp_path, rows, more, cases):
    """A build fails where the command does: runs that a campaign allows to fail are skipped."""
    found, summary = found_of(tmp_path, rows, more)
    got = junit(write_campaign_junit(found, summary.exit_code))
    assert [name for name, *_ in got] == ["runs that pass", *(f"run {each.run}" for each in rows)]
    assert [f"{tag} {kind}".strip().replace("system-out", "") for _, tag, kind in got] == cases
    assert (summary.exit_code == 0) == all(tag in ("system-out", "skipped") for _, tag, _ in got)


def test_the_report_escapes_and_says_what_is_not_drawn(tmp_path):
    rows = [row(run, float(run)) for run in range(8)]
    rows += [Row(8, 1, "failed", "<i>", {"a": "<script>"}, {"c": INF}, ["c"]), row(9, 0.0, status="error")]
    found, _ = found_of(tmp_path, rows)
    page = write_report(found).read_text()
    assert "swings &lt;b&gt;" in page
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "1 of 9 runs never got there" in page
    assert "≤ 5" in page
    assert "Runs without a verdict" in page


def test_requirements_of_the_scenario_stand_in_report_and_junit(tmp_path):
    loaded = load_campaign(campaign(tmp_path))
    text = (tmp_path / "watched.yaml").read_text()
    text = text.replace("name: near,", "name: near, requirement: [AOCS-1, <b>],") + "requirement: SYS-7\n"
    (tmp_path / "watched.yaml").write_text(text)
    shown = requirements_of(loaded)
    assert (shown[""], shown["near"], shown["slow"]) == (("SYS-7",), ("AOCS-1", "<b>"), ())
    rows = [Row(run, 1, "passed", "", {"a": run}, {"near": 0.1}, []) for run in range(2)]
    found = Found(loaded, rows, {}, "passed", tmp_path, shown)
    page = write_report(found).read_text()
    assert "<td>requirement</td><td>SYS-7</td>" in page
    assert "AOCS-1" in page
    assert "&lt;b&gt;" in page.split("swings &lt;b&gt;")[-1]
    suite = ElementTree.parse(write_campaign_junit(found, ExitCode.DONE)).find("testsuite")
    assert [each.get("value") for each in suite.findall("properties/property")] == ["SYS-7", "AOCS-1", "<b>"]


@pytest.mark.long
def test_the_command_makes_a_report_with_links_that_lead_somewhere(tmp_path, capsys):
    """The pendulum's start decides how fast it gets: ρ is −1 or +1, and the worst run has its report."""
    path, out = campaign(tmp_path, "least_passed: 0\n"), tmp_path / "out"
    assert main(["campaign", str(path), "--out", str(out), "--workers", "1", "--reports", "2"]) == 0
    assert "report.html" in capsys.readouterr().out
    page = (out / "report.html").read_text()
    links = re.findall(r'href="(runs/\d+/report.html)"', page)
    assert len(set(links)) == 2
    assert all((out / link).is_file() for link in links)
    assert "1.00</td>" in page
    assert junit(out / "junit.xml")[0][1] == "system-out"
    other = next(run for run in range(6) if f"runs/{run}/report.html" not in links)
    main(["campaign", str(path), "--out", str(out), "--report", str(other)])
    listed = f'href="runs/{other}/report.html"' in (out / "report.html").read_text()
    assert listed
    summary = run_campaign(path, out=out, resume=True)
    assert report_worst(load_campaign(path), out, summary, 0) == {}
