"""The command line: what it prints, what it refuses, and its exit codes."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest
from rich.console import Console

from limberjack.cli import main
from limberjack.commands.conservation import momentum_conserved
from limberjack.commands.tables import new_table
from limberjack.engine.model.load import load

MODEL = str(files("limberjack.examples") / "space_manipulator.yaml")


def test_info_shows_tree_coordinates_and_drives(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", MODEL]) == 0
    out = capsys.readouterr().out
    for word in ("8 bodies, 14 coordinates, 13 velocities", "upper_boom", "elbow_pitch.rate", "grasp_point", "gyro"):
        assert word in out


def test_names_with_brackets_are_shown_as_they_stand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "odd.yaml"
    path.write_text("""\
limberjack: 1
name: "[/b]"
bodies: [{name: "[/red]", mass: 1, inertia: {xx: 1, yy: 1, zz: 1}, hinge: {type: free, parent: world}}]
alarms: [{signal: "q.[/red].x", warning: {upper: 2}}]
""")
    assert main(["info", str(path)]) == 0
    out = capsys.readouterr().out
    for word in ("[/b]: 1 body", "[/red].wx", "q.[/red].x", "-inf to 2"):
        assert word in out


def test_check_says_good_and_counts_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", MODEL]) == 0
    assert "good; 8 bodies, 13 velocities, 0 warnings" in capsys.readouterr().out


def test_bad_model_is_exit_code_2_with_place_and_remedy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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


@pytest.mark.parametrize(
    ("option", "title", "field"),
    [
        ([], "Limberjack model", "bodies"),
        (["--modes"], "Limberjack modal description", "frame"),
        (["--scenario"], "Limberjack scenario", "criteria"),
        (["--campaign"], "Limberjack campaign", "vary"),
    ],
)
def test_schemas_are_printed(option: list[str], title: str, field: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", *option]) == 0
    schema = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert (schema["title"], schema["type"]) == (title, "object")
    assert field in schema["properties"]


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


HEADER = "time,q.a,tau.a,reference.a,energy.kinetic,energy.potential\n"


@pytest.mark.parametrize("text", [HEADER, "", "time,q.a\n1,2\n", HEADER + "1,2\n", HEADER + "1,2,3,4,5,x\n"])
def test_plot_of_an_incomplete_log_is_refused(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log.csv"
    log.write_text(text)
    assert main(["plot", str(log)]) == 2
    error = capsys.readouterr().err
    assert f"{log}: not a log of a run" in error
    assert len(error.splitlines()) == 1


def test_a_log_that_is_cut_names_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log.csv"
    log.write_text(HEADER + "0,1,1,1,1,1\n1,2,2\n")
    assert main(["plot", str(log)]) == 2
    assert "not a log of a run: line 3 has 3 values for its 6 columns; give" in capsys.readouterr().err


def test_plot_takes_folders_and_the_table_of_a_bench(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "0,1,2\n1,2,3\n"
    for folder, name, head in (("run", "log.csv", HEADER), ("bench", "signals.csv", "time,q.a,output.b\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(head + (rows if folder == "bench" else "0,1,1,1,1,1\n1,2,2,2,2,2\n"))
        assert main(["plot", str(tmp_path / folder)]) == 0
        picture = tmp_path / folder / name.replace(".csv", ".png")
        assert capsys.readouterr().out == f"{picture}\n"
        assert picture.stat().st_size > 5000
    assert main(["plot", str(tmp_path / "bench"), "--signals", "q.b"]) == 2
    assert "did you mean 'q.a'?" in capsys.readouterr().err
    assert main(["plot", str(tmp_path)]) == 2
    assert "the folder has no log.csv or record.mcap or signals.csv" in capsys.readouterr().err


def test_tables_that_are_no_logs_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "log.csv"
    table.write_text("time,q.a\n0,1\n")
    assert main(["plot", str(table)]) == 2
    assert "or of a bench its record.mcap or signals.csv, under this name" in capsys.readouterr().err
    assert main(["replay", str(tmp_path / "none.mcap")]) == 2
    assert "none.mcap: the file does not exist" in capsys.readouterr().err


def test_paths_that_cannot_be_used_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, log = tmp_path / "file", tmp_path / "log.csv"
    file.write_text("")
    log.write_text(HEADER + "0,1,1,1,1,1\n1,2,2,2,2,2\n")
    for arguments, path in (
        (["demo", "--out", str(file / "x")], file / "x"),
        (["run", MODEL, "--duration", "1", "--out", str(file)], file),
        (["keygen", str(file / "keys")], file / "keys"),
        (["plot", str(log), "-o", str(tmp_path / "absent" / "a.png")], tmp_path / "absent" / "a.png"),
        (["plot", str(log), "-o", str(tmp_path / "a.doc")], tmp_path / "a.doc"),
        (["bench", "--out", str(file)], file),
    ):
        assert main(arguments) == 2
        error = capsys.readouterr().err
        assert str(path) in error
        assert "Traceback" not in error


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", MODEL, "--rate", "100"], "Add --real-time"),
        (["run", MODEL, "--duration", "1", "--rate", "100"], "Add --real-time"),
        (["run", MODEL, "--out", "x"], "Add --duration"),
        (["run", MODEL, "--duration", "nan"], "--duration is nan"),
        (["run", MODEL, "--duration", "1", "--priority", "100"], "priority 100"),
        (["run", MODEL, "--duration", "1", "--publish-every", "0"], "publish_divisor is 0"),
        (["run", MODEL, "--duration", "1", "--lease", "0"], "lease_s is 0"),
        (["run", MODEL, "--duration", "1", "--endpoint", "tcp://0.0.0.0:*"], "keygen"),
        (["run", MODEL, "--duration", "1", "--cpu", "4096"], "processor 4096 is not available. Choose from"),
        (["bench", "--core", "4096"], "processor 4096 is not available. Choose from"),
    ],
)
def test_options_that_do_not_combine_are_refused(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert words in capsys.readouterr().err


def test_nothing_to_drive_is_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "model.yaml"
    text = Path(MODEL).read_text()
    model.write_text(text[: text.index("actuators:")])
    assert main(["run", str(model), "--duration", "1", "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert "no actuators" in error
    assert "leave --duration out to serve it" in error
    model.write_text(model.read_text() + "actuators:\n  - {name: thruster, coordinate: satellite.vx}\n")
    assert main(["run", str(model), "--duration", "1", "--out", str(tmp_path / "out")]) == 2
    assert "quasi-velocities" in capsys.readouterr().err


def test_momentum_stays_only_where_nothing_acts_from_outside(tmp_path: Path) -> None:
    text = Path(MODEL).read_text()
    thruster = text.replace("actuators:\n", "actuators:\n  - {name: thruster, coordinate: satellite.vx}\n")
    for change, expected in (
        (text, True),
        (text.replace("gravity: [0, 0, 0]", "gravity: [0, 0, -9.8]"), False),
        (text.replace("type: free, parent: world", "type: spherical, parent: world"), False),
        (thruster, False),
    ):
        (tmp_path / "model.yaml").write_text(change)
        assert momentum_conserved(load(tmp_path / "model.yaml")) is expected


def test_piped_tables_keep_every_number() -> None:
    command = [sys.executable, "-m", "limberjack", "info", MODEL]
    out = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120.0).stdout
    assert "shoulder_pitch, shoulder_pitch.rate, shoulder_pitch.torque" in out
    assert "…" not in out.replace(" … ", "")


def test_a_narrow_terminal_folds_words_and_cuts_no_verdict() -> None:
    table = new_table("run: FAILED", "criterion", "", "", folding=(0, 2))
    table.add_row("reaches the target", "FAILED", "output.attitude.y stays within 0.0001 of 0.0349 after 63 s")
    console = Console(width=40, record=True, file=io.StringIO())
    console.print(table)
    shown = console.export_text()
    assert "FAILED " in shown
    assert "…" not in shown
    assert "0.0001" in shown


def test_the_dictionary_starts_without_what_it_does_not_need():
    """What takes seconds to import stays out, so that the command takes less than one where the engine is built."""
    code = (
        "import sys; from limberjack.cli import main; main(['dictionary', sys.argv[1]]);"
        "print(*sorted({'numba', 'llvmlite', 'scipy', 'matplotlib', 'rich', 'aiohttp'} & set(sys.modules)), "
        "file=sys.stderr)"
    )
    model = Path(__file__).resolve().parents[2] / "examples" / "cassini.yaml"
    command = [sys.executable, "-c", code, str(model)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "reaction" in done.stdout or "wheel" in done.stdout
    assert done.stderr == "\n"


def test_ctrl_c_while_it_imports_leaves_no_traceback():
    """The interrupt comes at the first import of the command line."""
    program = """
import sys
class Interrupted:
    def find_spec(self, name, *_):
        if name == "limberjack.cli":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
from limberjack.__main__ import main
sys.exit(main())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "stopped by the user\n")


def test_a_console_of_a_model_that_cannot_be_read_announces_no_page(monkeypatch, capsys):
    from limberjack.commands import web_console

    monkeypatch.setattr(web_console, "installed_folder", lambda package: None)
    assert main(["console", "nosuch.yaml"]) == 2
    assert capsys.readouterr().err == "limberjack: nosuch.yaml: the file does not exist. Check the path.\n"
