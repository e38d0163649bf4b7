"""Parts of planar mechanisms: bars that turn about z, pins that close loops, and motions of one freedom."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.integrate import solve_ivp

import limberjack as lj
from limberjack.engine.model.system import Body, Hinge, Inertia, Loop, Pose
from limberjack.engine.model.validate import validate

Z = np.array([[0.0, 0.0, 1.0]])
GRAVITY = np.array([0.0, -9.81, 0.0])
Point = Sequence[float]


def at(point: Point) -> Pose:
    """A frame at a point, x and y or x, y and z."""
    return Pose(position=np.array([*point, 0.0][:3], dtype=float))


def lamina(mass: float, com: Point, about_com: float) -> Inertia:
    """Flat body with the moment of inertia `about_com` about the z axis through its centre of mass."""
    return Inertia(mass, at(com).position, about_com * np.diag([0.5, 0.5, 1.0]))


def rod(mass: float, end: Point) -> Inertia:
    """Slender homogeneous rod from the origin to `end`."""
    e = at(end).position
    return Inertia(mass, 0.5 * e, mass / 12.0 * (e @ e * np.eye(3) - np.outer(e, e)))


def turning(
    name: str, parent: str | None, point: Point, inertia: Inertia, angle: float, rate: float = 0.0, **options
) -> Body:
    """A body that turns about z at a point of its parent, by `angle` now."""
    hinge = Hinge(name, "revolute", parent, at(point), axes=Z, q0=np.array([angle]), v0=np.array([rate]), **options)
    return Body(name, inertia, hinge)


def sliding(
    name: str, parent: str | None, point: Point, axis: Point, inertia: Inertia, x: float, rate: float = 0.0, **options
) -> Body:
    """A body that slides along an axis of its parent."""
    axes = at(axis).position[None]
    hinge = Hinge(name, "prismatic", parent, at(point), axes=axes, q0=np.array([x]), v0=np.array([rate]), **options)
    return Body(name, inertia, hinge)


def pin(name: str, a: str | None, point_a: Point, b: str | None, point_b: Point, cut: str = "revolute") -> Loop:
    """A hinge about z that the tree cuts ("revolute": three of its five rows are redundant in a plane), or a point."""
    kind, axes = ("point", np.zeros((0, 3))) if cut == "point" else ("hinge", Z)
    hinge = Hinge(name, "spherical" if cut == "point" else cut, a, at(point_a), at(point_b), axes)
    return Loop(name, kind, hinge, b)


def assembled(
    name: str,
    bodies: Sequence[Body],
    loops: Sequence[Loop],
    method: str | None = None,
    gravity: np.ndarray = GRAVITY,
    **options,
) -> lj.System:
    """A checked system, all loops by one method."""
    chosen = tuple(replace(loop, method=method) for loop in loops)
    return validate(lj.System(name, tuple(bodies), loops=chosen, gravity=np.asarray(gravity), **options))


@dataclass(frozen=True)
class OneFreedom:
    """A mechanism of one freedom x: kinetic energy A(x) x'² / 2, potential energy V(x), constant force Q along x.

    A x'' + A' x'² / 2 + V' = Q; A and V take complex x, which gives their derivatives to rounding.
    """

    A: Callable[[complex], complex]
    V: Callable[[complex], complex]
    Q: float = 0.0

    def acceleration(self, x: float, rate: float) -> float:
        h = 1e-30j
        slope = (self.A(x + h).imag * 0.5 * rate**2 + self.V(x + h).imag) / h.imag
        return float((self.Q - slope) / self.A(complex(x)).real)

    def motion(self, x: float, rate: float, times: Sequence[float]) -> np.ndarray:
        """[x, x'] (times, 2), integrated to a relative tolerance of 1e-13."""
        y = solve_ivp(
            lambda _t, y: [y[1], self.acceleration(*y)],
            (0.0, times[-1]),
            [x, rate],
            method="DOP853",
            t_eval=times,
            rtol=1e-13,
            atol=1e-13,
        )
        return y.y.T
