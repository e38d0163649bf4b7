"""What the scripts of flexible spacecraft share: input shaping, attitude by reaction wheels, deflections."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

import limberjack as lj

#: a reference over time: angle or place, and its rate
Reference = Callable[[float], tuple[float, float]]


def shaped(reference: Reference, frequencies: Sequence[float], ratio: float = 0.005) -> Reference:
    """The reference through a zero-vibration-and-derivative shaper for each frequency, Hz.

    Three impulses half a period apart, 1, 2κ, κ² over (1 + κ)², κ = exp(-πζ/√(1 - ζ²)): what the first excites, the
    others take away again (Singer and Seering, 1990).
    """
    times, weights = np.zeros(1), np.ones(1)
    kappa = np.exp(-np.pi * ratio / np.sqrt(1.0 - ratio * ratio))
    impulses = np.array([1.0, 2.0 * kappa, kappa * kappa]) / (1.0 + kappa) ** 2
    for frequency in frequencies:
        times = np.add.outer(times, np.arange(3) / (2.0 * frequency)).ravel()
        weights = np.multiply.outer(weights, impulses).ravel()

    def sum_of_delayed(time: float) -> tuple[float, float]:
        parts = np.array([reference(time - delay) for delay in times])
        return float(weights @ parts[:, 0]), float(weights @ parts[:, 1])

    return sum_of_delayed


def quickest(angle: float, start: float, duration: float) -> Reference:
    """Half the time at full acceleration, half at full braking."""

    def turning(time: float) -> tuple[float, float]:
        s = min(max((time - start) / duration, 0.0), 1.0)
        if s < 0.5:
            return angle * 2.0 * s * s, angle * 4.0 * s / duration
        return angle * (1.0 - 2.0 * (1.0 - s) ** 2), angle * 4.0 * (1.0 - s) / duration

    return turning


class Wheels:
    """Attitude by reaction wheels: T = J (dω_r/dt - ω₀² e - 1.4 ω₀ (ω - ω_r)), shared with the least torque.

    J (3, 3) is the inertia about the centre of mass at the start. Wheel axes come from the mass matrix: a wheel's
    column is its inertia times its axis.

    simulation : the engine; base : the free body to point, with a gyro called "rate"; wheels : actuators of wheels
    bandwidth : ω₀ / 2π, Hz; period : of the controller, s
    """

    def __init__(
        self, simulation: lj.Simulation, base: str, wheels: Sequence[str], bandwidth: float, period: float
    ) -> None:
        self.base, self.names, self.period = base, tuple(wheels), period
        system, M = simulation.system, simulation.dynamics.mass_matrix(simulation.q)
        first = system.velocity_names.index(f"{base}.wx")
        turn, shift = np.arange(first, first + 3), np.arange(first + 3, first + 6)
        columns = np.array([system.velocity_names.index(name) for name in self.names])
        self.axes = M[np.ix_(turn, columns)] / np.diag(M)[columns]
        coupling = M[np.ix_(turn, shift)]
        inertia = M[np.ix_(turn, turn)] - coupling @ coupling.T / M[shift[0], shift[0]]
        self._inertia, self._omega = inertia, 2.0 * np.pi * bandwidth

    def hold(
        self, simulation: lj.Simulation, about: Sequence[float] = (1, 0, 0), turn: Reference | None = None
    ) -> None:
        """Command the wheels for the next period: attitude as at zero, turned about an axis by the reference."""
        axis, time = np.asarray(about, dtype=float), simulation.time
        angle, rate = turn(time) if turn else (0.0, 0.0)
        later = turn(time + self.period)[1] if turn else 0.0
        R = simulation.dynamics.pose(self.base, simulation.q)[0]
        asked = axis * (later - rate) / self.period - self._omega**2 * apart(R, axis * angle)
        asked -= 1.4 * self._omega * (simulation.output["rate"] - axis * rate)
        for name, value in zip(self.names, -np.linalg.pinv(self.axes) @ self._inertia @ asked, strict=True):
            simulation.command[name] = float(value)


def apart(R: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Rotation vector (3,) from the attitude of a rotation vector to the attitude R, if small, rad."""
    difference = rotation(wanted).T @ R
    skew = difference - difference.T
    return np.array([skew[2, 1], skew[0, 2], skew[1, 0]]) / 2.0


def rotation(vector: np.ndarray) -> np.ndarray:
    """R (3, 3) of a rotation vector."""
    angle = float(np.linalg.norm(vector))
    x, y, z = vector / angle if angle else vector
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross)


def deflection(body: str, node: str) -> Callable[[lj.Simulation], np.ndarray]:
    """How far a node of a flexible body is from its place in the undeformed body, body axes (3,), m."""

    def seen(simulation: lj.Simulation) -> np.ndarray:
        dynamics = simulation.dynamics
        (R, p), (_, tip) = dynamics.pose(body, simulation.q), dynamics.pose(f"{body}.{node}", simulation.q)
        (R0, p0), (_, tip0) = (dynamics.pose(name, simulation.system.q0) for name in (body, f"{body}.{node}"))
        return np.asarray(R.T @ (tip - p) - R0.T @ (tip0 - p0))

    return seen
