"""What the second order of the integrals is for: a spinning cantilever stiffens as published, and not without it.

The kinetic energy of a body that spins at Ω about an axis of its root adds -½ Ω² J2 to the stiffness of its modes.
Oracle: frequency parameters of a uniform Euler-Bernoulli beam without hub, by Wright, Smith, Thresher and Wang, Journal
of Applied Mechanics 49 (1982), table for hub radius 0; and the exact relation between both planes of bending.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh

from limberjack.engine.modes import integrals
from limberjack.engine.modes.effective_mass import with_modes
from limberjack.engine.modes.frame import Section
from limberjack.engine.modes.frame_structure import frame_structure
from limberjack.engine.modes.reduction import Reduction, reduce_structure
from tests.engine.modes.test_beams import ALUMINIUM, straight
from tests.validation.figures import figure

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
    flap = frequencies(data, plane(data, 2), spin / scale)[0]
    figure("flapping frequency number", np.sqrt(flap) * scale, FLAPPING[spin], oracle="Wright et al. (1982)", rtol=1e-3)
    lag = frequencies(data, plane(data, 1), spin / scale)[0]
    figure(
        "squared lagging frequency number",
        lag * scale**2,
        flap * scale**2 - spin**2,
        oracle="ω_flap² - Ω²",
        atol=1e-6 * (1 + spin**2),
    )  # ω_lag² = ω_flap² - Ω²


def test_without_the_second_order_displacement_it_softens(blade):
    """The known fault of linear kinematics: centrifugal force without stiffening makes lagging unstable."""
    data, scale = blade
    lag = frequencies(data, plane(data, 1), 4.0 / scale, geometric=False)[0]
    figure("squared lagging frequency without stiffening", lag, oracle="it is unstable", below=0.0)
    still = frequencies(data, plane(data, 1), 4.0 / scale, variant="linearized")[0]
    figure(
        "frequency number of linearized kinematics", np.sqrt(still) * scale, FLAPPING[0], oracle="at rest", rtol=1e-3
    )


@pytest.mark.parametrize(("mass", "order"), [("lumped", 3), ("consistent", 4)])
def test_centrifugal_terms_converge_as_the_frequencies_do(mass, order):
    """The second flapping frequency at spin 12: 37.60358, where all terms come from the same bodies.

    Oracle: both masses agree there to 1e-6 with 128 elements; the first one is published.
    """
    errors = []
    for elements in (8, 16, 32):
        data = reduce_structure(
            frame_structure(straight(elements, SLENDER), mass), Reduction("cantilever", "root", ("tip",), 24)
        )
        scale = np.sqrt(ALUMINIUM.density * SLENDER.area * LENGTH**4 / (ALUMINIUM.young * SLENDER.z))
        squares = frequencies(data, plane(data, 2), 12.0 / scale)
        errors.append(abs(np.sqrt(squares[1]) * scale / 37.603584 - 1.0))
    figure(
        "flapping frequency number at spin 12",
        np.sqrt(squares[0]) * scale,
        FLAPPING[12],
        oracle="Wright et al. (1982)",
        rtol=1e-4,
    )
    rates = np.log2(np.array(errors[:-1]) / errors[1:])
    figure("order of convergence", rates.min(), oracle="of the elements", above=order - 0.2)
