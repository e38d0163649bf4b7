"""`figure` asserts what it records: both come from one comparison."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.validation import figures
from tests.validation.figures import figure


@pytest.fixture
def recorded(monkeypatch):
    """What `figure` records meanwhile, apart from what this test itself would."""
    monkeypatch.setattr(figures, "_recorded", {})
    return lambda: list(figures._recorded.values())


HOLDS = [
    ({"found": 1.0, "expected": 1.5, "atol": 0.5}, 1.0),
    ({"found": [1.0, 2.0], "expected": [1.0, 2.2], "rtol": 0.2}, 0.2 / 0.44),
    ({"found": [3.0, 4.0], "expected": 3.5, "atol": 1.0}, 0.5),
    ({"found": math.inf, "expected": math.inf, "atol": 1.0}, 0.0),
    ({"found": 0.3 + 0.4j, "expected": 0.0, "atol": 1.0}, 0.5),
    ({"found": [0.1, 0.5], "below": 1.0}, 0.5),
    ({"found": [4.0, 20.0], "above": 2.0}, 0.5),
    ({"found": -2.0, "below": 0.0}, 0.0),
]
FAILS = [
    {"found": 1.0, "expected": 1.5, "atol": 0.4},
    {"found": 1e-30, "expected": 0.0, "rtol": 0.1},
    {"found": math.nan, "expected": 1.0, "atol": 1.0},
    {"found": 1.0, "expected": math.nan, "atol": 1.0},
    {"found": [1.0, math.inf], "expected": 1.0, "atol": 1e300},
    {"found": [0.0, 2.0], "below": 1.0},
    {"found": math.nan, "below": 1.0},
    {"found": math.nan, "above": 1.0},
    {"found": 1.0, "below": math.nan},
    {"found": -1.0, "above": 0.0},
]


@pytest.mark.parametrize(("given", "share"), HOLDS)
def test_what_holds_is_recorded_with_the_share_of_its_tolerance(recorded, given, share):
    figure("x", oracle="hand", unit="m", **given)
    (entry,) = recorded()
    assert entry["holds"]
    assert entry["share"] == pytest.approx(share)
    assert (entry["name"], entry["oracle"], entry["unit"], entry["count"]) == (
        "x",
        "hand",
        "m",
        np.size(given["found"]),
    )
    assert all(type(value) in (str, float, int, bool) for value in entry.values())  # goes from a worker to the report


@pytest.mark.parametrize("given", FAILS)
def test_what_does_not_hold_fails_the_test_and_is_recorded(recorded, given):
    with pytest.raises(AssertionError, match=r"^x: .*\(hand\)"):
        figure("x", oracle="hand", **given)
    assert [entry["holds"] for entry in recorded()] == [False]


def test_the_worst_of_one_name_is_kept_and_a_failure_is_never_covered(recorded):
    for found in (1.1, 1.4, 1.2):
        figure("x", found, 1.0, oracle="hand", atol=0.5)
    assert [(entry["found"], entry["count"]) for entry in recorded()] == [(1.4, 3)]
    with pytest.raises(AssertionError):
        figure("x", 2.0, 1.0, oracle="hand", atol=0.5)
    figure("x", 1.0, 1.0, oracle="hand", atol=0.5)
    assert [(entry["found"], entry["holds"], entry["count"]) for entry in recorded()] == [(2.0, False, 5)]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"found": 1.0}, "give one of"),
        ({"found": 1.0, "expected": 1.0, "below": 2.0, "atol": 1.0}, "give one of"),
        ({"found": 1.0, "expected": 1.0}, "give atol or rtol"),
        ({"found": [], "expected": [], "atol": 1.0}, "nothing is compared"),
        ({"found": [1.0], "expected": [1.0, 2.0], "atol": 1.0}, "shape"),
    ],
)
def test_calls_that_compare_nothing_are_refused(given, words):
    with pytest.raises(ValueError, match=words):
        figure("x", oracle="hand", **given)
