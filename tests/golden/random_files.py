"""Random model files with every kind of element, from a seed alone: plain data, made without Limberjack.

Two revisions of the engine read the same text, so that what they make of it can be compared.
"""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

MODES = Path(__file__).resolve().parents[2] / "examples" / "modes"
_AXES = ("revolute", "prismatic", "helical", "cylindrical")
_PAIRS = ("universal", "gimbal", "planar", "rolling")
_QUASI = ("spherical", "free")
HINGES = (*_AXES, *_PAIRS, *_QUASI, "custom")
#: suffixes of the coordinates of the hinges that take springs, stops and servos
_SUFFIXES = {
    "revolute": ("",), "prismatic": ("",), "helical": ("",), "rolling": ("",),
    "cylindrical": (".angle", ".distance"), "universal": (".angle1", ".angle2"),
    "gimbal": (".angle1", ".angle2", ".angle3"), "planar": (".angle", ".x", ".y"),
}  # fmt: skip


def vector(rng: random.Random, size: float = 1.0) -> list[float]:
    return [rng.uniform(-size, size) for _ in range(3)]


def _unit(rng: random.Random) -> list[float]:
    while True:
        v = vector(rng)
        length = math.hypot(*v)
        if 0.1 < length < 1.0:
            return [x / length for x in v]


def _square_axes(rng: random.Random, count: int) -> list[list[float]]:
    """Unit vectors at right angles, by Gram and Schmidt."""
    axes: list[list[float]] = []
    while len(axes) < count:
        v = _unit(rng)
        for a in axes:
            dot = sum(x * y for x, y in zip(v, a, strict=True))
            v = [x - dot * y for x, y in zip(v, a, strict=True)]
        length = math.hypot(*v)
        if length > 0.2:
            axes.append([x / length for x in v])
    return axes


def _inertia(rng: random.Random) -> dict[str, Any]:
    """Mass, centre and inertia of a box of random edges."""
    mass, edges = rng.uniform(0.5, 3.0), [rng.uniform(0.1, 0.5) for _ in range(3)]
    x, y, z = (mass * e * e / 12.0 for e in edges)
    return {"mass": mass, "com": vector(rng, 0.3), "inertia": {"xx": y + z, "yy": x + z, "zz": x + y}}


def _geometry(rng: random.Random, kind: str) -> dict[str, Any]:
    """What this type of hinge needs beside its name and place."""
    if kind in _AXES:
        extra = {"pitch": rng.uniform(0.05, 0.3)} if kind == "helical" else {}
        return {"axis": _unit(rng), **extra}
    if kind in _PAIRS:
        extra = {"radius": rng.uniform(0.1, 0.4)} if kind == "rolling" else {}
        return {"axes": _square_axes(rng, 3 if kind == "gimbal" else 2), **extra}
    if kind == "custom":
        columns = _square_axes(rng, 2)
        return {"map": [[columns[0][i], 0.0] for i in range(3)] + [[0.1, columns[1][i]] for i in range(3)]}
    return {}


def _laws(rng: random.Random, kind: str) -> dict[str, Any]:
    """Springs, damping, friction, armature and stops along the coordinates."""
    laws: dict[str, Any] = {}
    if kind in ("cylindrical", "planar", "free", "custom"):
        return laws
    for word, most in (("damping", 0.5), ("friction", 0.2), ("armature", 0.1)):
        if rng.random() < 0.4:
            laws[word] = rng.uniform(0.01, most)
    if kind in _SUFFIXES and rng.random() < 0.4:
        laws |= {"stiffness": rng.uniform(1.0, 20.0), "rest": rng.uniform(-0.5, 0.5)}
    if len(_SUFFIXES.get(kind, ())) == 1 and rng.random() < 0.3:
        laws["limits"] = {"lower": rng.uniform(-1.0, -0.1), "upper": rng.uniform(0.1, 1.0)}
    return laws


def _start(rng: random.Random, kind: str) -> dict[str, Any]:
    if kind in _QUASI:
        return {
            "rpy": vector(rng, 0.5),
            "velocity": [rng.uniform(-1.0, 1.0) for _ in range(6 if kind == "free" else 3)],
        }
    if kind == "custom":
        return {"rpy": vector(rng, 0.5), "velocity": [rng.uniform(-1.0, 1.0) for _ in range(2)]}
    count = len(_SUFFIXES[kind])
    values = [[rng.uniform(-0.6, 0.6) for _ in range(count)] for _ in range(2)]
    position, velocity = (value[0] if count == 1 else value for value in values)
    return {"position": position, "velocity": velocity}


def _hinge(rng: random.Random, name: str, kind: str, parent: str) -> dict[str, Any]:
    hinge = {"name": name, "type": kind, "parent": parent, "position": vector(rng, 0.5), "rpy": vector(rng, 1.0)}
    return hinge | _geometry(rng, kind) | _laws(rng, kind) | {"initial": _start(rng, kind)}


