"""Springs between points: closed forms, reactions, and slopes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.model.elements.spring import Spring
from tests.engine.kernels.flexible.models import MODELS as FLEXIBLE
from tests.validation.figures import figure

SLIDER = """
limberjack: 1
name: slider
gravity: [0, 0, 0]
simulation: {dt: 1.0e-4}
bodies:
  - {name: cart, mass: 2.0, inertia: {xx: 0.1, yy: 0.1, zz: 0.1},
     hinge: {type: prismatic, parent: world, axis: [1, 0, 0], initial: {position: 0.3}}}
nodes:
  - {name: wall, body: world, position: [-1, 0, 0]}
  - {name: post, body: world, position: [0, 0.5, 0]}
"""


def loaded(tmp_path: Path, text: str) -> lj.System:
    path = tmp_path / "model.yaml"
    path.write_text(text)
    return lj.load(path)


def test_a_cart_on_a_spring_and_damper_moves_as_the_formula_says(tmp_path):
    k, c, preload, m = 50.0, 3.0, 4.0, 2.0
    spring = (
        f"springs: [{{name: s, from: wall, to: cart, length: 1.1, stiffness: {k}, damping: {c}, preload: {preload}}}]"
    )
    simulation = lj.Simulation(loaded(tmp_path, SLIDER + spring))
    rest = 1.1 - preload / k - 1.0  # where the spring passes no force
    simulation.step(10_000)
    s = np.roots([m, c, k])
    a = (0.3 - rest) * np.array([-s[1], s[0]]) / (s[0] - s[1])
    figure(
        "cart on a spring and damper",
        simulation.q[0],
        rest + (a * np.exp(s * 1.0)).sum().real,
        unit="m",
        oracle="its differential equation",
        atol=1e-10,
    )


def test_the_force_turns_with_the_line_and_has_analytic_slopes(tmp_path):
    k, length = 80.0, 0.2
    spring = f"springs: [{{name: s, from: post, to: cart, length: {length}, stiffness: {k}, damping: 1.5}}]"
    system = loaded(tmp_path, SLIDER + spring)
    simulation = lj.Simulation(system)
    x, v = 0.3, 0.7
    simulation.v = [v]
    far = np.hypot(x, 0.5)
    force = -k * (far - length) * x / far - 1.5 * (x * v / far) * x / far
    figure(
        "acceleration by an oblique spring",
        simulation.vdot[0],
        force / 2.0,
        unit="m/s²",
        oracle="closed form",
        rtol=1e-13,
    )
    model = lj.linearize(system)
    stiffness = k * (1.0 - length / far) + k * length * x * x / far**3
    figure(
        "slopes of that acceleration",
        model.A[1],
        [-stiffness / 2.0, -1.5 * (x / far) ** 2 / 2.0],
        oracle="closed form",
        rtol=1e-9,
    )


FREE = """
limberjack: 1
name: pair
gravity: [0, 0, 0]
bodies:
  - {name: a, mass: 3.0, com: [0.1, 0, 0], inertia: {xx: 0.2, yy: 0.3, zz: 0.4}, hinge: {type: free, parent: world,
     initial: {velocity: {wx: 0.3, vy: 0.1}}}}
  - {name: b, mass: 1.0, inertia: {xx: 0.1, yy: 0.2, zz: 0.15}, hinge: {type: free, parent: world,
     initial: {position: [1, 0.2, 0], velocity: {wz: -0.5}}}}
nodes:
  - {name: on_a, body: a, position: [0.3, 0.1, -0.2]}
  - {name: on_b, body: b, position: [-0.1, 0.2, 0.1], rpy: [0.3, 0, 0]}
