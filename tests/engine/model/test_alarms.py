"""Alarms in model files: read, kept through archives and other roots, refused where they make no sense."""

from __future__ import annotations

import math

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.common.errors import ModelError
from limberjack.engine.model.archive import from_bytes, to_bytes
from limberjack.engine.model.checks.alarms import alarms_of

MODEL = """\
limberjack: 1
name: boom
bodies:
  - name: base
    mass: 10.0
    inertia: {xx: 1, yy: 1, zz: 1}
    hinge: {type: free, parent: world}
  - name: boom
    mass: 1.0
    inertia: {xx: 1, yy: 1, zz: 1}
    hinge: {name: "elbow [left]", type: revolute, parent: base, axis: [0, 0, 1]}
actuators:
  - {name: drive, coordinate: "elbow [left]"}
sensors:
  - {name: imu, type: gyro, target: base}
alarms:
"""


@pytest.fixture
def load(tmp_path):
    def load(*entries, **options):
        path = tmp_path / "boom.yaml"
        path.write_text(MODEL + "".join(f"  - {entry}\n" for entry in entries), encoding="utf-8")
        return lj.load(path, **options)

    return load


def test_limits_reach_the_quantities_that_they_name(load):
    system = load(
        '{signal: "q.elbow [left]", warning: {lower: -1, upper: 1}, critical: {lower: -2, upper: 2}}',
        '{signal: "output.imu.?", critical: {upper: 0.5}}',
        "{signal: energy.total, warning: {upper: 3}}",
    )
    found = alarms_of(system)
    assert list(found) == ["q.elbow [left]", "output.imu.x", "output.imu.y", "output.imu.z", "energy.total"]
    assert found["q.elbow [left]"].critical == lj.Bounds(-2.0, 2.0)
    assert found["output.imu.y"].critical == lj.Bounds(-math.inf, 0.5)
    assert found["output.imu.y"].warning == lj.Bounds()


def test_alarms_survive_the_archive(load):
    system = load('{signal: "v.*", warning: {lower: -0.1}}')
    copy = from_bytes(to_bytes(system), "copy")
    assert copy.alarms == system.alarms
    assert copy.alarms[0].where == system.alarms[0].where


def test_alarms_of_a_root_that_is_held_go_with_its_coordinates(load):
    entries = ("{signal: q.base.z, warning: {upper: 2}}", "{signal: energy.total, warning: {upper: 3}}")
    assert [alarm.signal for alarm in load(*entries, base="fixed").alarms] == ["energy.total"]


def test_python_adds_alarms_to_any_model(load):
    system = lj.equip(load("{signal: time, warning: {upper: 9}}"), lj.Alarm("command.drive", lj.Bounds(-5.0, 5.0)))
    assert alarms_of(system)["command.drive"].warning == lj.Bounds(-5.0, 5.0)
    with pytest.raises(ModelError, match=r"alarm 'drive'.*not a quantity.*Did you mean 'command.drive'"):
        lj.equip(system, lj.Alarm("drive", lj.Bounds(-5.0, 5.0)))
    with pytest.raises(ModelError, match="nan"):
        lj.equip(system, lj.Alarm("command.drive", lj.Bounds(np.nan, 5.0)))


@pytest.mark.parametrize(
    ("entry", "line", "text"),
    [
        ("{signal: q.elbow, warning: {upper: 1}}", 17, r"'q.elbow', which is not a quantity.*Did you mean"),
        ("{signal: engine.running, warning: {upper: 1}}", 17, "not a quantity of this model"),
        ("{signal: time}", 17, "has no limits"),
        ("{signal: time, warning: {lower: 2, upper: 1}}", 17, "leave nothing between 2 and 1"),
        ("{signal: time, warning: {upper: 3}, critical: {upper: 2}}", 17, "enclose those of the warning"),
        ("{signal: time, warning: {lower: 3}, critical: {lower: 4}}", 17, "enclose those of the warning"),
        ("{signal: time, warning: {upper: 1}, critical: {lower: 5}}", 17, "enclose those of the warning"),
        ('{signal: " ", warning: {upper: 1}}', 17, "names ' '"),
        ("{signal: time, warn: {upper: 1}}", 17, "warning"),
        ("{signal: time, warning: {upper: hot}}", 17, "number"),
        ("{signal: time, warning: [0, 1]}", 17, "mapping"),
    ],
)
def test_nonsense_is_refused_with_its_line(load, entry, line, text):
    with pytest.raises(ModelError, match=text) as caught:
        load(entry)
    assert f"boom.yaml:{line}" in str(caught.value)


def test_a_quantity_has_one_alarm(load):
    with pytest.raises(ModelError, match=r"'q.base.x' has two alarms, the first at .*boom.yaml:17"):
        load('{signal: "q.base.?", warning: {upper: 2}}', "{signal: q.base.x, warning: {upper: 1}}")
