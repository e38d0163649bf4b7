"""One aggregated node: rows that are never needed dropped, dependent velocities chosen, all brought to one size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from limberjack.engine.algebra.ranks import first_largest
from limberjack.engine.common.errors import ModelError
from limberjack.engine.common.names import some_names
from limberjack.engine.model.loops.closure import Closure, where_is
from limberjack.engine.model.loops.joint_tree import Tree
from limberjack.engine.model.loops.mechanism import Mechanism
from limberjack.engine.model.loops.newton import Sizes, sizes
from limberjack.engine.model.loops.samples import sampled_rows
from limberjack.engine.model.loops.selection import condensed, dependent_columns, generic, needed_rows
from limberjack.engine.model.system import System

#: typical velocities differ from those of `Sizes` at most by this factor: a hinge that moves a loop little is slow,
#: not typical
MOST_TYPICAL = 10.0


@dataclass(eq=False)
class Group:
    """Loops that are embedded together, and their bodies. Loops that leave no motion have no independent velocities.

    bodies : their rows (k + 1), ascending; parent : row of the body that carries them; loops : indices in the model
    kept : for each loop the indices of its rows that are kept; row_scale : their factors
    dependent, independent : velocities of the model; scale : their typical sizes, dependent ones first
    pairs : for each dependent velocity the row, counted over all kept ones, that is solved for it
    """

    bodies: list[int]
    parent: int
    loops: list[int]
    kept: list[list[int]]
    row_scale: list[list[float]]
    dependent: list[int]
    independent: list[int]
    scale: list[float]
    pairs: list[int]


def aggregate(
    system: System, tree: Tree, loops: Sequence[Closure], members: list[int], q: np.ndarray | None = None
) -> Group:
    """The group of some embedded loops, which are closed at q (nq,), by default the initial coordinates.

    Raises ModelError for independent velocities that cannot be.
    """
    q = system.q0 if q is None else q
    mechanism = Mechanism(tree, [loops[i] for i in members])
    size = sizes(mechanism, q)
    matrices = sampled_rows(mechanism, q, size, system.v0)
    kept = needed_rows(matrices)
    count, regular = generic(matrices)
    rows = [Y[kept] for Y in regular]
    dependent = _dependent(system, mechanism, [condensed(Y, count) for Y in rows])
    dependent.sort(key=lambda j: _first_row(rows, j))
    independent = [j for j in range(len(mechanism.dofs)) if j not in set(dependent)]
    velocity, row = _equilibrated(rows, size, kept, mechanism.modal)
    slices = [[j for j, r in enumerate(kept) if a <= r < b] for a, b in zip(mechanism.starts, mechanism.starts[1:])]
    return Group(
        bodies=mechanism.rows,
        parent=min(loops[i].common for i in members),
        loops=members,
        kept=[[int(kept[j] - start) for j in own] for own, start in zip(slices, mechanism.starts)],
        row_scale=[[float(row[j]) for j in own] for own in slices],
        dependent=[mechanism.dofs[j] for j in dependent],
        independent=[mechanism.dofs[j] for j in independent],
        scale=[float(velocity[j]) for j in dependent + independent],
        pairs=_pairs((rows[0] * velocity * row[:, None])[:, dependent]),
    )


def _dependent(system: System, mechanism: Mechanism, rows: list[np.ndarray]) -> list[int]:
    order = _preferences(system, mechanism)
    asked = _asked(system, mechanism)
    chosen = dependent_columns(rows, order, {mechanism.place_of[v] for v in asked})
    count = len(rows[0])
    if len(chosen) == count:
        return chosen
    best = set(dependent_columns(rows, order, set()))
    names = [system.velocity_names[v] for v in mechanism.dofs]
    other = [name for j, name in enumerate(names) if j not in best]
    owner = next(loop.loop for loop in mechanism.loops if loop.loop.independent)
    wanted = ", ".join(f"'{system.velocity_names[v]}'" for v in asked)
    freedom = len(names) - count
    what = f"{wanted} cannot all be independent in the loops that '{owner.name}' moves with: " + (
        f"these have {freedom} degree{'s' * (freedom != 1)} of freedom" if len(asked) > freedom else "one fixes another"
    )
    remedy = f"Name others; these can be: {some_names(other)}" if other else "Remove 'independent'"
    raise ModelError(what, where=where_is(owner), remedy=remedy)


def _asked(system: System, mechanism: Mechanism) -> list[int]:
    """Velocities that the loops name as independent. Raises ModelError for those that are not the mechanism's."""
    asked = []
    for loop in (closure.loop for closure in mechanism.loops):
        for name in loop.independent:
            v = system.velocity_names.index(name)
            if v not in mechanism.place_of:
                what = f"loop '{loop.name}' does not move '{name}', so it cannot make it independent"
                others = [system.velocity_names[v] for v in mechanism.dofs]
                raise ModelError(what, where=where_is(loop), remedy=f"Name some of: {some_names(others)}")
            asked.append(v)
    return list(dict.fromkeys(asked))


def _preferences(system: System, mechanism: Mechanism) -> list[tuple[int, ...]]:
    """Keys of the velocities: those of one loop become dependent first, so that its rows stay a separate block.

    Before all that modes stay independent: they are stiff. Then those without a drive become dependent, then those of
    few loops.
    """
    count = np.zeros(len(mechanism.dofs), dtype=int)
    for loop in mechanism.loops:
        rows = {*loop.chain_a, *loop.chain_b} if loop.joins else {term.row for term in loop.terms}
        count[sorted({j for row in rows for j in range(*mechanism.slices[row].indices(len(count)))})] += 1
    driven = {actuator.coordinate for actuator in system.actuators}
    actuated = [system.velocity_names[v] in driven for v in mechanism.dofs]
    modal = mechanism.modal
    return [(int(modal[j]), int(count[j] > 1), int(actuated[j]), int(count[j])) for j in range(len(count))]


def _pairs(A: np.ndarray) -> list[int]:
    """The row for each column in turn where elimination finds it largest."""
    left, found = A.copy(), list[int]()
    for column in range(A.shape[1]):
        size = np.abs(left[:, column])
        size[found] = -1.0
        pivot = first_largest(size)
        found.append(pivot)
        if size[pivot] > 0.0:
            left -= np.outer(left[:, column] / left[pivot, column], left[pivot])
    return found


def _first_row(rows: list[np.ndarray], column: int) -> int:
    """The first row that a velocity takes part in."""
    largest = np.max([np.abs(Y[:, column]) for Y in rows], axis=0)
    return int(np.argmax(largest > 1e-9 * largest.max(initial=0.0)))


def _equilibrated(
    rows: list[np.ndarray], size: Sizes, kept: list[int], modal: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Typical velocities and row factors that bring rows and columns to a largest entry of about one.

    Those of modes stay small, so that complete pivoting leaves modes alone where hinges do.
    """
    A = np.max([np.abs(Y) for Y in rows], axis=0)
    column, row = np.ones(A.shape[1]), np.ones(A.shape[0])
    for _ in range(3):
        row /= np.maximum((A * column * row[:, None]).max(axis=1, initial=0.0), 1e-12)
        largest = (A * row[:, None]).max(axis=0, initial=0.0)
        column = np.where(modal, 1.0, 1.0 / np.clip(largest, 1.0 / MOST_TYPICAL, MOST_TYPICAL))
    return column * size.velocity, row * size.row[kept]
