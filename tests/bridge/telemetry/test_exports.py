"""Exports of the dictionary: others' readers find every name, unit and limit, whatever a model calls things."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from math import inf

import pytest
from markdown_it import MarkdownIt

import limberjack as lj
from limberjack.bridge.console.displays import objects_of
from limberjack.bridge.telemetry.dictionary import dictionary_of
from limberjack.bridge.telemetry.exports.registry import EXPORTS, Subject, export_of
from limberjack.cli import main
from limberjack.engine.model.archive import to_bytes
from limberjack.engine.model.validate import validate
from tests.bridge.telemetry.random_models import random_model

NASTY = "a|b`c``d *e* <f> [g](h) \\ _i_ {j} #k"


@pytest.fixture(scope="module")
def subject():
    made = random_model(3)
    first, *others = made.sensors
    system = validate(replace(made, name=NASTY, sensors=(replace(first, name=NASTY), *others)))
    simulation = lj.Simulation(system)
    return Subject(simulation, dictionary_of(simulation))


@pytest.fixture(scope="module")
def model(subject, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.ljm"
    path.write_bytes(to_bytes(subject.simulation.system))
    return path


def cells(page: str) -> list[list[str]]:
    """The rows of all tables as a reader sees them."""
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(page)
    rows = [row.split("</tr>")[0] for row in html.split("<tr>")[1:]]
    strip = ("<code>", "</code>", "</td>", "</th>", "\n")
    found = []
    for row in rows:
        for tag in strip:
            row = row.replace(tag, "")
        found.append([unescape(cell) for cell in row.replace("<th>", "<td>").split("<td>")[1:]])
    return found


def test_a_page_of_markdown_reads_as_the_dictionary(subject):
    page = export_of("markdown").make(subject)
    rows = {row[0]: row for row in cells(page) if row[0] != "quantity"}
    assert list(rows) == [quantity.id for quantity in subject.dictionary]
    for quantity in subject.dictionary:
        assert rows[quantity.id][1:3] == [quantity.unit, quantity.description]
    drive = subject.simulation.system.actuators[0]
    force = f"command.{drive.name}" + (".torque" if drive.mode != "torque" else "")
    assert rows[force][3] == f"{-drive.limit:.12g} to {drive.limit:.12g}"
    angle = next(row for name, row in rows.items() if name.startswith("q."))
    assert angle[-2:] == ["-1 to 1", "at most 2"]
    assert rows["engine.running"][-1] == "at least 1"


def test_foxglove_gets_a_schema_with_every_quantity(subject):
    signals = json.loads(export_of("foxglove").make(subject))["/signals"]["properties"]
    for quantity in subject.dictionary:
        group, _, rest = quantity.id.partition(".")
        reported = signals[group]["properties"][rest] if rest else signals[group]
        assert reported["type"] == "number"
        assert quantity.description in reported["description"]


def named(objects) -> dict[str, dict]:
    """The points among objects of Open MCT by their quantity; all that any of them refers to exists."""
    for key, each in objects.items():
        assert re.fullmatch(r"[A-Za-z0-9._-]+", key)
        assert each["identifier"] == {"namespace": "limberjack", "key": key}
        assert all(part["key"] in objects for part in each.get("composition", ()))
    return {each["quantity"]: each for each in objects.values() if "quantity" in each}


def test_open_mct_gets_every_quantity_under_a_key_that_may_stand_in_an_address(subject):
    document = json.loads(export_of("openmct").make(subject))
    points = named({key.removeprefix("limberjack:"): each for key, each in document["openmct"].items()})
    assert list(points) == [quantity.id for quantity in subject.dictionary]
    assert document["rootId"] in document["openmct"]
    for quantity in subject.dictionary:
        point = points[quantity.id]
        value, time = point["telemetry"]["values"]
        assert (point["name"], value["unit"], value["hints"]) == (quantity.id, quantity.unit, {"range": 1})
        assert (value.get("min", -inf), value.get("max", inf)) == (quantity.low, quantity.high)
        assert time["hints"] == {"domain": 1}
        for name, limits in (("warning", quantity.warning), ("critical", quantity.critical)):
            reported = point["alarms"].get(name, {})
            assert (reported.get("low", -inf), reported.get("high", inf)) == limits


def test_the_displays_of_the_console_refer_to_what_there_is(subject):
    points = named(objects_of(subject.dictionary, subject.simulation.system))
    assert set(points) == set(subject.dictionary.places)


@pytest.mark.parametrize("export", EXPORTS, ids=lambda export: export.name)
def test_the_command_writes_what_the_format_makes(export, subject, model, tmp_path, capsys):
    assert main(["dictionary", str(model), "--format", export.name, "-o", str(tmp_path / "out")]) == 0
    made = export.make(subject)
    for name, text in ({"": made} if isinstance(made, str) else made).items():
        assert (tmp_path / "out" / name).read_text(encoding="utf-8") == text
    assert str(tmp_path / "out") in capsys.readouterr().out


def test_the_suffix_gives_the_format_where_it_can(model, tmp_path, capsys):
    assert main(["dictionary", str(model), "-o", str(tmp_path / "page.md")]) == 0
    assert main(["dictionary", str(model)]) == 0
    assert (tmp_path / "page.md").read_text(encoding="utf-8") in capsys.readouterr().out
    assert main(["dictionary", str(model), "-o", str(tmp_path / "page.txt")]) == 2
    assert "the name does not determine the format. Add --format" in capsys.readouterr().err
    assert main(["dictionary", str(model), "--packets", "sets.yaml"]) == 2
    assert "the format markdown has no packets" in capsys.readouterr().err
