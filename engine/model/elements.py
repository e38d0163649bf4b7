"""Force elements of spacecraft, as the user wrote them: a central field of gravity, thrusters, rotors."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, eq=False)
class CentralGravity:
    """The field of a point mass, beside the uniform gravity.

    mu : gravitational parameter, m³/s²;  position : (3,) of the centre in the inertial frame, m
    gradient : whether the field's gradient across each body turns, bends and (a little) moves it
    """

    mu: float
    position: np.ndarray = field(default_factory=lambda: np.zeros(3))
    gradient: bool = True


@dataclass(frozen=True, eq=False)
class Thruster:
    """A force on a body, commanded in newtons, held between updates.

    body : of a flexible body one of its attachment nodes, or the body itself: its own frame
    position : (3,) where it acts, in the body's frame, m
    direction : (3,) of the force on the body, in its axes; its length does not matter
    thrust : the largest force, N; commands above it are cut
    minimum : smallest force, N; commands below it give none
    initial : first command, N
    delay : of its valve, from command to thrust, s;  minimum_pulse : once open the valve stays so at least so long, s
    """

    name: str
    body: str
    direction: np.ndarray
    thrust: float
    position: np.ndarray = field(default_factory=lambda: np.zeros(3))
    minimum: float = 0.0
    initial: float = 0.0
    delay: float = 0.0
    minimum_pulse: float = 0.0
    where: str = field(default="", compare=False)

    @property
    def command_names(self) -> tuple[str, ...]:
        """The command that it takes."""
        return (self.name,)

    @property
    def has_valve(self) -> bool:
        """Whether its valve has a state of its own."""
        return self.delay > 0.0 or self.minimum_pulse > 0.0


@dataclass(frozen=True, eq=False)
class Rotor:
    """A rotor that a drive keeps at constant momentum relative to its body: body and rotor are a gyrostat.

    momentum : (3,) in the body's axes, N·m·s. The mass properties of the rotor at rest belong to the body.
    """

    name: str
    body: str
    momentum: np.ndarray
    where: str = field(default="", compare=False)
