"""The benchmark of derivatives: both engines give the same matrices, and the tables show every model."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import derivatives
from benchmarks.engines import Engine
from benchmarks.models import chain_system
from benchmarks.peer_build import PeerUnavailableError
from limberjack.engine.common.errors import LimberjackError

pytestmark = pytest.mark.long


def test_tables_of_robots_and_chains(capsys):
    try:
        rows = derivatives.main(("panda", "anymal"), (3,), repeats=2)
    except PeerUnavailableError as error:
        pytest.skip(str(error))
    assert list(rows) == ["panda", "anymal", "chain 3"]
    for timings in rows.values():
        named = [(timing.operation, timing.engine) for timing in timings]
        assert named == [(op, engine) for op in derivatives.OPERATIONS for engine in ("Limberjack", "Pinocchio")]
        assert all(timing.us.median > 0.0 for timing in timings)
    text = capsys.readouterr().out
    assert all(title in text for title in derivatives.OPERATIONS.values())


class Wrong:
    """An engine whose matrices are off by a millionth."""

    def __init__(self, right: Engine) -> None:
        self._right = right

    def result(self, operation: str, k: int) -> np.ndarray:
        return self._right.result(operation, k) * (1.0 + 1e-6)


def test_a_difference_ends_the_run():
    system = chain_system(4)
    tree = derivatives.tree_of(system)
    ours = derivatives.Derivatives(system, derivatives.random_states(tree))
    derivatives._check(system, [ours, ours], "inverse_derivatives")
    with pytest.raises(LimberjackError, match="chain 4: derivatives of inverse dynamics differ"):
        derivatives._check(system, [ours, Wrong(ours)], "inverse_derivatives")
