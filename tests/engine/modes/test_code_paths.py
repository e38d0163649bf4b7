"""One description, one set of modal coordinates and of decisions: the same on every code path of NumPy and OpenBLAS."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.code_paths import code_paths

ROOT = Path(__file__).parents[3]
#: what a processor with other instructions would have to find alike
PROGRAM = """
import json
from tests.engine.kernels.flexible.linkages import four_bar, two_arms
from tests.engine.kernels.loops.mechanisms.spatial import bennett, planetary
from tests.engine.kernels.loops.rounding import decisions
from tests.engine.modes.test_equal_frequencies import KINDS, mast, reduced

made = [four_bar(modes=4, method="embed"), four_bar(modes=8, method="embed"), two_arms(method="embed"),
        bennett(method="embed"), planetary(method="embed")]
data = [reduced(mast(axis, elements), kind, 6)
        for axis in ("x", "diagonal") for elements in (12, 90) for kind in KINDS]
shapes = [(each.shapes / abs(each.shapes).max(axis=(0, 1))).tolist() for each in data]
print(json.dumps({"decisions": [decisions(system) for system in made], "shapes": shapes}))
"""


@pytest.mark.long
def test_every_code_path_decides_alike_and_finds_the_same_modes():
    paths = [{}, *code_paths()]
    if len(paths) < 3:
        pytest.skip(f"this processor runs {len(paths) - 1} of the code paths that are known here")
    started = [
        subprocess.Popen([sys.executable, "-c", PROGRAM], env=os.environ | path, cwd=ROOT, stdout=subprocess.PIPE)
        for path in paths
    ]
    found = [json.loads(process.communicate(timeout=300)[0]) for process in started]
    for path, other in zip(paths[1:], found[1:], strict=True):
        assert other["decisions"] == found[0]["decisions"], path
        for shapes, expected in zip(other["shapes"], found[0]["shapes"], strict=True):
            np.testing.assert_allclose(shapes, expected, rtol=0, atol=1e-6, err_msg=str(path))