"""


def test_free_bodies_keep_momentum_and_with_the_spring_energy(tmp_path):
    spring = "springs: [{name: s, from: on_a, to: on_b, length: 0.4, stiffness: 30, preload: 2}]"
    system = loaded(tmp_path, FREE + spring)
    simulation = lj.Simulation(system, dt=1e-3)

    def whole() -> float:
        far = np.linalg.norm(simulation.output["on_b.position"] - simulation.output["on_a.position"])
        return simulation.output["energy.total"] + 15.0 * (far - 0.4) ** 2 + 2.0 * (far - 0.4)

    before = whole()
    simulation.step(2000)
    figure("energy with the spring's own", whole(), before, unit="J", oracle="conservation", rtol=1e-9)
    drifts = [drift(system, n) for n in (250, 500)]
    figure("drift of momentum in 1 s", drifts[0], oracle="conservation, to the integrator's order", below=1e-4)
    figure(
        "drift at half the step", drifts[1], oracle="a twelfth of that at the whole step", below=drifts[0] / 12.0
    )  # of the integrator, of fourth order


def drift(system: lj.System, steps: int) -> float:
    """By how much momentum changes in a second of so many steps."""
    simulation = lj.Simulation(system, dt=1.0 / steps)
    momentum = simulation.output["momentum"]
    simulation.step(steps)
    return float(np.abs(simulation.output["momentum"] - momentum).max())


def test_parameters_and_refusals(tmp_path):
    spring = "springs: [{name: s, from: on_a, to: on_b, length: 0.4, stiffness: 30}]"
    simulation = lj.Simulation(loaded(tmp_path, FREE + spring))
    still = simulation.vdot
    simulation.parameters["spring.s.stiffness"] = 0.0
    assert np.abs(simulation.vdot).max() < 0.5 * np.abs(still).max()
    with pytest.raises(lj.ArgumentError, match=r"'spring\.s\.length' must not be negative"):
        simulation.parameters["spring.s.length"] = -0.1
    for wrong, said in (
        (spring.replace("on_b", "nowhere"), "spring 's' names 'nowhere', which is not a node"),
        (spring.replace("on_b", "on_a"), "joins 'on_a' with itself"),
        (spring.replace("30", "-1"), "stiffness is -1"),
        (spring.replace(", length: 0.4", ""), "'length' is missing"),
    ):
        with pytest.raises(lj.ModelError, match=said) as refused:
            loaded(tmp_path, FREE + wrong)
        assert "model.yaml:" in str(refused.value)
    with pytest.raises(lj.ArgumentError, match="springs between nodes"):
        lj.Dynamics(loaded(tmp_path, FREE + spring)).forward_derivatives(*(simulation.q, simulation.v, simulation.v))


@pytest.mark.parametrize("name", ["boom", "flexible base", "tied"])
def test_on_flexible_bodies_and_in_loops_it_is_the_pair_of_forces_at_its_nodes(name):
    plain = FLEXIBLE[name]()
    rng = np.random.default_rng(5)
    a, b = plain.node_names[-1], plain.node_names[0]
    spring = Spring("s", a, b, length=0.2, stiffness=40.0, damping=3.0, preload=1.5)
    with_spring, without = lj.Dynamics(lj.equip(plain, spring)), lj.Dynamics(plain)
    q, v, tau = plain.q0, plain.v0, rng.normal(size=plain.nv)
    d = without.pose(b, q)[1] - without.pose(a, q)[1]
    e = d / np.linalg.norm(d)
    rate = e @ (without.velocity(b, q, v) - without.velocity(a, q, v))[3:]
    force = (40.0 * (np.linalg.norm(d) - 0.2) + 3.0 * rate + 1.5) * e
    pair = {a: np.concatenate([np.zeros(3), force]), b: np.concatenate([np.zeros(3), -force])}
    wanted = without.forward(q, v, tau, external=pair)
    figure(
        "accelerations with a spring",
        with_spring.forward(q, v, tau),
        wanted,
        oracle="the same pair of forces from outside",
        atol=1e-9 * np.abs(wanted).max(),
        rtol=1e-9,
    )
    assert np.abs(wanted - without.forward(q, v, tau)).max() > 1e-3