def _tree(rng: random.Random, bodies: int) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for i in range(bodies):
        parent = "world" if i == 0 else f"b{rng.randrange(i)}"
        kind = rng.choice(HINGES)
        made.append({"name": f"b{i}", **_inertia(rng), "hinge": _hinge(rng, f"h{i}", kind, parent)})
    return made


def _flexible(rng: random.Random, made: list[dict[str, Any]]) -> None:
    """A modal wing on a body of the tree, and a body on the wing's tip."""
    wing = {"file": str(MODES / "solar_wing.npz"), "variant": rng.choice(["full", "linearized"])}
    wing["modes"] = rng.randint(2, 5)
    hinge = _hinge(rng, "wing_hinge", rng.choice(["revolute", "universal"]), rng.choice(made)["name"])
    made.append({"name": "wing", "flexible": wing, "hinge": hinge})


def _coordinates(bodies: list[dict[str, Any]]) -> list[str]:
    return [body["hinge"]["name"] + suffix for body in bodies for suffix in _SUFFIXES.get(body["hinge"]["type"], ())]


def _motor(rng: random.Random) -> dict[str, Any]:
    motor = {
        "torque_constant": 0.06,
        "resistance": 0.4,
        "inductance": 4e-4,
        "bandwidth": 400,
        "voltage": 48,
        "gear": 50,
    }
    if rng.random() < 0.5:
        motor |= {"inertia": 2e-5, "stiffness": 2e3, "gear_damping": 5, "backlash": 5e-4}
    return motor


def _drives(rng: random.Random, coordinates: list[str]) -> list[dict[str, Any]]:
    drives = []
    for i, coordinate in enumerate(rng.sample(coordinates, min(3, len(coordinates)))):
        mode = rng.choice(["torque", "servo", "velocity"])
        drive: dict[str, Any] = {
            "name": f"drive{i}",
            "coordinate": coordinate,
            "mode": mode,
            "initial": rng.uniform(-0.5, 0.5),
        }
        drive |= {"kp": rng.uniform(5.0, 50.0)} if mode == "servo" else {}
        drive |= {"kd": rng.uniform(0.5, 5.0)} if mode != "torque" else {}
        drive |= {"limit": rng.uniform(1.0, 20.0)} if rng.random() < 0.5 else {}
        drive |= {"motor": _motor(rng)} if rng.random() < 0.4 else {}
        drives.append(drive)
    return drives


def _devices(rng: random.Random, bodies: list[str]) -> dict[str, Any]:
    """Wheels, gyros and thrusters, on some models."""
    body, devices = rng.choice(bodies), {}
    if rng.random() < 0.4:
        wheel = {"name": "rw", "body": body, "axis": _unit(rng), "mass": 1.5, "spin_inertia": 0.02, "speed": 50.0}
        devices["wheels"] = [wheel | {"max_torque": 0.2, "friction": 0.01}]
    if rng.random() < 0.3:
        gimbal, rotor = _square_axes(rng, 2)
        cmg = {"name": "cmg", "body": body, "gimbal_axis": gimbal, "rotor_axis": rotor, "momentum": 3.0, "mass": 2.0}
        devices["cmgs"] = [cmg | {"inertia": {"xx": 0.1, "yy": 0.15, "zz": 0.1}, "gain": 5.0, "rate": 0.2}]
    if rng.random() < 0.4:
        jet = {
            "name": "jet",
            "body": body,
            "position": vector(rng),
            "direction": _unit(rng),
            "thrust": 5.0,
            "initial": 2.0,
        }
        devices["thrusters"] = [jet | ({"delay": 0.0035, "minimum_pulse": 0.01} if rng.random() < 0.5 else {})]
    return devices


def _sensors(rng: random.Random, model: dict[str, Any], coordinates: list[str]) -> list[dict[str, Any]]:
    node, hinge = rng.choice(model["bodies"])["name"], rng.choice(model["bodies"])["hinge"]["name"]
    noise = {"noise": 0.01, "rate": 250, "delay": 0.003, "bias": 0.1}
    kinds = [
        "node_position",
        "node_orientation",
        "node_angular_velocity",
        "node_linear_velocity",
        "gyro",
        "accelerometer",
    ]
    sensors = [{"name": kind, "type": kind, "target": node} for kind in kinds]
    sensors += [{"name": "load", "type": "reaction", "target": hinge}]
    sensors += [{"name": "noisy", "type": "gyro", "target": node, "bias_walk": 0.01, **noise}]
    sensors += [{"name": "tracker", "type": "star_tracker", "target": node, "rate": 100, "noise": 1e-4}]
    sensors += [{"name": "imu", "type": "imu", "target": node, "gyro": noise, "accelerometer": {"scale": 1e-3}}]
    for coordinate in coordinates[:2]:
        sensors += [
            {"name": f"{word} {coordinate}", "type": word, "target": coordinate} for word in ("position", "rate")
        ]
        sensors += [{"name": f"turned {coordinate}", "type": "encoder", "target": coordinate, "bits": 12}]
    for loop in model.get("loops", ()):
        sensors += [{"name": f"force {loop['name']}", "type": "loop_residual", "target": loop["name"]}]
    return sensors


