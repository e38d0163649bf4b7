"""The worked cases of contact: docking that captures and mates, a lander with crushable struts, a panel struck."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.examples import debris, lander
from limberjack.examples.docking import docking
from limberjack.examples.recording import model, output, record
from limberjack.hil.scenario.execution import run_scenario

EXAMPLES = Path(lander.__file__).parent


@pytest.mark.long
@pytest.mark.parametrize(("miss", "mates"), [(0.1, True), (0.8, False)])
def test_an_approach_is_captured_and_mated_where_the_funnel_reaches(miss, mates):
    run = docking.flight(miss, 40.0 if mates else 15.0)
    apart = np.linalg.norm(run["tip"] - run["latch_point"], axis=1)
    loads = {name: np.linalg.norm(run[name][:, -3:], axis=1) for name in ("load", "latch_load", "mate_load")}
    if not mates:
        assert loads["latch_load"].max() == loads["mate_load"].max() == 0.0
        return
    first = {name: run["time"][np.argmax(load > 0.0)] for name, load in loads.items()}
    assert 0.0 < first["load"] < first["latch_load"] < first["mate_load"]
    held = run["time"] > first["latch_load"] + 0.02
    assert apart[held].max() <= 0.02 + 1e-3, "the latch holds the point that it found"
    assert np.ptp(apart[held]) < 1e-6
    assert np.abs(run["wing_tip"]).max() > 1e-3


def test_the_lander_comes_to_rest_and_its_struts_take_energy():
    """Both struts down the slope are crushed alike, and all four take the work of their force; nothing gains any."""
    simulation = lj.Simulation(model("lander"))
    names = [f"stroke_{i}" for i in lander.STRUTS]
    rows = {name: output(name) for name in names} | {"energy": lander.energy, "load": output("load")}
    run = record(simulation, 1.2, 0.002, rows)
    strokes = np.array([run[name] for name in names])
    np.testing.assert_allclose(strokes[[0, 1], -1], strokes[[3, 2], -1], atol=1e-4)
    assert strokes[:, -1].max() < -0.1
    assert strokes[:, -1].min() > -0.5
    lost = run["energy"][0] - run["energy"]
    work = 2500.0 * np.abs(np.diff(strokes, axis=1)).sum()
    assert np.diff(lost).min() > -1e-3
    assert 0.4 * lost[-1] < work < lost[-1]
    weight = np.linalg.norm(simulation.system.gravity) * (1200.0 + 4 * 12.0)
    np.testing.assert_allclose(np.linalg.norm(run["load"][-100:].mean(axis=0)), weight, rtol=0.02)


def test_debris_keeps_the_momentum_whatever_modes_the_panel_has():
    deepest = []
    for modes in (1, 8):
        run = debris.strike(modes)
        change = np.abs(run["survey"] - run["survey"][0])
        assert change[:, 3:].max() < 1e-11  # N·s, of 1.6
        assert change[:, :3].max() < 1e-9  # N·m·s, of 33
        deepest.append(-run["tip"][:, 2].min())
    assert deepest[1] > 1.2 * deepest[0], "one mode is too stiff"


@pytest.mark.long
def test_the_scenario_of_the_approach_passes_on_the_bench(tmp_path):
    result = run_scenario(EXAMPLES / "docking" / "approach.yaml", out=tmp_path)
    assert result.passed, result.criteria


@pytest.mark.long
def test_the_lander_stands_with_implicit_at_a_millisecond():
    """Its energy never rises, and struts are crushed as with rk4 at the file's step, to a hundredth of the longest."""
    ends = []
    for dt, integrator in ((1e-3, "implicit"), (2e-5, "rk4")):
        simulation, energies = lj.Simulation(model("lander"), dt=dt, integrator=integrator), []
        for _ in range(300):
            simulation.step(round(0.01 / dt))
            energies.append(lander.energy(simulation))
        assert np.diff(energies).max() < 1e-6 * energies[0]
        ends.append([simulation.output[f"stroke_{i}"] for i in lander.STRUTS])
    assert np.abs(np.subtract(*ends)).max() < 0.01 * np.abs(ends[1]).max()
