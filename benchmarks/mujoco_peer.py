"""MuJoCo: its C functions from a compiled loop, or, where that fails, from a Python loop."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.engines import OPERATIONS, STEP_SECONDS, Timer, python_time
from benchmarks.peer_build import PeerUnavailableError, load_peer, package_folder, require, version_of
from benchmarks.states import (
    COUNT,
    States,
    from_mujoco_tau,
    from_mujoco_vdot,
    mujoco_axes,
    to_mujoco,
)
from benchmarks.trees import Join, Link, Tree
from limberjack.engine.algebra.rotations import to_quaternion

PACKAGES = ("ziglang", "mujoco")
CODES = {"forward": 0, "inverse": 1, "mass_matrix": 2, "step": 3, "forward_loops": 4}
OFF = ("LIMIT", "CONTACT", "ACTUATION", "SENSOR", "SPRING", "DAMPER", "EULERDAMP", "AUTORESET", "ISLAND")
#: as stiff as MuJoCo's equality constraints get
IMPEDANCE = (0.9999, 0.9999, 0.001, 0.5, 2.0)


def model_of(mujoco: Any, tree: Tree, dress: Callable[[Any, list[Any]], None] = lambda spec, bodies: None) -> Any:
    """The same tree as an MjModel; inertias are put in after compilation, which would refuse unphysical ones.

    dress : adds to the MjSpec and its bodies, a link each, before compilation
    """
    spec = mujoco.MjSpec()
    spec.option.timestep, spec.option.gravity = STEP_SECONDS, tree.gravity
    for name in OFF if tree.joins else (*OFF, "CONSTRAINT"):
        spec.option.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}"))
    bodies: list[Any] = []
    principal = [_principal(link) for link in tree.links]
    for i, link in enumerate(tree.links):
        parent = spec.worldbody if link.parent < 0 else bodies[link.parent]
        bodies.append(_add_body(mujoco, parent, i, link, principal[i][1]))
    for i, join in enumerate(tree.joins):
        _add_join(mujoco, spec, bodies, i, join)
    dress(spec, bodies)
    model = spec.compile()
    for i, (link, (moments, axes)) in enumerate(zip(tree.links, principal, strict=True), start=1):
        model.body_mass[i], model.body_ipos[i] = link.mass, link.com
        model.body_inertia[i], model.body_iquat[i] = moments, axes
    mujoco.mj_setConst(model, mujoco.MjData(model))
    return model


def _principal(link: Link) -> tuple[np.ndarray, np.ndarray]:
    """Principal moments (3,) and the quaternion (4,) of their axes."""
    moments, axes = np.linalg.eigh(link.about_com)
    return moments, to_quaternion(axes * np.linalg.det(axes))


def _add_body(mujoco: Any, parent: Any, index: int, link: Link, axes: np.ndarray) -> Any:
    hinge = mujoco.mjtJoint.mjJNT_HINGE
    kinds = {
        "revolute": hinge,
        "universal": hinge,
        "prismatic": mujoco.mjtJoint.mjJNT_SLIDE,
        "spherical": mujoco.mjtJoint.mjJNT_BALL,
        "free": mujoco.mjtJoint.mjJNT_FREE,
    }
    body = parent.add_body(name=f"b{index}", pos=link.pose.position, quat=to_quaternion(link.pose.rotation))
    body.explicitinertial, body.mass, body.inertia = True, 1.0, (1.0, 1.1, 1.2)
    body.ipos, body.iquat = link.com, axes
    for axis in link.axes if len(link.axes) else (None,):
        joint = body.add_joint(type=kinds[link.kind], armature=link.armature)
        if axis is not None:
            joint.axis = axis
    return body


def _add_join(mujoco: Any, spec: Any, bodies: list[Any], index: int, join: Join) -> None:
    """A loop as an equality constraint between two sites."""
    for end, link, pose in (("a", join.a, join.frame_a), ("b", join.b, join.frame_b)):
        body = bodies[link] if link >= 0 else spec.worldbody
        body.add_site(name=f"{end}{index}", pos=pose.position, quat=to_quaternion(pose.rotation))
    kind = mujoco.mjtEq.mjEQ_WELD if join.kind == "weld" else mujoco.mjtEq.mjEQ_CONNECT
    loop = spec.add_equality(type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, name1=f"a{index}", name2=f"b{index}")
    loop.solimp = IMPEDANCE


def _library(say: Callable[[str], None]) -> ctypes.CDLL:
    folder = package_folder("mujoco")
    shared = sorted(folder.glob("libmujoco.so.*"))
    if not shared:
        raise PeerUnavailableError("the mujoco wheel holds no libmujoco.so")
    flags = [f"-I{folder / 'include'}", str(shared[-1]), f"-Wl,-rpath,{folder}"]
    library = load_peer("mujoco_peer.c", PACKAGES, flags, say)
    doubles = np.ctypeslib.ndpointer(dtype=np.float64, flags="C_CONTIGUOUS")
    library.peer_time.restype = ctypes.c_double
    library.peer_time.argtypes = [
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_int,
        ctypes.c_long,
        *(doubles,) * 3,
        ctypes.c_int,
    ]
    return library


class MuJoCo:
    """MuJoCo without contacts, limits, passive forces, actuators and sensors; loops as equality constraints."""

    name = "MuJoCo"

    def __init__(self, tree: Tree, states: States, say: Callable[[str], None]) -> None:
        require(["mujoco"])
        import mujoco

        self._mujoco, self._tree, self._ours = mujoco, tree, states
        theirs = to_mujoco(tree, states)
        self._q, self._v = np.ascontiguousarray(theirs.q), np.ascontiguousarray(theirs.v)
        self._sent = {False: np.ascontiguousarray(theirs.tau), True: np.ascontiguousarray(theirs.vdot)}
        self._model = model_of(mujoco, tree)
        self._data = mujoco.MjData(self._model)
        try:
            self._library: ctypes.CDLL | None = _library(say)
            self.note = f"C {version_of('mujoco')}, the wheel's library from a compiled loop"
            self.timers: dict[str, Timer] = {name: partial(self._time, name) for name in OPERATIONS}
        except PeerUnavailableError as error:
            self._library = None
            self.note = f"wheel {version_of('mujoco')} called from Python, call overhead included ({error})"
            self.timers = {name: partial(python_time, partial(self._call, name)) for name in OPERATIONS}

    def _time(self, operation: str, calls: int, which: slice = slice(COUNT)) -> float:
        if self._library is None:
            raise PeerUnavailableError("the compiled loop is not loaded")
        states = [a[which] for a in (self._q, self._v, self._sent[operation == "inverse"])]
        address = self._model._address, self._data._address
        code = CODES["forward_loops" if operation == "forward" and self._tree.joins else operation]
        return float(self._library.peer_time(*address, code, calls, *states, len(states[0])))

    def _call(self, operation: str, k: int) -> None:
        """One operation on state k, the same calls as in mujoco_peer.c."""
        mj, m, d = self._mujoco, self._model, self._data
        d.qpos, d.qvel = self._q[k], self._v[k]
        if operation == "step" or (operation == "forward" and self._tree.joins):
            d.qfrc_applied = self._sent[False][k]
            (mj.mj_step if operation == "step" else mj.mj_forward)(m, d)
            return
        mj.mj_kinematics(m, d)
        mj.mj_comPos(m, d)
        if operation == "inverse":
            d.qacc = self._sent[True][k]
            mj.mj_comVel(m, d)
            mj.mj_rne(m, d, 1, d.qfrc_inverse)
            d.qfrc_inverse += m.dof_armature * d.qacc
            return
        mj.mj_makeM(m, d)
        if operation == "forward":
            mj.mj_factorM(m, d)
            mj.mj_comVel(m, d)
            mj.mj_rne(m, d, 0, d.qfrc_bias)
            d.qfrc_smooth = self._sent[False][k] - d.qfrc_bias
            mj.mj_solveM(m, d, d.qacc[None], d.qfrc_smooth[None])

    def result(self, operation: str, k: int) -> np.ndarray:
        d, tree = self._data, self._tree
        if self._library is None:
            self._call(operation, k)
        else:
            self._time(operation, 1, slice(k, k + 1))
        if operation == "forward":
            return from_mujoco_vdot(tree, self._ours, k, np.array(d.qacc))
        if operation == "inverse":
            return from_mujoco_tau(tree, self._ours, k, np.array(d.qfrc_inverse))
        if operation == "mass_matrix":
            M, T = np.zeros((tree.nv, tree.nv)), mujoco_axes(tree, self._ours.q[k])
            self._mujoco.mj_fullM(self._model, self._data, M)
            return np.asarray(T.T @ M @ T)
        if tree.free:
            raise ValueError("MuJoCo steps a free base in other coordinates: not comparable number by number")
        return np.concatenate([d.qpos, d.qvel])
