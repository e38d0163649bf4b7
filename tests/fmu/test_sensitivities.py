"""Directional and adjoint derivatives of exported FMUs: against differences of the engine, and each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

import limberjack as lj
from benchmarks.fmu.host import unpack
from limberjack.engine.compile import targets
from limberjack.engine.kernels.entry_points import entries
from limberjack.engine.model.build import build
from limberjack.engine.native.plant_file import Region
from limberjack.engine.tables import plant as layout
from limberjack.engine.tables.hinge_types import CUSTOM, FREE, SPHERICAL
from limberjack.fmu.variables.listing import variables_of
from limberjack.fmu.variables.variable import Variable
from tests.engine.kernels.slopes.test_derivatives_state import model, pushed, slopes
from tests.fmu.shim_build import CO_SIMULATION, MODEL_EXCHANGE, OK, Fmu, location

pytestmark = pytest.mark.skipif(targets.host() not in targets.TARGETS, reason="no FMU binary for this platform")

CASES = [(0, 3, MODEL_EXCHANGE), (0, 2, MODEL_EXCHANGE), (0, 3, CO_SIMULATION), (1, 3, CO_SIMULATION)]
CASES += [(2, 2, CO_SIMULATION), (3, 3, MODEL_EXCHANGE)]
EVERYTHING = {"inputs": ["*"], "outputs": ["*"], "parameters": ["*"]}


@dataclass
class Case:
    """A running FMU and its variables; the engine's model of it, and the State that the FMU is in."""

    fmu: Fmu
    variables: list[Variable]
    simulation: lj.Simulation
    state: np.ndarray

    def references(self, *regions: Region) -> list[int]:
        """Variables of these regions that have derivatives: truth values have none."""
        return [i for i, variable in enumerate(self.variables) if variable.region in regions and not variable.boolean]

    def places(self, references: list[int]) -> np.ndarray:
        """Where in its vector each element is."""
        chosen = (self.variables[i] for i in references)
        return np.concatenate([np.zeros(0, dtype=int), *(v.offset + np.arange(v.size) for v in chosen)])

    def columns(self, references: list[int]) -> np.ndarray:
        """Places of elements of knowns in [q | v | command]."""
        nq, nv = self.simulation.system.nq, self.simulation.system.nv
        first = {Region.Q: 0, Region.V: nq, Region.COMMAND: nq + nv}
        shift = [first[self.variables[i].region] + np.zeros(self.variables[i].size, dtype=int) for i in references]
        return self.places(references) + np.concatenate(shift)

    def directional(self, unknowns: list[int], knowns: list[int], seed: np.ndarray) -> np.ndarray:
        status, values = self.fmu.derivative(unknowns, knowns, list(seed), len(self.places(unknowns)))
        assert status == OK, self.fmu.log
        return np.array(values)

    def adjoint(self, unknowns: list[int], knowns: list[int], seed: np.ndarray) -> np.ndarray:
        status, values = self.fmu.derivative(unknowns, knowns, list(seed), len(self.places(knowns)), adjoint=True)
        assert status == OK, self.fmu.log
        return np.array(values)


@pytest.fixture(scope="module", params=CASES, ids=lambda case: "-".join(map(str, case)))
def case(request, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Case]:
    seed, version, kind = request.param
    system, folder = model(seed), tmp_path_factory.mktemp("fmu")
    path = lj.export_fmu(system, folder / "model.fmu", platforms="host", fmi=f"{version}.0", **EVERYTHING)
    files = unpack(path, folder / "model")
    suffix = targets.TARGETS[targets.host()].suffix
    (library,) = (file for file in (files / "binaries").rglob("*") if file.suffix == suffix)
    token = (files / "resources" / "plant.bin").read_bytes()[64:104].split(b"\0")[0].decode()
    variables = variables_of(system, build(system), "arrays" if version == 3 else "scalar", **EVERYTHING)
    fmu = Fmu(library, version, kind, location(files / "resources", version), token)
    assert fmu.c, fmu.log
    simulation = lj.Simulation(system)
    made = Case(fmu, variables, simulation, simulation.state)
    bring_to_a_state(made, np.random.default_rng(seed))
    yield made
    fmu.free()


def bring_to_a_state(case: Case, rng: np.random.Generator) -> None:
    """Moving, with commands; in Model Exchange quaternions drift from unit length."""
    fmu, simulation, system = case.fmu, case.simulation, case.simulation.system
    nq, nv = system.nq, system.nv
    command = 0.2 * rng.normal(size=len(system.command_names))
    assert fmu.start() == OK, fmu.log
    for i in case.references(Region.COMMAND):
        assert fmu.set([i], command[case.places([i])]) == OK
    simulation.command_vector = command
    if fmu.kind == CO_SIMULATION:
        assert fmu.step(0.0, 5 * simulation.dt)[0] == OK
        simulation.step(5)
        case.state = simulation.state
        return
    states = np.concatenate([pushed(system), 0.3 * rng.normal(size=nv)])
    for body in simulation.plant.sections["topo"]:
        if body[layout.KIND] in (SPHERICAL, FREE, CUSTOM):
            states[body[layout.QI] :][:4] *= 1.2
    assert fmu.set_states(states) == OK
    case.state = np.concatenate([np.zeros(layout.S_Q), states, command])
    assert len(states) == nq + nv


