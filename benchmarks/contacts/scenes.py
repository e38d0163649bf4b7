"""Scenes of bodies on a floor whose ends are known in closed form, as our models.

slide and roll   balls of radius r pushed at v₀: they slip until 2 v₀ / (7 µ g), and roll with 5/7 of their speed
slide and stop   boxes pushed at v₀: they stop after v₀² / (2 µ g)
stack            balls on each other stay where they are
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limberjack.engine.model.elements.contact import Contact
from limberjack.engine.model.elements.shape import Shape
from limberjack.engine.model.system import Body, Hinge, Inertia, System
from limberjack.engine.model.validate import validate

GRAVITY, RADIUS, MASS, SPACING = 9.81, 0.1, 1.0, 0.5
#: s, after which places are compared
SECONDS = 0.5


@dataclass(frozen=True)
class Scene:
    """`count` balls, or boxes of twice the radius, in a row or, for a stack, on each other.

    speed : along y at the start, m/s;  friction : of all contacts
    """

    name: str
    count: int
    round: bool = True
    stacked: bool = False
    speed: float = 0.0
    friction: float = 0.3

    @property
    def start(self) -> np.ndarray:
        """Places (count, 3) of the centres at the start, m."""
        along = (0.0, 0.0, 2.0 * RADIUS) if self.stacked else (SPACING, 0.0, 0.0)
        places: np.ndarray = np.array([0.0, 0.0, RADIUS]) + np.arange(self.count)[:, None] * np.array(along)
        return places

    @property
    def end(self) -> np.ndarray:
        """Places (count, 3) of the centres after SECONDS, in closed form, m."""
        slows, way = self.friction * GRAVITY, 0.0
        if self.speed > 0.0 and self.round:
            slips = 2.0 * self.speed / (7.0 * slows)
            way = self.speed * slips - 0.5 * slows * slips**2 + 5.0 / 7.0 * self.speed * (SECONDS - slips)
        elif self.speed > 0.0:
            way = self.speed**2 / (2.0 * slows)
        places: np.ndarray = self.start + np.array([0.0, way, 0.0])
        return places

    @property
    def moment(self) -> float:
        """Moment of inertia of each body, kg·m²."""
        return MASS * RADIUS**2 * (0.4 if self.round else 2.0 / 3.0)

    @property
    def touches(self) -> list[tuple[int, int]]:
        """Pairs of bodies that touch, -1 for the floor."""
        return [(i - 1 if self.stacked else -1, i) for i in range(self.count)]

    def system(self) -> System:
        """Our model: nearly rigid contacts, in which nothing is tuned."""
        names = [f"b{i}" for i in range(self.count)]
        start = zip(names, self.start, strict=True)
        bodies = tuple(Body(name, self._inertia(), self._hinge(name, place)) for name, place in start)
        kind, size = ("sphere", np.array([RADIUS])) if self.round else ("box", np.full(3, 2.0 * RADIUS))
        shapes = (
            Shape(None, "plane", np.ones(2), name="floor"),
            *(Shape(name, kind, size, name=name) for name in names),
        )
        laws = tuple(
            Contact(f"c{j}", ("floor" if i < 0 else names[i],), (names[j],), friction=self.friction)
            for i, j in self.touches
        )
        gravity = np.array([0.0, 0.0, -GRAVITY])
        return validate(System(self.name, bodies, gravity=gravity, shapes=shapes, contacts=laws))

    def _inertia(self) -> Inertia:
        return Inertia(MASS, np.zeros(3), self.moment * np.eye(3))

    def _hinge(self, name: str, place: np.ndarray) -> Hinge:
        q0, v0 = np.array([1.0, 0.0, 0.0, 0.0, *place]), np.array([0.0, 0.0, 0.0, 0.0, self.speed, 0.0])
        return Hinge(f"{name} free", "free", None, q0=q0, v0=v0)


def scenes(balls: tuple[int, ...], boxes: tuple[int, ...], stacks: tuple[int, ...]) -> list[Scene]:
    """The scenes of a run."""
    found = [Scene(f"{n} ball{'s' * (n > 1)}", n, speed=1.0, friction=0.2) for n in balls]
    found += [Scene(f"{n} box{'es' * (n > 1)}", n, round=False, speed=1.0) for n in boxes]
    return found + [Scene(f"stack of {n}", n, stacked=True) for n in stacks]
