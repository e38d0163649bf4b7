"""Flexible bodies in archives, snapshots, the engine process and commands: the same bits, sensible words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.bridge.process import EngineProcess
from limberjack.engine.model.archive import from_bytes, to_bytes
from limberjack.engine.tables.reports import INTEGRATORS
from tests.cases import long_only
from tests.engine.kernels.flexible.models import MODELS, boom

pytest.importorskip("scipy", reason="modes need scipy")


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("name", MODELS)
def test_archives_and_snapshots_keep_every_bit(name, integrator):
    system = MODELS[name]()
    kept = from_bytes(to_bytes(system), "model.ljm")
    here, there = (lj.Simulation(each, integrator=integrator) for each in (system, kept))
    assert here.model_hash == there.model_hash
    here.step(40)
    snapshot = here.snapshot()
    there.restore(snapshot)
    here.step(40)
    there.step(40)
    assert here.state.tobytes() == there.state.tobytes()
    assert here.output_vector.tobytes() == there.output_vector.tobytes()
    here.restore(snapshot)
    here.step(40)
    assert here.state.tobytes() == there.state.tobytes()


@pytest.mark.parametrize("name", ["boom", *long_only(name for name in MODELS if name != "boom")])
def test_an_engine_process_gives_the_bits_of_a_simulation(name):
    system = MODELS[name]()
    local, commands = lj.Simulation(system), dict.fromkeys(system.command_names, 0.25)
    with EngineProcess(system) as engine, engine.client() as client:
        units = client.describe().units
        assert len(units["q"]) == system.nq
        state = client.step(30, commands)
        local.command.update(commands)
        local.step(30)
        assert (state.q.tobytes(), state.v.tobytes()) == (local.q.tobytes(), local.v.tobytes())
        assert state.tau.tobytes() == local.tau.tobytes()
        assert state.outputs.tobytes() == local.output_vector.tobytes()
        local.restore(client.snapshot())
        assert local.output["energy.strain"] > 0.0


def archive(folder: Path) -> Path:
    path = folder / "boom.ljm"
    path.write_bytes(to_bytes(boom()))
    return path


def limberjack(*words: str) -> int:
    from limberjack.cli import main

    return main(list(words))


def test_info_and_check_report_modes(tmp_path, capsys):
    path = archive(tmp_path)
    assert limberjack("info", str(path)) == 0
    out = capsys.readouterr().out
    for words in ("2 bodies (1 flexible)", "6 modes, 4.1", "node that moves with the modes", "boom.modes.1"):
        assert words in out
    assert limberjack("check", str(path)) == 0
    assert "good; 2 bodies (1 flexible), 8 velocities" in capsys.readouterr().out


@pytest.mark.long
def test_run_drives_a_flexible_model_and_plots_it(tmp_path):
    out = tmp_path / "out"
    assert limberjack("run", str(archive(tmp_path)), "--duration", "0.2", "--out", str(out)) == 0
    files = {path.name for path in out.iterdir()}
    assert any(name.endswith(".csv") for name in files)
    assert any(name.endswith(".png") for name in files)
    (log,) = (path for path in out.iterdir() if path.suffix == ".csv")
    columns = log.read_text().splitlines()[0].split(",")
    assert "energy.strain" in columns
    table = np.loadtxt(log, delimiter=",", skiprows=1)
    assert np.isfinite(table).all()


def test_masses_of_modal_bodies_are_no_parameters():
    parameters = lj.Simulation(boom()).parameters
    assert [name for name in parameters if name.startswith("body.")] == ["body.camera.mass"]
    words = {name.rsplit(".", 1)[1] for name in parameters if name.startswith("hinge.boom.modes.")}
    assert words == {"damping", "stiffness"}