def observed(case: Case, state: np.ndarray) -> np.ndarray:
    """[tau | vdot | outputs] of the engine."""
    plant, nv, state = case.simulation.plant, case.simulation.system.nv, state.copy()
    parts = np.empty(nv), np.empty(nv), np.empty(plant.observed_size - 2 * nv)
    entries().normalise(plant.ints, plant.floats, state)
    entries().observe(plant.ints, plant.floats, plant.new_work(), state, *parts)
    return np.concatenate(parts)


KNOWN = (Region.Q, Region.V, Region.COMMAND)


def test_directional_derivatives_are_slopes_of_the_engine(case: Case):
    """Central differences of the engine; near limits too, where no step crosses one."""
    unknowns, knowns = case.references(Region.OBSERVED), case.references(*KNOWN)
    rows, columns = case.places(unknowns), case.columns(knowns)
    rng = np.random.default_rng(7)
    for _ in range(4):
        seed = rng.normal(size=len(columns))
        step = np.zeros(len(case.state))
        np.add.at(step, layout.S_Q + columns, 1e-5 * seed)
        expected = (observed(case, case.state + step) - observed(case, case.state - step))[rows] / 2e-5
        found = case.directional(unknowns, knowns, seed)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7 * np.abs(expected).max())


def test_single_directions_are_columns_of_the_engines_matrix(case: Case):
    """To rounding, but for coordinates of custom hinges."""
    matrix, known = slopes(case.simulation, case.state)
    unknowns = case.references(Region.OBSERVED)
    rows = case.places(unknowns)
    for reference in case.references(*KNOWN):
        for i, column in enumerate(case.columns([reference])):
            if known[column]:
                seed = np.eye(case.variables[reference].size)[i]
                found, wanted = case.directional(unknowns, [reference], seed), matrix[rows, column]
                scale = np.maximum(np.abs(matrix[rows]).max(axis=1), 1.0)
                assert (np.abs(found - wanted) <= 1e-12 * scale).all(), case.variables[reference].name


def test_the_adjoint_is_the_transpose(case: Case):
    if case.fmu.version == 2:
        pytest.skip("FMI 2 has no adjoint derivatives")
    _, known = slopes(case.simulation, case.state)
    unknowns = case.references(Region.OBSERVED)
    knowns = [i for i in case.references(*KNOWN) if known[case.columns([i])].all()]
    rng = np.random.default_rng(3)
    left, right = rng.normal(size=len(case.places(unknowns))), rng.normal(size=len(case.places(knowns)))
    forward, back = case.directional(unknowns, knowns, right), case.adjoint(unknowns, knowns, left)
    scale = np.abs(left) @ np.abs(forward) + np.abs(back) @ np.abs(right)
    assert left @ forward == pytest.approx(back @ right, rel=0, abs=1e-12 * scale)


def test_the_adjoint_joins_matrix_and_differences(case: Case):
    """Rates, energy and parameters, which the matrix does not have, beside those that it has."""
    if case.fmu.version == 2:
        pytest.skip("FMI 2 has no adjoint derivatives")
    unknowns = case.references(Region.OBSERVED, Region.RATE, Region.SURVEYED)
    knowns = case.references(*KNOWN, Region.PARAMETER)
    knowns = [i for i in knowns if "limit" not in case.variables[i].name]
    rng = np.random.default_rng(5)
    left, right = rng.normal(size=len(case.places(unknowns))), rng.normal(size=len(case.places(knowns)))
    forward, back = case.directional(unknowns, knowns, right), case.adjoint(unknowns, knowns, left)
    scale = np.abs(left) @ np.abs(forward) + np.abs(back) @ np.abs(right)
    assert left @ forward == pytest.approx(back @ right, rel=0, abs=1e-6 * scale)


def test_derivatives_follow_the_state(case: Case):
    """The kept matrix is of no use after a change, and of use again after the change is undone."""
    commands = case.references(Region.COMMAND)
    if not commands:
        pytest.skip("no commands")
    unknowns, knowns = case.references(Region.OBSERVED), case.references(Region.V)
    seed = np.random.default_rng(9).normal(size=len(case.places(knowns)))
    before, values = case.directional(unknowns, knowns, seed), case.fmu.get(*unknowns, size=len(case.places(unknowns)))
    held = case.state[layout.S_Q + case.columns(commands)]
    assert case.fmu.set(commands, held + 100.0) == OK
    moved = case.state.copy()
    moved[layout.S_Q + case.columns(commands)] += 100.0
    matrix, _ = slopes(case.simulation, moved)
    wanted = matrix[np.ix_(case.places(unknowns), case.columns(knowns))] @ seed
    found = case.directional(unknowns, knowns, seed)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())
    assert case.fmu.set(commands, held) == OK
    assert np.array_equal(case.directional(unknowns, knowns, seed), before)
    assert case.fmu.get(*unknowns, size=len(values[1])) == values
