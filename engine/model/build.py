"""System → Plant: fill the flat arrays that `engine/tables/plant.py` describes."""

from __future__ import annotations

import math

import numpy as np

from limberjack.engine.common.errors import ModelError
from limberjack.engine.kernels.entry_points import entries
from limberjack.engine.kernels.nodes.kinds import KINDS, NUMBERS
from limberjack.engine.model.catalogue.parameters import parameters
from limberjack.engine.model.contact_tables import ContactTables
from limberjack.engine.model.device_tables import device_counts, fill_devices, first_drives, first_readings
from limberjack.engine.model.element_tables import element_counts, fill_elements
from limberjack.engine.model.elements.facts import facts_of, fill_row
from limberjack.engine.model.elements.sensor import Sensor, SensorErrors
from limberjack.engine.model.flexible import FlexibleTables, modes_of
from limberjack.engine.model.frames import Frames, Link, assemble, canonical_rotation, split_turns
from limberjack.engine.model.loops.fill import Tables, first_switches
from limberjack.engine.model.loops.plan import plan
from limberjack.engine.model.plant import Plant, aligned_zeros, empty_plant
from limberjack.engine.model.stops import complete_limits
from limberjack.engine.model.system import Dof, Node, System
from limberjack.engine.tables import plant as at
from limberjack.engine.tables.hinge_types import CUSTOM, FIXED
from limberjack.engine.tables.sensor_types import SENSOR_TYPES

_SYM = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
_MODES = {"torque": at.MODE_TORQUE, "velocity": at.MODE_VELOCITY, "servo": at.MODE_SERVO}
SENSOR_CODES = {name: code for code, name in enumerate(SENSOR_TYPES)}


def build(system: System) -> Plant:
    """Flatten a validated System.

    Raises ModelError where the bodies are not depth first, as `validate` sorts them, and where limits without
    stiffness cannot be completed because the mass matrix at the initial coordinates is singular.
    """
    _require_depth_first(system)
    frames = assemble(system)
    links = frames.links
    maps = [link for link in links if link.body.hinge.map is not None]
    nodes = [Node(name, name) for name in system.body_names] + list(system.nodes)
    counts = {
        at.C_BODIES: len(links),
        at.C_Q: system.nq,
        at.C_V: system.nv,
        at.C_NODES: len(nodes),
        at.C_ACTUATORS: len(system.actuators),
        at.C_SENSORS: len(system.sensors),
        at.C_MAPS: len(maps),
        at.C_PARTS: sum(len(link.parts) for link in links),
    }
    tables = Tables(plan(system, frames)) if system.loops else None
    pushed = bool(system.loops or system.contacts)
    flexible = FlexibleTables(links, pushed)
    contacts = ContactTables(system, frames, [group.bodies for group in tables.plan.groups] if tables else [])
    elements = element_counts(system)
    devices = device_counts(system)
    counts |= elements | devices | flexible.counts() | contacts.counts() | (tables.counts() if tables else {})
    plant = empty_plant(counts)
    plant.ints[at.C_COMMANDS] = len(system.command_names)
    damped = {a.coordinate for a in system.actuators if a.mode != "torque" or a.motor is not None}
    _fill_bodies(plant, links, maps, None if pushed else damped)
    flexible.fill(plant)
    _fill_parts(plant, links)
    _fill_dofs(plant, system, links)
    if tables:
        tables.fill(plant)
    _mark_sums(plant.sections["topo"])
    _fill_nodes(plant, nodes, frames)
    _fill_actuators(plant, system)
    _fill_sensors(plant, system)
    fill_elements(plant, system, frames)
    contacts.fill(plant)
    fill_devices(plant, system)
    plant.sections["gravity"][0, :3] = system.gravity
    _place_parameters(plant, system, [part.name for link in links for part in link.parts])
    complete_limits(plant, system)
    if system.central is not None:
        _require_distance(plant, system)
    return plant


def _require_distance(plant: Plant, system: System) -> None:
    """Where a body starts at the centre of a central field, its potential energy there is not a number."""
    totals = np.zeros(12)
    entries().totals(plant.ints, plant.floats, plant.new_work(), system.q0, system.v0, totals)
    if not np.isfinite(totals[1]):
        raise ModelError(
            "the centre of mass of a body starts at the centre of the central field, where gravity is infinite",
            where=f"{system.source or system.name}, gravity",
            remedy="Give the centre's position, or the body an initial position away from it",
        )


def _require_depth_first(system: System) -> None:
    """Kernels rely on it that the bodies of every subtree are neighbours, base first."""
    branch: list[str | None] = [None]
    for body in system.bodies:
        while branch and branch[-1] != body.hinge.parent:
            branch.pop()
        if not branch:
            raise ModelError(
                f"body '{body.name}' does not follow its parent '{body.hinge.parent}' depth first",
                where=body.where or system.source or system.name,
                remedy="Pass a System made by hand through limberjack.engine.model.validate.validate, which sorts it",
            )
        branch.append(body.name)


