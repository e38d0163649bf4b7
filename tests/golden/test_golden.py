"""The recorder sees what a change makes of a model, and sees nothing where nothing changed."""

from __future__ import annotations

import json

import pytest

from tests.golden import random_files
from tests.golden.exchange import wire
from tests.golden.recorder import EXAMPLES, Record, model, outcome, record


@pytest.fixture(scope="module")
def made() -> Record:
    """One recording for all tests: the examples alone take seconds."""
    return record(4, 60)


@pytest.mark.long
def test_two_recordings_are_equal(made):
    again = record(2, 10)
    assert again == {name: text for name, text in made.items() if name in again}
    assert len(again) > 100


def test_every_kind_of_model_runs(made):
    """Most of what random files ask for works: digests, not errors."""
    made = {name: text for name, text in made.items() if not name.startswith("damaged")}
    failed = [name for name, text in made.items() if "Error" in text]
    assert len(failed) < 0.1 * len(made)
    assert {name.split()[0] for name in made} >= {"tree", "linkage"}


def test_a_changed_mass_shows(tmp_path):
    data = random_files.linkage(1)
    before = {what: outcome(take) for what, take in model(random_files.write(data, tmp_path / "a.yaml"))}
    data["bodies"][0]["mass"] *= 1.0 + 1e-15
    after = {what: outcome(take) for what, take in model(random_files.write(data, tmp_path / "a.yaml"))}
    assert before["names"] == after["names"]
    assert before["rk4"] != after["rk4"]


def test_damaged_files_name_what_is_wrong(made):
    made = [text for name, text in made.items() if name.startswith("damaged") and name.endswith("error")]
    assert len(made) > 40
    assert all("FILE" in text for text in made)
    assert json.dumps(made)


def test_messages_of_two_starts_are_equal():
    """An engine process gives each of its starts an identifier of its own, which is no part of the record."""
    assert wire(EXAMPLES / "torque_arm.yaml") == wire(EXAMPLES / "torque_arm.yaml")
