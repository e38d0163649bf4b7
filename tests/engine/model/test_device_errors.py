"""What a model file can say wrongly of instruments, motors and valves: the message has line, cause and remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

import limberjack as lj

MODEL = Path(__file__).resolve().parents[3] / "examples" / "instruments" / "servicer.yaml"

WRONG = [
    ("rate: 4, delay: 0.2", "rate: -4, delay: 0.2", "rate is -4", "above 0"),
    ("max_rate: 0.02", "field_of_view: 1", "of type star_tracker has no field_of_view", "belongs to sun_sensor"),
    ("[2.0e-5, 2.0e-5, 1.2e-4]", "[1, 2]", "has 2 numbers, measured are 3", "Give one number for all, or 3"),
    ("noise: 2.0e-3}", "noise: -1}", "noise is -1", "at least 0"),
    ("bits: 16, bias", "bitz: 16, bias", "unknown field 'bitz'", "did you mean 'bits'"),
    ("stiffness: 4000, ", "", "backlash or damping, but no stiffness", "Give stiffness"),
    ("target: array_drive, noise", "target: wheel_1, noise", "not a drive with a motor", "'array_drive'"),
    ("delay: 0.012", "delay: -1", "delay is -1", "at least 0"),
    ("sun: [0.3, 0.2, -0.93]", "sun: [0, 0, 0]", "sun is not a direction", "not all zero"),
    ("seed: 11", "seed: -3", "seed is -3", "at least 0"),
    ("inertia: 4.0e-6, ", "", "rotor has no inertia", "Give inertia"),
    ("torque_constant: 0.05, ", "", "'torque_constant' is missing", "Add torque_constant"),
    ("delay: 0.2,", "delay: 1.0e+7,", "beyond 100000 of its samples", "shorter delay"),
    ("delay: 0.012", "delay: 1.0e+6", "beyond 100000 steps", "shorter delay"),
    ("wrap: 6.283185307179586", "wrap: 0", "wrap is 0", "above 0"),
    ("amplitude_imbalance: 2.0e-3", "amplitude_imbalance: 2", "windings of resolver", "within"),
    ("coordinate: array_joint", "coordinate: hub.wx", "array_drive", "quasi|position"),
    (
        "type: gyro, target: imu_box, rate: 100",
        "type: imu, target: imu_box, rate: 100",
        "for both of its parts",
        "under gyro",
    ),
]


@pytest.mark.parametrize(
    ("right", "wrong", "cause", "remedy"), WRONG, ids=[wrong or right for right, wrong, *_ in WRONG]
)
def test_a_wrong_field_is_reported_with_line_cause_and_remedy(tmp_path, right, wrong, cause, remedy):
    text = MODEL.read_text(encoding="utf-8")
    assert right in text
    path = tmp_path / "wrong.yaml"
    path.write_text(text.replace(right, wrong, 1), encoding="utf-8")
    with pytest.raises(lj.ModelError, match=cause) as raised:
        lj.load(path)
    assert str(path) in str(raised.value)
    assert any(word in str(raised.value) for word in remedy.split("|"))


def test_the_example_itself_is_right():
    system = lj.load(MODEL)
    assert system.has_devices
    assert system.sensors[3].errors is not None
