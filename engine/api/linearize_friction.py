"""Friction of touches in a linear model: sliding, spinning and rolling, each about to stick or in a direction.

Of a touch with normal n, velocity u and angular velocity ω of the second shape against the first, and a length ℓ, the
size of the smaller shape,

    slides: x = u - (n · u) n,    spins: x = ℓ (n · ω) n,    rolls: x = ℓ (ω - (n · ω) n)

For a unit of normal force each takes µ x / |x|, to first order in x, or sticks where x is 0. With ℓ all are in m/s and
N, and µ of the moments is their coefficient over ℓ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SLIDES, SPINS, ROLLS = range(3)
#: what moves no faster sticks, m/s
_STICKS = 1e-6


def ways_of_friction(normal: np.ndarray, motion: np.ndarray) -> np.ndarray:
    """x (n, 3, 3) that slides, spins and rolls, for normals (n, 3) and motions [ℓ ω; u] (n, 6)."""
    turn, speed = motion[:, :3], motion[:, 3:]
    about = np.sum(normal * turn, axis=1)[:, None] * normal
    away = np.sum(normal * speed, axis=1)[:, None] * normal
    return np.stack([speed - away, about, turn - about], axis=1)


@dataclass(frozen=True, eq=False)
class Friction:
    """µ (n, 3) and x (n, 3, 3) of touches at the given state."""

    coefficients: np.ndarray
    x: np.ndarray

    @property
    def pace(self) -> np.ndarray:
        """|x| (n, 3)."""
        return np.asarray(np.linalg.norm(self.x, axis=2))

    @property
    def sticks(self) -> np.ndarray:
        """(n, 3), which hold."""
        return (self.coefficients > 0.0) & (self.pace <= _STICKS)

    @property
    def ways(self) -> np.ndarray:
        """x / |x| (n, 3, 3); 0 where nothing rubs, or sticks."""
        rubs = (self.coefficients > 0.0) & ~self.sticks
        return np.where(rubs[..., None], self.x / np.maximum(self.pace, _STICKS)[..., None], 0.0)

    def slip(self, x: np.ndarray) -> np.ndarray:
        """|x| of what slides to first order (n,)."""
        change = np.sum(self.ways[:, SLIDES] * (x - self.x)[:, SLIDES], axis=1)
        return np.asarray(self.pace[:, SLIDES] + change)

    def pull(self, x: np.ndarray) -> np.ndarray:
        """[moment / ℓ; force] (n, 6) of µ x / |x|, to first order, for a unit of normal force."""
        ways, change = self.ways, x - self.x
        across = change - np.sum(ways * change, axis=2)[..., None] * ways
        direction = ways + across / np.maximum(self.pace, _STICKS)[..., None]
        taken = np.where(self.sticks[..., None], 0.0, self.coefficients[..., None] * direction)
        return np.hstack([taken[:, SPINS] + taken[:, ROLLS], taken[:, SLIDES]])
