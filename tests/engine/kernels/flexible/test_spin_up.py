"""The spin-up manoeuvre: a beam whose root is turned up to a steady rate lags behind, recovers and stays stretched.

Beam and manoeuvre of Simo and Vu-Quoc, Journal of Applied Mechanics 53 (1986), "On the dynamics of flexible beams under
large overall motions", with the law of Kane, Ryan and Banerjee, Journal of Guidance, Control, and Dynamics 10 (1987):

    θ̈ = ω_s/T (1 - cos(2π t/T)) until T, then 0;  ω_s = 6 rad/s, T = 15 s,  L = 10 m, EI = 1.4e4, EA = 2.8e7, GA = 1e7,
    ρA = 1.2, ρI = 6e-4

Oracles for the history of the tip: rigid segments, and Exudyn's geometrically exact beam, which is the papers' own.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.model.system import Body, Hinge, Inertia
from tests.engine.kernels.flexible.beams import Strip, hung
from tests.engine.kernels.flexible.segments import Z, driven, history, segments, stable_step
from tests.validation.figures import figure

STRIP = Strip(axial=2.8e7, across=1e4)
SPIN, RISE, SHEAR, END, EVERY = 6.0, 15.0, 1e7, 17.0, 0.05
TIMES = EVERY * np.arange(1, round(END / EVERY) + 1)
#: of the hub, kg·m²: the beam's 400 do not disturb its motion
HUB = 1e9


def angle(t: float) -> float:
    """θ(t), rad."""
    if t > RISE:
        return SPIN * (t - 0.5 * RISE)
    return SPIN / RISE * (0.5 * t**2 + (RISE / (2.0 * np.pi)) ** 2 * (np.cos(2.0 * np.pi * t / RISE) - 1.0))


def torque(t: float) -> Mapping[str, float]:
    """On the hub, N·m."""
    return {"turn.drive": HUB * SPIN / RISE * (1.0 - np.cos(2.0 * np.pi * t / RISE)) if t < RISE else 0.0}


def tip(bodies: list[Body], name: str, at: float, dt: float) -> np.ndarray:
    """(times, 3) displacement of the tip in the axes of the hub, m, and the hub's distance from θ(t), rad."""
    hub = Body("hub", Inertia(1.0, np.zeros(3), HUB * np.eye(3)), Hinge("turn", "revolute", None, axes=Z))
    point = {name: np.array([at, 0.0, 0.0])}
    found = history(driven([hub, *bodies], ["turn"]), point, torque, END, EVERY, dt)
    missed = found[:, 0] - [angle(t) for t in TIMES]
    return np.column_stack([in_hub(found[:, 1:3], found[:, 0]), missed])


def in_hub(position: np.ndarray, turned: np.ndarray) -> np.ndarray:
    c, s = np.cos(turned), np.sin(turned)
    x, y = position.T
    return np.column_stack([c * x + s * y - STRIP.length, c * y - s * x])


def modal(**options: object) -> np.ndarray:
    clamp = Hinge("clamp", "fixed", "hub")
    return tip(hung(STRIP.data("cantilever", 12), clamp, **options), "strip.tip", 0.0, 1e-3)


@pytest.fixture(scope="module")
def found() -> np.ndarray:
    return modal()


def test_the_tip_lags_and_recovers_as_that_of_segments(found):
    """At most 0.574 m behind, at 6.75 s, 19 mm of it shortening; within 2 mm of twenty segments at all times."""
    expected = tip(segments(STRIP, 20, "s", "hub"), "s19", 0.5, stable_step(STRIP, 20, EVERY))
    np.testing.assert_allclose([found[:, 2], expected[:, 2]], 0.0, rtol=0, atol=1e-4)
    figure("lag of the tip", found[:, 1], expected[:, 1], unit="m", oracle="20 rigid segments", atol=2.0e-3)
    stretched = 36.0 * 1.2 * 10.0**3 / (3.0 * 2.8e7) * 1.05
    figure(
        "tip along the beam", found[:, 0], expected[:, 0], unit="m", oracle="20 rigid segments", atol=stretched
    )  # segments do not stretch
    figure("largest lag", found[:, 1].min(), expected[:, 1].min(), unit="m", oracle="20 rigid segments", rtol=2e-3)
    assert abs(TIMES[found[:, 1].argmin()] - TIMES[expected[:, 1].argmin()]) <= EVERY


