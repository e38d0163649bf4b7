"""The Plan of the loops as tables of the Plant, and their part of the first State."""

from __future__ import annotations

import numpy as np

from limberjack.engine.algebra.array_views import LANES
from limberjack.engine.algebra.rotations import to_quaternion
from limberjack.engine.model.frames import assemble, canonical_rotation
from limberjack.engine.model.loops.aggregate import Group
from limberjack.engine.model.loops.closure import Closure, captured, closures, coupled_sum
from limberjack.engine.model.loops.joint_tree import Tree
from limberjack.engine.model.loops.mechanism import Mechanism
from limberjack.engine.model.loops.plan import LoopPlan, Plan
from limberjack.engine.model.plant import Plant
from limberjack.engine.model.system import Pose, System
from limberjack.engine.tables import loops as lp
from limberjack.engine.tables import plant as at
from limberjack.engine.tables.hinge_types import UNIVERSAL


class Tables:
    """The tables of loops of one model, ready to be copied into a Plant."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.walk: list[int] = []
        self.listed: list[int] = []
        self.scale: list[float] = []
        self.terms = [term for loop in plan.loops for term in loop.closure.terms]
        self.loop_int = np.full((len(plan.loops), lp.LOOP_INT), -1, dtype=np.int64)
        self.loop = np.zeros((len(plan.loops), lp.LOOP))
        self.group_int = np.zeros((len(plan.groups), lp.GROUP_INT), dtype=np.int64)
        self.group_work = 0
        for number, group in enumerate(plan.groups):
            self._add_group(number, group)
        self._add_loops()

    def counts(self) -> dict[int, int]:
        """Counts of loops at the head of Plant.ints."""
        loops = self.plan.loops
        forced = self.plan.forced
        return {
            lp.C_LOOPS: len(loops),
            lp.C_ROWS: sum(len(loop.kept) for loop in loops),
            lp.C_TERMS: len(self.terms),
            lp.C_WALK: len(self.walk),
            lp.C_GROUPS: len(self.plan.groups),
            lp.C_LISTED: len(self.listed),
            lp.C_GROUP_WORK: self.group_work,
            lp.C_SWITCHES: sum(loop.closure.loop.switchable for loop in loops),
            lp.C_DRIVES: sum(loop.closure.loop.driven for loop in loops),
            lp.C_FORCED: len(forced),
            lp.C_FORCE_ROWS: sum(len(loop.kept) for loop in forced),
        }

    def fill(self, plant: Plant) -> None:
        """Copy everything into the Plant, which has the counts above."""
        tables = plant.sections
        tables["loop_int"][:], tables["loop"][:] = self.loop_int, self.loop
        tables["group_int"][:] = self.group_int
        tables["walk"][:, 0], tables["listed"][:, 0] = self.walk, self.listed
        tables["scale"][:, 0] = self.scale
        for i, term in enumerate(self.terms):
            tables["term_int"][i] = term.q, term.v, term.row
            tables["term"][i, : len(term.factors)] = term.factors
        for number, group in enumerate(self.plan.groups):
            for rank, row in enumerate(group.bodies):
                tables["topo"][row - 1, [at.GROUP, at.MEMBER]] = number, rank
            for rank, v in enumerate(group.dependent + group.independent):
                tables["dof_int"][v, at.DI_MEMBER] = rank

    def _list(self, numbers: list[int], scale: list[float] | None = None) -> tuple[int, int]:
        start = len(self.listed)
        self.listed += numbers
        self.scale += scale or [0.0] * len(numbers)
        return start, len(numbers)

    def _add_group(self, number: int, group: Group) -> None:
        row = self.group_int[number]
        row[lp.GI_BODY], row[lp.GI_BODIES] = self._list([body - 1 for body in group.bodies])
        row[lp.GI_DOF], row[lp.GI_DOFS] = self._list(group.dependent + group.independent, group.scale)
        self._list(group.pairs)
        row[lp.GI_LOOP], row[lp.GI_LOOPS] = self._list(group.loops)
        row[lp.GI_RANK], row[lp.GI_PARENT], row[lp.GI_WORK] = len(group.dependent), group.parent, self.group_work
        first = 0
        for i in group.loops:
            self.loop_int[i, lp.L_ROW] = first
            first += len(self.plan.loops[i].kept)
        row[lp.GI_ROWS] = first
        self.group_work += int(lp.group_work_size(len(group.scale), first, len(group.bodies)))

    def _add_loops(self) -> None:
        system = self.plan.system
        command = sum(len(actuator.command_names) for actuator in system.actuators)
        forced = forced_row = switch = drive = term = 0
        for i, plan in enumerate(self.plan.loops):
            row, closure, loop = self.loop_int[i], plan.closure, plan.closure.loop
            row[lp.L_KIND], row[lp.L_A], row[lp.L_B] = closure.kind, closure.a, closure.b
            row[lp.L_ROWS], row[lp.L_TERM], row[lp.L_TERMS] = len(plan.kept), term, len(closure.terms)
            row[lp.L_GROUP] = -1 if plan.group is None else plan.group
            row[lp.L_SWITCH] = switch if loop.switchable else -1
            row[lp.L_DRIVE] = drive if loop.driven else -1
            row[lp.L_COMMAND] = command if loop.command_names else -1
            row[lp.L_PROJECT] = plan.group is None and loop.projection
            if plan.group is None:
                row[lp.L_FORCED], row[lp.L_ROW], row[lp.L_RANK] = forced, forced_row, plan.rank
                forced, forced_row = forced + 1, forced_row + len(plan.kept)
            self._add_walks(row, closure, plan.group is None)
            _fill_numbers(self.loop[i], plan)
            term += len(closure.terms)
            switch, drive = switch + loop.switchable, drive + loop.driven
            command += len(loop.command_names)

    def _add_walks(self, row: np.ndarray, closure: Closure, forced: bool) -> None:
        for where, chain in ((lp.L_CHAIN_A, closure.chain_a), (lp.L_CHAIN_B, closure.chain_b)):
            row[where], row[where + 1] = self._walk(list(chain))
        row[lp.L_WALK], row[lp.L_WALKS] = self._walk(_moved(closure, self.plan) if forced else [])

    def _walk(self, rows: list[int]) -> tuple[int, int]:
        start = len(self.walk)
        self.walk += [row - 1 for row in rows]
        return start, len(rows)


def _moved(closure: Closure, plan: Plan) -> list[int]:
    """Rows of all bodies that a force of the loop moves, tip to base: its own, all that carry them, whole groups."""
    tips = [closure.a, closure.b] if closure.joins else [term.row for term in closure.terms]
    moved = {row for tip in tips for row in plan.tree.path(tip)}
    moved.update(row for group in plan.groups if moved.intersection(group.bodies) for row in group.bodies)
    return sorted(moved, reverse=True)


def _fill_numbers(row: np.ndarray, plan: LoopPlan) -> None:
    closure, loop = plan.closure, plan.closure.loop
    row[lp.LP_A : lp.LP_A + 12] = _pose(closure.at_a)
    row[lp.LP_B : lp.LP_B + 12] = _pose(closure.at_b)
    row[lp.LP_X], row[lp.LP_FADE], row[lp.LP_REACH] = closure.x, loop.stabilisation, loop.reach
    if closure.kind == UNIVERSAL:
        row[lp.LP_X] = plan.kept.index(3) if 3 in plan.kept else -1
    row[lp.LP_AXES : lp.LP_AXES + 4] = to_quaternion(canonical_rotation(loop.hinge) if loop.hinge else np.eye(3))
    lanes = row[lp.LP_ROWS : lp.LP_ROWS + 6 * LANES].reshape(6, LANES)
    lanes[:, : len(plan.kept)] = closure.vectors[plan.kept].T
    row[lp.LP_SCALE : lp.LP_SCALE + len(plan.scale)] = plan.scale


def _pose(pose: Pose) -> np.ndarray:
    return np.concatenate([pose.rotation.ravel(), pose.position])


def first_switches(system: System) -> np.ndarray:
    """The switches (switches, SWITCH) of the first State: what is closed, and what it holds then."""
    if not any(loop.switchable for loop in system.loops):
        return np.zeros((0, lp.SWITCH))
    tree = Tree(assemble(system))
    loops = [closure for closure in closures(system, tree) if closure.loop.switchable]
    switches = np.zeros((len(loops), lp.SWITCH))
    for row, closure in zip(switches, loops):
        row[lp.SW_CLOSED] = row[lp.SW_WANTED] = closure.loop.closed
        held = held_data(closure, tree, system.q0) if closure.loop.closed else _as_built(closure)
        row[lp.SW_HELD : lp.SW_HELD + len(held)] = held
    return switches


def _as_built(closure: Closure) -> np.ndarray:
    """What an open loop shows as held: the frame, length or offset of the model."""
    if closure.kind == lp.LOCK:
        return np.array([term.factors[0] if term.factors else 0.0 for term in closure.terms])
    return np.array([closure.x]) if closure.kind in (lp.DISTANCE, lp.COUPLING) else _pose(closure.at_b)


def held_data(closure: Closure, tree: Tree, q: np.ndarray) -> np.ndarray:
    """What a loop that closes at the coordinates q holds: frame b, length, offset (driven: where its first command has
    it) or locked coordinates."""
    if closure.kind == lp.LOCK:
        return np.array([q[term.q] if term.q >= 0 else 0.0 for term in closure.terms])
    if closure.kind == lp.COUPLING:
        return np.array([coupled_sum(closure, q) - closure.loop.initial[0]])
    mechanism = Mechanism(tree, [closure])
    a, b = mechanism.relative(closure, mechanism.poses(q)[0])
    relative = a.inverse() @ b
    if closure.kind == lp.DISTANCE:
        return np.array([float(np.linalg.norm(relative.position)) - closure.loop.initial[0]])
    return _pose(captured(closure, relative.rotation, relative.position))
