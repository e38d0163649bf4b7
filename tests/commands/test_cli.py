"""The command line: what it prints, what it refuses, and its exit codes."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest

from limberjack.cli import main

MODEL = str(files("limberjack.examples") / "space_manipulator.yaml")


def test_info_shows_tree_coordinates_and_drives(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", MODEL]) == 0
    out = capsys.readouterr().out
    for word in ("8 bodies, 14 coordinates, 13 velocities", "upper_boom", "elbow_pitch.rate", "grasp_point", "gyro"):
        assert word in out


def test_check_says_good_and_counts_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", MODEL]) == 0
    assert "good; 8 bodies, 13 velocities, 0 warnings" in capsys.readouterr().out


def test_bad_model_is_exit_code_2_with_place_and_mend(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text(Path(MODEL).read_text().replace("mass: 96.0", "mass: -96.0"))
    assert main(["check", str(bad)]) == 2
    error = capsys.readouterr().err
    assert "bad.yaml:" in error
    assert "mass" in error
    assert "Traceback" not in error


@pytest.mark.parametrize("command", ["info", "check", "run"])
def test_missing_file_is_exit_code_2(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "no_such_model.yaml"]) == 2
    assert "no_such_model.yaml" in capsys.readouterr().err


def test_wrong_step_is_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", MODEL, "--dt", "-1", "--endpoint", "tcp://127.0.0.1:*"]) == 2
    assert "dt is -1" in capsys.readouterr().err


def test_beyond_loopback_without_keys_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", MODEL, "--endpoint", "tcp://0.0.0.0:5599"]) == 2
    assert "keygen" in capsys.readouterr().err


def test_schema_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out)["type"] == "object"


def test_keygen_writes_private_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["keygen", str(tmp_path / "keys"), "--client", "arm"]) == 0
    paths = [Path(line) for line in capsys.readouterr().out.split()]
    secrets = [path for path in paths if "secret" in path.name]
    assert secrets
    assert all(path.stat().st_mode & 0o077 == 0 for path in secrets)


def test_plot_of_something_else_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log.csv"
    log.write_text("a,b\nx,y\n")
    assert main(["plot", str(log)]) == 2
    assert "not a log" in capsys.readouterr().err
