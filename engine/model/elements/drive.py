"""A drive on one velocity coordinate."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Annotated, Literal

from limberjack.engine.files.schema_values import Name, NonNegative, Number, Positive
from limberjack.engine.model.elements.facts import Fact, Fail, Tuned, check_numbers
from limberjack.engine.model.elements.motor import Motor
from limberjack.engine.tables import plant as at

#: mode → which gains it has
MODES: dict[str, tuple[str, ...]] = {"torque": (), "servo": ("kp", "kd"), "velocity": ("kd",)}
_GAINS = "Give a finite number, gains zero or more"
_KP = Tuned("position gain", "AngularStiffness", "LinearStiffness")
_KD = Tuned("rate gain", "AngularDamping", "LinearDamping")
_LIMIT = Tuned("largest force", "TorqueBound", "ForceBound", vanishes=True)
_MAX_RATE = (
    "rate limit: at or beyond ±max_rate the drive gives no force that would increase the rate. It checks the rate only "
    "when a step evaluates it, so the rate may overshoot by one step. Mode `velocity` clips its command to ±max_rate"
)


@dataclass(frozen=True)
class Actuator:
    """A drive on one velocity coordinate, with up to three commands, held between updates.

    mode "torque": force = command.
    mode "servo":  force = kp (position − q) + kd (rate − v) + torque; commands name, name.rate, name.torque.
    mode "velocity": force = kd (rate − v) + torque; commands name, name.torque.
    With a ``motor`` this force is what the motor is asked for.
    """

    name: Annotated[Name, Fact("unique among actuators; name of the main command")]
    coordinate: Annotated[Name, Fact("a velocity coordinate: the hinge's name, or `hinge.angle1`, …")]
    mode: Annotated[str, Fact("see below", given=Literal["torque", "servo", "velocity"])] = "torque"
    kp: Annotated[
        NonNegative,
        Fact(
            "position gain; > 0 for `servo`, not allowed in other modes",
            "N·m/rad, N/m",
            "",
            at.AC_KP,
            _KP,
            "kp",
            _GAINS,
        ),
    ] = 0.0
    kd: Annotated[
        NonNegative,
        Fact(
            "rate gain; > 0 for `velocity`, not allowed for `torque`",
            "N·m·s/rad, N·s/m",
            "",
            at.AC_KD,
            _KD,
            "kd",
            _GAINS,
        ),
    ] = 0.0
    limit: Annotated[
        Positive,
        Fact(
            "force limit: the force is clipped to ±limit",
            "N·m, N",
            "no limit",
            at.AC_LIMIT,
            _LIMIT,
            "the limit",
            "Give a limit > 0, or none for no limit",
        ),
    ] = math.inf
    initial: Annotated[Number, Fact("initial main command", "as the command", remedy=_GAINS)] = 0.0
    max_rate: Annotated[
        Positive,
        Fact(
            _MAX_RATE,
            "rad/s, m/s",
            "no limit",
            at.AC_RATE,
            None,
            "the largest rate",
            "Give a rate > 0, or none for no limit",
        ),
    ] = math.inf
    motor: Annotated[Motor | None, Fact("[model of the motor](#motors)", otherwise="none: ideal")] = None
    where: str = field(default="", compare=False)

    @property
    def command_names(self) -> tuple[str, ...]:
        """The commands this actuator takes, main one first."""
        extra = {"torque": (), "velocity": (".torque",), "servo": (".rate", ".torque")}[self.mode]
        return (self.name, *(self.name + suffix for suffix in extra))

    def check(self, fail: Fail) -> None:
        """Refuse wrong modes and gains."""
        name, mode = self.name, self.mode
        if mode not in MODES:
            fail("mode", f"actuator '{name}' has the unknown mode '{mode}'", "Use torque, servo, velocity")
        check_numbers(self, f"{{field}} of actuator '{name}' is {{value}}", fail)
        used = sorted(MODES[mode], reverse=True)
        for gain in ("kp", "kd"):
            if getattr(self, gain) and gain not in used:
                what = f"actuator '{name}' has {gain}, which mode {mode} does not use"
                fail(gain, what, f"Remove {gain} or change the mode")
        if used and not getattr(self, used[0]) > 0:
            fail(used[0], f"actuator '{name}' of mode {mode} has no {used[0]}", f"Give {used[0]} > 0")
