"""Values and seeds of campaigns, and the files that they are read from."""

from __future__ import annotations

import json
import math
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import yaml
from scipy import stats

from limberjack.engine.common.errors import ModelError
from limberjack.hil.campaign.campaign_file import load_campaign
from limberjack.hil.campaign.sampling import plan, quantile
from limberjack.hil.campaign.schema import VarySpec, json_schema

ROOT = Path(__file__).parents[2]


def write(folder: Path, text: str) -> Path:
    """A campaign of a scenario that is never run."""
    (folder / "s.yaml").write_text("limberjack_scenario: 1\n")
    path = folder / "c.yaml"
    path.write_text("limberjack_campaign: 1\nname: c\nscenario: s.yaml\n" + text)
    return path


def vary(**kind):
    return VarySpec.model_validate(kind)


@pytest.mark.parametrize("u", [1e-12, 0.01, 0.3, 0.5, 0.9, 1 - 1e-9])
@pytest.mark.parametrize(("lower", "upper"), [(None, None), (-1.0, 2.0), (0.0, None), (20.0, None), (None, -25.0)])
def test_quantiles_of_normal_are_scipys(u, lower, upper):
    mean, sigma = 1.5, 2.0
    a = -np.inf if lower is None else (lower - mean) / sigma
    b = np.inf if upper is None else (upper - mean) / sigma
    expected = stats.truncnorm.ppf(u, a, b, loc=mean, scale=sigma)
    bounds = {name: value for name, value in (("lower", lower), ("upper", upper)) if value is not None}
    assert quantile(vary(normal={"mean": mean, "sigma": sigma, **bounds}), u) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("u", [0.0, 1.0, 0.5])
def test_ends_of_distributions_are_values(u):
    assert 2.0 <= quantile(vary(uniform=[2.0, 3.0]), u) <= 3.0
    assert quantile(vary(choice=["a", "b", "c"]), u) in ("a", "b", "c")
    assert math.isfinite(quantile(vary(normal={"mean": 0.0, "sigma": 1.0}), u))
    assert 50.0 <= quantile(vary(normal={"mean": 0.0, "sigma": 1.0, "lower": 50.0}), u) < 51.0


def test_values_come_from_the_run_number_alone(tmp_path):
    text = "seed: 4\nvary:\n  a: {uniform: [1, 3]}\n  b: {choice: [x, y]}\nruns: "
    few, many = (plan(load_campaign(write(tmp_path, f"{text}{n}\n"))) for n in (5, 400))
    assert few == many[:5]
    random = np.random.default_rng(np.random.SeedSequence(4, spawn_key=(3,)))
    assert many[3].seed == random.integers(2**63)
    assert many[3].values["a"] == 1.0 + 2.0 * random.random()
    assert len({job.seed for job in many}) == 400
    assert stats.kstest([job.values["a"] for job in many], stats.uniform(1, 2).cdf).pvalue > 0.01
    assert 150 < sum(job.values["b"] == "x" for job in many) < 250


def test_latin_hypercube_has_one_value_in_each_part(tmp_path):
    text = "runs: 50\nsampling: latin_hypercube\nvary:\n  a: {uniform: [0, 50]}\n  b: {uniform: [0, 50]}\n"
    jobs = plan(load_campaign(write(tmp_path, text)))
    for path in "ab":
        assert sorted(int(job.values[path]) for job in jobs) == list(range(50))
    order = [np.argsort([job.values[path] for job in jobs]) for path in "ab"]
    assert abs(stats.spearmanr(*order).statistic) < 0.5


def test_grids_make_all_combinations(tmp_path):
    text = (
        "runs: 2\nvary:\n  a: {grid: {first: 0, last: 1, count: 3}}\n  b: {grid: [x, true]}\n  c: {uniform: [0, 1]}\n"
    )
    jobs = plan(load_campaign(write(tmp_path, text)))
    assert [(job.values["a"], job.values["b"]) for job in jobs[::2]] == [
        (a, b) for a in (0.0, 0.5, 1.0) for b in ("x", True)
    ]
    assert all(jobs[i].values["a"] == jobs[i + 1].values["a"] for i in range(0, 12, 2))
    assert len({job.values["c"] for job in jobs}) == 12


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("runs: 0\n", "c.yaml:4, runs: runs is 0"),
        ("vary:\n  a: {uniform: [3, 1]}\n", "c.yaml:5, vary.a: the lower bound is 3, not below the upper, 1"),
        ("vary:\n  a: {}\n", "vary.a: nothing is given; give one of uniform, normal, choice, grid"),
        ("vary:\n  a: {choice: [1], grid: [2]}\n", "vary.a: choice and grid are given together"),
        ("vary:\n  a: {choice: []}\n", "c.yaml:5, vary.a.choice: 0 entries"),
        ("vary:\n  a: {normal: {mean: 0, sigma: -1}}\n", "c.yaml:5, vary.a.normal.sigma"),
        ("vary:\n  a: {unifrom: [0, 1]}\n", "did you mean 'uniform'"),
        ("least_passed: 1.5\n", "least_passed"),
        ("runs: 1000000\nvary:\n  a: {grid: [1, 2]}\n", "make 2000000 runs"),
    ],
)
def test_what_is_wrong_with_a_file_is_reported_with_its_line(tmp_path, text, said):
    with pytest.raises(ModelError, match=".") as caught:
        load_campaign(write(tmp_path, text))
    assert said in str(caught.value)


def test_a_scenario_must_be_there(tmp_path):
    path = write(tmp_path, "")
    (tmp_path / "s.yaml").unlink()
    with pytest.raises(ModelError, match=r"c.yaml:3, scenario: there is no scenario s.yaml"):
        load_campaign(path)


def test_schema_takes_the_examples():
    schema = json.loads(json_schema())
    for path in sorted((ROOT / "examples/campaigns").glob("*.yaml")):
        load_campaign(path)
        jsonschema.validate(yaml.safe_load(path.read_text(encoding="utf-8")), schema)
