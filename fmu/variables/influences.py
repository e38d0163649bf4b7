"""What each computed number of a model depends on, from the tree of hinges: state, commands, parameters.

Every set is a superset of the truth. It is tight where the structure says so: trees that hang on the ground are
independent of each other, but for those that loops join; a node moves with the hinges on its path; where the first
hinge of a tree only shifts it, its place changes no acceleration, and its uniform speed neither (gravity is uniform).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from limberjack.engine.compile.interpreted import interpreted
from limberjack.engine.kernels.nodes.hinges import has_changing_map
from limberjack.engine.model.plant import Plant
from limberjack.engine.model.system import System
from limberjack.engine.native.plant_file import Region
from limberjack.engine.tables import drives as dr
from limberjack.engine.tables import elements as el
from limberjack.engine.tables import loops as lp
from limberjack.engine.tables import plant as at
from limberjack.engine.tables.hinge_types import ATTACHED_TYPE, FIXED, HINGE_TYPES, MODAL, HingeType
from limberjack.fmu.variables.element_influences import NOTHING, Known, Knowns, commands_of, links_at, parameters_of

_DOF_WORDS = ("damping", "friction", "stiffness", "rest", "lower", "upper")
#: hinge types by their code
_TYPES = {kind.code: kind for kind in HINGE_TYPES.values()}
_has_changing_map = interpreted(has_changing_map)


def _has_constant_map(kind: HingeType) -> bool:
    """Whether a hinge's coordinates, if it has any, change no velocity seen from the body."""
    return kind.nq > 0 and not _has_changing_map(kind.code)


def _shifts(kind: HingeType) -> tuple[int, ...]:
    """Velocities that only shift the body along axes of the parent, as places in the hinge."""
    return () if kind.quasi else kind.sliding


def union(sets: Iterable[Knowns]) -> Knowns:
    """All of them together."""
    return NOTHING.union(*sets)


