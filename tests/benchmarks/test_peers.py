"""Every peer computes the same numbers as the engine; the fallbacks too."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from benchmarks.engines import OPERATIONS, Engine
from benchmarks.models import robot_system
from benchmarks.mujoco_peer import MuJoCo
from benchmarks.ours import Limberjack
from benchmarks.peer_build import PeerUnavailableError
from benchmarks.pinocchio_peer import CompiledPinocchio, WheelPinocchio, pinocchio
from benchmarks.states import COUNT, States, random_states
from benchmarks.trees import Tree, tree_of
from limberjack.engine.model.system import System

pytestmark = pytest.mark.long  # compiles four loops, and the peers once


def silent(_: str) -> None:
    return None


def assert_same(ours: Engine, peer: Engine, operations: Sequence[str] = tuple(OPERATIONS)) -> None:
    for operation in operations:
        for k in range(COUNT):
            mine, theirs = ours.result(operation, k), peer.result(operation, k)
            assert mine.shape == theirs.shape
            np.testing.assert_allclose(theirs, mine, rtol=0, atol=1e-9 * np.abs(mine).max(), err_msg=operation)


def test_fallbacks_compute_the_same(no_compiler: None, chain: System, tree: Tree, states: States) -> None:
    ours, wheel = Limberjack(chain, states), pinocchio(tree, states, silent)
    assert isinstance(wheel, WheelPinocchio)
    assert "ziglang is not installed" in wheel.note
    assert "called from Python" in wheel.note
    assert_same(ours, wheel)
    mujoco = MuJoCo(tree, states, silent)
    assert "called from Python" in mujoco.note
    assert_same(ours, mujoco)


@pytest.mark.timeout(1200)
def test_compiled_peers_compute_the_same(chain: System, tree: Tree, states: States) -> None:
    pytest.importorskip("ziglang")
    ours = Limberjack(chain, states)
    compiled = CompiledPinocchio(tree, states, silent)
    assert "clang" in compiled.note
    assert_same(ours, compiled)
    mujoco = MuJoCo(tree, states, silent)
    assert "compiled loop" in mujoco.note
    assert_same(ours, mujoco)
    for engine in (ours, compiled, mujoco):
        assert all(timer(3) > 0.0 for timer in engine.timers.values())


@pytest.mark.parametrize("name", ["anymal", "talos_armature"])
def test_free_base_and_armature(no_compiler: None, name: str) -> None:
    system = robot_system(name)
    tree = tree_of(system)
    states = random_states(tree)
    ours = Limberjack(system, states)
    smooth = ("forward", "inverse", "mass_matrix")
    assert_same(ours, pinocchio(tree, states, silent), smooth)
    assert_same(ours, MuJoCo(tree, states, silent), smooth)
    with pytest.raises(ValueError, match="other coordinates"):
        MuJoCo(tree, states, silent).result("step", 0)


def test_the_wheels_memory_is_not_risked(tree: Tree, states: States) -> None:
    long = Tree("long", tree.links * 100, tree.gravity)
    with pytest.raises(PeerUnavailableError, match="GB for nv = 400"):
        WheelPinocchio(long, states, "test")
