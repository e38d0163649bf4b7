"""terminalsAndIcons.xml: the variables of each joint as a group that importers connect at once."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree

from limberjack.engine.model.system import Hinge, Loop
from limberjack.engine.native.plant_file import Region
from limberjack.fmu.description.content import Content, serialised, text
from limberjack.fmu.variables.naming import place
from limberjack.fmu.variables.variable import Variable

#: the schema of this file belongs to FMI 3; FMI 2 takes it as it is (FMI 3.0.2, section 2.4.9)
_SCHEMA_VERSION = "3.0"
#: kinds of terminals: a joint of a hinge type, a loop, a flexible body, and the whole machine as vectors
JOINT_KIND, LOOP_KIND, MACHINE_KIND = "org.limberjack.hinge", "org.limberjack.loop", "org.limberjack.machine"
FLEXIBLE_KIND = "org.limberjack.flexible"
#: name of the terminal with the vectors q, v, tau and command
MACHINE = "machine"
#: a terminal's members carry signals, and those only these causalities (FMI 3.0.2, section 2.4.9.2.3)
_CONNECTED = ("input", "output", "parameter")
_VECTORS = (Region.Q, Region.V, Region.OBSERVED, Region.COMMAND)


def document(content: Content) -> bytes:
    """The file terminalsAndIcons/terminalsAndIcons.xml."""
    root = ElementTree.Element("fmiTerminalsAndIcons", fmiVersion=_SCHEMA_VERSION)
    picture = ElementTree.SubElement(root, "GraphicalRepresentation")
    corners = {"x1": "-100.0", "y1": "-100.0", "x2": "100.0", "y2": "100.0"}
    ElementTree.SubElement(picture, "CoordinateSystem", corners, suggestedScalingFactorTo_mm="0.1")
    ElementTree.SubElement(picture, "Icon", corners)
    terminals = ElementTree.Element("Terminals")
    for body in content.system.bodies:
        _add_joint(terminals, content, body.hinge)
    for loop in content.system.loops:
        _add_loop(terminals, content, loop)
    _add_machine(terminals, content)
    if len(terminals):  # an empty list is not allowed
        root.append(terminals)
    return serialised(root)


def _add_joint(terminals: ElementTree.Element, content: Content, hinge: Hinge) -> None:
    """The variables of a hinge or of modes, and the commands of drives that share one of its coordinates."""
    stem = f"{place('hinge', hinge.name) if hinge.modes is None else place('flexible', str(hinge.parent))}."
    coordinates = set(hinge.coordinate_names) | set(hinge.velocity_names)
    drives = [actuator.name for actuator in content.system.actuators if actuator.coordinate in coordinates]
    commands = tuple(f"{place('actuator', name)}." for name in drives)
    members = []
    for variable in content.variables:
        if variable.name.startswith(stem):
            members.append((variable, variable.name.removeprefix(stem)))
        elif variable.causality == "input" and variable.name.startswith(commands):
            members.append((variable, variable.name))
    kind, said = f"{JOINT_KIND}.{hinge.type}", f"Joint '{hinge.name}' ({hinge.type})"
    if hinge.modes is not None:
        kind, said = FLEXIBLE_KIND, f"Modes of flexible body '{hinge.parent}'"
    _add_terminal(terminals, stem.removesuffix("."), kind, said, members)


def _add_loop(terminals: ElementTree.Element, content: Content, loop: Loop) -> None:
    """The commands of a loop."""
    stem = f"{place('loop', loop.name)}."
    members = [(v, v.name.removeprefix(stem)) for v in content.variables if v.name.startswith(stem)]
    kind = f"{LOOP_KIND}.{loop.type}"
    _add_terminal(terminals, stem.removesuffix("."), kind, f"Loop '{loop.name}' ({loop.type})", members)


def _add_machine(terminals: ElementTree.Element, content: Content) -> None:
    """Add the vectors over all joints, if the FMU has arrays."""
    members = [
        (variable, variable.name)
        for variable in content.variables
        if variable.array and variable.region in _VECTORS and "." not in variable.name
    ]
    _add_terminal(terminals, MACHINE, MACHINE_KIND, "All joints: coordinates, velocities, forces, commands", members)


def _add_terminal(
    terminals: ElementTree.Element, name: str, kind: str, description: str, members: Iterable[tuple[Variable, str]]
) -> None:
    """Add a terminal, unless nothing in it can be connected. Matching "bus": a controller may use only some members."""
    connected = [(variable, member) for variable, member in members if variable.causality in _CONNECTED]
    if not connected:
        return
    terminal = ElementTree.SubElement(
        terminals, "Terminal", name=name, matchingRule="bus", terminalKind=kind, description=text(description)
    )
    for variable, member in connected:
        ElementTree.SubElement(
            terminal, "TerminalMemberVariable", variableName=variable.name, memberName=member, variableKind="signal"
        )
