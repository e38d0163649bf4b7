"""Constants that callers and compiled entries share: numbers of integrators, and reports of steps, checks and
switches."""

from __future__ import annotations

INTEGRATORS = {"rk4": 0, "semi_implicit": 1, "implicit": 2}
RK4, SEMI_IMPLICIT, IMPLICIT = range(3)

#: status of a step
OK, NOT_FINITE, DIVERGED, LOOP_OPEN, CROWDED = range(5)
#: velocities beyond this (rad/s or m/s) count as divergence
FASTEST = 1e10
#: a disc is about to lie flat if the angle between its axle and the plane's normal is below this, rad: that is the
#: height of its centre over its radius
FLAT = 0.1

#: status of `readiness.check_entry`
READY, LIMITS_CROSSED, NOT_A_ROTATION, NOT_A_NUMBER = range(4)

#: reports of `switching.switch_loop_entry`: it was so before, it is done, the frames are farther apart than the reach
SWITCH_SAME, SWITCH_DONE, SWITCH_FAR = range(3)
#: report (16,): one of these; distance of the frames' origins, m; largest residual before, m or rad; energy lost, J;
#: how many numbers the impulse has; from RP_IMPULSE on, these, N·m·s and N·s: [moment; force] on body B in the user's
#: axes of frame a at b's origin, or, of loops that join none, one for each row
REPORT = 16
RP_STATUS, RP_DISTANCE, RP_RESIDUAL, RP_LOSS, RP_COUNT, RP_IMPULSE = range(6)
