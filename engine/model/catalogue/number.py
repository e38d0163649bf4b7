"""One number of a model: what it is called, what it measures, what it can be, and where it is."""

from __future__ import annotations

import math
from dataclasses import dataclass

from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.facts import Element
from limberjack.engine.model.elements.sensor import Sensor
from limberjack.engine.model.elements.thruster import Thruster
from limberjack.engine.model.system import Loop
from limberjack.engine.tables.measures import MEASURES

Limits = tuple[float, float]
NO_LIMITS: Limits = (-math.inf, math.inf)
#: of energies, residuals and counts
POSITIVE: Limits = (0.0, math.inf)
#: of truth values
TRUTH: Limits = (0.0, 1.0)


@dataclass(frozen=True)
class Number:
    """One number of a model. The numbers of one vector follow each other and share their `path`.

    group : a key of `GROUPS`
    name : what the model calls it, different for each number of a group: "elbow", "wrist.angle1", "load.nx"
    path : what has it, and what of it the number is: ("hinge", "wrist", "angle1"), ("sensor", "load", "moment")
    text : one line for people
    vector, place : the vector that holds it and its index there. Of a `Simulation`, "q", "v", "command", "switch" and
        "drives" are `part(vector)`, "tau", "vdot" and "output" are `tau`, `vdot` and `output_vector`, "survey" is
        `survey()`, "time" is `time`; "qdot", the rates of the coordinates, only FMUs show
    measure : a key of `MEASURES`; "" of a truth value, and where an angle and a distance are mixed
    component : which number of a vector it is, "nx"; "" of one alone
    low, high : what it can be, as the model was loaded: stops of hinges, limits of drives; infinite where nothing
        bounds it. Stops are springs, so a coordinate goes a little beyond: for scales and for checks of commands
    start : its first value; None of what is computed from others
    truth : whether it is 1 or 0;  sampled : whether only steps of the engine change it
    element : the drive, loop, thruster or sensor that has it, None of the others
    """

    group: str
    name: str
    path: tuple[str, str, str]
    text: str
    vector: str
    place: int
    measure: str = ""
    component: str = ""
    low: float = -math.inf
    high: float = math.inf
    start: float | None = None
    truth: bool = False
    sampled: bool = False
    element: Actuator | Loop | Thruster | Sensor | Element | None = None

    @property
    def id(self) -> str:
        """Its name among all: "q.elbow", "output.load.nx", "energy.kinetic", "time"."""
        return f"{self.group}.{self.name}" if self.name else self.group

    @property
    def unit(self) -> str:
        """SI symbol, "1" of a plain number or truth value, "" of a mixture."""
        return MEASURES[self.measure].unit if self.measure else "1" * self.truth

    @property
    def limits(self) -> Limits:
        """(low, high)."""
        return self.low, self.high
