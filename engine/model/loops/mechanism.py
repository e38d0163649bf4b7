"""Some loops with the bodies that they move against each other, apart from the rest of the model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from limberjack.engine.algebra.ranks import NOISE, without_rounding
from limberjack.engine.common.errors import ModelError
from limberjack.engine.files.numbers import LARGEST
from limberjack.engine.model.frames import skew
from limberjack.engine.model.loops.closure import (
    Closure,
    coordinate_residual,
    coordinate_rows,
    coordinate_terms,
    joined,
    prescribed_rate,
    where_is,
)
from limberjack.engine.model.loops.joint_tree import Tree, move, place
from limberjack.engine.model.system import Pose
from limberjack.engine.tables.hinge_types import MODAL

#: angular and linear velocity (3, nv) of each body's origin a unit of its hinge's velocities, by row
Axes = dict[int, tuple[np.ndarray, np.ndarray]]
#: the pose of what carries the mechanism
_OUTSIDE = Pose()


class Mechanism:
    """Loops and their bodies: residuals r(q) and rows Y(q) over the bodies' velocities, Y v = dr/dt + b where r = 0.

    b are the rates that driven loops ask for (`prescribed`); `drives` (loops, 2) their positions and rates, at first
    those of the model.

    Coordinates q are always those of the whole model (nq,); velocities are the mechanism's own, `dofs` says which.
    The bodies must be complete: all between each loop's bodies and the last that carries the loop.
    """

    def __init__(self, tree: Tree, loops: Sequence[Closure]) -> None:
        self.tree = tree
        self.loops = list(loops)
        self.rows = sorted({row for loop in loops for row in loop.above})
        self.joints = [tree.joints[row - 1] for row in self.rows]
        self.dofs = [joint.vi + i for joint in self.joints for i in range(joint.nv)]
        self.place_of = {v: i for i, v in enumerate(self.dofs)}
        firsts = np.cumsum([0, *(joint.nv for joint in self.joints)])
        own = {row: slice(start, end) for row, start, end in zip(self.rows, firsts, firsts[1:])}
        self.slices = {
            row: own[joint.parent if joint.attachment is not None else row]
            for row, joint in zip(self.rows, self.joints)
        }
        self.starts = np.cumsum([0, *(len(loop.names) for loop in self.loops)])
        self.drives = np.array([loop.loop.initial[:2] for loop in self.loops]).reshape(-1, 2)

    @property
    def modal(self) -> np.ndarray:
        """Which of its velocities are rates of modes (velocities,)."""
        return np.array([joint.code == MODAL for joint in self.joints for _ in range(joint.nv)], dtype=bool)

    @cached_property
    def holonomic(self) -> np.ndarray:
        """Which of its rows constrain positions (rows,)."""
        return np.array([holds for loop in self.loops for holds in loop.holonomic], dtype=bool)

    @property
    def count(self) -> int:
        """Number of rows of all its loops."""
        return int(self.starts[-1])

    def poses(self, q: np.ndarray) -> tuple[dict[int, Pose], Axes]:
        """Pose and hinge axes of every body by row; relative to the body that carries it where that is outside."""
        poses: dict[int, Pose] = {}
        axes: Axes = {}
        for row, joint in zip(self.rows, self.joints):
            pose, w, u = place(joint, poses.get(joint.parent, _OUTSIDE), q)
            poses[row], axes[row] = pose, (w, u)
        return poses, axes

    def relative(self, loop: Closure, poses: dict[int, Pose]) -> tuple[Pose, Pose]:
        """Poses of the frames a and b; bodies outside the mechanism are at rest."""
        return poses.get(loop.a, _OUTSIDE) @ loop.at_a, poses.get(loop.b, _OUTSIDE) @ loop.at_b

    def evaluate(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Residuals (rows,) and rows over the mechanism's velocities (rows, velocities).

        Raises ModelError where they are no longer finite.
        """
        r, Y = np.zeros(self.count), np.zeros((self.count, len(self.dofs)))
        with np.errstate(over="ignore", invalid="ignore"):
            poses, axes = self.poses(q)
            for start, end, loop, drive in zip(self.starts, self.starts[1:], self.loops, self.drives[:, 0]):
                if loop.joins:
                    r[start:end], Y[start:end] = self._joined(loop, float(drive), poses, axes)
                    continue
                r[start:end] = coordinate_residual(loop, q, float(drive))
                for i, v, factor in coordinate_rows(loop, q):
                    Y[start + i, self.place_of[v]] += factor
        self._require_numbers(r, Y)
        return r, Y

    def _terms(self, q: np.ndarray) -> np.ndarray:
        """Sizes of the terms that each entry of the rows at q is summed from (rows, velocities)."""
        terms = np.zeros((self.count, len(self.dofs)))
        poses, axes = self.poses(q)
        for start, end, loop in zip(self.starts, self.starts[1:], self.loops):
            if loop.joins:
                terms[start:end] = self._joined_terms(loop, poses, axes)
                continue
            for i, v, size in coordinate_terms(loop, q):
                terms[start + i, self.place_of[v]] += size
        return terms

    def decision_rows(self, q: np.ndarray) -> np.ndarray:
        """The rows at q (rows, velocities) for decisions: zero where nothing but rounding is left of their terms."""
        return without_rounding(self.evaluate(q)[1], self._terms(q))

    def prescribed(self) -> np.ndarray:
        """b (rows,): the rates Y v that the drives of its loops ask for; 0 of others."""
        b = np.zeros(self.count)
        for start, loop, (position, rate) in zip(self.starts, self.loops, self.drives):
            if rate:
                b[start] = prescribed_rate(loop, position, rate)
        return b

    def _require_numbers(self, r: np.ndarray, Y: np.ndarray) -> None:
        size = np.abs(r) + np.abs(Y).max(axis=1, initial=0.0)
        if np.all(size <= LARGEST**2):
            return
        row = int(np.argmin(size <= LARGEST**2))
        loop = self.loops[int(np.searchsorted(self.starts, row, side="right")) - 1].loop
        what = f"loop '{loop.name}' has numbers too large to compute with"
        raise ModelError(
            what, where=where_is(loop), remedy="Use SI units, and initial positions near those that close it"
        )

    def _seen_from_a(self, loop: Closure, poses: dict[int, Pose]) -> tuple[Pose, np.ndarray, np.ndarray]:
        """Frame b, the turn R* of frame a, and the position of b in a."""
        a, b = self.relative(loop, poses)
        back = a.rotation.T
        return b, back, back @ (b.position - a.position)

    def _joined(self, loop: Closure, drive: float, poses: dict[int, Pose], axes: Axes) -> tuple[np.ndarray, np.ndarray]:
        """Residuals and rows of a loop that joins frames.

        A body's hinge moves b's origin p by u + w × (p - o) if it lies between B and the common body; if it lies on
        A's side, it moves the frame a, and with it what a sees, the other way.
        """
        b, back, d = self._seen_from_a(loop, poses)
        r, rows = joined(loop, back @ b.rotation, d, drive)
        Y = np.zeros((len(rows), len(self.dofs)))
        for sign, chain in ((-1.0, loop.chain_a), (1.0, loop.chain_b)):
            for row in chain:
                w, u = axes[row]
                seen = np.empty((6, w.shape[1]))
                seen[:3], seen[3:] = back @ w, back @ (u - skew(b.position - poses[row].position) @ w)
                Y[:, self.slices[row]] += sign * (rows @ seen)
        return r, Y

    def _joined_terms(self, loop: Closure, poses: dict[int, Pose], axes: Axes) -> np.ndarray:
        """Sizes of the terms of the rows of a loop that joins frames: turns by lengths, of w, u, p and o each."""
        b, back, d = self._seen_from_a(loop, poses)
        rows = joined(loop, back @ b.rotation, d)[1]
        turned, slid = np.linalg.norm(rows[:, :3], axis=1), np.linalg.norm(rows[:, 3:], axis=1)
        terms = np.zeros((len(rows), len(self.dofs)))
        for row in (*loop.chain_a, *loop.chain_b):
            w, u = axes[row]
            turns, far = np.linalg.norm(w, axis=0), sum(map(np.linalg.norm, (b.position, poses[row].position)))
            terms[:, self.slices[row]] += np.outer(turned, turns)
            terms[:, self.slices[row]] += np.outer(slid, np.linalg.norm(u, axis=0) + far * turns)
        return terms

    def moved(self, q: np.ndarray, step: np.ndarray) -> np.ndarray:
        """Coordinates after the motion `step` (velocities,)."""
        q = q.copy()
        for row, joint in zip(self.rows, self.joints):
            if joint.nv:
                move(joint, q, step[self.slices[row]])
        return q

    def turning(self, v: int) -> bool:
        """Whether a velocity of the model is an angular one."""
        joint = self.tree.joint_of_velocity[v]
        i = v - joint.vi
        angular = self.tree.frames.links[joint.body].body.hinge.kind.angular
        if not angular and joint.map is not None:  # of a custom hinge
            return bool(np.abs(joint.map[:3, i]).max() > NOISE * np.abs(joint.map[:, i]).max())
        return angular[i]

    def extent(self, q: np.ndarray) -> float:
        """Largest distance between origins of its bodies, m."""
        poses, _ = self.poses(q)
        return max((float(np.linalg.norm(pose.position)) for pose in poses.values()), default=0.0)
