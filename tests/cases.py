"""Cases of parametrized tests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def long_only(values: Iterable[Any]) -> list[Any]:
    """Cases that run with the long tests only: `parametrize("seed", [0, *long_only(range(1, 4))])`."""
    return [pytest.param(value, marks=pytest.mark.long) for value in values]
