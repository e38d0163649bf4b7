"""Kernels rely on it that subtrees are contiguous: `build` refuses a hand-made System that is not sorted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from limberjack.engine.api.dynamics import Dynamics
from limberjack.engine.common.errors import ModelError
from limberjack.engine.model.system import Body, Hinge, Inertia, System
from limberjack.engine.model.validate import validate


def _body(name: str, parent: str | None) -> Body:
    inertia = Inertia(1.0, np.array([0.1, 0.0, 0.0]), 0.01 * np.eye(3))
    return Body(name, inertia, Hinge(f"to_{name}", "revolute", parent, axes=np.array([[0.0, 0.0, 1.0]])))


def _forked(order: str) -> System:
    """Base a with the branches b, c and d, e."""
    parents = {"a": None, "b": "a", "c": "b", "d": "a", "e": "d"}
    return System("fork", tuple(_body(name, parents[name]) for name in order))


@pytest.mark.parametrize(("order", "culprit"), [("abdce", "c"), ("abdec", "c"), ("bacde", "b")])
def test_unsorted_bodies_are_refused(order: str, culprit: str) -> None:
    """The message names the body and says what sorts it."""
    checked = validate(_forked("abcde"))
    by_name = {body.name: body for body in checked.bodies}
    unsorted = replace(checked, bodies=tuple(by_name[name] for name in order))
    with pytest.raises(ModelError, match=rf"body '{culprit}' .* depth first") as caught:
        Dynamics(unsorted)
    assert "limberjack.engine.model.validate.validate" in str(caught.value)


@pytest.mark.parametrize("order", ["abcde", "adebc", "abdce", "edcba"])
def test_validated_bodies_are_taken(order: str) -> None:
    """`validate` sorts any order in which the parents exist."""
    system = validate(_forked(order))
    M = Dynamics(system).mass_matrix(np.zeros(5))
    assert np.all(np.linalg.eigvalsh(M) > 0.0)
    branches = [[system.body_names.index(name) for name in names] for names in ("bc", "de")]
    assert np.array_equal(M[np.ix_(*branches)], np.zeros((2, 2)))
