"""Options of `load`: gravity, merge and strict, for every format; the same of the command line and of scenarios."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.cli import main
from limberjack.engine.common.errors import ModelError, ModelWarning

YAML = """limberjack: 1
name: arm
gravity: {{central: {{mu: 4e14, position: [7e6, 0, 0]}}}}
{more}bodies:
  - name: link
    mass: 2
    com: [0.5, 0, 0]
    inertia: {inertia}
    hinge: {{name: j, type: revolute, axis: [0, 0, 1], parent: world}}
  - name: tool
    mass: 1
    inertia: {{xx: 0.1, yy: 0.1, zz: 0.1}}
    hinge: {{name: weld, type: fixed, parent: link, position: [1, 0, 0]}}
"""
URDF = """<robot name="arm"><link name="world"/>
<link name="link"><inertial><origin xyz="0.5 0 0"/><mass value="2"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="tool"><inertial><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="world"/><child link="link"/><axis xyz="0 0 1"/></joint>
<joint name="weld" type="fixed"><parent link="link"/><child link="tool"/><origin xyz="1 0 0"/></joint></robot>"""
MJCF = """<mujoco model="arm"><worldbody><body name="link"><joint name="j" axis="0 0 1"/>
<inertial pos="0.5 0 0" mass="2" diaginertia="0.1 0.1 0.1"/>
<body name="tool" pos="1 0 0"><inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/></body>
</body></worldbody></mujoco>"""
REAL = "{xx: 0.1, yy: 0.1, zz: 0.1}"
PLANAR = "{xx: 0, yy: 0, zz: 0.1}"


def files(folder: Path) -> list[Path]:
    """The same arm in every format."""
    yaml, urdf, mjcf, ljm = (folder / f"arm.{end}" for end in ("yaml", "urdf", "xml", "ljm"))
    yaml.write_text(YAML.format(more="", inertia=REAL))
    urdf.write_text(URDF)
    mjcf.write_text(MJCF)
    from limberjack.engine.model.archive import to_bytes

    ljm.write_bytes(to_bytes(lj.load(yaml)))
    return [yaml, urdf, mjcf, ljm]


def test_gravity_and_merge_of_every_format(tmp_path):
    """The joint's torque and the weld's force at rest, in a field of 2 m/s² along -y, by hand."""
    pytest.importorskip("mujoco")
    for path in files(tmp_path):
        system = lj.load(path, gravity=[0.0, -2.0, 0.0], merge=False)
        assert system.central is None
        assert list(system.gravity) == [0.0, -2.0, 0.0]
        weld = next(body.hinge.name for body in system.bodies if body.name == "tool")
        dynamics = lj.Dynamics(system)
        q, v = system.q0, system.v0
        tau = dynamics.inverse(q, v, np.zeros(system.nv))
        assert tau == pytest.approx([2.0 * (2 * 0.5 + 1 * 1.0)])
        assert lj.load(path, merge=True).q0 == pytest.approx(q)
        assert weld in dynamics.plant.hinge_rows
        assert weld not in lj.Dynamics(lj.load(path)).plant.hinge_rows


def test_the_reaction_of_a_urdf_joint_that_is_fixed(tmp_path):
    """What the error of a folded hinge suggests can be done."""
    (tmp_path / "arm.urdf").write_text(URDF)
    folded = lj.Dynamics(lj.load(tmp_path / "arm.urdf"))
    q, v = folded.system.q0, folded.system.v0
    with pytest.raises(lj.ArgumentError, match="load the model with merge=False"):
        folded.reaction("weld", q, v, np.zeros(1))
    kept = lj.Dynamics(lj.load(tmp_path / "arm.urdf", merge=False, gravity=(0, 0, -10)))
    assert kept.reaction("weld", q, v, np.zeros(1))[5] == pytest.approx(10.0)


@pytest.mark.parametrize("gravity", [[0, 0], "down", [0, 0, float("nan")], 9.81, [0, 0, 1e40]])
def test_what_is_no_gravity(tmp_path, gravity):
    (tmp_path / "arm.urdf").write_text(URDF)
    with pytest.raises(ModelError, match="gravity is .*3 finite numbers"):
        lj.load(tmp_path / "arm.urdf", gravity=gravity)


def test_options_are_truth_values(tmp_path):
    for name in ("strict", "merge"):
        with pytest.raises(ModelError, match=f"{name} is 'no'"):
            lj.load(tmp_path / "arm.urdf", **{name: "no"})


def test_unphysical_inertias_of_yaml(tmp_path):
    """Refused, unless the file or the caller keeps them; the caller has the last word."""
    path = tmp_path / "arm.yaml"
    path.write_text(YAML.format(more="", inertia=PLANAR))
    with pytest.raises(ModelError, match="triangle inequality.*strict: false") as caught:
        lj.load(path)
    assert caught.value.where.endswith("bodies[0].inertia")
    with pytest.warns(ModelWarning, match="triangle inequality"):
        kept = lj.load(path, strict=False)
    assert kept.bodies[0].inertia.about_com[2, 2] == 0.1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        equipped = lj.equip(kept, lj.Shape(kept.bodies[0].name, "sphere", np.array([0.1]), name="tip"))
    assert equipped.warnings == kept.warnings
    path.write_text(YAML.format(more="strict: false\n", inertia=PLANAR))
    with pytest.warns(ModelWarning, match="triangle inequality"):
        assert np.isfinite(lj.Simulation(lj.load(path)).vdot).all()
    with pytest.raises(ModelError, match="refused because of strict"):
        lj.load(path, strict=True)
    path.write_text(YAML.format(more="strict: true\n", inertia=PLANAR))
    with pytest.raises(ModelError, match="refused because of strict"):
        lj.load(path)
    path.write_text(YAML.format(more="", inertia=REAL))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lj.load(path, strict=True)


def test_the_inertia_of_a_flexible_body_names_its_own_field(tmp_path):
    """Point masses in a line have the moments 0, a, a, which are fine; a file may say what no nodes can have."""
    from dataclasses import replace

    from limberjack.engine.modes import read_modal_data, write_modal_data
    from tests.engine.modes.test_to_simulation import load, made

    data = read_modal_data(made(tmp_path, "cantilever"))
    flat = data.inertias.copy()
    flat[:, 2, 2] += 1e6
    write_modal_data(replace(data, inertias=flat, rigid=None, participation=None), tmp_path / "mast.npz")
    with pytest.raises(ModelError, match="flexible body 'mast'.*modal data.*strict: false") as caught:
        load(tmp_path)
    assert caught.value.where.endswith("bodies[0].flexible")
    assert "ship.yaml:" in caught.value.where
    with pytest.warns(ModelWarning, match="triangle inequality"):
        lj.load(tmp_path / "ship.yaml", strict=False)


def test_the_command_line(tmp_path, capsys):
    path = tmp_path / "arm.yaml"
    path.write_text(YAML.format(more="", inertia=PLANAR))
    assert main(["check", str(path)]) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert main(["check", str(path), "--no-strict", "--gravity", "0", "0", "-1.62", "--no-merge"]) == 0
        assert main(["info", str(path), "--no-strict", "--gravity", "0", "0", "-1.62"]) == 0
    assert "1.62" in capsys.readouterr().out
