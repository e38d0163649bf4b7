"""Small models with contacts, written as their files are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import limberjack as lj

FLOOR = "{body: world, type: plane, name: floor}"


def free(name: str, mass: float, inertia: Sequence[float], position: Sequence[float], velocity: str = "{}") -> str:
    """A body that moves freely, as a line of YAML; inertia: principal moments, kg·m²."""
    xx, yy, zz = inertia
    where = [float(x) for x in position]
    return (
        f"{{name: {name}, mass: {mass}, inertia: {{xx: {xx}, yy: {yy}, zz: {zz}}}, hinge: {{name: {name}_free, type: "
        f"free, parent: world, initial: {{position: {where}, velocity: {velocity}}}}}}}"
    )


def ball(name: str, position: Sequence[float], velocity: str = "{}", mass: float = 1.0, radius: float = 0.1) -> str:
    """A solid ball."""
    return free(name, mass, [0.4 * mass * radius**2] * 3, position, velocity)


def sphere(name: str, radius: float = 0.1) -> str:
    """The shape of a ball."""
    return f"{{body: {name}, type: sphere, radius: {radius}, name: {name}}}"


def box(name: str, size: Sequence[float]) -> str:
    """The shape of a box."""
    return f"{{body: {name}, type: box, size: {[float(x) for x in size]}, name: {name}}}"


def solid_box(size: Sequence[float], mass: float) -> list[float]:
    """Principal moments of a solid box."""
    x, y, z = (edge * edge for edge in size)
    return [mass / 12.0 * (y + z), mass / 12.0 * (x + z), mass / 12.0 * (x + y)]


def scene(
    folder: Path, bodies: Sequence[str], shapes: Sequence[str], contacts: Sequence[str], more: str = ""
) -> lj.System:
    """The model; more: further lines of its file, such as sensors or gravity."""

    def group(name: str, lines: Sequence[str]) -> str:
        return f"{name}:\n" + "".join(f"  - {line}\n" for line in lines) if lines else ""

    text = f"limberjack: 1\nname: scene\n{more}\n" + group("bodies", bodies) + group("shapes", shapes)
    file = folder / "scene.yaml"
    file.write_text(text + group("contacts", contacts))
    return lj.load(file)


#: all four sensors of a contact
def sensors(contact: str) -> str:
    """Lines of a file with the sensors force, gap, slip and touching of a contact."""
    kinds = ("force", "gap", "slip", "touching")
    return "sensors:\n" + "".join(f"  - {{name: {kind}, type: contact_{kind}, target: {contact}}}\n" for kind in kinds)
