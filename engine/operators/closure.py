"""What loops forbid, as operators: A (B* V) + C θ̇ = 0, in the axes the user writes (000 eq. 0.20).

A loop that joins frame a on one body with frame b on another forbids directions of [w; u], the velocity of b relative
to a in the axes of a: w the relative angular velocity, u = dd/dt, d the position of b's origin in a. With R the
rotation of b in a and V̂ the velocities of both frames in their own axes, [w; u] = diag(R, R) (V̂_b - φ*(a, b) V̂_a).
Loops that constrain coordinates have rows C over the velocities instead. All of it is analytic in q, so that a complex
step along v gives the rates of the rows to rounding.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.model.system import Loop, Pose, Wheel
from limberjack.engine.operators.algebra import Operator
from limberjack.engine.operators.blocks import BlockOperator
from limberjack.engine.operators.graph import Space
from limberjack.engine.operators.hinge_motion import forbidden
from limberjack.engine.operators.spatial import phi
from limberjack.engine.operators.tree_model import TreeModel, hinge_slices, moved_coordinates

#: step along a motion whose imaginary part is the derivative; its square is below rounding
STEP = 1e-100


class Closure:
    """The rows of some loops over a tree at one state; frames on bodies outside of the tree stand still."""

    def __init__(self, tree: TreeModel, loops: Sequence[Loop]) -> None:
        self.tree, self.loops = tree, tuple(loops)
        self.joining = {loop.name: loop.hinge for loop in self.loops if loop.joins and loop.hinge is not None}
        self.poses = {loop.name: relative_pose(tree, loop) for loop in self.loops if loop.joins}
        blocks = [self._own_rows(loop) for loop in self.loops]
        names = tuple(loop.name for loop in self.loops)
        self.row_space = Space(tree.graph, "rows", names, tuple(len(next(iter(own.values()))) for own in blocks))
        ends = tuple(f"{name}.{end}" for name in self.poses for end in "ab")
        self.frame_space = Space(tree.graph, "frames", ends, (6,) * len(ends))
        self._blocks = blocks

    @cached_property
    def A(self) -> BlockOperator:
        """Rows × frames: A V̂ = 0. (000 eq. 0.20)"""
        blocks, columns = {}, {name: 2 * i for i, name in enumerate(self.poses)}
        for i, loop in enumerate(self.loops):
            if loop.joins:
                pose, column = self.poses[loop.name], columns[loop.name]
                turned = self._blocks[i][0] @ np.kron(np.eye(2), pose.rotation)
                blocks[i, column], blocks[i, column + 1] = -turned @ phi(pose).T, turned
        return BlockOperator(self.row_space, self.frame_space, blocks, "A")

    @cached_property
    def B(self) -> BlockOperator:
        """Pick-off, bodies × frames: V̂ = B* V are the velocities of the frames in their own axes. (000 eq. 0.18)"""
        tree, frames = self.tree, []
        for loop in self.loops:
            for body, pose in _ends(loop) if loop.joins else ():
                carried = body is not None and body in tree.graph.names
                frames.append(tree.frame(str(body), pose) if carried else (-1, pose))
        return tree.B(self.frame_space, frames, "B")

    @cached_property
    def C(self) -> BlockOperator:
        """Rows × velocities, of loops that constrain coordinates; zero for those that join frames."""
        blocks = {
            (i, k): block
            for i, (loop, own) in enumerate(zip(self.loops, self._blocks))
            for k, block in own.items()
            if not loop.joins
        }
        return BlockOperator(self.row_space, self.tree.velocity_space, blocks, "C")

    @cached_property
    def Y(self) -> Operator:
        """A B* φ* H* + C, rows × velocities: Y θ̇ = 0. (001 eq. 59)"""
        return self.A * self.B.T * self.tree.phi.T * self.tree.H.T + self.C

    def rate(self, v: np.ndarray) -> np.ndarray:
        """dY/dt (rows, velocities) along v (nv of the system,); ArgumentError where q is complex already."""
        system = self.tree.system
        if np.iscomplexobj(self.tree.q):
            raise ArgumentError("rates of loops are computed by complex steps, so q must be real; give a real q.")
        q = moved_coordinates(system, self.tree.q, STEP * 1j * v)
        return Closure(TreeModel(self.tree.graph, q, None), self.loops).Y.to_array().imag / STEP

    def _own_rows(self, loop: Loop) -> dict[int, np.ndarray]:
        """Forbidden directions of [w; u] (m, 6) under 0, or rows over the velocities by place of the body."""
        if loop.type == "distance":
            d = self.poses[loop.name].position
            return {0: np.concatenate([np.zeros(3), d / loop.length])[None]}
        if loop.wheel is not None:
            return {0: _touching(loop.wheel, self.poses[loop.name].rotation)}
        if loop.hinge is not None:
            return {0: forbidden(loop.hinge, self.poses[loop.name].rotation)}
        return self._coordinate_rows(loop)

    def _coordinate_rows(self, loop: Loop) -> dict[int, np.ndarray]:
        """Of a coupling Σ (c1 q + c2 q² + …) = offset, or a hinge that does not move."""
        rows: dict[int, np.ndarray] = {}
        slices = hinge_slices(self.tree.system)
        for k, (i, body) in enumerate(zip(self.tree.graph.places, self.tree.graph.bodies)):
            hinge, own_q = body.hinge, slices[i][0]
            if loop.type == "lock" and hinge.name == loop.locked:
                rows[k] = np.eye(hinge.nv)
            for term in loop.terms:
                if term.coordinate in hinge.coordinate_names:
                    j = hinge.coordinate_names.index(term.coordinate)
                    x = self.tree.q[own_q][j]
                    slope = sum((n + 1) * factor * x**n for n, factor in enumerate(term.factors))
                    rows[k] = rows.get(k, 0.0) + slope * np.eye(hinge.nv)[j : j + 1]
        return rows


def relative_pose(tree: TreeModel, loop: Loop) -> Pose:
    """Pose of frame b in frame a of a joining loop."""
    (body_a, a), (body_b, b) = _ends(loop)
    return tree.inertial_pose(body_a, a).inverse() @ tree.inertial_pose(body_b, b)


def _touching(wheel: Wheel, R: np.ndarray) -> np.ndarray:
    """Rows (3, 6) that hold the point of a wheel that touches its plane, x, y of frame a: u + w × p = 0, p from the
    wheel's centre down along it."""
    p = np.array([0.0, 0.0, -wheel.radius], dtype=R.dtype)
    if wheel.shape == "disc":
        n = R @ wheel.axis
        steep = np.sqrt(n[0] * n[0] + n[1] * n[1])
        p = wheel.radius / steep * np.array([n[2] * n[0], n[2] * n[1], -steep * steep])
    across = np.array([[0.0, p[2], -p[1]], [-p[2], 0.0, p[0]], [p[1], -p[0], 0.0]])
    return np.asarray(np.hstack([across, np.eye(3)])[[2, 0, 1]])


def held(tree: TreeModel, loop: Loop) -> Loop:
    """A switched loop as it holds what is there when it closes here: its frame b, length or offset."""
    if loop.type == "distance":
        return dataclasses.replace(loop, length=float(np.linalg.norm(relative_pose(tree, loop).position)))
    if loop.hinge is None:
        return loop  # a row over velocities does not depend on the offset
    a = tree.inertial_pose(loop.hinge.parent, loop.hinge.inboard)
    outboard = tree.inertial_pose(loop.body, Pose()).inverse() @ a
    return dataclasses.replace(loop, hinge=dataclasses.replace(loop.hinge, outboard=outboard))


def _ends(loop: Loop) -> tuple[tuple[str | None, Pose], tuple[str | None, Pose]]:
    hinge = loop.hinge
    assert hinge is not None
    return (hinge.parent, hinge.inboard), (loop.body, hinge.outboard)
