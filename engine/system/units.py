"""Units of a model's coordinates, velocities and forces, as text."""

from __future__ import annotations

from limberjack.engine.system.system import System


def hinge_units(system: System) -> dict[str, list[str]]:
    """Units of q, v and tau, one text a coordinate."""
    units: dict[str, list[str]] = {"q": [], "v": [], "tau": []}
    for body in system.bodies:
        hinge, angular = body.hinge, body.hinge.kind.angular
        quaternion = hinge.kind.q[:1] == ("qw",)
        if quaternion:
            units["q"] += ["1"] * 4 + ["m"] * (len(hinge.coordinate_names) - 4)
        else:
            units["q"] += ["rad" if turns else "m" for turns in angular]
        turns_of_v = angular or tuple(True for _ in hinge.velocity_names)
        known = bool(angular)
        units["v"] += [("rad/s" if turns else "m/s") if known else "generalized" for turns in turns_of_v]
        units["tau"] += [("N·m" if turns else "N") if known else "generalized" for turns in turns_of_v]
    return units
