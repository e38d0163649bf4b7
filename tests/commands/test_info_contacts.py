"""What `limberjack info` and `check` say of contacts."""

from __future__ import annotations

from limberjack.cli import main
from tests.engine.contacts.scenes import FLOOR, ball, box, free, scene, solid_box, sphere

LAW = "{name: land, first: [block, ball], second: floor, friction: 0.4}"
STIFF = "{name: knock, first: ball, second: block, stiffness: 1.0e+5, exponent: 1.5}"


def model(folder, height: float) -> str:
    """A block whose centre is at a height, with a half edge of 0.1 m, and a ball far from it."""
    bodies = [free("block", 1.0, solid_box([0.2] * 3, 1.0), (0, 0, height)), ball("ball", (0, 3.0, 0.5))]
    shapes = [FLOOR, box("block", [0.2] * 3), sphere("ball")]
    scene(folder, bodies, shapes, [LAW, STIFF])
    return str(folder / "scene.yaml")


def test_check_warns_of_pairs_that_overlap(tmp_path, capsys):
    assert main(["check", model(tmp_path, 0.07)]) == 0
    said = capsys.readouterr().out
    assert "contact 'land': the shapes 'block' and 'floor' overlap by 0.03 m at the start" in said
    assert said.count("overlap") == 1
    assert "1 warning\n" in said


def test_check_does_not_warn_of_shapes_that_just_touch(tmp_path, capsys):
    assert main(["check", model(tmp_path, 0.1)]) == 0
    assert "0 warnings" in capsys.readouterr().out


def test_check_warns_of_pairs_that_two_contacts_name(tmp_path, capsys):
    path = model(tmp_path, 0.1)
    with open(path, "a") as file:
        file.write("  - {name: again, first: floor, second: [ball, block]}\n")
    assert main(["check", path]) == 0
    said = capsys.readouterr().out
    assert "contacts 'land' and 'again' both act between the shapes 'ball' and 'floor'." in said
    assert "contacts 'land' and 'again' both act between the shapes 'block' and 'floor'." in said
    assert "2 warnings" in said


def test_info_lists_the_pairs_of_contacts(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["info", model(tmp_path, 0.1)]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    rows = [" ".join(word for word in line if word not in "│|") for line in lines]
    assert "land block (box) floor (plane) 8 nearly rigid, restitution 0, friction 0.4" in rows
    assert "ball (sphere) floor (plane) 1" in rows
    assert "knock ball (sphere) block (box) 1 100000 N/m^1.5, dissipation 0 s/m, friction 0" in rows
