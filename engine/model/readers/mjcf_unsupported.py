"""Parts of MJCF without a counterpart: refused where the motion would be wrong, listed where it may be."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from limberjack.engine.common.errors import ModelError
from limberjack.engine.model.readers.mjcf_names import Names, Place
from limberjack.engine.model.readers.mjcf_tendons import is_fixed

_BALL_OR_FREE = (0, 1)
# Fields of later MuJoCo versions, by the name of what they are; absent ones are zero in older versions.
_NOT_LINEAR = {
    "jnt_stiffnesspoly": ("polynomial springs", "Use a linear spring"),
    "jnt_springyield": ("yielding springs", "Use a linear spring"),
    "dof_dampingpoly": ("polynomial dampers", "Use linear damping"),
    "tendon_stiffnesspoly": ("polynomial springs", "Use a linear spring"),
    "tendon_springyield": ("yielding springs", "Use a linear spring"),
    "tendon_dampingpoly": ("polynomial dampers", "Use linear damping"),
}


def refuse_unsupported(model: Any, mujoco: Any, names: Names, place: Place) -> None:
    """Raise ModelError for what changes the motion and cannot be represented."""
    source = place.of("model", names.model("model"))
    if model.nflex:
        _refuse(source, "deformable bodies (flex) are not supported", "Remove them")
    for j in range(model.njnt):
        where = place.of("joint", names.joint(j))
        if model.jnt_type[j] in _BALL_OR_FREE and model.jnt_stiffness[j]:
            _refuse(where, "a spring on a ball or free joint is not supported", "Remove stiffness")
    for field, (what, remedy) in _NOT_LINEAR.items():
        for i, values in enumerate(getattr(model, field, ())):
            if np.any(values) and (owner := _owner(model, mujoco, field, i, names, place)):
                _refuse(owner, f"{what} are not supported", remedy)


def _owner(model: Any, mujoco: Any, field: str, i: int, names: Names, place: Place) -> str | None:
    """The place of the joint or tendon of a field's row; none of a spatial tendon, whose forces are ignored."""
    if field.startswith("tendon"):
        return place.of("tendon", names.tendon(i)) if is_fixed(model, mujoco, i) else None
    return place.of("joint", names.joint(int(model.dof_jntid[i]) if field.startswith("dof") else i))


def ignored_parts(model: Any, mujoco: Any, contacts: bool) -> list[str]:
    """One text for each part of the file that this engine leaves out. contacts : whether contacts are read"""
    touching = (np.asarray(model.geom_contype) | np.asarray(model.geom_conaffinity)) != 0
    contacts_off = int(model.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    limited_balls = (np.asarray(model.jnt_type) == 1) & (np.asarray(model.jnt_limited) != 0)
    discrete = mujoco.mjtIntegrator(int(model.opt.integrator)).name not in (
        "mjINT_EULER", "mjINT_RK4", "mjINT_IMPLICIT", "mjINT_IMPLICITFAST",
    )  # fmt: skip
    parts = {
        "contacts are not simulated, unless it is loaded with contacts=True (--contacts)": not contacts
        and (model.npair or np.any(touching))
        and not contacts_off,
        "springs, limits and friction of spatial tendons are not simulated": any(
            not is_fixed(model, mujoco, tendon) for tendon in range(model.ntendon)
        ),
        "limits of ball joints are ignored": np.any(limited_balls),
        "gravity compensation (gravcomp) is ignored": np.any(model.body_gravcomp),
        "mocap bodies are fixed at their initial pose": model.nmocap,
        "wind and fluid forces are ignored": model.opt.density or model.opt.viscosity,
        "sensors are not read; name the measurements in a Limberjack model": model.nsensor,
        "plugins are ignored": model.nplugin,
        "the discrete integrator is replaced by 'implicit'": discrete,
        **_disabled_parts(model, mujoco),
    }
    return [text for text, present in parts.items() if present]


def _disabled_parts(model: Any, mujoco: Any) -> dict[str, bool]:
    """<flag …="disable"/> of forces that are kept here."""
    bits = mujoco.mjtDisableBit
    flags = int(model.opt.disableflags)
    forces = ("SPRING", "DAMPER", "PASSIVE", "FRICTIONLOSS", "LIMIT", "CONSTRAINT", "ACTUATION")
    present = {name: int(getattr(bits, f"mjDSBL_{name}", 0)) for name in forces}
    return {
        f'<flag {name.lower()}="disable"/> is ignored: these forces act': bool(flags & bit)
        for name, bit in present.items()
    }


def _refuse(where: str, what: str, remedy: str) -> NoReturn:
    raise ModelError(what, where=where, remedy=remedy)
