"""Our FMUs in other people's tools: the trajectories are the engine's, whatever the tools' exit codes say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from fmpy.validation import validate_fmu

import limberjack as lj
from limberjack.engine.model.system import System
from tests.fmu.judged import VARIANTS, Judged, engine_rows, example_names, exported, random_commands

pytestmark = pytest.mark.long  # exports FMUs: the first compiles the engine
MODELS = [*example_names(), "full"]
STEPS, INNER = 40, 5
#: Co-Simulation takes the engine's own steps: the tools may round the times they ask for, nothing else
SAME = 1e-12


@pytest.fixture(scope="module")
def fmus(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Judged]:
    folder = tmp_path_factory.mktemp("fmu")
    return {(name, variant): exported(name, variant, folder) for name in MODELS for variant in VARIANTS}


def columns(rows: dict[str, np.ndarray], system: System) -> dict[str, np.ndarray]:
    """The engine's rows under the names of scalar outputs: hinges of one freedom, and the energy."""
    found, i_q, i_v = {"energy.total": rows["energy"]}, 0, 0
    for body in system.bodies:
        hinge = body.hinge
        if hinge.type in ("revolute", "prismatic"):
            angle, rate, torque = (
                ("angle", "rate", "torque") if hinge.type == "revolute" else ("distance", "speed", "force")
            )
            found[f"hinge.{hinge.name}.{angle}"] = rows["q"][:, i_q]
            found[f"hinge.{hinge.name}.{rate}"] = rows["v"][:, i_v]
            found[f"hinge.{hinge.name}.{torque}"] = rows["tau"][:, i_v]
        i_q, i_v = i_q + hinge.kind.nq, i_v + hinge.nv
    return found


