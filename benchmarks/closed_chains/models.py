"""The mechanisms of the benchmarks of closed chains, each made by hand as a System with loops.

four-bar              crank, coupler, rocker; the pin between coupler and rocker closes the loop
four-bar, ground cut  the rocker hangs on the coupler and its ground pin closes the loop
n four-bars           each stands on the coupler of the one before, out of its plane
stewart               platform on six universal-prismatic-spherical legs; the first leg carries the platform
stewart free          the same; the platform floats and all six legs are closed by loops
grasp                 two arms of seven hinges and a floating object that is welded to both hands
n-bar                 one plane loop of n links, cut in the middle
mesh n                n + 1 pendulums in a row, each tied to the next by a coupler: n loops that share bodies
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from limberjack.engine.algebra.rotations import from_axis_angle
from limberjack.engine.common.errors import ModelError
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.system import Body, Hinge, Inertia, Loop, Pose, System
from limberjack.engine.model.validate import validate

X, Z = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])
#: links of a four-bar, m: a crank-rocker
CRANK, COUPLER, ROCKER, GROUND = 0.2, 0.5, 0.4, 0.5
#: a plane of motion in which gravity acts
UPRIGHT = Pose(from_axis_angle(X, 0.5 * np.pi))
TURNED = Pose(from_axis_angle(Z, np.pi))
BASE_RADIUS, PLATFORM_RADIUS, HEIGHT = 0.6, 0.35, 0.8
#: arm of seven hinges: tilt about x and offset along z of each hinge from the one before
ARM = ((0.0, 0.33), (-90.0, 0.0), (90.0, 0.32), (90.0, 0.08), (-90.0, 0.38), (90.0, 0.0), (90.0, 0.09))
#: a guess of its angles with a bent elbow
ELBOW = (0.0, 0.2, 0.0, -1.8, 0.0, 1.0, 0.0)


def _at(x: float, y: float = 0.0, z: float = 0.0) -> Pose:
    return Pose(position=np.array([x, y, z]))


def _rod(length: float, direction: np.ndarray = X, width: float = 0.04) -> Inertia:
    """A square rod from the origin along a coordinate axis, 4 kg a metre and 0.2 kg of ends."""
    mass = 0.2 + 4.0 * abs(length)
    along, across = mass * width**2 / 6.0, mass * (length**2 + width**2) / 12.0
    return Inertia(mass, 0.5 * length * direction, np.diag(np.where(direction != 0.0, along, across)))


def _revolute(name: str, parent: str | None, place: Pose, guess: float = 0.0) -> Hinge:
    return Hinge(name, "revolute", parent, inboard=place, axes=Z[None], q0=np.array([guess]))


def _floating(height: float) -> Hinge:
    return Hinge("floating", "free", None, q0=np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, height]))


def _pin(name: str, parent: str | None, place: Pose, body: str, end: Pose) -> Loop:
    hinge = Hinge(name, "revolute", parent, inboard=place, outboard=end, axes=Z[None])
    return Loop(name, "hinge", hinge, body)


def _ball(name: str, parent: str, body: str, end: Pose) -> Loop:
    return Loop(name, "point", Hinge(name, "spherical", parent, outboard=end), body)


def _system(name: str, bodies: list[Body], loops: list[Loop]) -> System:
    """Every turning and sliding hinge driven by a force."""
    driven = [body.hinge.name for body in bodies if body.hinge.type in ("revolute", "prismatic")]
    drives = tuple(Actuator(f"{name} drive", name) for name in driven)
    return validate(System(name, tuple(bodies), actuators=drives, loops=tuple(loops)))


def four_bars(count: int) -> System:
    """A chain of four-bars in one tree, depth first: cranks and couplers outwards, rockers on the way back."""
    if count < 1:
        raise ModelError(f"{count} four-bars", where="bench", remedy="Give at least 1")
    bodies: list[Body] = []
    rockers: list[Body] = []
    loops: list[Loop] = []
    parent, place = None, UPRIGHT
    tilt = Pose(from_axis_angle(np.array([0.8, 0.0, 0.6]), 0.4), np.array([0.25, 0.1, 0.05]))
    for i in range(count):
        crank, coupler, rocker = f"crank{i}", f"coupler{i}", f"rocker{i}"
        bodies.append(Body(crank, _rod(CRANK), _revolute(f"a{i}", parent, place, 1.0)))
        bodies.append(Body(coupler, _rod(COUPLER), _revolute(f"b{i}", crank, _at(CRANK), -0.4)))
        rockers.append(Body(rocker, _rod(ROCKER), _revolute(f"c{i}", parent, place @ _at(GROUND), 1.4)))
        loops.append(_pin(f"pin{i}", coupler, _at(COUPLER), rocker, _at(ROCKER)))
        parent, place = coupler, tilt
    return _system("four-bar" if count == 1 else f"{count} four-bars", bodies + rockers[::-1], loops)


def four_bar_cut_at_ground() -> System:
    """The same four-bar as a serial chain whose end is pinned to the ground."""
    bodies = [
        Body("crank", _rod(CRANK), _revolute("a", None, UPRIGHT, 1.0)),
        Body("coupler", _rod(COUPLER), _revolute("b", "crank", _at(CRANK), -0.4)),
        Body("rocker", _rod(ROCKER), _revolute("c", "coupler", _at(COUPLER) @ TURNED, 0.8)),
    ]
    pin = Hinge("pin", "revolute", None, inboard=UPRIGHT @ _at(GROUND), outboard=_at(ROCKER), axes=Z[None])
    return _system("four-bar, ground cut", bodies, [Loop("pin", "hinge", pin, "rocker")])


def _leg_frames() -> list[tuple[Pose, float, np.ndarray]]:
    """Foot with z along the leg, length and ball on the platform of each leg; the platform level at HEIGHT."""
    legs = []
    for i in range(6):
        pair, side = divmod(i, 2)
        turn, back = np.radians(120.0 * pair + 15.0 * (2 * side - 1)), np.radians(120.0 * pair + 45.0 * (2 * side - 1))
        foot = BASE_RADIUS * np.array([np.cos(turn), np.sin(turn), 0.0])
        ball = PLATFORM_RADIUS * np.array([np.cos(back), np.sin(back), 0.0])
        leg = ball + HEIGHT * Z - foot
        length = float(np.linalg.norm(leg))
        x = np.cross(X, leg) / np.linalg.norm(np.cross(X, leg))
        z = leg / length
        legs.append((Pose(np.column_stack([x, np.cross(z, x), z]), foot), length, ball))
    return legs


def stewart(free: bool = False) -> System:
    """Gough-Stewart platform; free: the platform is a free body, else it hangs on the first leg's ball."""
    disc = Inertia(6.0, np.array([0.0, 0.0, 0.02]), np.diag([0.2, 0.2, 0.4]))
    bodies: list[Body] = []
    loops: list[Loop] = []
    if free:
        bodies.append(Body("platform", disc, _floating(HEIGHT)))
    for i, (foot, length, ball) in enumerate(_leg_frames()):
        joint = Hinge(f"u{i}", "universal", None, inboard=foot, axes=np.eye(3)[:2])
        slide = Hinge(f"p{i}", "prismatic", f"lower{i}", inboard=_at(0.0, 0.0, length), axes=Z[None])
        bodies += [Body(f"lower{i}", _rod(0.5, Z), joint), Body(f"upper{i}", _rod(-0.5, Z), slide)]
        if i == 0 and not free:
            hinge = Hinge("s0", "spherical", "upper0", outboard=Pose(foot.rotation, ball))
            bodies.append(Body("platform", disc, hinge))
        else:
            loops.append(_ball(f"s{i}", f"upper{i}", "platform", Pose(position=ball)))
    return _system("stewart free" if free else "stewart", bodies, loops)


