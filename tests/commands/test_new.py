"""`limberjack new`: what it writes runs at once; it never writes over anything; its errors say what to do."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import limberjack as lj
from limberjack.cli import main
from limberjack.commands.controller_commands import KINDS
from limberjack.hil.scenario.execution import run_scenario
from tests.hil.octave import needs_octave

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
HERE = [kind for kind in KINDS["controller"] if kind != "octave"]
CONTROLLERS = [*HERE, pytest.param("octave", marks=[needs_octave, pytest.mark.long])]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("kind", KINDS["model"])
def test_a_new_model_is_good_and_runs(kind, folder, capsys):
    assert main(["new", "model", "mine", "--kind", kind]) == 0
    assert "wrote mine.yaml" in capsys.readouterr().out
    assert main(["check", "mine.yaml"]) == 0
    assert "0 warnings" in capsys.readouterr().out
    assert lj.load("mine.yaml").name == "mine"
    assert main(["run", "mine.yaml", "--duration", "0.5"]) == 0
    assert (folder / "results" / "mine" / "run.png").is_file()


def test_a_new_scenario_comes_with_its_model_and_passes(folder):
    assert main(["new", "scenario", "first"]) == 0
    assert sorted(path.name for path in folder.iterdir()) == ["first.yaml", "first_model.yaml"]
    assert main(["hil", "first.yaml"]) == 0
    still = run_scenario("first.yaml", overrides={"timeline": []})
    assert {"shoulder arrives", "elbow arrives"} <= {each.name for each in still.criteria if not each.passed}


@pytest.mark.parametrize(
    "model", ["torque_arm", "solar_satellite", "space_manipulator", "four_bar", "stewart_platform"]
)
def test_a_new_scenario_of_a_model_runs(model, folder):
    assert main(["new", "scenario", "second", "--model", str(EXAMPLES / f"{model}.yaml")]) == 0
    result = run_scenario("second.yaml", overrides={"duration": 1.1})
    assert result.passed, result.explain()


@pytest.mark.parametrize("kind", CONTROLLERS)
def test_a_new_controller_balances_its_pole(kind, folder):
    assert main(["new", "controller", "mine", "--kind", kind]) == 0
    result = run_scenario("mine/mine.yaml", overrides={"pacing.answer_limit_s": 60})
    assert result.passed, result.explain()
    texts = {path.name: path.read_text(encoding="utf-8") for path in Path("mine").iterdir() if path.is_file()}
    left = {name for name, text in texts.items() if "balance_" in text or "balance." in text or "4720" in text}
    assert left == set()


@pytest.mark.parametrize("kind", CONTROLLERS)
def test_a_new_controller_of_a_model_sets_all_its_commands(kind, folder):
    assert main(["new", "model", "arm"]) == 0
    assert main(["new", "controller", "mine", "--kind", kind, "--model", "arm.yaml"]) == 0
    result = run_scenario("mine/mine.yaml", overrides={"duration": 0.5, "pacing.answer_limit_s": 60})
    assert result.passed, result.explain()
    (device,) = result.built.executive.devices
    assert device.wiring.commands == lj.load("arm.yaml").command_names
    assert device.device.link.received > 40
    assert device.device.link.rejected == {}


def test_the_law_of_a_new_controller_is_that_of_its_file(folder):
    assert main(["new", "model", "arm"]) == 0
    assert main(["new", "controller", "mine", "--model", "arm.yaml"]) == 0
    path = Path("mine/mine.py")
    text = path.read_text(encoding="utf-8")
    path.write_text(
        text.replace("        # your law", '        commands["elbow"] = 0.3 + now["q.shoulder"]\n        # your law')
    )
    result = run_scenario("mine/mine.yaml", overrides={"criteria": [], "duration": 3})
    assert result.passed
    assert result.built.executive.simulation.command["elbow"] == pytest.approx(0.3, abs=0.05)


def test_names_of_a_model_may_be_any_text(folder):
    odd = Path('odd\'s """ (1).yaml')
    odd.write_text(
        """
limberjack: 1
name: odd
bodies:
  - {name: a, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}, hinge: {name: "a: \\"b\\" #c", type: revolute, parent: world,
     axis: [0, 0, 1]}}
actuators:
  - {name: "drive: {1} % */", coordinate: "a: \\"b\\" #c"}
""",
        encoding="utf-8",
    )
    assert main(["new", "scenario", "odd_run", "--model", str(odd)]) == 0
    assert run_scenario("odd_run.yaml").passed
    for kind in ("python", "zmq", "udp"):
        assert main(["new", "controller", f"odd_{kind}", "--kind", kind, "--model", str(odd)]) == 0
        result = run_scenario(f"odd_{kind}/odd_{kind}.yaml", overrides={"duration": 0.2, "pacing.answer_limit_s": 60})
        assert result.passed, result.explain()


def test_nothing_is_written_over(folder, capsys):
    for words in (["model", "a"], ["scenario", "b"], ["controller", "c"]):
        assert main(["new", *words]) == 0
        before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        assert main(["new", *words]) == 2
        assert "exists already; use another name" in capsys.readouterr().err
        assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    Path("d_model.yaml").touch()
    assert main(["new", "scenario", "d"]) == 2
    assert not Path("d.yaml").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("model my-arm", "'my-arm' is not a name for a model: use letters, digits and _, for example 'my_arm'."),
        ("controller 2nd", "for example 'my_2nd'."),
        (
            "controller signal",
            "'signal' is a module of Python, which a file of this name would hide; use 'my_signal'.",
        ),
        ("model nowhere/arm", "nowhere: there is no such folder; make it first."),
        ("scenario s --model arn.yaml", "arn.yaml: the file does not exist. Check the path; did you mean 'arm.yaml'?"),
        ("scenario s --model other.urdf", "other.urdf: the file does not exist. Check the path.\n"),
        ("controller c --model still.yaml", "the model still takes no commands; give it actuators"),
    ],
)
def test_what_it_refuses(words, message, folder, capsys):
    main(["new", "model", "arm"])
    Path("still.yaml").write_text(
        "{limberjack: 1, name: still, bodies: [{name: a, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}, "
        "hinge: {type: revolute, parent: world, axis: [0, 0, 1]}}]}",
        encoding="utf-8",
    )
    before = sorted(folder.rglob("*"))
    assert main(["new", *words.split()]) == 2
    assert message in capsys.readouterr().err
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("modle arm", "'modle' is not one of its choices; did you mean 'model'?"),
        ("controller c --kind upd", "argument --kind: 'upd': did you mean 'udp'?"),
        ("scenario s --kind arm", "a scenario has no kinds; leave it out"),
        ("model m --model arm.yaml", "argument --model: belongs to scenarios and controllers"),
    ],
)
def test_what_the_command_line_refuses(words, message, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["new", *words.split()])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_a_path_before_the_name_and_an_ending_are_taken(folder):
    Path("robots").mkdir()
    assert main(["new", "model", "robots/arm.yaml"]) == 0
    assert main(["new", "scenario", "robots/run", "--model", "robots/arm.yaml"]) == 0
    assert run_scenario("robots/run.yaml", overrides={"duration": 1.1}).passed
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert lj.load("robots/arm.yaml").name == "arm"
