"""Routines: code of their own that entries call by name, compiled where the first model with loops is built."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import limberjack as lj
from limberjack.engine.compile.routine import ROUTINES
from limberjack.engine.kernels.entry_points import entries

EXAMPLES = Path(__file__).parents[3] / "examples"

SLOTS = """
import sys
import limberjack as lj
from limberjack.engine.compile.routine import ROUTINES
lj.Simulation(lj.load(sys.argv[1])).step(1)
others = [known for known in ROUTINES.values() if not known.of_instruments]
print(sum(bool(known.slot.value) for known in others), len(others))
"""


@pytest.mark.parametrize(("model", "all_of_them"), [("space_manipulator", False), ("four_bar", True)])
def test_a_model_without_loops_neither_compiles_nor_loads_them(model, all_of_them):
    command = [sys.executable, "-c", SLOTS, str(EXAMPLES / f"{model}.yaml")]
    filled, known = map(int, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    assert known > 10
    assert filled == (known if all_of_them else 0)


def test_python_cannot_call_them():
    lj.Dynamics(lj.load(EXAMPLES / "four_bar.yaml"))
    assert entries()
    from limberjack.engine.kernels.groups.multipliers import solve_routine

    with pytest.raises(NotImplementedError):
        solve_routine(None, None, None)
    assert "solve_routine" in ROUTINES
