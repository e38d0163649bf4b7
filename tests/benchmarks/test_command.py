"""`limberjack bench` finds the benchmarks in a checkout, from any folder, and says where they are without one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from limberjack.cli import main
from limberjack.commands import bench

ROOT = Path(__file__).resolve().parents[2]


def test_an_installed_package_says_what_to_check_out(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(bench, "_TOP", tmp_path)
    assert main(["bench", "--quick", "--out", str(tmp_path / "out")]) == 2
    err = capsys.readouterr().err
    assert "Check out Limberjack's repository at version" in err
    assert 'pip install -e ".[bench]"' in err
    assert not (tmp_path / "out").exists()


PROBE = """
import subprocess, sys, types
from limberjack.cli import main
def measure(**given):
    print(sorted(given), given["quick"], given["out"], given["core"])
    subprocess.run([sys.executable, "-c", "import benchmarks.history"], check=True)
stand_in = types.ModuleType("benchmarks.closed_chains.loops_bench")
stand_in.bench = measure
sys.modules[stand_in.__name__] = stand_in
sys.exit(main(["bench", "--loops", "--quick", "--out", "there"]))
"""


def test_a_checkout_measures_from_any_folder(tmp_path):
    """Processes that the measurement starts find the benchmarks too."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", PROBE], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "['console', 'core', 'history_path', 'out', 'quick'] True there None\n"
    assert (tmp_path / "there").is_dir()


def test_the_module_is_the_command():
    reported = [
        subprocess.run([sys.executable, "-m", *words, "--help"], cwd=ROOT, capture_output=True, text=True, timeout=120)
        for words in (("benchmarks",), ("limberjack", "bench"))
    ]
    assert "--flexible" in reported[0].stdout
    assert reported[0].stdout == reported[1].stdout
    assert reported[0].returncode == reported[1].returncode == 0
