"""The flexible spacecraft that are shipped: what they are made of, their frequencies, conservation, steps."""

from __future__ import annotations

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.modes import read_modal_data
from tests.examples.models import FOLDER
from tests.examples.spacecraft import DESCRIPTIONS, SPACECRAFT, along, frequencies, load, without_losses

HERTZ = 2.0 * np.pi


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_shipped_modes_are_those_of_the_description(name: str) -> None:
    """Made again from the .yaml: the same numbers, but for the rounding of another processor's eigensolver."""
    pytest.importorskip("scipy", reason="modes need scipy")
    from limberjack.engine.modes.describe import modal_data_of

    shipped, made = read_modal_data(FOLDER / "modes" / f"{name}.npz"), modal_data_of(FOLDER / "modes" / f"{name}.yaml")
    assert (shipped.interface, shipped.node_names, shipped.inboard) == (made.interface, made.node_names, made.inboard)
    for array in ("positions", "masses", "centres", "inertias", "mass", "stiffness", "damping"):
        ours, other = getattr(shipped, array), getattr(made, array)
        np.testing.assert_allclose(ours, other, rtol=0, atol=1e-9 * np.abs(other).max(), err_msg=array)
    signs = np.sign(np.einsum("jin,jin->n", shipped.shapes, made.shapes))
    G = made.foreshortening * signs[:, None] * signs
    np.testing.assert_allclose(shipped.shapes, made.shapes * signs, rtol=0, atol=1e-6 * np.abs(made.shapes).max())
    np.testing.assert_allclose(shipped.foreshortening, G, rtol=0, atol=1e-6 * np.abs(G).max())


def test_cassini_has_nine_appendages_with_22_hinge_dofs() -> None:
    """003 §7: a flexible bus, 9 articulated appendages, 22 hinge degrees of freedom (wheels and modes not counted)."""
    system = load("cassini")
    parents = {body.name: body.hinge.parent or "" for body in system.bodies}
    hinges = {body.name: body.hinge.nv for body in system.bodies if body.hinge.modes is None}
    appendages: dict[str, int] = {}
    for name in (name for name in hinges if name != "bus" and not name.startswith("wheel")):
        root = name
        while not parents[root].startswith("bus"):
            root = parents[root]
        appendages[root] = appendages.get(root, 0) + hinges[name]
    appendages = {name: dofs for name, dofs in appendages.items() if dofs}
    assert len(appendages) == 9
    assert sum(appendages.values()) == 22
    assert hinges["bus"] == 6
    assert system.mass == pytest.approx(3150.0, abs=1.0)


@pytest.mark.parametrize("name", SPACECRAFT)
def test_frequencies_are_plausible_and_those_of_the_motion(name: str) -> None:
    """An eigenvector of K φ = ω² M φ, small, swings as cos ωt: the lowest of all modes, and one in the middle."""
    system = without_losses(load(name))
    omega, shapes = frequencies(system)
    moving = omega[omega > 1e-3 * HERTZ]
    assert 0.05 < moving[0] / HERTZ < 1.0
    assert moving[-1] / HERTZ > 10.0
    for mode in (len(omega) - len(moving), len(omega) - len(moving) // 2):
        period = HERTZ / omega[mode]
        steps = max(2000, int(np.ceil(0.25 * period * omega[-1] / 0.5)))
        shape = shapes[:, mode] * (1e-6 / np.abs(shapes[:, mode]).max())
        simulation = lj.Simulation(system, dt=0.25 * period / steps, integrator="rk4")
        simulation.q = along(system, shape)
        simulation.step(steps)
        size = omega[mode] * np.abs(shape).max()
        np.testing.assert_allclose(simulation.v, -omega[mode] * shape, rtol=0, atol=1e-4 * size)


@pytest.mark.parametrize("name", SPACECRAFT)
def test_linear_models_have_the_frequencies_of_the_dense_eigenproblem(name: str) -> None:
    """K φ = ω² M φ of the mass matrix and the springs beside the poles of A."""
    system = without_losses(load(name))
    found = np.sort([mode.frequency for mode in lj.linearize(system).modes() if not mode.rigid])
    expected = frequencies(system)[0]
    np.testing.assert_allclose(found, expected[-len(found) :], rtol=1e-9)
    assert expected[-len(found) - 1] < 1e-3 * found[0]


@pytest.mark.parametrize("name", SPACECRAFT)
def test_energy_and_momentum_stay(name: str) -> None:
    """Free of losses and loads: what drifts over fifty of its fastest oscillations is rk4's error, of fourth order."""
    system, drift = without_losses(load(name)), []
    fastest = frequencies(system)[0][-1]
    v = 0.01 * np.random.default_rng(8).normal(size=system.nv)
    for dt in (0.3 / fastest, 0.15 / fastest):
        simulation = lj.Simulation(system, dt=dt, integrator="rk4")
        simulation.v = v
        energy, momentum = _energy(simulation), simulation.output["momentum"]
        simulation.step(round(300.0 / (fastest * dt)))
        moved = np.abs(simulation.output["momentum"] - momentum).max() / np.abs(momentum).max()
        drift.append((abs(_energy(simulation) / energy - 1.0), moved))
    (coarse, first), (fine, second) = drift
    assert fine < 1e-4
    assert fine < coarse / 8.0
    assert second < max(1e-9, first / 8.0)


def _energy(simulation: lj.Simulation) -> float:
    """Kinetic energy and that of all springs, J."""
    at, spring = 0, 0.0
    for body in simulation.system.bodies:
        size = len(body.hinge.q0)
        if body.hinge.type != "free":
            q = simulation.q[at : at + size]
            spring += 0.5 * sum(d.stiffness * (x - d.rest) ** 2 for d, x in zip(body.hinge.dofs, q))
        at += size
    return float(simulation.output["energy.kinetic"]) + spring


@pytest.mark.parametrize("name", SPACECRAFT)
def test_implicit_steps_of_a_millisecond_are_stable_and_equal_in_bits(name: str) -> None:
    """Modes that are faster than the step can follow die out."""
    system = load(name)
    assert system.integrator == "implicit"
    assert system.dt == 1e-3
    v = 0.02 * np.random.default_rng(2).normal(size=system.nv)
    ends = []
    for parts in (1, 2):
        simulation = lj.Simulation(system)
        simulation.v = v
        start = _energy(simulation)
        for _ in range(parts):
            simulation.step(10_000 // parts)
        assert _energy(simulation) < start
        ends.append(simulation.snapshot())
    assert ends[0] == ends[1]
