"""From a description to a simulation, for each kind of modes; what is warned of, and what a failed step says."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.cli import main
from limberjack.engine.common.errors import ArgumentError, ModelWarning, SimulationError
from limberjack.engine.modes import read_modal_data, write_modal_data
from tests.engine.modes.test_describe import written

MODEL = """limberjack: 1
name: ship
gravity: [0, 0, 0]
bodies:
  - name: mast
    hinge: {{name: base, type: {hinge}, parent: world{more}}}
    flexible: {{file: mast.npz{flexible}}}
"""


def made(folder: Path, kind: str, modes: int = 4) -> Path:
    """Modal data of a mast of the given kind, by the command."""
    changes = [("kind: cantilever", f"kind: {kind}"), ("modes: 4", f"modes: {modes}")]
    changes += [("  inboard: root\n", "")] if kind == "free-free" else []
    assert main(["modes", str(written(folder, *changes))]) == 0
    return folder / "mast.npz"


def load(folder: Path, hinge: str = "fixed", more: str = ", merge: false", flexible: str = "") -> lj.System:
    (folder / "ship.yaml").write_text(MODEL.format(hinge=hinge, more=more, flexible=flexible))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return lj.load(folder / "ship.yaml")


@pytest.mark.parametrize(
    ("kind", "flexible"),
    [("cantilever", ""), ("craig-bampton", ""), ("free-free", ", inboard: root, attachments: [tip]")],
)
def test_a_mast_that_is_held_swings_at_its_first_frequency(tmp_path, kind, flexible):
    """Half a period after a small deflection it stands on the other side; free-free modes are referred to the root."""
    made(tmp_path, "cantilever")
    wanted = read_modal_data(tmp_path / "mast.npz").frequencies()[0]
    data = read_modal_data(made(tmp_path, kind))
    if kind != "free-free":
        assert wanted <= data.frequencies()[0] * (1.0 + 1e-9) <= 1.001 * wanted  # Rayleigh's bound from above
    system = load(tmp_path, flexible=flexible)
    steps = 400
    sim = lj.Simulation(system, dt=0.5 / wanted / steps, integrator="rk4" if kind == "cantilever" else "implicit")
    q = sim.q
    q[0] = 1e-3
    sim.q = q
    tip = lj.Dynamics(system)
    before = tip.pose("mast.tip", sim.q)[1] - tip.pose("mast.tip", 0 * q)[1]
    sim.step(steps)
    after = tip.pose("mast.tip", sim.q)[1] - tip.pose("mast.tip", 0 * q)[1]
    assert np.linalg.norm(after + before) < 0.12 * np.linalg.norm(before)


def test_a_free_body_with_free_free_modes_keeps_its_momentum(tmp_path):
    made(tmp_path, "free-free")
    system = load(tmp_path, hinge="free", more="")
    sim, dynamics = lj.Simulation(system, dt=1e-4, integrator="rk4"), lj.Dynamics(system)
    rng = np.random.default_rng(0)
    v = 0.2 * rng.normal(size=system.nv)
    v[6:] *= 0.1
    sim.v = v
    before, energy = dynamics.momentum(sim.q, sim.v), sum(dynamics.energy(sim.q, sim.v))
    sim.step(100)
    np.testing.assert_allclose(dynamics.momentum(sim.q, sim.v), before, atol=1e-8 * np.abs(before).max())
    assert sum(dynamics.energy(sim.q, sim.v)) < energy  # the modes are damped
    assert np.abs(sim.q[7:]).max() > 0.0


def test_stiffening_without_geometric_data_is_warned_of(tmp_path):
    data = read_modal_data(made(tmp_path, "cantilever"))
    write_modal_data(replace(data, foreshortening=None), tmp_path / "mast.npz")
    (tmp_path / "ship.yaml").write_text(MODEL.format(hinge="fixed", more="", flexible=""))
    with pytest.warns(ModelWarning, match=re.escape("'mast' has no geometric stiffening: 'mast.npz' holds no")):
        system = lj.load(tmp_path / "ship.yaml")
    assert "ship.yaml:" in system.warnings[0]
    assert "`geometric: false`" in system.warnings[0]
    for flexible in (", geometric: false", ", variant: linearized"):
        assert load(tmp_path, more="", flexible=flexible).warnings == ()


def test_a_failure_names_the_flexible_body_that_is_deformed_too_far(tmp_path):
    """A bare mast on a hinge: the inertia of second order about the hinge is lost at a small deflection already."""
    made(tmp_path, "cantilever", 8)
    system = load(tmp_path, hinge="revolute", more=", axis: [1, 0, 0]")
    dynamics, still = lj.Dynamics(system), np.zeros(system.nv)
    words = r"not positive definite here: the flexible body 'mast' \(largest modal coordinate 1\)"
    q = system.q0
    q[1:5] = 1.0
    assert np.linalg.eigvalsh(dynamics.mass_matrix(q))[0] < 0.0
    with pytest.raises(ArgumentError, match=words):
        dynamics.forward(q, still, still)
    sim = lj.Simulation(system, dt=1e-3, integrator="implicit")
    sim.q = q
    with pytest.raises(SimulationError, match=words):
        sim.step(100)
    plain = load(tmp_path, hinge="revolute", more=", axis: [1, 0, 0]", flexible=", variant: linearized")
    assert np.all(np.isfinite(lj.Dynamics(plain).forward(q, still, still)))