def _kind(link: Link, damped: set[str] | None) -> int:
    """The number of the kind of node that serves a link: the general one unless another does.

    damped : velocities whose drives depend on rate or position; what an implicit integrator adds to their inertia has
    no place in a free root. None: a model with loops or contacts, which has no free root.
    """
    hinge = link.body.hinge
    clean = all(d.armature == d.damping == d.friction == 0.0 for d in hinge.dofs)
    is_free_root = link.parent == 0 and clean and damped is not None and damped.isdisjoint(hinge.velocity_names)
    for number, kind in enumerate(KINDS):
        if hinge.kind.code in kind.HINGES and (is_free_root or not getattr(kind, "FREE_ROOT", False)):
            return number
    return NUMBERS["general"]


def _fill_bodies(plant: Plant, links: list[Link], maps: list[Link], damped: set[str] | None) -> None:
    topo, body = plant.sections["topo"], plant.sections["body"]
    q = v = rows = 0
    for k, link in enumerate(links):
        hinge = link.body.hinge
        number = _kind(link, damped)
        kind, slot = KINDS[number], -1
        if getattr(kind, "HAS_WORK", False):
            slot, rows = rows, rows + 1
        map_row = maps.index(link) if hinge.kind.code == CUSTOM else -1
        topo[k, : at.MAP + 1] = link.parent, number, hinge.kind.code, q, v, hinge.nv, slot, map_row
        if hinge.map is not None:
            plant.sections["maps"][map_row, : 6 * hinge.nv] = hinge.map.T.ravel()
        row = body[k]
        if getattr(kind, "KEEPS_ANGLES", False):
            topo[k, at.TURN], plant.sections["angle_offset"][q] = _fill_turns(row, link)
        else:
            row[at.B_R : at.B_R + 9] = link.plus.rotation.ravel()
        row[at.B_P : at.B_P + 3] = link.plus.position
        row[at.B_X] = hinge.parameter
        plant.hinge_rows[hinge.name] = k + 1, link.canonical.T
        q, v = q + hinge.kind.nq, v + hinge.nv
    plant.ints[at.C_GENERAL] = rows
    topo[:, at.GROUP] = topo[:, at.MEMBER] = -1
    _mark_subtrees(topo)


def _fill_parts(plant: Plant, links: list[Link]) -> None:
    """The user's bodies with mass, and from them the mass properties of the links."""
    parts = [(k, part) for k, link in enumerate(links) for part in link.parts]
    for i, (k, part) in enumerate(parts):
        plant.sections["part_body"][i] = k
        row = plant.sections["part"][i]
        row[at.P_MASS] = row[at.P_M] = part.mass
        row[at.P_H : at.P_H + 3] = part.moment
        row[at.P_I : at.P_I + 6] = [part.inertia[i, j] for i, j in _SYM]
    entries().refresh(plant.ints, plant.floats)


def _mark_subtrees(topo: np.ndarray) -> None:
    """Bodies that are ground, and where each subtree's velocities end."""
    last_child = {int(topo[k, at.UP]): k for k in range(len(topo))}
    for k in range(len(topo)):
        up = int(topo[k, at.UP])
        topo[k, at.GROUNDED] = topo[k, at.KIND] == FIXED and (up == 0 or topo[up - 1, at.GROUNDED])
    for k in reversed(range(len(topo))):
        last = last_child.get(k + 1)
        topo[k, at.VEND] = topo[k, at.VI] + topo[k, at.NV] if last is None else topo[last, at.VEND]


def _mark_sums(topo: np.ndarray) -> None:
    """Who writes whose sums in a tip-to-base sweep: bodies of a group keep apart what they hand to each other."""
    group = [-1, *topo[:, at.GROUP].tolist()]
    inside = [g >= 0 and g == group[up] for g, up in zip(group[1:], topo[:, at.UP].tolist())]
    last = {(int(topo[k, at.UP]), inside[k]): k for k in range(len(topo))}
    for k in range(len(topo)):
        topo[k, at.FIRST] = last[int(topo[k, at.UP]), inside[k]] == k
        topo[k, at.LEAF], topo[k, at.CARRIER] = (k + 1, False) not in last, (k + 1, True) in last


def _fill_turns(row: np.ndarray, link: Link) -> tuple[bool, float]:
    """Split the rotation of a z-turning hinge (algebra/turns.py); returns whether a turn is left, and the offset."""
    turn, tilt, offset = split_turns(link.plus.rotation)
    if abs(math.remainder(turn, 2.0 * math.pi)) < 1e-14:
        turn = 0.0
    row[at.B_TILT : at.B_TILT + 2] = math.cos(tilt), math.sin(tilt)
    row[at.B_TURN : at.B_TURN + 2] = math.cos(turn), math.sin(turn)
    return turn != 0.0, offset + link.spin