def assert_columns(found: dict[str, Any], expected: dict[str, np.ndarray], tolerance: float) -> None:
    """Every expected column is there and agrees relative to its largest number."""
    for name, column in expected.items():
        scale = max(1.0, float(np.abs(column).max()))
        np.testing.assert_allclose(np.ravel(found[name]), column, rtol=0, atol=tolerance * scale, err_msg=name)
    assert max(float(np.ptp(column)) for column in expected.values()) > 1e-3


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", MODELS)
def test_fmpy_finds_nothing_wrong(name: str, variant: str, fmus: dict[tuple[str, str], Judged]) -> None:
    assert validate_fmu(str(fmus[name, variant].path)) == []


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", MODELS)
def test_fmutool_finds_nothing_wrong(name: str, variant: str, fmus: dict[tuple[str, str], Judged]) -> None:
    pytest.importorskip("fmu_manipulation_toolbox")
    tool = Path(sys.executable).parent / "fmutool"
    words = [str(tool), "-input", str(fmus[name, variant].path), "-check"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    text = done.stdout + done.stderr
    assert done.returncode == 0, text
    assert "seems to be compliant" in text
    assert "ERROR" not in text
    assert "WARNING" not in text


def fmpy_inputs(fmu: Judged, commands: np.ndarray, h: float) -> np.ndarray:
    """Commands as FMPy's structured array; row i holds from time i h on."""
    names, at = list(fmu.numbers("input")), fmu.numbers("input")
    shapes = [(name, "f8", (at[name].stop - at[name].start,)) for name in names]
    if all(shape[2] == (1,) for shape in shapes):
        shapes = [(name, "f8", ()) for name in names]
    signal = np.zeros(len(commands), dtype=[("time", "f8"), *shapes])
    signal["time"] = np.arange(len(commands)) * h
    for name in names:
        signal[name] = commands[:, at[name]].reshape(signal[name].shape)
    return signal


@pytest.mark.parametrize("variant", ["scalar", "fmi2"])
@pytest.mark.parametrize("name", MODELS)
def test_fmpy_co_simulation(name: str, variant: str, fmus: dict[tuple[str, str], Judged]) -> None:
    fmu, system = fmus[name, variant], fmus[name, variant].system
    h, commands = INNER * system.dt, random_commands(system, STEPS)
    expected = columns(engine_rows(system, commands, INNER), system)
    found = fmpy.simulate_fmu(
        str(fmu.unpacked),
        fmi_type="CoSimulation",
        stop_time=STEPS * h,
        output_interval=h,
        input=fmpy_inputs(fmu, commands, h),
        output=[*expected],
    )
    # the first row is taken after the first inputs are set, the engine's before
    after = {variable: column[1:] for variable, column in expected.items()}
    assert_columns({variable: found[variable][1:] for variable in expected}, after, SAME)


@pytest.mark.parametrize("name", MODELS)
def test_fmpy_co_simulation_of_arrays(name: str, fmus: dict[tuple[str, str], Judged]) -> None:
    fmu, system = fmus[name, "fmi3"], fmus[name, "fmi3"].system
    command, h = random_commands(system, 1), INNER * system.dt
    expected = engine_rows(system, np.repeat(command, STEPS, axis=0), INNER)
    found = fmpy.simulate_fmu(
        str(fmu.unpacked),
        fmi_type="CoSimulation",
        stop_time=STEPS * h,
        output_interval=h,
        start_values={"command": command[0]},
        output=["q", "v", "tau"],
    )
    for variable in ("q", "v"):
        scale = np.abs(expected[variable]).max()
        np.testing.assert_allclose(found[variable], expected[variable], rtol=0, atol=SAME * scale)
    scale = np.abs(expected["tau"]).max()
    np.testing.assert_allclose(found["tau"][1:], expected["tau"][1:], rtol=0, atol=SAME * scale)


@pytest.mark.parametrize("variant", ["scalar", "fmi2"])
@pytest.mark.parametrize("name", example_names())
def test_fmpy_model_exchange_converges(name: str, variant: str, fmus: dict[tuple[str, str], Judged]) -> None:
    """CVode with a tight tolerance against RK4 in short steps, commands held."""
    fmu, system = fmus[name, variant], fmus[name, variant].system
    command, h = random_commands(system, 1), 0.01
    rows = engine_rows(system, np.repeat(command, STEPS, axis=0), 400, dt=h / 400, integrator="rk4")
    wanted = columns(rows, system)
    expected = {variable: column for variable, column in wanted.items() if not variable.endswith(("torque", "force"))}
    found = fmpy.simulate_fmu(
        str(fmu.unpacked),
        fmi_type="ModelExchange",
        solver="CVode",
        record_events=False,
        relative_tolerance=1e-10,
        stop_time=STEPS * h,
        output_interval=h,
        start_values=dict(zip(fmu.numbers("input"), command[0])),
        output=[*expected],
    )
    assert_columns(found, expected, 1e-7)


@pytest.mark.parametrize("name", MODELS)
def test_libcosim(name: str, fmus: dict[tuple[str, str], Judged]) -> None:
    """FMI 2 Co-Simulation; its clock counts nanoseconds, so that steps may differ from the engine's by one."""
    pytest.importorskip("libcosimpy")
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimManipulator import CosimManipulator
    from libcosimpy.CosimObserver import CosimObserver
    from libcosimpy.CosimSlave import CosimLocalSlave

    fmu, system = fmus[name, "fmi2"], fmus[name, "fmi2"].system
    commands = random_commands(system, STEPS)
    expected = columns(engine_rows(system, commands, INNER), system)
    references = {v.name: v.valueReference for v in fmu.description.modelVariables}
    inputs = [references[variable] for variable in fmu.numbers("input")]
    execution = CosimExecution.from_step_size(round(INNER * system.dt * 1e9))
    slave = execution.add_local_slave(CosimLocalSlave(fmu_path=str(fmu.path), instance_name="plant"))
    manipulator, observer = CosimManipulator.create_override(), CosimObserver.create_last_value()
    assert execution.add_manipulator(manipulator)
    assert execution.add_observer(observer)
    rows = []
    for row in commands:
        assert manipulator.slave_real_values(slave, inputs, list(row))
        assert execution.step()
        rows.append(observer.last_real_values(slave, [references[variable] for variable in expected]))
    found = dict(zip(expected, np.array(rows).T))
    assert_columns(found, {variable: column[1:] for variable, column in expected.items()}, 1e-9)


@pytest.mark.parametrize("variant", ["scalar", "fmi2"])
@pytest.mark.parametrize("name", MODELS)
def test_ecos(name: str, variant: str, fmus: dict[tuple[str, str], Judged]) -> None:
    pytest.importorskip("ecospy", exc_type=(ImportError, OSError), reason="needs ecospy and Debian's libtbb12")
    from ecospy import EcosSimulation, EcosSimulationStructure

    fmu, system = fmus[name, variant], fmus[name, variant].system
    commands = random_commands(system, STEPS)
    expected = columns(engine_rows(system, commands, INNER), system)
    rows = []
    with EcosSimulationStructure() as structure:
        structure.add_model("plant", str(fmu.path))
        with EcosSimulation(structure=structure, step_size=INNER * system.dt) as simulation:
            simulation.init()
            for row in commands:
                for variable, value in zip(fmu.numbers("input"), row):
                    simulation.set_real(f"plant::{variable}", float(value))
                simulation.step()
                rows.append([simulation.get_real(f"plant::{variable}") for variable in expected])
    found = dict(zip(expected, np.array(rows).T))
    assert_columns(found, {variable: column[1:] for variable, column in expected.items()}, 1e-9)


def accelerations(system: System, x: np.ndarray, u: np.ndarray) -> np.ndarray:
    """dx/dt of a model whose coordinates' rates are its velocities, by the engine."""
    simulation = lj.Simulation(system)
    simulation.q, simulation.v = x[: system.nq], x[system.nq :]
    simulation.command_vector = u
    return np.concatenate([simulation.v, simulation.vdot])


def differences(system: System, x: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Central differences of dx/dt in x and in u, extrapolated from two steps to fourth order."""
    z, n = np.concatenate([x, u]), len(x)

    def slope(i: int, h: float) -> np.ndarray:
        step = h * np.eye(len(z))[i]
        above, below = z + step, z - step
        rise = accelerations(system, above[:n], above[n:]) - accelerations(system, below[:n], below[n:])
        return rise / (2 * h)

    columns_ = [(4 * slope(i, 1e-4) - slope(i, 2e-4)) / 3 for i in range(len(z))]
    full = np.array(columns_).T
    return full[:, :n], full[:, n:]


@pytest.mark.parametrize("variant", ["scalar", "fmi2"])
def test_casadi_jacobians(variant: str, fmus: dict[tuple[str, str], Judged]) -> None:
    casadi = pytest.importorskip("casadi")
    fmu, system = fmus["torque_arm", variant], fmus["torque_arm", variant].system
    assert system.nq == system.nv
    dae = casadi.DaeBuilder("plant", str(fmu.unpacked), {"debug": False})
    f = dae.create("f", ["x", "u"], ["ode"])
    assert f.size1_in(0) == 2 * system.nv
    order = [names_of(system).index(name) for name in dae.x()]
    inputs = [list(fmu.numbers("input")).index(name) for name in dae.u()]
    rng = np.random.default_rng(3)
    jacobian = f.jacobian()
    for _ in range(3):
        x, u = 0.3 * rng.normal(size=2 * system.nv), 0.1 * rng.normal(size=len(inputs))
        ode = np.array(f(x[order], u[inputs])).ravel()
        np.testing.assert_allclose(ode, accelerations(system, x, u)[order], rtol=1e-12, atol=1e-12)
        in_x, in_u = (np.array(part) for part in jacobian(x[order], u[inputs], 0))
        wanted_x, wanted_u = differences(system, x, u)
        np.testing.assert_allclose(in_x, wanted_x[np.ix_(order, order)], rtol=0, atol=2e-6 * np.abs(wanted_x).max())
        np.testing.assert_allclose(in_u, wanted_u[order][:, inputs], rtol=0, atol=2e-6 * np.abs(wanted_u).max())
        seed = rng.normal(size=len(x))
        adjoint = np.array(f.reverse(1)(x[order], u[inputs], 0, seed[order])[0]).ravel()
        np.testing.assert_allclose(adjoint, (seed @ wanted_x)[order], rtol=0, atol=2e-5 * np.abs(wanted_x).max())


def names_of(system: System) -> list[str]:
    """States in the order [q | v] of a model of revolute hinges."""
    hinges = [body.hinge.name for body in system.bodies if body.hinge.type != "fixed"]
    return [f"hinge.{name}.angle" for name in hinges] + [f"hinge.{name}.rate" for name in hinges]


@pytest.mark.parametrize("variant", ["fmi3", "scalar"])
def test_fmpy_returns_early(variant: str, fmus: dict[tuple[str, str], Judged]) -> None:
    """An importer that stops a step of a day after its second look; the next step goes on from there."""
    fmu, times = fmus["torque_arm", variant], []

    def update(environment: Any, time: float, *rest: Any) -> None:
        can_return, requested, when = rest[3:]
        times.append(time)
        if can_return and len(times) == 2:
            requested[0], when[0] = True, time

    description = fmpy.read_model_description(str(fmu.unpacked))
    assert description.coSimulation.providesIntermediateUpdate
    assert description.coSimulation.canReturnEarlyAfterIntermediateUpdate
    slave = fmpy.fmi3.FMU3Slave(
        guid=description.guid,
        unzipDirectory=str(fmu.unpacked),
        modelIdentifier=description.coSimulation.modelIdentifier,
        instanceName="arm",
    )
    slave.instantiate(earlyReturnAllowed=True, intermediateUpdate=update)
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    _, _, early, reached = slave.doStep(0.0, 86400.0)
    assert (early, times[-1]) == (True, reached)
    dt = fmu.system.dt
    count = round(reached / dt)
    _, _, early, reached = slave.doStep(reached, 10 * dt)
    assert not early
    simulation = lj.Simulation(fmu.system)
    simulation.step(count + 10)
    by_name = {variable.name: variable.valueReference for variable in description.modelVariables}
    assert slave.getFloat64([by_name["energy.total"]])[0] == pytest.approx(simulation.survey()[2], rel=1e-12)
    slave.terminate()
    slave.freeInstance()
