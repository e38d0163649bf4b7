"""MJCF actuators as torque, servo and velocity drives.

With gear g the force of the joint or fixed tendon is g f, and the actuator's length g q (MuJoCo, "Actuation model"):
motor f = k u; position f = kp (u − g q) − kv g q̇; velocity f = kv (u − g q̇). Of other affine laws
f = k u + b₀ − kp g q − kv g q̇ the command is what the joint is to do, not u: a text says how they are related.
"""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np

from limberjack.engine.common.errors import ModelError
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.readers.mjcf_names import Names, Place
from limberjack.engine.model.readers.mjcf_tendons import force_range, is_fixed

_REMEDY = "Use <motor>, <position> or <velocity> on a hinge, a slide joint or a fixed tendon, or remove the actuator"
_SCALAR_JOINTS = (2, 3)


def read_actuators(model: Any, mujoco: Any, names: Names, place: Place) -> tuple[list[Actuator], list[str]]:
    """The drives, and texts about force ranges that had to be made symmetric."""
    findings: list[str] = []
    count = int(getattr(model, "nactuator", model.nu))
    return [_actuator(model, mujoco, i, names, place, findings) for i in range(count)], findings


def _actuator(model: Any, mujoco: Any, i: int, names: Names, place: Place, findings: list[str]) -> Actuator:
    given = mujoco.mj_id2name(model, int(mujoco.mjtObj.mjOBJ_ACTUATOR), i) or f"number {i}"
    where = place.of("actuator", given)
    coordinate, own_range = _transmission(model, mujoco, i, names, where)
    _check_kind(model, mujoco, i, where)
    gear = float(model.actuator_gear[i][0])
    if gear == 0.0:
        _refuse(where, "gear 0: it cannot act")
    mode, kp, kd = _law(model, mujoco, i, where)
    name = names.actuator(i, coordinate)
    _note_command(model, i, mode, gear, kp or kd, name, findings)
    limit = _limit(model, i, own_range, gear, mode, name, findings)
    return Actuator(name, coordinate, mode, gear * gear * kp, gear * gear * kd, limit, where=where)


def _transmission(model: Any, mujoco: Any, i: int, names: Names, where: str) -> tuple[str, np.ndarray | None]:
    """The coordinate that an actuator drives, and the range of all drives' force there, if it has one."""
    kind = mujoco.mjtTrn(int(model.actuator_trntype[i]))
    if kind == mujoco.mjtTrn.mjTRN_TENDON:
        tendon = int(model.actuator_trnid[i][0])
        if not is_fixed(model, mujoco, tendon):
            _refuse(where, "it acts on a spatial tendon")
        return names.tendon(tendon), force_range(model, tendon)
    joint = _joint(model, mujoco, i, kind, where)
    return names.joint(joint), model.jnt_actfrcrange[joint] if model.jnt_actfrclimited[joint] else None


def _joint(model: Any, mujoco: Any, i: int, kind: Any, where: str) -> int:
    if kind not in (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT):
        _refuse(where, f"it acts on a {kind.name.removeprefix('mjTRN_').lower()}, not on a joint")
    joint = int(model.actuator_trnid[i][0])
    if int(model.jnt_type[joint]) not in _SCALAR_JOINTS:
        _refuse(where, "it acts on a ball or free joint")
    return joint


def _check_kind(model: Any, mujoco: Any, i: int, where: str) -> None:
    dynamics = mujoco.mjtDyn(int(model.actuator_dyntype[i]))
    if dynamics != mujoco.mjtDyn.mjDYN_NONE:
        _refuse(
            where,
            f"its activation dynamics '{dynamics.name.removeprefix('mjDYN_').lower()}' are not supported",
        )
    fields = {"plugin": -1, "delay": 0, "damping": 0, "dampingpoly": 0, "armature": 0}
    for field, absent in fields.items():
        value = getattr(model, f"actuator_{field}", None)
        if value is not None and np.any(np.asarray(value[i]) != absent):
            _refuse(where, f"'{field}' of actuators is not supported")


def _law(model: Any, mujoco: Any, i: int, where: str) -> tuple[str, float, float]:
    """Mode, kp, kd of the actuator itself, before the gear."""
    gain_type, bias_type = int(model.actuator_gaintype[i]), int(model.actuator_biastype[i])
    gain, bias = float(model.actuator_gainprm[i][0]), [float(b) for b in model.actuator_biasprm[i][:3]]
    if gain_type != int(mujoco.mjtGain.mjGAIN_FIXED) or gain == 0.0:
        _refuse(where, "its gain is not a constant other than zero")
    affine = bias_type == int(mujoco.mjtBias.mjBIAS_AFFINE)
    if bias_type == int(mujoco.mjtBias.mjBIAS_NONE) or (affine and not any(bias)):
        return "torque", 0.0, 0.0
    if affine and bias[1] <= 0.0 and bias[2] <= 0.0:
        if bias[1] < 0.0:
            return "servo", -bias[1], abs(bias[2])
        return ("velocity", 0.0, -bias[2]) if bias[2] < 0.0 else ("torque", 0.0, 0.0)
    _refuse(where, f"gain {gain:g} and bias {bias} are not those of a motor, spring or damper")


def _note_command(model: Any, i: int, mode: str, gear: float, k: float, name: str, findings: list[str]) -> None:
    """Describe the command of an actuator with a law of its own: (gain u + b₀) / (k gear), of a torque times gear."""
    gain, offset = float(model.actuator_gainprm[i][0]), _offset(model, i)
    share = gear if mode == "torque" else 1.0 / (k * gear)
    if offset != 0.0 or (mode != "torque" and gain != k):
        what = {"torque": "force", "servo": "position", "velocity": "rate"}[mode]
        law = f"{gain * share:.6g} u" + (f" {offset * share:+.6g}" if offset else "")
        findings.append(f"the command of actuator '{name}' is the {what} of its joint: {law} for MuJoCo's control u")


def _offset(model: Any, i: int) -> float:
    """b₀, the constant part of the actuator's own force."""
    return float(model.actuator_biasprm[i][0]) if int(model.actuator_biastype[i]) else 0.0


def _limit(
    model: Any, i: int, own_range: np.ndarray | None, gear: float, mode: str, name: str, findings: list[str]
) -> float:
    """Largest force on the coordinate: its own range; force range and a motor's control range, times the gear."""
    ranges = []
    if model.actuator_forcelimited[i]:
        ranges.append(("forcerange", gear * np.asarray(model.actuator_forcerange[i])))
    control = int(model.actuator_ctrladr[i]) if hasattr(model, "actuator_ctrladr") else i
    if mode == "torque" and model.actuator_ctrllimited[control]:
        gain, offset = gear * float(model.actuator_gainprm[i][0]), gear * _offset(model, i)
        ranges.append(("ctrlrange", gain * np.asarray(model.actuator_ctrlrange[control]) + offset))
    if own_range is not None:
        ranges.append(("actuatorfrcrange", np.asarray(own_range)))
    for field, (low, high) in ranges:
        if not math.isclose(-low, high):
            larger = max(abs(low), abs(high))
            findings.append(f"{field} of actuator '{name}' is not symmetric: ±{larger:g} is used at the joint")
    return min((float(np.abs(values).max()) for _, values in ranges), default=math.inf)


def _refuse(where: str, what: str) -> NoReturn:
    raise ModelError(f"unsupported actuator: {what}", where=where, remedy=_REMEDY)
