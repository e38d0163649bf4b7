"""What the second order of the integrals is for: a spinning cantilever stiffens as published, and not without it.

The kinetic energy of a body that spins at Ω about an axis of its root adds -½ Ω² J2 to the stiffness of its modes.
Oracle: frequency parameters of a uniform Euler-Bernoulli beam without hub, by Wright, Smith, Thresher and Wang, Journal
of Applied Mechanics 49 (1982), table for hub radius 0; and the exact relation between both planes of bending.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import eigh

from limberjack.engine.modes import integrals
from limberjack.engine.modes.effective_mass import with_modes
from limberjack.engine.modes.frame import Section
from limberjack.engine.modes.frame_structure import frame_structure
from limberjack.engine.modes.reduction import Reduction, reduce_structure
from tests.modes.test_beams import ALUMINIUM, straight

#: spin and first frequency of flapping, both times sqrt(m L⁴/EI)
FLAPPING = {0: 3.5160, 1: 3.6816, 2: 4.1373, 3: 4.7973, 4: 5.5850, 5: 6.4495, 6: 7.3604, 8: 9.2568, 12: 13.1702}
#: rotary inertia and twist of the section are nothing beside the bending
SLENDER = Section(area=4e-4, y=1e-12, z=1e-12, torsion=1e-10)
LENGTH = 2.0


@pytest.fixture(scope="module")
def blade():
    data = reduce_structure(frame_structure(straight(40, SLENDER)), Reduction("cantilever", "root", ("tip",), 20))
    scale = np.sqrt(ALUMINIUM.density * SLENDER.area * LENGTH**4 / (ALUMINIUM.young * SLENDER.z))
    return data, scale


def plane(data, axis: int) -> list[int]:
    """Modes that bend along one axis."""
    return [
        r
        for r in range(data.modes)
        if np.abs(data.shapes[:, 3 + axis, r]).max() > 0.9 * np.abs(data.shapes[:, 3:, r]).max()
    ]


def frequencies(data, modes, spin, **options) -> np.ndarray:
    """ω² of small oscillations about steady spin about z; within one plane there is no gyroscopic coupling."""
    made = integrals(with_modes(data, modes), "root", **options)
    return eigh(made.K - 0.5 * spin**2 * made.J2[:, :, 2, 2], made.Mff, eigvals_only=True)


@pytest.mark.parametrize("spin", list(FLAPPING))
def test_flapping_and_lagging_stiffen_as_published(blade, spin):
    data, scale = blade
    rotated = turn_degenerate(data)
    flap = frequencies(rotated, plane(rotated, 2), spin / scale)[0]
    assert np.sqrt(flap) * scale == pytest.approx(FLAPPING[spin], rel=1e-3)
    lag = frequencies(rotated, plane(rotated, 1), spin / scale)[0]
    assert lag * scale**2 == pytest.approx(flap * scale**2 - spin**2, abs=1e-6 * (1 + spin**2))  # ω_lag² = ω_flap² - Ω²


def turn_degenerate(data):
    """Equal bending stiffness leaves the planes of the modes open: turn each pair into y and z."""
    mix = np.eye(data.modes)
    tip = data.shapes[data.node("tip"), 4:6]
    pairs = [(r, r + 1) for r in range(0, data.modes - 1, 2)]
    for a, b in pairs:
        mix[np.ix_([a, b], [a, b])] = np.linalg.qr(np.linalg.inv(tip[:, [a, b]]))[0]
    turned = mix.T @ data.foreshortening @ mix
    return replace(data, shapes=data.shapes @ mix, foreshortening=turned, mass=mix.T @ data.mass @ mix,
                   stiffness=mix.T @ data.stiffness @ mix)  # fmt: skip


def test_without_the_second_order_displacement_it_softens(blade):
    """The known fault of linear kinematics: centrifugal force without stiffening makes lagging unstable."""
    data, scale = blade
    rotated = turn_degenerate(data)
    lag = frequencies(rotated, plane(rotated, 1), 4.0 / scale, geometric=False)[0]
    assert lag < 0.0
    still = frequencies(rotated, plane(rotated, 1), 4.0 / scale, variant="linearized")[0]
    assert np.sqrt(still) * scale == pytest.approx(FLAPPING[0], rel=1e-3)
