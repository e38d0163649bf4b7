"""The default experiment, tokens, dates and texts of model descriptions."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from limberjack.engine.common.errors import ArgumentError
from limberjack.fmu.description.content import (
    COMMUNICATION_POINTS,
    MOST_BETWEEN,
    MOST_STEPS,
    STOP_TIME,
    Experiment,
    default_experiment,
    text,
    token_of,
)
from tests.fmu import contents


@pytest.mark.parametrize(
    ("dt", "stop", "step"),
    [
        (1e-3, 10.0, 0.01),
        (2e-3, 10.0, 0.01),
        (2.5e-4, 10.0, 0.005),
        (1e-5, 1.0, 0.001),
        (3e-5, 2.0, 1.5e-3),
        (0.01, 10.0, 0.01),
        (0.5, 10.0, 0.5),
    ],
)
def test_default_experiment(dt, stop, step):
    experiment = default_experiment(dt)
    assert experiment.stop_time == stop
    assert experiment.step_size == step


@given(st.floats(1e-7, 1.0))
def test_default_experiment_is_short_and_its_steps_are_whole(dt):
    experiment = default_experiment(dt)
    assert 0.0 < experiment.stop_time <= STOP_TIME
    assert experiment.stop_time / dt <= MOST_STEPS * (1 + 1e-8)
    multiple = experiment.step_size / dt
    assert abs(multiple - round(multiple)) <= 1e-9 * multiple
    assert re.fullmatch("[125]0*", str(round(multiple)))
    assert multiple <= MOST_BETWEEN * (1 + 1e-9)
    if experiment.stop_time / dt >= COMMUNICATION_POINTS:
        assert experiment.stop_time / experiment.step_size >= COMMUNICATION_POINTS * (1 - 1e-8)


def test_given_experiment_is_kept():
    experiment = default_experiment(1e-3, 3.5, 0.004)
    assert (experiment.stop_time, experiment.step_size) == (3.5, 0.004)
    assert default_experiment(1e-3, 1e4) == Experiment(1e4, 0.1)


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, "1"])
def test_bad_experiment_is_refused(value):
    with pytest.raises(ArgumentError, match="stop_time of the default experiment"):
        default_experiment(1e-3, value)
    with pytest.raises(ArgumentError, match="step_size of the default experiment"):
        default_experiment(1e-3, None, value)


def test_an_engine_process_takes_whole_steps():
    made = contents.content("plain", "3.0", "scalar", "process")
    assert replace(made, experiment=default_experiment(made.dt, 1.0, 3 * made.dt))
    with pytest.raises(ArgumentError, match=r"not a multiple of the step dt = 0\.001 s"):
        replace(made, experiment=default_experiment(made.dt, 1.0, 2.5 * made.dt))


def test_instruments_and_valves_take_whole_steps():
    made = contents.content("equipped")
    with pytest.raises(ArgumentError, match=r"not a multiple .* instruments and valves take whole steps only"):
        replace(made, experiment=default_experiment(made.dt, 1.0, 2.5 * made.dt))
    assert b'canHandleVariableCommunicationStepSize="false"' in contents.document(made)
    assert b"ModelExchange" not in contents.document(made)


def test_tokens_name_their_parts():
    token = token_of([b"a", b"bc"])
    assert re.fullmatch(r"\{[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\}", token)
    assert token == token_of([b"a", b"bc"])
    assert len({token, token_of([b"ab", b"c"]), token_of([b"a", b"bd"]), token_of([b"abc"])}) == 4


def test_no_date_unless_asked_for(monkeypatch):
    made = contents.content("plain")
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    assert b"generationDateAndTime" not in contents.document(made)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert ElementTree.fromstring(contents.document(made)).get("generationDateAndTime") == "2023-11-14T22:13:20Z"


@pytest.mark.parametrize("value", ["soon", "1e9", "99999999999999999999"])
def test_a_bad_date_is_refused(monkeypatch, value):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", value)
    with pytest.raises(ArgumentError, match="SOURCE_DATE_EPOCH"):
        contents.document(contents.content("plain"))


@given(st.text())
def test_any_text_becomes_xml(value):
    made = contents.content("plain")
    named = replace(made, system=replace(made.system, name=value))
    for version in ("2.0", "3.0"):
        root = ElementTree.fromstring(contents.document(replace(named, fmi=version)))
        assert root.get("modelName") == (text(value) or "model")
