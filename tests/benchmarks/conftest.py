"""Small prepared models and the peers' fallback."""

from __future__ import annotations

import pytest

from benchmarks import peer_build
from benchmarks.models import chain_system
from benchmarks.states import States, random_states
from benchmarks.trees import Tree, tree_of
from limberjack.engine.model.system import System


@pytest.fixture(scope="session")
def chain() -> System:
    return chain_system(4)


@pytest.fixture(scope="session")
def tree(chain: System) -> Tree:
    return tree_of(chain)


@pytest.fixture(scope="session")
def states(tree: Tree) -> States:
    return random_states(tree)


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the package ziglang were not installed."""
    real = peer_build.version_of
    monkeypatch.setattr(peer_build, "version_of", lambda name: "none" if name == "ziglang" else real(name))
