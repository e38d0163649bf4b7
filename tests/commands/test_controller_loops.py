"""The controller of `limberjack run` on joints that are coupled: the drive carries what it moves with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.commands.controller import Controller
from tests.fmu.closed_model import docking

LINK = (
    '<link name="{0}"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>'
    '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>'
)
JOINT = (
    '<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/><axis xyz="0 1 0"/>'
    '<dynamics damping="{3}"/><limit lower="-2" upper="2" effort="50" velocity="1"/>{4}</joint>'
)


@pytest.fixture
def finger(tmp_path):
    joints = (
        JOINT.format("wrist", "base", "hand", 0.1, ""),
        JOINT.format("first", "hand", "a", 0.5, ""),
        JOINT.format("second", "a", "b", 2.0, '<mimic joint="first" multiplier="1.5" offset="0.1"/>'),
    )
    path = tmp_path / "finger.urdf"
    links = "".join(LINK.format(name) for name in ("base", "hand", "a", "b"))
    path.write_text(f'<robot name="finger">{links}{"".join(joints)}</robot>')
    return lj.load(path)


def test_coupled_joints_follow_their_commands(finger):
    """The errors stay near what a cycle of 1 ms leaves, although the coupled joint is the heavier damped one."""
    simulation, controller = lj.Simulation(finger, dt=1e-3), Controller(finger, 1.5)
    assert controller.driven == ["wrist", "first"]
    errors, open_by = [], []
    for _ in range(1500):
        values, reference = controller.commands(simulation)
        errors.append(simulation.q[:2] - reference.position)
        open_by.append(simulation.q[2] - 1.5 * simulation.q[1] - 0.1)
        simulation.command_vector = values
        simulation.step(1)
    assert np.abs(errors).max() < 5e-3
    assert np.abs(open_by).max() < 1e-12


def test_loops_that_take_commands_stay_as_they_start():
    """The controller's command vector is the engine's: drives, then what switches and moves the loops."""
    system = docking()
    grasp = replace(system.loops[0], closed=True)
    simulation = lj.Simulation(lj.assemble(replace(system, loops=(grasp, *system.loops[1:]))))
    controller = Controller(simulation.system, 1.0)
    simulation.command_vector = controller.commands(simulation)[0]
    assert simulation.command["grasp.closed"] == 1.0
    assert simulation.command["brake.closed"] == simulation.command["rod.position"] == 0.0
    simulation.step(20)
    assert simulation.closed("grasp")


def test_thrusters_stay_as_they_start():
    """On spacecraft the command vector is the engine's too: wheels and thrusters beside the drives."""
    system = lj.load(Path(__file__).resolve().parents[2] / "examples" / "cassini.yaml")
    simulation, controller = lj.Simulation(system), Controller(system, 20.0)
    simulation.command_vector = controller.commands(simulation)[0]
    assert len(system.thrusters) == 6
    assert all(simulation.command[name] == 0.0 for thruster in system.thrusters for name in thruster.command_names)
    burning = replace(system, thrusters=(replace(system.thrusters[0], initial=0.2), *system.thrusters[1:]))
    assert Controller(burning, 20.0).held == [0.2, *[0.0] * 5]