def test_it_stays_stretched_by_the_centrifugal_force(found):
    """ω² ρA L³ / 3 EA = 5.14e-4 m, of which the first axial mode, the only one of the twelve, has 96 / π⁴."""
    steady = SPIN**2 * STRIP.line_mass * STRIP.length**3 / (3.0 * STRIP.axial)
    assert steady == pytest.approx(5.14e-4, abs=1e-6)
    bent = 0.6 * found[-20:, 1] ** 2 / STRIP.length  # a cantilever's end moves inwards by 6/5 y² / 2L
    figure(
        "stretch by the centrifugal force",
        np.mean(found[-20:, 0] + bent),
        96.0 / np.pi**4 * steady,
        unit="m",
        oracle="ω² ρA L³ / 3EA, its first axial mode",
        rtol=2e-3,
    )


def test_without_geometric_stiffening_it_breaks_away():
    """What Kane, Ryan and Banerjee warn of: above its first frequency (3.8 rad/s) the softened beam has no way back."""
    try:
        lost = np.abs(modal(geometric=False)[-1, 1])
    except lj.SimulationError:
        lost = np.inf
    assert lost > 5.0


@pytest.mark.long
def test_the_tip_moves_as_that_of_exudyns_geometrically_exact_beam(found):
    """Ten elements, generalized-α: 1.1 mm of a lag of 574 mm (0.6 with twenty), 0.05 mm along the beam."""
    exact = exudyn_tip(10, 0.01)
    figure(
        "lag of the tip beside Exudyn",
        found[:, 1],
        exact[:, 1],
        unit="m",
        oracle="Exudyn's geometrically exact beam",
        atol=1.5e-3,
    )
    figure(
        "tip along the beam beside Exudyn",
        found[:, 0],
        exact[:, 0],
        unit="m",
        oracle="Exudyn's geometrically exact beam",
        atol=7.0e-5,
    )


def exudyn_tip(elements: int, dt: float) -> np.ndarray:
    exu = pytest.importorskip("exudyn", reason="Exudyn is not installed (extra test)")
    from exudyn import itemInterface as item

    container = exu.SystemContainer()
    mbs, l = container.AddSystem(), STRIP.length / elements
    nodes = [mbs.AddNode(item.NodeRigidBody2D(referenceCoordinates=[k * l, 0, 0])) for k in range(elements + 1)]
    beam = {
        "length": l,
        "massPerLength": STRIP.line_mass,
        "crossSectionInertia": STRIP.rotary,
        "bendingStiffness": STRIP.bending,
        "axialStiffness": STRIP.axial,
        "shearStiffness": SHEAR,
    }
    for k in range(elements):
        mbs.AddObject(item.ObjectBeamGeometricallyExact2D(nodeNumbers=nodes[k : k + 2], **beam))
    ground = mbs.AddMarker(item.MarkerNodeCoordinate(nodeNumber=mbs.AddNode(item.NodePointGround()), coordinate=0))
    for coordinate in range(3):
        root = mbs.AddMarker(item.MarkerNodeCoordinate(nodeNumber=nodes[0], coordinate=coordinate))
        driver = {"offsetUserFunction": lambda mbs, t, i, o: float(angle(t))} if coordinate == 2 else {}
        mbs.AddObject(item.ObjectConnectorCoordinate(markerNumbers=[ground, root], **driver))
    wanted = exu.OutputVariableType.Position
    sensor = mbs.AddSensor(
        item.SensorNode(nodeNumber=nodes[-1], outputVariableType=wanted, storeInternal=True, writeToFile=False)
    )
    mbs.Assemble()
    settings = exu.SimulationSettings()
    settings.solution.file.write, settings.solution.sensors.writePeriod = False, EVERY
    settings.timeIntegration.verboseMode, settings.timeIntegration.endTime = 0, END
    settings.timeIntegration.numberOfSteps = round(END / dt)
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    mbs.SolveDynamic(settings)
    stored = mbs.GetSensorStoredData(sensor)
    moved = in_hub(stored[:, 1:3], np.array([angle(t) for t in stored[:, 0]]))
    return np.column_stack([np.interp(TIMES, stored[:, 0], moved[:, i]) for i in range(2)])