def _loops(rng: random.Random, coordinates: list[str]) -> list[dict[str, Any]]:
    """A gear between two coordinates, a rod from a body to the world, a weld that may close."""
    loops: list[dict[str, Any]] = []
    method = rng.choice([{}, {"method": "embed"}, {"method": "force"}])
    if len(coordinates) > 1:
        first, second = rng.sample(coordinates, 2)
        loops.append(
            {"name": "gear", "type": "coupling", "terms": {first: 1, second: rng.uniform(-2.0, 2.0)}, **method}
        )
    if rng.random() < 0.5:
        loops.append(
            {"name": "rod", "type": "distance", "from": "b1", "to": "world", "driven": rng.random() < 0.5, **method}
        )
    if rng.random() < 0.5:
        loops.append({"name": "grasp", "type": "weld", "from": "b1", "to": "b2", "switchable": True, "closed": False})
    return loops


def tree(seed: int) -> dict[str, Any]:
    """A tree of two to eight bodies with drives, devices and sensors; every third one with a flexible wing."""
    rng = random.Random(seed)
    bodies = _tree(rng, rng.randint(3, 8))
    if seed % 3 == 0:
        _flexible(rng, bodies)
    coordinates = _coordinates(bodies)
    model: dict[str, Any] = {"limberjack": 1, "name": f"tree {seed}", "gravity": vector(rng, 10.0), "seed": seed}
    model |= {"bodies": bodies, "actuators": _drives(rng, coordinates)}
    if seed % 4 == 1:
        model["loops"] = _loops(rng, coordinates)
        for body in bodies:  # a guess, not held
            body["hinge"].pop("initial")
    model |= _devices(rng, [body["name"] for body in bodies])
    return model | {"sensors": _sensors(rng, model, coordinates)}


def _bar(name: str, length: float, hinge: dict[str, Any]) -> dict[str, Any]:
    inertia = {"xx": 1e-4, "yy": length**2 / 12.0, "zz": length**2 / 12.0}
    return {"name": name, "mass": 1.0, "com": [length / 2.0, 0, 0], "inertia": inertia, "hinge": hinge}


def linkage(seed: int) -> dict[str, Any]:
    """One to four four-bars of random lengths, each on the rocker of the last, closed by a random method."""
    rng = random.Random(seed)
    bodies, loops, parent = [], [], "world"
    for i in range(rng.randint(1, 4)):
        ground, crank, coupler = 0.4, rng.uniform(0.08, 0.12), rng.uniform(0.35, 0.45)
        rocker, names = rng.uniform(0.22, 0.3), [f"{part}{i}" for part in ("crank", "coupler", "rocker")]
        turn = {"type": "revolute", "axis": [0, 0, 1]}
        start = {"initial": {"position": rng.uniform(0.5, 1.5), "velocity": rng.uniform(-3.0, 3.0)}}
        bodies.append(_bar(names[0], crank, turn | {"parent": parent, **start}))
        bodies.append(_bar(names[1], coupler, turn | {"parent": names[0], "position": [crank, 0, 0]}))
        bodies.append(_bar(names[2], rocker, turn | {"parent": parent, "position": [ground, 0, 0]}))
        pin = {"name": f"pin{i}", "type": "hinge", "hinge": "revolute", "axis": [0, 0, 1]}
        ends = {
            "from": {"body": names[1], "position": [coupler, 0, 0]},
            "to": {"body": names[2], "position": [rocker, 0, 0]},
        }
        loops.append(pin | ends | rng.choice([{}, {"method": "embed"}, {"method": "force"}]))
        parent = names[2]
    sensors = [{"name": f"load{i}", "type": "loop_wrench", "target": loop["name"]} for i, loop in enumerate(loops)]
    return {"limberjack": 1, "name": f"linkage {seed}", "bodies": bodies, "loops": loops, "sensors": sensors}


def _places(value: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """(container, key) of everything in the model's data."""
    for key in list(value if isinstance(value, dict) else range(len(value))):
        found.append((value, key))
        if isinstance(value[key], (dict, list)):
            _places(value[key], found)
    return found


def damaged(model: dict[str, Any], seed: int) -> dict[str, Any]:
    """The model with one value or field that is wrong, missing, or taken from elsewhere in it."""
    rng = random.Random(seed)
    found = _places(model, [])
    holder, key = rng.choice(found)
    other, word = rng.choice(found)
    wrong = rng.choice([-1, 0, 1e31, True, None, "world", "nothing", [], {}, [1, 2], other[word]])
    if isinstance(holder, dict) and rng.random() < 0.5:
        kept = holder.pop(key)
        if rng.random() < 0.5:
            holder[str(word)] = kept
    else:
        holder[key] = wrong
    return model


def write(model: dict[str, Any], path: Path) -> Path:
    """The model as a file; JSON is YAML."""
    path.write_text(json.dumps(model, indent=1))
    return path