def _fill_dofs(plant: Plant, system: System, links: list[Link]) -> None:
    dof_int, dof, armature = (plant.sections[name] for name in ("dof_int", "dof", "armature"))
    columns = [known for known in facts_of(Dof) if known.fact.column >= 0]
    q = v = 0
    for k, link in enumerate(links):
        hinge = link.body.hinge
        for i in range(hinge.nv):
            spec = hinge.dofs[i] if hinge.dofs else Dof()
            dof_int[v] = (-1 if hinge.kind.quasi else q + i), k, -1
            for known in columns:
                dof[v, known.fact.column] = getattr(spec, known.name)
            dof[v, at.D_LIMIT_K] = math.nan if spec.limit_stiffness is None else spec.limit_stiffness
            dof[v, at.D_LIMIT_C] = math.nan if spec.limit_damping is None else spec.limit_damping
            armature[v] = spec.armature
            v += 1
        q += hinge.kind.nq


def _place_parameters(plant: Plant, system: System, parts: list[str]) -> None:
    """Where what may be tuned is: nothing along a base, no masses of modal bodies. parts : names of bodies."""
    based = plant.sections["topo"][plant.sections["dof_int"][:, at.DI_BODY], at.PATH] == NUMBERS["base"]
    scaled = {body.name for body in system.own_bodies if body.inertia.mass > 0.0}
    rows = {name: row for row, name in enumerate(parts) if name in scaled}
    listed = sorted(parameters(system), key=lambda each: rows.get(each.owner, len(parts)))
    for each in listed:
        row = rows.get(each.owner, -1) if each.owner else each.row
        if row >= 0 and (each.section not in ("dof", "armature") or not based[row]):
            plant.parameters[each.name] = plant.place(each.section, row, each.column)


def _fill_nodes(plant: Plant, nodes: list[Node], frames: Frames) -> None:
    for i, node in enumerate(nodes):
        row, pose = frames.of_body[node.body]
        pose = pose @ node.pose
        plant.sections["node_row"][i] = row
        plant.sections["node_pose"][i] = np.concatenate([pose.rotation.ravel(), pose.position])


def _fill_actuators(plant: Plant, system: System) -> None:
    start = 0
    for i, actuator in enumerate(system.actuators):
        v = system.velocity_names.index(actuator.coordinate)
        q = int(plant.sections["dof_int"][v, at.DI_Q])
        plant.sections["actuator_int"][i] = _MODES[actuator.mode], v, q, start, -1
        fill_row(plant.sections["actuator"][i], actuator)
        start += len(actuator.command_names)


def _fill_sensors(plant: Plant, system: System) -> None:
    places = system.sensor_targets | {"joining loop": system.loop_names}
    start = 0
    for i, sensor in enumerate(system.sensors):
        kind = SENSOR_TYPES[sensor.type]
        if kind.target == "hinge":
            target, R = _reaction_row(plant, system, sensor)
            plant.sections["sensor"][i] = R.T.ravel()
        elif kind.target == "flexible body":
            target, _ = plant.hinge_rows[modes_of(sensor.target)]
        else:
            target = places[kind.target].index(sensor.target)
        if kind.target == "joining loop" and (cut := system.loops[target].hinge):
            plant.sections["sensor"][i] = canonical_rotation(cut).ravel()
        plant.sections["sensor_int"][i] = SENSOR_CODES[sensor.type], target, start, len(kind.suffixes)
        plant.sections["sensor"][i, :2] += (sensor.errors or SensorErrors()).sight(sensor.type)
        start += len(kind.suffixes)


def _reaction_row(plant: Plant, system: System, sensor: Sensor) -> tuple[int, np.ndarray]:
    if sensor.target not in plant.hinge_rows:
        raise ModelError(
            f"sensor '{sensor.name}' asks for the reaction of hinge '{sensor.target}', which is fixed and merged",
            where=sensor.where or system.source,
            remedy="Write 'merge: false' at the hinge, or load the model with merge=False",
        )
    return plant.hinge_rows[sensor.target]


def new_state(plant: Plant, system: System) -> np.ndarray:
    """The initial State vector: time 0, q0, v0, first commands, what loops hold, instruments and drives."""
    state = aligned_zeros(plant.state_size)
    first = [
        value
        for actuator in system.actuators
        for value in (actuator.initial, *(0.0,) * (len(actuator.command_names) - 1))
    ]
    first += [value for loop in system.loops for value in loop.first_commands]
    first += [thruster.initial for thruster in system.thrusters]
    first += [value for element in system.elements for _, _, value in element.commands]
    switches = first_switches(system).ravel()
    parts = (system.q0, system.v0, np.array(first), switches, first_readings(system), first_drives(system))
    known = np.concatenate(parts)
    state[at.S_Q : at.S_Q + len(known)] = known
    if system.contacts:
        entries().gaps(plant.ints, plant.floats, plant.new_work(), state)
    return state
