"""Pinocchio: compiled against the wheel's headers, or, where that fails, through the wheel's Python calls."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.engines import STEP_SECONDS, Timer, python_time
from benchmarks.peer_build import PeerUnavailableError, load_peer, package_folder, require, version_of
from benchmarks.states import COUNT, States, pinocchio_orders, to_pinocchio
from benchmarks.trees import Tree, pinocchio_kind, pinocchio_text

PACKAGES = ("ziglang", "libpinocchio", "cmeel-boost", "cmeel-eigen")
#: as Pinocchio's own build sets them
DEFINES = (
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
)
#: operation → numbers of its conventions in pinocchio_peer.cpp; the fastest one is timed
VARIANTS = {
    "forward": (0, 1),
    "inverse": (2,),
    "mass_matrix": (3, 4),
    "step": (5, 6),
    "forward_derivatives": (7,),
    "inverse_derivatives": (8,),
}
#: operations whose third input is an acceleration
_FROM_ACCELERATIONS = ("inverse", "inverse_derivatives")
#: operation → how many (nv, nv) matrices it gives, one behind the other
MATRICES = {"mass_matrix": 1, "forward_derivatives": 3, "inverse_derivatives": 2}
CONVENTION = {0: "local", 1: "world", 3: "local", 4: "world", 5: "local", 6: "world"}
#: the wheel's Data keeps five dense nv³ tensors: 0.3 GB here, 40 GB at 1000
LARGEST_WHEEL_NV = 200

_doubles = np.ctypeslib.ndpointer(dtype=np.float64, flags="C_CONTIGUOUS")


def compiled(source: str, say: Callable[[str], None]) -> ctypes.CDLL:
    """The library of one source that includes Pinocchio's headers, with the calls that all of them have."""
    require(PACKAGES)
    include = package_folder("cmeel").parent / "cmeel.prefix" / "include"
    flags = [*DEFINES, f"-I{include}", f"-I{include / 'eigen3'}"]
    library = load_peer(source, PACKAGES, flags, say)
    library.peer_create.restype = ctypes.c_void_p
    library.peer_create.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int]
    library.peer_destroy.argtypes = [ctypes.c_void_p]
    library.peer_states.argtypes = [ctypes.c_void_p, *(_doubles,) * 3, ctypes.c_int, ctypes.c_double]
    library.peer_time.restype = ctypes.c_double
    library.peer_time.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_long]
    library.peer_result.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int, _doubles, ctypes.c_int]
    return library


