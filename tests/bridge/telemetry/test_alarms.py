"""Alarms rise at once and fall after a while, so a value that chatters is one alarm; what is not finite is critical."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from limberjack.bridge.telemetry.alarms import FALL_NS, Alarms
from limberjack.bridge.telemetry.dictionary import Dictionary, Quantity
from limberjack.bridge.telemetry.sample import Notice, Sample

HOT = Quantity("output.hot", "output", "K", "", warning=(-math.inf, 300.0), critical=(200.0, 320.0))
ALL = Dictionary("m", "h", (Quantity("time", "time", "s", ""), HOT, Quantity("output.free", "output", "", "")))


def run(values: list[float], step_ns: int) -> tuple[Alarms, list[list[Notice]]]:
    alarms = Alarms(ALL)
    reported = []
    for k, value in enumerate(values):
        reported.append(alarms.look(Sample(k, 1e-9 * step_ns * k, step_ns * k, np.array([0.0, value, 0.0]))))
    return alarms, reported


def test_edges():
    alarms, reported = run([290.0, 301.0, 302.0, 321.0, 310.0, 300.0, 150.0, math.nan, 290.0, 290.0], FALL_NS)
    assert [len(each) for each in reported] == [0, 1, 0, 1, 0, 1, 1, 0, 0, 1]
    notices = [each[0] for each in reported if each]
    assert [each.severity for each in notices] == [1, 2, 1, 2, 0]
    assert [each.data["previous"] for each in notices] == [0, 1, 2, 1, 2]
    assert [each.text for each in notices] == [
        "output.hot is 301 K, above its warning limit 300.",
        "output.hot is 321 K, above its critical limit 320.",
        "output.hot is 300 K, no longer critical.",
        "output.hot is 150 K, below its critical limit 200.",
        "output.hot is 290 K, normal again.",
    ]
    assert alarms.active() == {}


def test_a_value_that_chatters_is_one_alarm():
    """1 kHz across the limit for 12 s, once far beyond, then calm: each rise is reported at once, the fall once."""
    values = [299.0 + 2.0 * (k % 2) for k in range(12_000)]
    values[2500] = 330.0
    alarms, reported = run([*values, *[299.0] * 5001], 1_000_000)
    found = [(k, each.severity) for k, some in enumerate(reported) for each in some]
    assert found == [(1, 1), (2500, 2), (7501, 1), (17_000, 0)]
    assert alarms.active() == {}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", [1, 2])
def test_what_is_not_finite_is_critical_with_and_without_limits(value, place):
    alarms, vector = Alarms(ALL), np.array([0.0, 290.0, 0.0])
    assert alarms.look(Sample(0, 0.0, 0, vector)) == []
    vector[place] = value
    (notice,) = alarms.look(Sample(1, 1.0, 1_000_000_000, vector))
    assert (notice.severity, notice.data["id"]) == (2, ALL.quantities[place].id)
    assert notice.text == f"{ALL.quantities[place].id} is {value}, which is not a finite number."
    assert alarms.active()[ALL.quantities[place].id].severity == 2


def test_active():
    alarms, _ = run([290.0, 301.0, 302.0, 325.0], 1_000_000_000)
    alarm = alarms.active()["output.hot"]
    assert (alarm.severity, alarm.value, alarm.since) == (2, 325.0, 3.0)


def test_a_number_that_may_lack_is_no_alarm_where_it_does():
    dictionary = Dictionary("m", "h", (replace(HOT, may_lack=True), Quantity("output.free", "output", "", "")))
    alarms = Alarms(dictionary)
    assert alarms.look(Sample(0, 0.0, 0, np.array([math.nan, 0.0]))) == []
    (notice,) = alarms.look(Sample(1, 1.0, 2_000_000_000, np.array([math.nan, math.nan])))
    assert (notice.data["id"], set(alarms.active())) == ("output.free", {"output.free"})


def expected(severities: list[int], times_ns: list[int]) -> list[int]:
    """The alarm at each time: the newest severity, and what each time before it does not let it fall below."""
    alarm, lower, began = 0, 0, None
    found = []
    for severity, now in zip(severities, times_ns, strict=True):
        if severity >= alarm:
            alarm, began = severity, None
        else:
            lower, began = (severity, now) if began is None else (max(lower, severity), began)
            if now - began >= FALL_NS:
                alarm, lower, began = lower, severity, now if severity < lower else None
        found.append(alarm)
    return found


@pytest.mark.parametrize("seed", range(20))
def test_every_change_of_severity_is_seen(seed):
    """Values on, beside and between all limits, in any order, one quantity that may lack: as `severity` has each."""
    draw = np.random.default_rng(seed)
    kinds = [-math.inf, -1e300, -2.0, -1.0, -0.0, 0.0, 1.0, 2.0, math.inf]
    limits = [tuple(sorted(draw.choice(kinds, 2))) for _ in range(6)]
    quantities = tuple(
        replace(HOT, id=f"output.{k}", warning=limits[2 * k], critical=limits[2 * k + 1], may_lack=k == 0)
        for k in range(3)
    )
    beside = [math.nextafter(each, way) for each in kinds for way in (-math.inf, math.inf)]
    vectors = draw.choice([*kinds, *beside, 0.5, -1.5, math.nan, math.nan], (400, 3))
    times = np.cumsum(draw.integers(1, FALL_NS, 400)).tolist()
    severities = [[each.severity(float(value)) for value in vectors[:, k]] for k, each in enumerate(quantities)]
    wanted = np.transpose([expected(each, times) for each in severities])
    alarms = Alarms(Dictionary("m", "h", quantities))
    before = np.zeros(3, dtype=np.int64)
    for k, (vector, now, level) in enumerate(zip(vectors, times, wanted, strict=True)):
        reported = alarms.look(Sample(k, 0.0, now, vector))
        assert {id: each.severity for id, each in alarms.active().items()} == {
            each.id: severity for each, severity in zip(quantities, level, strict=True) if severity
        }
        edges = [(f"output.{i}", level[i], before[i]) for i in np.flatnonzero(level != before)]
        assert [(each.data["id"], each.severity, each.data["previous"]) for each in reported] == edges
        before = level
