"""MJCF to System, through MuJoCo's own compiler. What maps to what: docs/reference/model-format.md.

MuJoCo moves a body by its joints one after the other, each about its anchor (mj_kinematics):
X = X_body Π_j T(p_j) J_j(q_j − q_ref,j) T(−p_j). A body with several joints becomes a chain of bodies, all
massless but the last.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from limberjack.engine.algebra.rotations import from_axis_angle, from_quaternion
from limberjack.engine.common.errors import MissingExtraError, ModelError
from limberjack.engine.model.readers.mjcf_actuators import read_actuators
from limberjack.engine.model.readers.mjcf_contacts import read_contacts, touching_geoms
from limberjack.engine.model.readers.mjcf_equality import read_equalities
from limberjack.engine.model.readers.mjcf_geoms import read_geoms
from limberjack.engine.model.readers.mjcf_hulls import read_hulls
from limberjack.engine.model.readers.mjcf_names import Names, Place
from limberjack.engine.model.readers.mjcf_size import check_size
from limberjack.engine.model.readers.mjcf_softness import unread_laws
from limberjack.engine.model.readers.mjcf_tendons import read_tendons
from limberjack.engine.model.readers.mjcf_unsupported import ignored_parts, refuse_unsupported
from limberjack.engine.model.system import Body, Dof, Hinge, Inertia, Node, Pose, System

# mjtJoint and mjtIntegrator, part of MuJoCo's file format
_FREE, _BALL, _SLIDE, _HINGE = range(4)
_HINGE_TYPES = {_FREE: "free", _BALL: "spherical", _SLIDE: "prismatic", _HINGE: "revolute"}
_NV = {_FREE: 6, _BALL: 3, _SLIDE: 1, _HINGE: 1}
_INTEGRATORS = {
    "mjINT_EULER": "semi_implicit",
    "mjINT_RK4": "rk4",
    "mjINT_IMPLICIT": "implicit",
    "mjINT_IMPLICITFAST": "implicit",
}


def read_mjcf(path: Path, contacts: bool = False) -> System:
    """The System of an MJCF file, not yet validated. Names that MuJoCo leaves out are made.

    contacts : whether geoms touch

    Raises ModelError for a file that expands beyond the bounds of `mjcf_size`, with MuJoCo's own message for one
    that MuJoCo refuses, and for parts that change the
    motion and have no counterpart (deformable bodies, actuators other than motor, position, velocity, …);
    MissingExtraError if the package ``mujoco`` is not installed.
    """
    check_size(path)
    model, mujoco, spoken = _compile(path)
    source = str(path)
    names = Names(model, mujoco)
    place = Place(source)
    refuse_unsupported(model, mujoco, names, place)
    bodies = [part for i in range(1, model.nbody) for part in _bodies(model, i, names, place)]
    actuators, findings = read_actuators(model, mujoco, names, place)
    loops, softness = read_equalities(model, mujoco, names, place)
    sliders, kept = read_tendons(model, mujoco, names, place)
    pairs = touching_geoms(model, mujoco) if contacts else {}
    touching = {i for pair in pairs for i in pair}
    hulls, reduced = read_hulls(model, mujoco, touching)
    shapes = read_geoms(model, path.parent, names, place, touching, hulls)
    touches, unlike = read_contacts(model, pairs, shapes, names, place)
    sites = tuple(_site(model, i, names, place) for i in range(model.nsite))
    disabled = int(model.opt.disableflags)
    gravity_off = disabled & int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
    remarks = (
        *spoken,
        *names.changed,
        *ignored_parts(model, mujoco, contacts),
        *findings,
        *softness,
        *unread_laws(model, mujoco, pairs),
        *reduced,
        *unlike,
    )
    return System(
        name=names.model(path.stem),
        bodies=(*bodies, *sliders),
        nodes=sites,
        actuators=tuple(actuators),
        loops=(*loops, *kept),
        shapes=tuple(shapes.values()),
        contacts=touches,
        gravity=np.zeros(3) if gravity_off else np.array(model.opt.gravity, dtype=float),
        dt=float(model.opt.timestep),
        integrator=_integrator(model, mujoco),
        source=source,
        warnings=tuple(f"{source}: {text}" for text in remarks),
    )


def _compile(path: Path) -> tuple[Any, Any, list[str]]:
    """The compiled model, the package, and what MuJoCo's compiler warned of."""
    try:
        import mujoco
    except ImportError:
        raise MissingExtraError("reading MJCF files", "mujoco", "mjcf") from None
    spoken: list[str] = []
    mujoco.set_mju_user_warning(spoken.append)  # else MuJoCo writes a log file into the working directory
    try:
        model = _compile_as_given(path, mujoco)
    except (ValueError, RuntimeError, OSError, mujoco.FatalError) as error:
        message = " ".join(str(error).split()).rstrip(".")
        raise ModelError(f"MuJoCo refuses the file: {message}", where=str(path), remedy="Fix the file") from None
    finally:
        mujoco.set_mju_user_warning(None)
    return model, mujoco, [f"MuJoCo warns: {text}" for text in dict.fromkeys(spoken)]


