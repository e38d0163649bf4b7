"""A scenario's seed is that of the noise of the model's instruments."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from limberjack.hil.scenario.execution import run_scenario

PATH = Path(__file__).resolve().parents[2] / "examples" / "scenarios" / "star_tracker.yaml"
BRIEF = {"duration": 2.0, "timeline": [], "criteria": []}


def shown(folder: Path, seed: int) -> np.ndarray:
    """What the gyro shows in a brief run."""
    run_scenario(PATH, out=folder, paced=False, overrides=BRIEF, seed=seed)
    table = np.genfromtxt(folder / "signals.csv", delimiter=",", names=True, deletechars="")
    (gyro,) = (name for name in table.dtype.names if name.startswith("output.gyro.y"))
    return np.asarray(table[gyro])


def test_equal_seeds_give_equal_noise_and_others_other(tmp_path):
    first, again, other = (shown(tmp_path / str(i), seed) for i, seed in enumerate((5, 5, 2**40)))
    assert np.array_equal(first, again)
    assert np.mean(first[1:] != other[1:]) > 0.9
