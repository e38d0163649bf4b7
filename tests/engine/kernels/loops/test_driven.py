"""Prescribed motion: rods that change their length and couplings whose offset moves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.model.validate import validate
from tests.engine.kernels.loops.agreement import close, one_loop
from tests.engine.kernels.loops.random_graphs import set_state
from tests.validation.figures import figure

METHODS = ("embed", "force")


def drive(t: float) -> tuple[float, float, float]:
    """A smooth motion of 3 cm (or rad) and its rates, at rest at the start."""
    w = 7.0
    return 0.03 * (1.0 - np.cos(w * t)), 0.03 * w * np.sin(w * t), 0.03 * w * w * np.cos(w * t)


def driven(kind: str, method: str, seed: int):
    graph = one_loop(kind, seed)
    loop = replace(graph.system.loops[0], method=method, driven=True)
    return graph, validate(set_state(replace(graph.system, loops=(loop,)), graph.q, graph.v))


def command_at(sim: lj.Simulation, t: float) -> None:
    for word, value in zip(("position", "velocity", "acceleration"), drive(t), strict=True):
        sim.command[f"loop0.{word}"] = value


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["distance", "coupling"])
@pytest.mark.parametrize("seed", [0, 1])
def test_accelerations_under_a_drive(kind, method, seed):
    graph, system = driven(kind, method, 700 + seed)
    sim, given = lj.Simulation(system), (0.0, 0.7, -2.0)
    v = graph.oracle.impulse(graph.q, graph.v, {"loop0": given})[0]
    sim.v = v
    sim.command["loop0.velocity"], sim.command["loop0.acceleration"] = given[1:]
    expected = graph.oracle.solve(graph.q, v, np.zeros(system.nv), drives={"loop0": given}).vdot
    close(sim.vdot, expected, name="accelerations under a drive")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["distance", "coupling"])
def test_the_loop_follows_its_drive(kind, method):
    """Commands hold at the end of the step that follows them."""
    graph, system = driven(kind, method, 720)
    system = set_state(system, graph.q, graph.v / 3.0)
    sim, h = lj.Simulation(system), 1e-3
    tolerance = {"embed": 1e-10, "force": 1e-8}[method]
    for k in range(1, 201):
        command_at(sim, k * h)
        sim.step()
        drives = {"loop0": drive(k * h)}
        figure(
            "gap of a driven loop",
            np.abs(graph.oracle.gaps(sim.q, drives)).max(),
            unit="m, rad",
            oracle="closed",
            below=tolerance,
        )
        rows = graph.oracle.rows(sim.q, sim.v, drives)
        close(rows.C @ sim.v, rows.rate, name="rates of a driven loop")


@pytest.mark.parametrize("kind", ["distance", "coupling"])
def test_both_methods_move_alike(kind):
    """The held acceleration makes a step's error of second order, whose size depends on the independent coordinates."""
    ends, h = [], 5e-4
    for method in METHODS:
        graph, system = driven(kind, method, 730)
        system = set_state(system, graph.q, graph.v / 3.0)
        sim = lj.Simulation(system, dt=h)
        for k in range(1, 201):
            command_at(sim, k * h)
            sim.step()
        ends.append(np.concatenate([sim.q, sim.v]))
    figure("state by embedding and by force", ends[0], ends[1], oracle="each other", atol=1e-6)
