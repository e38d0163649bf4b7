"""What `import limberjack` costs: nothing of what is not used, and every name is there."""

from __future__ import annotations

import subprocess
import sys

import pytest

import limberjack as lj

HEAVY = ["numba", "numpy", "pydantic", "matplotlib", "zmq"]


def loaded(statement):
    """Which of the heavy packages a statement loads."""
    program = f"import sys; {statement}; print(*[name for name in {HEAVY} if name in sys.modules])"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()


def test_every_name_is_there():
    assert set(lj.__all__) == set(lj._HOMES)
    assert set(lj.__all__) <= set(dir(lj))
    for name in lj.__all__:
        assert getattr(lj, name).__doc__, name
    with pytest.raises(AttributeError, match="module 'limberjack' has no attribute 'lode'"):
        lj.lode  # noqa: B018


def test_an_import_loads_nothing_that_is_not_used():
    assert loaded("import limberjack") == []


def test_help_loads_nothing_that_a_command_needs():
    assert loaded("from limberjack import cli; cli._parser().format_help()") == [
        "numpy"
    ]  # its arguments are checked by it
