"""Tunable parameters of instruments, motors and valves, of their noise and of what they look at."""

from __future__ import annotations

import math
from collections.abc import Iterator

from limberjack.fmu.variables.naming import place
from limberjack.fmu.variables.offers import Offers, typed
from limberjack.fmu.variables.selection import Candidate
from limberjack.fmu.variables.variable import Region, Variable

#: group of the engine's names → what it is a parameter of, and its words with description, declared type, lowest value
_WORDS = {
    "sensor": {
        "bias": ("bias", "", -math.inf),
        "noise": ("standard deviation of a sample", "", 0.0),
        "scale": ("error of scale", "Fraction", -math.inf),
        "saturation": ("largest reading", "", 0.0),
    },
    "actuator": {
        "motor.resistance": ("resistance of the motor", "Resistance", 0.0),
        "motor.voltage": ("largest voltage of the motor", "Voltage", 0.0),
        "motor.current": ("largest current of the motor", "Current", 0.0),
        "motor.stiffness": ("stiffness of the motor's gear", "", 0.0),
        "motor.backlash": ("backlash of the motor's gear", "", 0.0),
    },
    "thruster": {"minimum_pulse": ("shortest pulse", "Time", 0.0)},
    "noise": {"seed": ("seed of the noise", "Fraction", 0.0)},
    "sun": {axis: (f"{axis} of the direction to the sun, inertial frame", "Fraction", -math.inf) for axis in "xyz"},
}

#: what follows the word of a parameter that is one number of several
_COMPONENTS = ("", *(f".{part}" for part in ("x", "y", "z", "nx", "ny", "nz", "fx", "fy", "fz", "w")))


def device_parameters(offers: Offers) -> Iterator[Candidate]:
    """Candidates for those that have a finite value; shown by default where they are not zero."""
    for name, index in offers.plant.parameters.items():
        group, _, rest = name.partition(".")
        start = float(offers.plant.floats[index])
        for word, (said, kind, lowest) in _WORDS.get(group, {}).items():
            owner, found, component = rest.rpartition(word)
            if found and component in _COMPONENTS and owner[-1:] in ("", ".") and math.isfinite(start):
                owner = owner.removesuffix(".")
                whose = f" of {group} '{owner}'" if owner else ""
                shown = start != 0.0 or group == "noise"
                yield Candidate(
                    Variable(
                        place(group, owner, word + component) if owner else f"{group}.{word}",
                        f"{said}{whose}{component and ', component ' + component[1:]}",
                        Region.PARAMETER,
                        index,
                        causality="parameter",
                        variability="tunable",
                        start=(start,),
                        **typed(kind) | {"minimum": lowest},
                    ),
                    default=shown,
                )
                break
