"""Contact with hardware that answers late: the energy of a bounce, with and without compensation."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from limberjack.engine.common.errors import ModelError
from limberjack.hil.devices.compensation import CompensatedDevice
from limberjack.hil.devices.device import Wiring
from limberjack.hil.scenario.execution import run_scenario
from limberjack.hil.scenario.scenario_file import load_scenario
from limberjack.hil.worlds.batchable import why_alone
from tests.hil.benches import FakeDevice

MODEL = """
limberjack: 1
name: cart
gravity: [0, 0, 0]
bodies:
  - {name: cart, mass: 1.0, inertia: {xx: 1, yy: 1, zz: 1},
     hinge: {name: slide, type: prismatic, parent: world, axis: [1, 0, 0]}}
actuators:
  - {name: push, coordinate: slide, mode: torque}
"""
#: a spring of hardware that begins at 0 and answers `late` frames after the cart
LAW = """
from collections import deque


def spring(wiring, stiffness, late):
    seen = deque([0.0] * late, maxlen=late + 1)

    def law(time, signals):
        seen.append(float(signals[0]))
        return [max(0.0, -stiffness * seen[0])]

    return law
"""
OMEGA = 20.0
FRAME = 1e-3


def energy(folder: Path, late: int, compensate: str = "", frame: float = FRAME) -> float:
    """Of the cart after a bounce, over that before."""
    (folder / "cart.yaml").write_text(MODEL)
    (folder / "law.py").write_text(LAW)
    options = f"options: {{stiffness: {OMEGA**2}, late: {late}}}"
    text = "limberjack_scenario: 1\nname: bounce\nmodel: cart.yaml\nduration: 0.25\n" + f"dt: {frame}\n"
    text += "initial: {coordinates: {slide: 1.0e-9}, velocities: {slide: -1.0}}\n"
    text += "devices:\n  - {name: robot, uri: 'python:law:spring', signals: [q.slide], commands: [push], "
    text += f"{compensate}{options}}}\n"
    text += "criteria:\n  - {name: speed, type: final, signals: [v.slide], target: 1, tolerance: 9}\n"
    path = folder / "bounce.yaml"
    path.write_text(text)
    result = run_scenario(path)
    assert result.passed, result.explain()
    return float(result.values["speed"] ** 2)


def delay_of(late: int, frame: float = FRAME) -> float:
    """A command holds over a frame, which is half a frame of delay more."""
    return (late + 0.5) * frame


@pytest.mark.parametrize("late", [0, 1, 2, 4])
def test_a_late_spring_gives_more_than_it_took(tmp_path, late):
    """E'/E = 1 + π ω T + …: negative damping k T over half a period."""
    x = OMEGA * delay_of(late)
    assert energy(tmp_path, late) - 1.0 == pytest.approx(math.pi * x, rel=2.0 * x + 0.01)


@pytest.mark.parametrize("share", [1.0, 0.25])
def test_the_lead_takes_the_first_order_away(tmp_path, share):
    """E'/E = 1 + (ω T)² (1 + w / T): at the start of a contact the force begins late, by T and by the window w."""
    frame, gains = 2.5e-4, []
    for late in (8, 16):
        delay = delay_of(late, frame)
        given = f"compensate: {{delay: {delay}, over: {share * late * frame}}}, "
        gains.append(energy(tmp_path, late, given, frame) - 1.0)
        x = OMEGA * delay
        assert gains[-1] == pytest.approx(x * x * (1.0 + share), rel=3.0 * x + 0.06)
        assert gains[-1] < 0.06 * math.pi * x + 2.0 * x * x
    assert math.log2(gains[1] / gains[0]) == pytest.approx(2.0, abs=0.15)


def test_a_window_of_its_own_length_is_the_default(tmp_path):
    assert energy(tmp_path, 4, "compensate: {delay: 4.0e-3}, ") == energy(
        tmp_path, 4, "compensate: {delay: 4.0e-3, over: 4.0e-3}, "
    )


def compensated(values, delay=0.02, over=0.02):
    """What becomes of commands that come once in 0.01 s; None: nothing comes."""
    device, found = FakeDevice(), []
    lead = CompensatedDevice(device, delay, over)
    lead.open(Wiring((), (), ("a", "b")))
    for k, value in enumerate(values):

        def receive(time, commands, value=value):
            if value is not None:
                commands[:] = value
            return value is not None

        device.on_receive = receive
        commands = np.full(2, np.nan)
        assert lead.receive(0.01 * k, commands) == (value is not None)
        found.append(commands.tolist())
    return found


def test_forces_are_carried_on_along_their_slope():
    found = compensated([(0.0, 5.0), (1.0, 4.0), (2.0, 3.0), (4.0, 2.0)])
    np.testing.assert_allclose(found, [(0.0, 5.0), (3.0, 2.0), (4.0, 1.0), (7.0, 0.0)], atol=1e-12)


def test_what_pushes_does_not_pull_and_what_is_not_set_stays_so():
    nan = float("nan")
    found = compensated([(3.0, nan), (1.0, nan), (-1.0, 2.0), None, (0.0, 2.0)])
    np.testing.assert_allclose(found, [(3.0, nan), (0.0, nan), (-5.0, 2.0), (nan, nan), (0.0, 2.0)], atol=1e-12)


def test_a_compensated_link_can_be_disturbed_too(tmp_path):
    energy(tmp_path, 0)
    path = tmp_path / "bounce.yaml"
    text = path.read_text().replace("commands: [push], ", "commands: [push], compensate: {delay: 5.0e-3}, ")
    text += "faults: [{name: slow, type: link, device: robot, commands: {latency_s: 0.004}}]\n"
    path.write_text(text + "timeline: [{at: 0, fault: slow}]\n")
    found = run_scenario(path).values["speed"] ** 2
    x = OMEGA * delay_of(4)
    assert abs(found - 1.0) < 0.3 * math.pi * x


@pytest.mark.parametrize("given", ["delay: 0", "delay: 2", "delay: 0.01, over: 0", "over: 0.1"])
def test_compensations_that_mean_nothing_are_refused(tmp_path, given):
    with pytest.raises(ModelError, match=r"bounce\.yaml:\d+"):
        energy(tmp_path, 0, f"compensate: {{{given}}}, ")


def test_a_run_with_compensation_is_a_single_run(tmp_path):
    energy(tmp_path, 0, "compensate: {delay: 0.01}, ")
    path = tmp_path / "bounce.yaml"
    path.write_text(path.read_text().replace("python:law", "arrays:law"))
    assert why_alone(load_scenario(path)).startswith("device 'robot' has a compensation")