class CompiledPinocchio:
    """Pinocchio's C++ algorithms, header-only, by clang -O3 -march=native."""

    name = "Pinocchio"

    def __init__(self, tree: Tree, states: States, say: Callable[[str], None]) -> None:
        self._library = compiled("pinocchio_peer.cpp", say)
        self._tree = tree
        message = ctypes.create_string_buffer(300)
        handle = self._library.peer_create(pinocchio_text(tree).encode(), message, len(message))
        if not handle:
            raise PeerUnavailableError(f"Pinocchio did not take the model: {message.value.decode()}")
        self._handle = handle
        weakref.finalize(self, self._library.peer_destroy, handle)
        theirs = to_pinocchio(tree, states)
        self._sent = {False: theirs.tau, True: theirs.vdot}
        self._states = [np.ascontiguousarray(a) for a in (theirs.q, theirs.v)]
        self._chosen = {operation: self._best(operation) for operation in VARIANTS}
        self.timers: dict[str, Timer] = {op: partial(self._time, op, k) for op, k in self._chosen.items()}
        used = ", ".join(f"{op} {CONVENTION[k]}" for op, k in self._chosen.items() if k in CONVENTION)
        self.note = f"C++ {version_of('libpinocchio')}, clang -O3 -march=native; {used}"

    def _time(self, operation: str, variant: int, calls: int) -> float:
        self._send(operation)
        return float(self._library.peer_time(self._handle, variant, calls))

    def _send(self, operation: str) -> None:
        third = np.ascontiguousarray(self._sent[operation in _FROM_ACCELERATIONS])
        self._library.peer_states(self._handle, *self._states, third, COUNT, STEP_SECONDS)

    def _best(self, operation: str) -> int:
        """The faster convention for this model: the least of three short batches each."""
        if len(VARIANTS[operation]) == 1:
            return VARIANTS[operation][0]
        calls = max(2, 20000 // self._tree.nv // (1 + self._tree.nv // 20))
        seconds = {k: min(self._time(operation, k, calls) for _ in range(3)) for k in VARIANTS[operation]}
        return min(seconds, key=lambda k: seconds[k])

    def result(self, operation: str, k: int) -> np.ndarray:
        tree = self._tree
        sizes = {name: count * tree.nv**2 for name, count in MATRICES.items()} | {"step": tree.nq + tree.nv}
        out = np.empty(sizes.get(operation, tree.nv))
        self._send(operation)
        code = self._library.peer_result(self._handle, self._chosen[operation], k, out, out.size)
        if code != 0:
            raise RuntimeError(f"the Pinocchio peer refused {operation} on state {k}: code {code}")
        return _ours(tree, operation, out)


def _ours(tree: Tree, operation: str, out: np.ndarray) -> np.ndarray:
    q_order, v_order = pinocchio_orders(tree)
    if operation in MATRICES:
        return np.concatenate([matrix[np.ix_(v_order, v_order)] for matrix in out.reshape(-1, tree.nv, tree.nv)])
    if operation == "step":
        return np.concatenate([out[: tree.nq][np.argsort(q_order)], out[tree.nq :][v_order]])
    return np.asarray(out[v_order])


class WheelPinocchio:
    """The wheel's library through its Python calls: the call itself costs about a microsecond."""

    name = "Pinocchio"

    def __init__(self, tree: Tree, states: States, reason: str) -> None:
        require(["pin"])
        if tree.nv > LARGEST_WHEEL_NV:
            raise PeerUnavailableError(f"the wheel's Data needs {40e-9 * tree.nv**3:.0f} GB for nv = {tree.nv}")
        import pinocchio

        self._pin, self._tree = pinocchio, tree
        self._model = wheel_model(pinocchio, tree)
        self._data = self._model.createData()
        self._states = to_pinocchio(tree, states)
        calls = {
            "forward": self._forward,
            "inverse": self._inverse,
            "mass_matrix": self._mass_matrix,
            "step": self._step,
        }
        self._calls = calls
        self.timers: dict[str, Timer] = {name: partial(python_time, call) for name, call in calls.items()}
        self.note = f"wheel {version_of('pin')} called from Python, call overhead included ({reason})"

    def _forward(self, k: int) -> np.ndarray:
        s = self._states
        return np.asarray(self._pin.aba(self._model, self._data, s.q[k], s.v[k], s.tau[k]))

    def _inverse(self, k: int) -> np.ndarray:
        s = self._states
        return np.asarray(self._pin.rnea(self._model, self._data, s.q[k], s.v[k], s.vdot[k]))

    def _mass_matrix(self, k: int) -> np.ndarray:
        return np.asarray(self._pin.crba(self._model, self._data, self._states.q[k]))

    def _step(self, k: int) -> np.ndarray:
        v = self._states.v[k] + STEP_SECONDS * self._forward(k)
        q = self._pin.integrate(self._model, self._states.q[k], STEP_SECONDS * v)
        return np.concatenate([q, v])

    def result(self, operation: str, k: int) -> np.ndarray:
        out = self._calls[operation](k)
        if operation == "mass_matrix":
            upper = np.triu(out)
            out = upper + np.triu(out, 1).T
        return _ours(self._tree, operation, out)


def wheel_model(pin: Any, tree: Tree) -> Any:
    model = pin.Model()
    model.gravity.linear = tree.gravity
    for i, link in enumerate(tree.links):
        kind = pinocchio_kind(link)
        joint = _wheel_joint(pin, kind, link.axes)
        place = pin.SE3(link.pose.rotation, link.pose.position)
        index = model.addJoint(link.parent + 1, joint, place, f"j{i}")
        model.appendBodyToJoint(index, pin.Inertia(link.mass, link.com, link.about_com), pin.SE3.Identity())
        if kind != "FF":
            armature = model.armature.copy()
            armature[model.joints[index].idx_v] = link.armature
            model.armature = armature
    return model


def _wheel_joint(pin: Any, kind: str, axes: np.ndarray) -> Any:
    if kind == "FF":
        return pin.JointModelFreeFlyer()
    if kind == "RU":
        return pin.JointModelRevoluteUnaligned(axes[0])
    if kind == "PU":
        return pin.JointModelPrismaticUnaligned(axes[0])
    return getattr(pin, f"JointModel{kind}")()


def pinocchio(tree: Tree, states: States, say: Callable[[str], None]) -> CompiledPinocchio | WheelPinocchio:
    """The compiled peer, else the wheel's; raises PeerUnavailableError when neither is there."""
    try:
        return CompiledPinocchio(tree, states, say)
    except PeerUnavailableError as error:
        return WheelPinocchio(tree, states, str(error))
