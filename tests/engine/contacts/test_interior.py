"""Contact forces from inside their laws: on random islands against Coulomb's laws, and where sweeps found none."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.compile.interpreted import interpreted
from limberjack.engine.compile.kernel import FUNCTIONS
from limberjack.engine.kernels.contacts import interior, interior_step
from limberjack.engine.kernels.contacts.push_out import ENDLESS
from limberjack.engine.tables import contacts as t
from tests.cases import long_only
from tests.engine.contacts.scenes import FLOOR, free, scene
from tests.engine.contacts.test_overlapping_joints import found
from tests.validation.figures import figure

VIEWS = (
    ("whole", int),
    ("plant_view", lambda ints, floats: ints),
    ("work_view", lambda ints, vector: vector),
)
step_inside = interpreted(FUNCTIONS["step_inside_routine"].function, *VIEWS)
solve_inside = interpreted(FUNCTIONS["solve_inside_routine"].function, *VIEWS, ("step_inside_routine", step_inside))
root_of, by_root = interpreted(interior.find_root, *VIEWS), interpreted(interior_step.solve_by_root, *VIEWS)


def tables(blocks: int) -> SimpleNamespace:
    """Scratch of the contacts of an island."""
    size = 3 * blocks
    vectors = {name: np.zeros(size) for name in ("speed", "right", "few")}
    matrices = {name: np.zeros((size, size)) for name in ("answer", "system", "root", "reduced")}
    return SimpleNamespace(active=np.zeros((blocks, t.ACTIVE)), **vectors, **matrices)


def island(seed: int, touches: int, velocities: int, moments: bool) -> tuple[SimpleNamespace, SimpleNamespace]:
    """(plant, work) of random touches that move few velocities, most of them redundant; half of them have a bound.

    moments : with torsional and rolling friction, a block of moments behind that of each force
    """
    random = np.random.default_rng(seed)
    blocks = 2 * touches if moments else touches
    contacts, step = tables(blocks), 1e-3
    J = random.normal(size=(3 * blocks, velocities))
    if moments:
        J.reshape(blocks, 3, velocities)[1::2] *= 10.0  # turns are faster than the places they move, in rad/s and m/s
    contacts.answer[:] = step * J @ J.T
    active = contacts.active
    active[:, t.AC_FREE : t.AC_FREE + 3] = (J @ random.normal(size=velocities)).reshape(blocks, 3)
    active[:, t.AC_END] = blocks
    active[:, t.AC_TURNS] = np.arange(blocks) % 2 if moments else 0.0
    forces = active[:, t.AC_TURNS] == 0.0
    own = np.diag(contacts.answer)[::3]
    active[:, t.AC_LIGHT] = np.where(forces, 1e-3 * own.mean(), 0.0)
    active[:, t.AC_AIM] = random.uniform(0.0, 0.1, blocks)
    active[:, t.AC_SOFT] = 1e-3 * own
    active[:, t.AC_MOST] = np.where(random.random(blocks) < 0.5, ENDLESS, random.uniform(50.0, 500.0, blocks))
    law = np.zeros((1, t.CONTACT))
    law[0, [t.K_FRICTION, t.K_TORSION, t.K_ROLLING]] = 0.2, 0.02 * moments, 0.01 * moments
    plant = SimpleNamespace(contacts=SimpleNamespace(contact=law, pair_int=np.zeros((1, t.PAIR_INT), dtype=int)))
    return plant, SimpleNamespace(contacts=contacts)


def nearest(x: np.ndarray, most: float) -> np.ndarray:
    """The point of a ball of radius `most` that is nearest to x."""
    return x * min(1.0, most / max(np.linalg.norm(x), 1e-300))


def misses(plant: SimpleNamespace, work: SimpleNamespace) -> float:
    """How far forces are from their laws, as forces over the largest one: each is a projection on what it may be."""
    contacts, active = work.contacts, work.contacts.active
    f = active[:, t.AC_FORCE : t.AC_FORCE + 3]
    u = active[:, t.AC_FREE : t.AC_FREE + 3] + (contacts.answer @ f.ravel()).reshape(f.shape)
    own, law, worst = np.diag(contacts.answer).reshape(f.shape), plant.contacts.contact[0], 0.0
    for i, turns in enumerate(active[:, t.AC_TURNS] > 0.0):
        if turns:
            normal, scale = f[i - 1, 0], max(law[t.K_TORSION], law[t.K_ROLLING])
            first = nearest(f[i, :1] - u[i, :1] / own[i, 0], law[t.K_TORSION] * normal)
            across = law[t.K_ROLLING] * normal
        else:
            gap = u[i, 0] + active[i, t.AC_SOFT] * f[i, 0] - active[i, t.AC_AIM]
            first = np.clip(f[i, :1] - gap / own[i, 0], 0.0, active[i, t.AC_MOST])
            across, scale = law[t.K_FRICTION] * f[i, 0], 1.0
        rest = nearest(f[i, 1:] - u[i, 1:] / own[i, 1:].max(), across)
        worst = max(worst, np.abs(np.concatenate([first, rest]) - f[i]).max() / scale)
    return worst / f[active[:, t.AC_TURNS] == 0.0].max()


@pytest.mark.parametrize(("velocities", "moments"), [(4, False), (7, False), (9, True)])
@pytest.mark.parametrize("seed", [*range(4), *long_only(range(4, 40))])
def test_random_islands_obey_coulombs_laws(seed, velocities, moments):
    plant, work = island(seed, 6, velocities, moments)
    assert solve_inside(plant, None, work, work.contacts.active.shape[0], np.inf)
    figure("forces beside their laws", misses(plant, work), unit="", oracle="Coulomb's laws", below=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_equations_are_solved_through_their_rank(seed):
    """x of (1 + K W) x = r beside the dense solution; the answers of the touches to it."""
    random, (_, work) = np.random.default_rng(seed), island(seed, 6, 4, False)
    contacts, n = work.contacts, 6
    rank = root_of(work, n)
    B = contacts.root[:, :rank]
    assert rank == 4
    np.testing.assert_allclose(B @ B.T, contacts.answer, atol=1e-12 * contacts.answer.max())
    K, r = random.normal(size=(18, 18)), random.normal(size=18)
    contacts.system[:, :rank], contacts.right[:] = K @ B, r
    assert by_root(work, n, rank)
    x = np.linalg.solve(np.eye(18) + K @ contacts.answer, r)
    np.testing.assert_allclose(contacts.right, x, rtol=1e-9, atol=1e-12)
    moved = contacts.active[:, t.AC_MOVED : t.AC_MOVED + 3]
    np.testing.assert_allclose(moved.ravel(), contacts.answer @ x, rtol=1e-9, atol=1e-12)


def test_islands_of_a_higher_rank_than_there_is_room_for_are_left_alone():
    _, work = island(0, 6, 9, False)
    work.contacts.root = work.contacts.root[:, :8]
    assert root_of(work, 6) == 0
    work.contacts.answer[:] = np.nan
    assert root_of(work, 6) == 0


@pytest.mark.parametrize("integrator", ["semi_implicit", "implicit", "rk4"])
def test_what_begins_half_in_the_floor_comes_out(tmp_path, integrator):
    """A ring of capsules with a grip, 20 deep touches: not one step had a solution, and it never came out."""
    shapes = [FLOOR, "{body: b, name: grip, type: box, size: [0.038, 0.076, 0.032], position: [0, -0.13, 0]}"]
    for i, a in enumerate(np.pi / 4 * np.arange(8)):
        place = f"position: [{0.048 * np.cos(a):.4f}, {0.048 * np.sin(a):.4f}, 0], rpy: [{np.pi / 2}, 0, {a:.4f}]"
        shapes.append(f"{{body: b, name: s{i}, type: capsule, radius: 0.019, length: 0.03, {place}}}")
    names = ", ".join(["grip", *(f"s{i}" for i in range(8))])
    contact = f"{{name: c, first: floor, second: [{names}], friction: 1.0}}"
    body = free("b", 1.0, (0.002, 0.002, 0.003), (0, 0, 0))
    simulation, failed = lj.Simulation(scene(tmp_path, [body], shapes, [contact]), integrator=integrator), 0
    for _ in range(500):
        simulation.step()
        failed += found(simulation)[t.FO_FAILED] > 0
    assert failed == 0
    figure("height at rest", simulation.q[6], 0.019, unit="m", oracle="radius", atol=1e-6)