def _arm(name: str, base: Pose) -> list[Body]:
    bodies, parent, place = [], None, base
    for i, (tilt, _) in enumerate(ARM):
        offset = ARM[i + 1][1] if i + 1 < len(ARM) else 0.12
        turned = place @ Pose(from_axis_angle(X, np.radians(tilt)))
        hinge = _revolute(f"{name}.j{i}", parent, turned, ELBOW[i])
        bodies.append(Body(f"{name}{i}", _rod(max(offset, 0.1), Z, 0.08), hinge))
        parent, place = f"{name}{i}", _at(0.0, 0.0, offset)
    return bodies


def grasp() -> System:
    """Two arms that hold one object by welds."""
    bodies = _arm("left", _at(-0.5, 0.0, ARM[0][1])) + _arm("right", _at(0.5, 0.0, ARM[0][1]) @ TURNED)
    box = Inertia(1.5, np.array([0.01, 0.02, 0.03]), np.diag([0.01, 0.03, 0.03]))
    bodies.append(Body("object", box, _floating(0.7)))
    loops = []
    for name, side in (("left", -1.0), ("right", 1.0)):
        grip = Pose(from_axis_angle(np.array([0.0, 1.0, 0.0]), -0.5 * np.pi * side), np.array([0.15 * side, 0.0, 0.0]))
        hinge = Hinge(f"{name} grip", "fixed", f"{name}6", inboard=_at(0.0, 0.0, 0.12), outboard=grip)
        loops.append(Loop(f"{name} grip", "weld", hinge, "object"))
    return _system("grasp", bodies, loops)


