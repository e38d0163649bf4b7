"""The chaser's controller over arrays: arrays:guidance:controller. It closes in, latches, aligns, and mates.

Every number of the options is an array over the worlds (n,), so that a campaign may vary each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from limberjack.hil.devices.device import Wiring

#: the chaser's mass, kg, and moments, kg·m²;  largest force, N, and torque, N·m
MASS, INERTIA = 812.0, np.array([400.0, 600.0, 600.0])
MOST_FORCE, MOST_TORQUE = 60.0, 40.0
#: moments about the latched tip, kg·m²
LATCHED = INERTIA + np.array([0.0, 1.0, 1.0]) * 800.0 * 1.5**2
#: bandwidths of lateral and of angular control, of the latter free and latched, rad/s
LATERAL, ANGULAR, ALIGNING = 0.25, 0.4, 0.3
#: thrust towards the target from the first touch on, N
PRESS = 20.0
#: where the tip is before the chaser's centre, m
PROBE = 1.5


def controller(
    wiring: Wiring, speed: np.ndarray, miss: np.ndarray, tilt: np.ndarray, latch: Mapping[str, np.ndarray]
) -> Callable[[float, np.ndarray], np.ndarray]:
    """latch.closed, mate.closed and the wrench of the thrusters (n, 8) from navigation and the touch switch (n, 24).

    speed : (n,) at which it closes in, m/s;  miss : (n, 2) error of its aim in y and z, m;  tilt : (n,) about z, rad
    latch : {near: m, settle: s}, each (n,): arms the latch where the tip is so near, and the mate that long after
    signals: quaternion and place of the chaser, its ω and v in its axes, latch point, touch switch, tip,
        quaternion of the target
    """
    touched, held = np.zeros(wiring.worlds, dtype=bool), np.full(wiring.worlds, np.inf)

    def law(time: float, signals: np.ndarray) -> np.ndarray:
        turn, place, spin, velocity, goal = (signals[:, a:b] for a, b in ((0, 4), (4, 7), (7, 10), (10, 13), (13, 16)))
        touched[:] |= signals[:, 16] > 0.5
        apart = np.sqrt(np.sum((signals[:, 17:20] - goal) ** 2, axis=1))
        held[:] = np.where((apart < latch["near"]) & touched, np.minimum(held, time), held)
        mated = time > held + latch["settle"]
        captured = np.isfinite(held)
        wanted = np.stack([0.0 * tilt, 0.0 * tilt, 0.5 * tilt], axis=1)
        lean = np.sign(turn[:, :1]) * turn[:, 1:]
        target = np.sign(signals[:, 20:21]) * signals[:, 21:24]
        steer = -INERTIA * (2.0 * ANGULAR**2 * (lean - wanted) + 1.8 * ANGULAR * spin) * ~touched[:, None]
        align = -LATCHED * (2.0 * ALIGNING**2 * (lean - target) + 1.8 * ALIGNING * spin)
        torque = np.where(captured[:, None], align, steer)
        error = place[:, 1:] - goal[:, 1:] - miss
        error[:, 0] -= PROBE * tilt  # of the tip
        force = np.empty((len(signals), 3))
        force[:, 0] = np.where(touched, -PRESS, -MASS * 0.5 * (velocity[:, 0] + speed))
        force[:, 1:] = -MASS * (LATERAL**2 * error + 1.8 * LATERAL * velocity[:, 1:])
        force[:, 1:] *= ~touched[:, None]  # from here on the funnel guides
        force *= ~captured[:, None]
        torque = np.clip(torque, -MOST_TORQUE, MOST_TORQUE)
        force = np.clip(force, -MOST_FORCE, MOST_FORCE)
        return np.concatenate([captured[:, None], mated[:, None], torque, force], axis=1)

    return law