@dataclass
class Influences:
    """The dependencies of one model, number by number.

    shown : offsets in the Plant's floats of the parameters that the FMU has; they may be set, so that a damping of 0
        counts as one that is there
    """

    system: System
    plant: Plant
    shown: frozenset[int]
    _trees: dict[int, Knowns] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._topo = self.plant.sections["topo"]
        self._dof, self._dof_int = self.plant.sections["dof"], self.plant.sections["dof_int"]
        self._drives: dict[int, list[int]] = {}
        for a, row in enumerate(self.plant.sections["actuator_int"]):
            self._drives.setdefault(int(row[at.AI_V]), []).append(a)
        self._links = len(self._topo)
        self._root = [self._root_of(k) for k in range(self._links)]
        self._join_loops()

    def _join_loops(self) -> None:
        """Trees that loops join count as one, under the root of the first of them."""
        touched = [{self._root[k] for k in self._links_of(row)} - {-1} for row in self.plant.sections["loop_int"]]
        acting = (links_at(self.system, self.plant, element) for element in self.system.elements)
        tied = [{self._root[k] for k in each} - {-1} for each in acting]
        for roots in (*touched, *tied):
            joined = {self._root[root] for root in roots}
            self._root = [min(joined) if root in joined else root for root in self._root]
        self._loop_roots = [self._root[min(roots)] if roots else -1 for roots in touched]
        self._element_roots = [self._root[min(roots)] if roots else -1 for roots in tied]

    def _links_of(self, loop: np.ndarray) -> list[int]:
        """The links whose frames a loop joins, or whose coordinates it couples."""
        terms = self.plant.sections["term_int"][loop[lp.L_TERM] : loop[lp.L_TERM] + loop[lp.L_TERMS], lp.TM_BODY]
        return [int(row) - 1 for row in (loop[lp.L_A], loop[lp.L_B], *terms) if row > 0]

    def _root_of(self, k: int) -> int:
        """The link that carries the tree of link k and hangs on the ground; -1 for what is fixed to the ground."""
        if self._topo[k, at.GROUNDED]:
            return -1
        while not self._hangs_on_ground(k):  # up the tree, at most once through every link
            k = int(self._topo[k, at.UP]) - 1
        return k

    def _hangs_on_ground(self, k: int) -> bool:
        up = int(self._topo[k, at.UP])
        return up == 0 or bool(self._topo[up - 1, at.GROUNDED])

    def _row(self, k: int) -> tuple[HingeType, int, int, int, int]:
        """Type, first coordinate, number of coordinates, first velocity, number of velocities of link k's hinge.

        The links of modal bodies, which are of no type of the library, have that of their nodes: nothing slides there.
        """
        code, q, v, nv = (int(self._topo[k, column]) for column in (at.KIND, at.QI, at.VI, at.NV))
        kind = _TYPES.get(code, ATTACHED_TYPE)
        return kind, q, kind.nq if kind.quasi else nv, v, nv

    def q(self, k: int, places: Iterable[int] | None = None) -> Knowns:
        """The coordinates of link k's hinge, or those at these places of it."""
        _, q, nq, _, _ = self._row(k)
        return frozenset((Region.Q, q + i) for i in (range(nq) if places is None else places))

    def v(self, k: int, places: Iterable[int] | None = None) -> Knowns:
        """The velocities of link k's hinge, or those at these places of it."""
        _, _, _, v, nv = self._row(k)
        return frozenset((Region.V, v + i) for i in (range(nv) if places is None else places))

    @cached_property
    def _indices(self) -> dict[str, int]:
        return {name: index for name, index in self.plant.parameters.items() if index in self.shown}

    def _named(self, names: Iterable[str]) -> Knowns:
        """Those of the named parameters that the FMU has."""
        return frozenset((Region.PARAMETER, self._indices[name]) for name in names if name in self._indices)

    @cached_property
    def gravity(self) -> Knowns:
        """The components of gravity."""
        return self._named(f"gravity.{axis}" for axis in "xyz")

    @cached_property
    def _weightless(self) -> bool:
        central = self.system.central is not None
        return not central and not self.gravity and not np.any(self.plant.sections["gravity"][0, :3])

    def _elements(self, links: Iterable[int]) -> Knowns:
        """What the forces of thrusters and elements on these links depend on."""
        table, rows = self.plant.sections["thruster_int"], {k + 1 for k in links}
        thrusts = union(self.thrust(t) for t, row in enumerate(table) if int(row[el.TI_ROW]) in rows)
        at = {each: links_at(self.system, self.plant, each) for each in self.system.elements}
        acting = [each for each in at if rows & {k + 1 for k in at[each]}]
        given = union(self._named(parameters_of(each)) | commands_of(self.system, each) for each in acting)
        moving = union(self.q(i) | self.v(i) for each in acting for k in at[each] for i in self._upward(k))
        return thrusts | given | moving

    @cached_property
    def _masses(self) -> dict[int, Knowns]:
        """Link → masses of the bodies that it is made of."""
        view = self.plant.sections["part"]
        first = (view.ctypes.data - self.plant.floats.ctypes.data) // 8
        found: dict[int, set[Known]] = {}
        for name, index in self._indices.items():
            if name.startswith("body."):
                k = int(self.plant.sections["part_body"][(index - first) // at.PART, 0])
                found.setdefault(k, set()).add((Region.PARAMETER, index))
        return {k: frozenset(masses) for k, masses in found.items()}

    def _parameter_acts(self, j: int, word: str, column: int) -> bool:
        return bool(self._dof[j, column] != 0.0) or f"hinge.{self.system.velocity_names[j]}.{word}" in self._indices

    def applied(self, j: int) -> Knowns:
        """What the force of hinge and drives along velocity j depends on."""
        dof, i, name = self._dof[j], int(self._dof_int[j, at.DI_Q]), self.system.velocity_names[j]
        found = set(self._named(f"hinge.{name}.{word}" for word in _DOF_WORDS))
        stopped = i >= 0 and bool(math.isfinite(dof[at.D_LOWER]) or math.isfinite(dof[at.D_UPPER]))
        if i >= 0 and (stopped or self._parameter_acts(j, "stiffness", at.D_STIFFNESS)):
            found.add((Region.Q, i))
        damped = self._parameter_acts(j, "damping", at.D_DAMPING) or self._parameter_acts(j, "friction", at.D_FRICTION)
        if stopped or damped:
            found.add((Region.V, j))
        return union([frozenset(found), *(self.drive(a) for a in self._drives.get(j, []))])

    def drive(self, a: int) -> Knowns:
        """What the force of actuator a depends on."""
        mode, j, i, first, motor = (int(x) for x in self.plant.sections["actuator_int"][a])
        if motor >= 0:
            return self._motor(motor, self.system.actuators[a].name)
        commands = {at.MODE_TORQUE: 1, at.MODE_VELOCITY: 2, at.MODE_SERVO: 3}[mode]
        found: set[Known] = {(Region.COMMAND, first + c) for c in range(commands)}
        if mode != at.MODE_TORQUE or math.isfinite(self.plant.sections["actuator"][a, at.AC_RATE]):
            found.add((Region.V, j))
        if mode == at.MODE_SERVO:
            found.add((Region.Q, i))
        name = self.system.actuators[a].name
        return frozenset(found) | self._named(f"actuator.{name}.{word}" for word in ("kp", "kd", "limit"))

    def _motor(self, m: int, name: str) -> Knowns:
        """What the torque of a motor depends on: its current is a state that only steps change."""
        j, i, _, elastic = (int(x) for x in self.plant.sections["motor_int"][m])
        values = self.plant.sections["motor"][m]
        if elastic:
            gear = self._named(f"actuator.{name}.motor.{word}" for word in ("stiffness", "backlash"))
            return frozenset({(Region.Q, i), (Region.V, j)}) | gear
        rubs = values[dr.MO_FRICTION] != 0.0 or values[dr.MO_DAMPING] != 0.0
        return frozenset({(Region.V, j)}) if rubs else NOTHING

    def motor_sensor(self, a: int, kind: str) -> tuple[Knowns, bool]:
        """What a sensor of actuator a's motor depends on: its rotor turns with the joint unless the gear is elastic."""
        j, i, _, elastic = (int(x) for x in self.plant.sections["motor_int"][self._motor_of(a)])
        if kind == "motor_current":
            return NOTHING, False
        return frozenset({(Region.Q, i) if kind == "motor_position" else (Region.V, j)}), not elastic

    def _motor_of(self, a: int) -> int:
        return int(self.plant.sections["actuator_int"][a, at.AI_MOTOR])

    def thrust(self, t: int) -> Knowns:
        """What the thrust of a thruster depends on: one behind a valve changes with the steps."""
        row = self.plant.sections["thruster_int"][t]
        return NOTHING if row[el.TI_VALVE] else frozenset({(Region.COMMAND, int(row[el.TI_COMMAND]))})

    def instrument(self, name: str) -> Knowns:
        """The parameters that are in a sample of an instrument."""
        words = ("bias", "noise", "scale", "saturation")
        mine = (each for each in self._indices if each.startswith(tuple(f"sensor.{name}.{word}" for word in words)))
        return self._named(("noise.seed", *mine))

    @cached_property
    def sun(self) -> Knowns:
        """The components of the direction to the sun."""
        return self._named(f"sun.{axis}" for axis in "xyz")

    def stop(self, j: int, word: str) -> Knowns:
        """What the event indicator of the stop `word` ("lower", "upper") of velocity j depends on."""
        i, name = int(self._dof_int[j, at.DI_Q]), self.system.velocity_names[j]
        return frozenset({(Region.Q, i), (Region.V, j)}) | self._named([f"hinge.{name}.{word}"])

    def _link_of(self, i: int) -> int:
        """The link whose hinge has coordinate i; links without coordinates share their place with the next."""
        return int(np.searchsorted(self._topo[:, at.QI], i, side="right")) - 1

    def measured(self, i: int) -> tuple[Knowns, bool]:
        """What a measured coordinate i depends on, and whether it simply is that one: quaternions are made unit."""
        k = self._link_of(i)
        kind, q, _, _, _ = self._row(k)
        if kind.quasi and i - q < 4:
            return self.q(k, range(4)), False
        return frozenset({(Region.Q, i)}), True

    def rate(self, i: int) -> tuple[Knowns, bool]:
        """What the rate of coordinate i depends on, and whether it simply is one velocity."""
        k = self._link_of(i)
        kind, q, _, v, nv = self._row(k)
        if not kind.quasi:
            return frozenset({(Region.V, v + i - q)}), True
        turning = self.q(k, range(4))
        places = (c for c in range(nv) if not kind.sliding or (c in kind.sliding) == (i - q >= 4))
        return turning | self.v(k, places), False

    def _members(self, root: int) -> list[int]:
        return [k for k in range(self._links) if self._root[k] == root]

    def _unfelt(self, root: int) -> Knowns:
        """Coordinates and velocities of a tree's first hinge that change nothing seen from its bodies."""
        kind = self._row(root)[0]
        shifts = _shifts(kind)
        if self.system.central is not None:
            return self.v(root, shifts)
        found = self.q(root, kind.straight) | self.v(root, shifts)
        return found | self.q(root) if self._weightless and _has_constant_map(kind) else found

    def motion(self, root: int) -> Knowns:
        """What the accelerations of a tree depend on; the same for all of it, seen from its bodies."""
        if root not in self._trees:
            members = self._members(root)
            tied = root in (*self._loop_roots, *self._element_roots)  # perhaps to the ground
            unfelt = NOTHING if tied else self._unfelt(root)
            moving = (union(self.q(k) | self.v(k) for k in members) - unfelt) | self._prescribed(root)
            velocities = [j for k in members for j in self._velocities(k)]
            names = (f"hinge.{self.system.velocity_names[j]}.armature" for j in velocities)
            masses = union(self._masses.get(k, NOTHING) for k in members)
            forces = union(self.applied(j) for j in velocities) | self._elements(members)
            self._trees[root] = union([moving, forces, self._named(names), masses, self.gravity])
        return self._trees[root]

    def _prescribed(self, root: int) -> Knowns:
        """The motion prescribed to the loops of a tree; whether they are closed is a separate state."""
        found: set[Known] = set()
        for row, at_root in zip(self.plant.sections["loop_int"], self._loop_roots):
            if at_root == root and row[lp.L_DRIVE] >= 0:
                first = int(row[lp.L_COMMAND]) + (row[lp.L_SWITCH] >= 0)
                found |= {(Region.COMMAND, int(first) + i) for i in range(3)}
        return frozenset(found)

    def loop(self, l: int) -> Knowns:
        """What the force and the residual of a loop depend on."""
        return NOTHING if self._loop_roots[l] < 0 else self.motion(self._loop_roots[l])

    def _velocities(self, k: int) -> range:
        _, _, _, v, nv = self._row(k)
        return range(v, v + nv)

    def acceleration(self, j: int) -> Knowns:
        """What dv/dt of velocity j depends on."""
        return self.motion(self._root[int(self._dof_int[j, at.DI_BODY])])

    def reaction(self, row: int) -> Knowns:
        """What the force across the hinge of a link depends on; row as in Plant.hinge_rows."""
        k = row - 1
        if not self._topo[k, at.GROUNDED]:
            return self.motion(self._root[k])
        below = [i for i in range(k, self._links) if k in self._upward(i)]
        parts = union(self._masses.get(i, NOTHING) for i in below)
        trees = {self._root[i] for i in below} - {-1}
        moving = union(self.q(i) for i in below)
        return union([moving, parts, self.gravity, self._elements(below), *(self.motion(root) for root in trees)])

    def _upward(self, k: int) -> list[int]:
        """Link k and all that carry it."""
        path = [k]
        while self._topo[path[-1], at.UP]:  # at most once through every link
            path.append(int(self._topo[path[-1], at.UP]) - 1)
        return path

    def path(self, node: int) -> list[int]:
        """The links that carry a node, tip first; none for a node of the ground."""
        row = int(self.plant.sections["node_row"][node, 0])
        return self._upward(row - 1) if row else []

    def node_position(self, node: int) -> Knowns:
        return union(self.q(k) for k in self.path(node))

    def node_orientation(self, node: int) -> Knowns:
        return union(self._turning(k) for k in self.path(node))

    def _turning(self, k: int) -> Knowns:
        """Coordinates of a hinge that turn its body."""
        kind, _, nq, _, _ = self._row(k)
        return self.q(k, (i for i in range(nq) if i not in kind.straight))

    def node_angular_velocity(self, node: int) -> Knowns:
        path = self.path(node)
        return self.node_orientation(node) | union(self._turning_rates(k) for k in path)

    def _turning_rates(self, k: int) -> Knowns:
        kind, _, _, _, nv = self._row(k)
        return self.v(k, (c for c in range(nv) if c not in kind.sliding))

    def node_linear_velocity(self, node: int) -> Knowns:
        path = [k for k in self.path(node) if self._row(k)[0].code != FIXED]
        first = self.q(path[-1], self._row(path[-1])[0].straight) if path else NOTHING
        return union(self.q(k) | self.v(k) for k in path) - first

    def node_acceleration(self, node: int) -> Knowns:
        """Of the specific force seen from the node."""
        path = self.path(node)
        root = self._root[path[0]] if path else -1
        return self.gravity if root < 0 else self.motion(root)

    @cached_property
    def _roots(self) -> list[int]:
        return sorted(set(self._root) - {-1})

    @cached_property
    def _all_masses(self) -> Knowns:
        return union(masses for k, masses in self._masses.items() if self._root[k] >= 0)

    @cached_property
    def _all_q(self) -> Knowns:
        return union(self.q(k) for k in range(self._links))

    @cached_property
    def _all_v(self) -> Knowns:
        return union(self.v(k) for k in range(self._links))

    @cached_property
    def kinetic(self) -> Knowns:
        """Of the kinetic energy: where a tree as a whole stands does not matter."""
        placed = (
            self.q(root) if _has_constant_map(self._row(root)[0]) else self.q(root, self._row(root)[0].straight)
            for root in self._roots
        )
        rotors = self._named(f"hinge.{name}.armature" for name in self.system.velocity_names)
        return (self._all_q - union(placed)) | self._all_v | self._all_masses | rotors

    def strain(self, k: int) -> Knowns:
        """Of the strain energy of link k, which has modes."""
        names = (self.system.velocity_names[j] for j in self._velocities(k))
        return self.q(k) | self._named(f"hinge.{name}.stiffness" for name in names)

    @cached_property
    def all_strain(self) -> Knowns:
        """Of the strain energy of all flexible bodies."""
        return union(self.strain(k) for k in range(self._links) if self._topo[k, at.KIND] == MODAL)

    @cached_property
    def potential(self) -> Knowns:
        return NOTHING if self._weightless else self._all_q | self._all_masses | self.gravity

    @cached_property
    def angular_momentum(self) -> Knowns:
        return self._all_q | self._all_v | self._all_masses

    @cached_property
    def linear_momentum(self) -> Knowns:
        placed = union(self.q(root, self._row(root)[0].straight) for root in self._roots)
        return self.angular_momentum - placed
