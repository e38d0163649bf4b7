"""Modal coordinates of a file as coordinates of a model: the nodes move alike, and energies agree."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.modes import read_modal_data, write_modal_data
from tests.engine.modes.test_to_simulation import load, made


def mixed(folder: Path, kind: str) -> None:
    """A file whose modes are combinations of others, with other modal masses."""
    data = read_modal_data(made(folder, kind))
    rng = np.random.default_rng(3)
    S = rng.normal(size=(data.modes, data.modes))
    changed = {"shapes": data.shapes @ S, "mass": S.T @ data.mass @ S, "stiffness": S.T @ data.stiffness @ S}
    changed = {name: 0.5 * (x + x.T) if x.ndim == 2 else x for name, x in changed.items()}
    participation = None if data.participation is None else data.participation @ S
    write_modal_data(
        replace(data, **changed, foreshortening=None, stress=None, participation=participation), folder / "mast.npz"
    )


def placed(simulation: lj.Simulation, q: np.ndarray) -> np.ndarray:
    """Where the tip is with these modal coordinates."""
    state, place = simulation.q, simulation.system.coordinate_names.index("mast.modes.1")
    state[place : place + len(q)] = q
    simulation.q = state
    return np.array(simulation.output["mast.tip.position"])


@pytest.mark.parametrize("kind", ["cantilever", "craig-bampton", "free-free"])
def test_the_tip_of_the_model_moves_as_the_file_says(tmp_path, kind):
    """Oracle: Π of the tip in the file, less the rigid motion that its root makes."""
    mixed(tmp_path, kind)
    data = read_modal_data(tmp_path / "mast.npz")
    inboard = "root" if kind == "free-free" else None
    more = ", inboard: root, attachments: [tip]" if inboard else ", attachments: [tip]"
    simulation = lj.Simulation(load(tmp_path, flexible=f"{more}, geometric: false"))
    eta = 1e-4 * np.random.default_rng(4).normal(size=data.modes)
    motion = data.shapes @ eta
    root, tip = data.node("root"), data.node("tip")
    arm = data.positions[tip] - data.positions[root]
    expected = motion[tip, 3:] - motion[root, 3:] - np.cross(motion[root, :3], arm)
    start = placed(simulation, np.zeros(data.modes))
    for given in (eta, motion):
        q = data.coordinates_of(given, inboard)
        moved = placed(simulation, q) - start
        assert np.allclose(moved, expected, rtol=0, atol=1e-5 * np.abs(expected).max())
        strain = simulation.output["energy.strain"]
        assert strain == pytest.approx(0.5 * eta @ data.stiffness @ eta, rel=1e-9)
    assert np.allclose(data.basis(inboard) @ data.coordinates_of(eta, inboard), eta, rtol=1e-9)


def test_a_choice_of_modes(tmp_path):
    mixed(tmp_path, "cantilever")
    data = read_modal_data(tmp_path / "mast.npz")
    simulation = lj.Simulation(load(tmp_path, flexible=", modes: 2, geometric: false"))
    eta = np.array([1e-4, -2e-4, 7.0, 9.0])
    placed(simulation, data.coordinates_of(eta, modes=2))
    strain = simulation.output["energy.strain"]
    assert strain == pytest.approx(0.5 * eta[:2] @ data.stiffness[:2, :2] @ eta[:2], rel=1e-9)


def test_what_is_no_motion(tmp_path):
    data = read_modal_data(made(tmp_path, "cantilever"))
    with pytest.raises(ArgumentError, match=r"motion has shape \(3,\)"):
        data.coordinates_of(np.zeros(3))
    with pytest.raises(ArgumentError, match="no node"):
        data.coordinates_of(np.zeros(data.modes), inboard="nowhere")
    bare = replace(data, masses=np.zeros_like(data.masses), inertias=np.zeros_like(data.inertias))
    with warnings.catch_warnings(), pytest.raises(ArgumentError, match="cannot distinguish the modes"):
        bare.coordinates_of(np.zeros((len(data.shapes), 6)))
