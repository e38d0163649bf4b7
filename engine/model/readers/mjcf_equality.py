"""MJCF equality constraints as loops.

MuJoCo's constraints are springs and dampers of high stiffness; the loops here close exactly. What its compiler leaves
in ``eq_data`` (the right-hand sides at q = qpos0 are its own where the file gives none):

connect  the point data[0:3] of body 1 is the point data[3:6] of body 2; or the origins of two sites
weld     the frame (data[3:6], quaternion data[6:10]) on body 1 is body 2's frame moved to its point data[0:3]; or the
         frames of two sites. With torquescale = data[10] = 0 it leaves the rotation free
joint    y - y0 = a0 + a1 (x - x0) + … + a4 (x - x0)⁴, a = data[0:5]; without a second joint y - y0 = a0
tendon   the same of the lengths of two fixed tendons, which are sums of joints with factors
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import Polynomial

from limberjack.engine.algebra.rotations import from_quaternion
from limberjack.engine.common.errors import ModelError
from limberjack.engine.model.readers.mjcf_names import Names, Place
from limberjack.engine.model.readers.mjcf_tendons import Length, is_fixed, length_of
from limberjack.engine.model.system import JOINED_AS, Hinge, Loop, Pose, Term

# MuJoCo's defaults: what a file that says nothing about softness compiles to
_SOLREF, _SOLIMP = (0.02, 1.0), (0.9, 0.95, 0.001, 0.5, 2.0)
_TORQUE_SCALE = 10
_IDENTITY = (1.0, 0.0, 0.0, 0.0)

Frame = tuple[str | None, Pose]


def read_equalities(model: Any, mujoco: Any, names: Names, place: Place) -> tuple[list[Loop], list[str]]:
    """The loops, inactive ones as switchable and open, and texts about what of them is ignored."""
    loops = [_loop(model, mujoco, i, names, place) for i in range(model.neq)]
    soft = [
        loop.name
        for i, loop in enumerate(loops)
        if not (np.allclose(model.eq_solref[i], _SOLREF) and np.allclose(model.eq_solimp[i], _SOLIMP))
    ]
    scaled = [
        loop.name for i, loop in enumerate(loops) if loop.type == "weld" and model.eq_data[i][_TORQUE_SCALE] != 1.0
    ]
    findings = {"solref and solimp are ignored, loops close exactly": soft, "torquescale is ignored": scaled}
    return loops, [
        f"{text}: equality {', '.join(repr(name) for name in which)}" for text, which in findings.items() if which
    ]


def _loop(model: Any, mujoco: Any, i: int, names: Names, place: Place) -> Loop:
    kinds = mujoco.mjtEq
    kind, name = kinds(int(model.eq_type[i])), names.equality(i)
    where = place.of("equality", name)
    fields: dict[str, Any] = {"where": where}
    disabled = int(model.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_EQUALITY)
    if disabled or not model.eq_active0[i]:
        fields |= {"switchable": True, "closed": False}
    if kind in (kinds.mjEQ_JOINT, kinds.mjEQ_TENDON):
        ends = [
            _length(model, mujoco, int(end), kind, where)
            for end in (model.eq_obj1id[i], model.eq_obj2id[i])
            if end >= 0
        ]
        terms, offset = _coupling(np.array(model.eq_data[i][:5], dtype=float), ends, names, where)
        return Loop(name, "coupling", terms=terms, offset=offset, **fields)
    if kind not in (kinds.mjEQ_CONNECT, kinds.mjEQ_WELD):
        word = kind.name.removeprefix("mjEQ_").lower()
        what = f"equality constraints of type '{word}' are not supported"
        raise ModelError(what, where=where, remedy="Use connect, weld or joint, or remove it")
    weld = kind == kinds.mjEQ_WELD
    (parent, inboard), (body, outboard) = _frames(model, mujoco, i, weld, names)
    loop_type = "weld" if weld and model.eq_data[i][_TORQUE_SCALE] != 0.0 else "point"
    hinge = Hinge(name, JOINED_AS[loop_type], parent, inboard, outboard, where=where)
    return Loop(name, loop_type, hinge=hinge, body=body, **fields)


def _frames(model: Any, mujoco: Any, i: int, weld: bool, names: Names) -> tuple[Frame, Frame]:
    """The frames that a connect or weld joins."""
    ends = int(model.eq_obj1id[i]), int(model.eq_obj2id[i])
    if int(model.eq_objtype[i]) == int(mujoco.mjtObj.mjOBJ_SITE):
        first, second = (_site_frame(model, site, names) for site in ends)
        return first, second
    data = np.array(model.eq_data[i], dtype=float)
    points = (data[3:6], data[0:3]) if weld else (data[0:3], data[3:6])
    turns = (data[6:10] if weld else _IDENTITY), _IDENTITY
    first, second = (
        (names.body(body) if body else None, Pose(from_quaternion(turn), np.array(point)))
        for body, turn, point in zip(ends, turns, points)
    )
    return first, second


def _site_frame(model: Any, site: int, names: Names) -> Frame:
    owner = int(model.site_bodyid[site])
    pose = Pose(from_quaternion(model.site_quat[site]), np.array(model.site_pos[site], dtype=float))
    return names.body(owner) if owner else None, pose


def _length(model: Any, mujoco: Any, index: int, kind: Any, where: str) -> Length:
    """What an equality couples: a joint or a tendon."""
    if kind == mujoco.mjtEq.mjEQ_JOINT:
        return Length({index: 1.0}, float(model.qpos0[model.jnt_qposadr[index]]))
    if not is_fixed(model, mujoco, index):
        raise ModelError("spatial tendons are not supported", where=where, remedy="Use a fixed tendon, or remove it")
    return length_of(model, index)


def _coupling(a: np.ndarray, ends: list[Length], names: Names, where: str) -> tuple[tuple[Term, ...], float]:
    """Terms and offset of y - (a0 - a1 x0 + …) - (…) x - … = y0, of one or two ends y and x."""
    follower, *leaders = ends
    terms = {joint: Polynomial([0.0, factor]) for joint, factor in follower.factors.items()}
    offset = follower.start + float(a[0])
    for leader in leaders:
        if len(leader.factors) > 1 and np.any(a[2:]):
            what = "a polynomial of a tendon with several joints is not supported"
            raise ModelError(what, where=where, remedy="Keep two numbers of polycoef")
        offset = follower.start + float(Polynomial(a)(-leader.start))
        for joint, factor in leader.factors.items():
            share = Polynomial(a)(Polynomial([-leader.start, factor]))
            terms[joint] = terms.get(joint, Polynomial([0.0])) - (share - share(0.0))
    given = {joint: np.trim_zeros(term.coef[1:], "b") for joint, term in terms.items()}
    return tuple(Term(names.joint(j), tuple(map(float, c))) for j, c in given.items() if len(c)), offset
