"""Fixed tendons of MJCF as coordinates of the model.

A fixed tendon has the length l = Σ c_i q_i of some joints. A spring, a limit, friction or a drive along it does the
virtual work f δl = Σ c_i f δq_i, so each joint gets c_i f. Here a massless slider has l as its coordinate: a coupling
keeps it there, and what acts along the tendon acts along the slider.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from limberjack.engine.common.errors import ModelError
from limberjack.engine.model.readers.mjcf_names import Names, Place
from limberjack.engine.model.system import Body, Dof, Hinge, Inertia, Loop, Term

_AXIS = np.array([[1.0, 0.0, 0.0]])


@dataclass(frozen=True)
class Length:
    """The length Σ c q of a fixed tendon: factors c by MuJoCo's number of the joint, and its value at qpos0."""

    factors: dict[int, float]
    start: float


def length_of(model: Any, tendon: int) -> Length:
    """The length of a fixed tendon."""
    factors: dict[int, float] = {}
    for w in _wraps(model, tendon):
        joint = int(model.wrap_objid[w])
        factors[joint] = factors.get(joint, 0.0) + float(model.wrap_prm[w])
    return Length(factors, float(model.tendon_length0[tendon]))


def is_fixed(model: Any, mujoco: Any, tendon: int) -> bool:
    """Whether a tendon's length is a sum of joints, not a path through the sites of bodies."""
    return all(model.wrap_type[w] == int(mujoco.mjtWrap.mjWRAP_JOINT) for w in _wraps(model, tendon))


def _wraps(model: Any, tendon: int) -> range:
    first = int(model.tendon_adr[tendon])
    return range(first, first + int(model.tendon_num[tendon]))


def sliders(model: Any, mujoco: Any) -> list[int]:
    """The fixed tendons along which something acts."""
    driven = model.actuator_trnid[model.actuator_trntype == int(mujoco.mjtTrn.mjTRN_TENDON), 0]
    fixed = [t for t in range(model.ntendon) if is_fixed(model, mujoco, t)]
    return [t for t in fixed if t in driven or _has_forces(model, t) or _can_reach_limit(model, t)]


def force_range(model: Any, tendon: int) -> np.ndarray | None:
    """The range (2,) of all drives' force along a tendon, if it has one."""
    return np.asarray(model.tendon_actfrcrange[tendon]) if _field(model, "actfrclimited", tendon) else None


def _field(model: Any, name: str, tendon: int) -> float:
    """A number of a tendon; zero if MuJoCo's version does not have it."""
    values = getattr(model, f"tendon_{name}", None)
    return 0.0 if values is None else float(values[tendon])


def _has_forces(model: Any, tendon: int) -> bool:
    """Whether a tendon has a spring, damper, friction or inertia."""
    return any(_field(model, name, tendon) for name in ("stiffness", "damping", "frictionloss", "armature"))


def _can_reach_limit(model: Any, tendon: int) -> bool:
    """Whether a tendon has limits within the lengths that the limits of its joints allow."""
    if not model.tendon_limited[tendon]:
        return False
    lengths = np.zeros(2)
    for joint, factor in length_of(model, tendon).factors.items():
        ends = np.asarray(model.jnt_range[joint]) if model.jnt_limited[joint] else np.array([-np.inf, np.inf])
        lengths += np.sort(factor * ends) if factor else 0.0
    low, high = model.tendon_range[tendon]
    return bool(lengths[0] < low or lengths[1] > high)


def read_tendons(model: Any, mujoco: Any, names: Names, place: Place) -> tuple[list[Body], list[Loop]]:
    """A slider for each of `sliders`, and the coupling that keeps it at the tendon's length."""
    bodies, loops = [], []
    for tendon in sliders(model, mujoco):
        name = names.tendon(tendon)
        where = place.of("tendon", name)
        length = length_of(model, tendon)
        hinge = Hinge(
            name,
            "prismatic",
            _parent(model, length, names),
            axes=_AXIS,
            dofs=(_dof(model, tendon, where),),
            q0=np.array([length.start]),
            where=where,
        )
        bodies.append(Body(names.slider(tendon), Inertia(), hinge, where))
        shares = {name: -1.0} | {names.joint(j): c for j, c in length.factors.items() if c}
        terms = tuple(Term(coordinate, (factor,)) for coordinate, factor in shares.items())
        loops.append(Loop(names.tendon_loop(tendon), "coupling", terms=terms, method="embed", where=where))
    return bodies, loops


def _parent(model: Any, length: Length, names: Names) -> str | None:
    """The last body before all of the joints: from there, the loop has the fewest bodies."""
    paths = [_path(model, int(model.body_parentid[model.jnt_bodyid[joint]])) for joint in length.factors]
    common = 0
    for bodies in zip(*paths):
        if len(set(bodies)) > 1:
            break
        common = bodies[0]
    return names.body(common) if common else None


def _path(model: Any, body: int) -> list[int]:
    """The bodies from the world to one."""
    path = [body]
    while path[-1]:
        path.append(int(model.body_parentid[path[-1]]))
    return path[::-1]


def _dof(model: Any, tendon: int, where: str) -> Dof:
    """What acts along the tendon. A spring that is slack between two lengths is a stop at each."""
    low, high = map(float, model.tendon_lengthspring[tendon])
    stiffness, limited = float(model.tendon_stiffness[tendon]), bool(model.tendon_limited[tendon])
    acting = {
        "damping": float(model.tendon_damping[tendon]),
        "friction": float(model.tendon_frictionloss[tendon]),
        "armature": _field(model, "armature", tendon),
    }
    if limited:
        acting["lower"], acting["upper"] = map(float, model.tendon_range[tendon])
    if not stiffness:
        return Dof(**acting)
    if low == high:
        return Dof(stiffness=stiffness, rest=low, **acting)
    if limited:
        what = "limits of a tendon whose spring is slack between two lengths are not supported"
        raise ModelError(what, where=where, remedy="Give one springlength, or remove the limits")
    return Dof(lower=low, upper=high, limit_stiffness=stiffness, limit_damping=0.0, **acting)