def bars(count: int) -> System:
    """One plane loop of `count` bars, the ground among them: two branches from the ground that meet."""
    if count < 4:
        raise ModelError(f"a loop of {count} bars", where="bench", remedy="Give at least 4: fewer do not move")
    half, length, turn = count // 2, 2.0 / count, 2.0 * np.pi / count  # a regular polygon
    branches = (("left", half, UPRIGHT, np.pi, -turn), ("right", count - 1 - half, UPRIGHT @ _at(length), 0.0, turn))
    bodies: list[Body] = []
    for name, size, place, start, bend in branches:
        parent: str | None = None
        for i in range(size):
            hinge = _revolute(f"{name}.j{i}", parent, place, bend if i else start + bend)
            bodies.append(Body(f"{name}{i}", _rod(length), hinge))
            parent, place = f"{name}{i}", _at(length)
    loop = _pin("pin", f"left{half - 1}", _at(length), f"right{count - 2 - half}", _at(length))
    return _system(f"{count}-bar", bodies, [loop])


def mesh(count: int) -> System:
    """A row of pendulums of slightly different lengths, neighbours tied by couplers: `count` loops in one mesh."""
    if count < 1:
        raise ModelError(f"a mesh of {count} loops", where="bench", remedy="Give at least 1")
    lengths = [0.4 + 0.02 * np.sin(1.7 * i) for i in range(count + 1)]
    bodies: list[Body] = []
    loops: list[Loop] = []
    for i, length in enumerate(lengths):
        hinge = _revolute(f"a{i}", None, UPRIGHT @ _at(0.3 * i), -1.2)
        bodies.append(Body(f"pendulum{i}", _rod(length), hinge))
        if i < count:
            bodies.append(Body(f"coupler{i}", _rod(0.3), _revolute(f"b{i}", f"pendulum{i}", _at(length), 1.2)))
        if i > 0:
            loops.append(_pin(f"pin{i}", f"coupler{i - 1}", _at(0.3), f"pendulum{i}", _at(length)))
    return _system(f"mesh {count}", bodies, loops)


#: name → maker of the main models
MECHANISMS: dict[str, Callable[[], System]] = {
    "four-bar": lambda: four_bars(1),
    "four-bar, ground cut": four_bar_cut_at_ground,
    "10 four-bars": lambda: four_bars(10),
    "stewart": stewart,
    "stewart free": lambda: stewart(free=True),
    "grasp": grasp,
}


def by_method(system: System, method: str) -> System:
    """The System with all loops by one method, "embed" or "force"."""
    return replace(system, loops=tuple(replace(loop, method=method) for loop in system.loops))
