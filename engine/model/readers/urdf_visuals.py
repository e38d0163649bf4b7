"""The <visual> and <collision> elements of URDF links to Shapes. What cannot be drawn is left out, with a warning."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from limberjack.engine.algebra.rotations import from_rpy
from limberjack.engine.common.errors import ModelError
from limberjack.engine.common.names import free_name
from limberjack.engine.files.xml_document import Element
from limberjack.engine.model.elements.shape import MESHES, Shape

_ZERO, _ONE = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
#: opacity of collision shapes, which stand around what is visible
_FAINT = 0.25


def read_visuals(root: Element, links: Iterable[Element]) -> tuple[tuple[Shape, ...], list[str]]:
    """The visible shapes of all links, and one text for all visuals that are left out."""
    named = {each.attributes.get("name", ""): each for each in root.all("material")}
    return _read(links, "visual", lambda link, visual: _shape(link, visual, *_colour(visual, named)))


def read_collisions(links: Iterable[Element]) -> tuple[tuple[Shape, ...], list[str]]:
    """The collision shapes of all links, and one text for all that are left out.

    A shape is called as its element says, else as its link; a number behind it distinguishes those of one name. Of
    meshes the convex hulls touch.
    """
    taken: set[str] = set()

    def made(link: Element, collision: Element) -> Shape:
        shape = _shape(link, collision, "", _FAINT)
        name = collision.attributes.get("name", "").strip() or shape.body
        return replace(shape, name=free_name(str(name), taken), hull=shape.type == "mesh")

    return _read(links, "collision", made)


def _read(
    links: Iterable[Element], tag: str, make: Callable[[Element, Element], Shape]
) -> tuple[tuple[Shape, ...], list[str]]:
    made: list[Shape] = []
    faults: list[str] = []
    for link in links:
        for element in link.all(tag):
            try:
                made.append(make(link, element))
            except ModelError as error:
                faults.append(str(error))
    more = f" ({len(faults) - 1} more like it)" if len(faults) > 1 else ""
    return tuple(made), [f"a <{tag}> is ignored: {faults[0]}{more}"] if faults else []


def _shape(link: Element, visual: Element, colour: str, opacity: float) -> Shape:
    geometry = visual.one("geometry")
    if geometry is None or len(geometry.children) != 1:
        visual.fail("it needs one <geometry> with one child", "Give a box, cylinder, sphere or mesh")
    given = geometry.children[0]
    size, file = _size(given)
    origin = visual.one("origin")
    return Shape(
        body=link.text("name"),
        type=given.tag,
        size=np.array(size),
        file=file,
        position=np.array(_ZERO if origin is None else origin.vector("xyz", _ZERO)),
        rotation=from_rpy(_ZERO if origin is None else origin.vector("rpy", _ZERO)),
        colour=colour,
        opacity=opacity,
        where=f"{visual.place}, {link.label}",
    )


def _size(given: Element) -> tuple[tuple[float, ...], str]:
    """The Shape's size and file."""
    if given.tag == "mesh":
        return given.vector("scale", _ONE), _file(given)
    if given.tag == "box":
        given.text("size")
        size = given.vector("size", _ONE)
    elif given.tag == "sphere":
        size = (given.number("radius"),)
    elif given.tag == "cylinder":
        radius = given.number("radius")
        size = (radius, radius, given.number("length"))
    elif given.tag == "capsule":
        size = (given.number("radius"), given.number("length"))
    else:
        given.fail("this is not a shape that Limberjack draws", "Give a box, cylinder, sphere or mesh")
    if not min(size) > 0.0:
        given.fail("it has no volume", "Give sizes above 0")
    return size, ""


def _file(mesh: Element) -> str:
    file = mesh.text("filename")
    if not file.lower().endswith(MESHES):
        mesh.fail(f"'{file}' is not a mesh that Limberjack draws", f"Give one of: {', '.join(MESHES)}")
    if 0.0 in mesh.vector("scale", _ONE):
        mesh.fail("its scale is zero", "Give factors that are not 0")
    return file


def _colour(visual: Element, named: dict[str, Element]) -> tuple[str, float]:
    """Of the visual's own material, or of the robot's with the same name: "#rrggbb" ("" if none), and its opacity."""
    material = visual.one("material")
    if material is None:
        return "", 1.0
    colour = material.one("color")
    if colour is None and material.attributes.get("name", "") in named:
        colour = named[material.attributes["name"]].one("color")
    if colour is None:
        return "", 1.0
    red, green, blue, alpha = (min(1.0, max(0.0, part)) for part in colour.numbers("rgba", 4))
    return "#" + "".join(f"{round(255 * part):02x}" for part in (red, green, blue)), alpha or 1.0