def _compile_as_given(path: Path, mujoco: Any) -> Any:
    """The compiled model. MuJoCo refuses inertias that break the triangle inequality; they are kept as given."""
    try:
        return mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        if "balanceinertia" not in str(error):
            raise
    spec = mujoco.MjSpec.from_file(str(path))
    spec.compiler.balanceinertia = True
    model = spec.compile()
    for body in spec.bodies:
        if body.explicitinertial and body.mass > 0.0:
            # balancing leaves the principal axes; settotalmass scales mass and moments alike
            moments = _given_moments(body, from_quaternion(model.body_iquat[body.id]))
            model.body_inertia[body.id] = moments * (model.body_mass[body.id] / body.mass)
    return model


def _given_moments(body: Any, axes: np.ndarray) -> np.ndarray:
    """Principal moments (3,) that the file gives a body whose principal axes are the columns of ``axes``."""
    if not np.isfinite(body.fullinertia[0]):
        return np.array(body.inertia)
    xx, yy, zz, xy, xz, yz = body.fullinertia
    return np.diag(axes.T @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ axes)


def _integrator(model: Any, mujoco: Any) -> str:
    """The integrator that is stable where MuJoCo's is: its Euler treats the damping of joints implicitly."""
    name = mujoco.mjtIntegrator(int(model.opt.integrator)).name
    damped = np.any(model.dof_damping) and not int(model.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_EULERDAMP)
    return "implicit" if name == "mjINT_EULER" and damped else _INTEGRATORS.get(name, "implicit")


def _bodies(model: Any, index: int, names: Names, place: Place) -> list[Body]:
    """MuJoCo body ``index`` as a chain with one hinge each; only the last has mass."""
    name = names.body(index)
    parent_index = int(model.body_parentid[index])
    parent = names.body(parent_index) if parent_index else None
    where = place.of("body", name)
    start = Pose(from_quaternion(model.body_quat[index]), np.array(model.body_pos[index]))
    first, count = int(model.body_jntadr[index]), int(model.body_jntnum[index])
    if count == 0:
        hinge = Hinge(names.weld(name), "fixed", parent, start, where=where)
        return [Body(name, _inertia(model, index), hinge, where)]
    chain = []
    for j in range(first, first + count):
        last = j == first + count - 1
        link = name if last else names.between(name, names.joint(j))
        hinge = _hinge(model, j, parent, start, names, place)
        chain.append(Body(link, _inertia(model, index) if last else Inertia(), hinge, where))
        parent, start = link, Pose()
    return chain


def _inertia(model: Any, index: int) -> Inertia:
    R = from_quaternion(model.body_iquat[index])
    about_com = R @ np.diag(model.body_inertia[index]) @ R.T
    mass = float(model.body_mass[index])
    return Inertia(mass, np.array(model.body_ipos[index]), 0.5 * (about_com + about_com.T))


def _hinge(model: Any, j: int, parent: str | None, start: Pose, names: Names, place: Place) -> Hinge:
    """Hinge of joint ``j``; its coordinate is MuJoCo's qpos, its frame stands at the joint's anchor."""
    kind = int(model.jnt_type[j])
    q0 = np.array(model.qpos0[model.jnt_qposadr[j] :][: 7 if kind == _FREE else 4 if kind == _BALL else 1])
    anchor = Pose(np.eye(3), np.array(model.jnt_pos[j]))
    inboard, outboard, axes = start @ anchor, anchor, np.array(model.jnt_axis[j])
    if kind == _FREE:  # qpos is the pose in the world, whatever the body's own pos
        inboard, outboard, q0 = Pose(), Pose(), np.concatenate([q0[3:], q0[:3]])
    elif kind == _HINGE:
        inboard = inboard @ Pose(from_axis_angle(axes, -q0[0]), np.zeros(3))
    elif kind == _SLIDE:
        inboard = inboard @ Pose(np.eye(3), -q0[0] * axes)
    return Hinge(
        name=names.joint(j),
        type=_HINGE_TYPES[kind],
        parent=parent,
        inboard=inboard,
        outboard=outboard,
        axes=axes[None, :] if kind in (_SLIDE, _HINGE) else np.zeros((0, 3)),
        dofs=_dofs(model, j, kind),
        q0=q0,
        where=place.of("joint", names.joint(j)),
    )


def _dofs(model: Any, j: int, kind: int) -> tuple[Dof, ...]:
    first, scalar = int(model.jnt_dofadr[j]), kind in (_SLIDE, _HINGE)
    order = (3, 4, 5, 0, 1, 2) if kind == _FREE else range(_NV[kind])  # MuJoCo's free joint: linear first
    limited = scalar and bool(model.jnt_limited[j])
    spring = float(model.jnt_stiffness[j]) if scalar else 0.0
    shared = {
        "stiffness": spring,
        "rest": float(model.qpos_spring[model.jnt_qposadr[j]]) if spring else 0.0,
        "lower": float(model.jnt_range[j][0]) if limited else -np.inf,
        "upper": float(model.jnt_range[j][1]) if limited else np.inf,
    }
    return tuple(
        Dof(
            damping=float(model.dof_damping[first + i]),
            friction=float(model.dof_frictionloss[first + i]),
            armature=float(model.dof_armature[first + i]),
            **shared,
        )
        for i in order
    )


def _site(model: Any, index: int, names: Names, place: Place) -> Node:
    owner = int(model.site_bodyid[index])
    pose = Pose(from_quaternion(model.site_quat[index]), np.array(model.site_pos[index]))
    name = names.site(index)
    return Node(name, names.body(owner) if owner else None, pose, place.of("site", name))
