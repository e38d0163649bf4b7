"""How a run goes while it lasts: criteria so far, what the watching process makes of rows and events."""

from __future__ import annotations

import contextlib
import json
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from limberjack.hil.errors import HilError
from limberjack.hil.events import Event, EventLog
from limberjack.hil.progress.memory import LATE, OVERRUNS, Shared
from limberjack.hil.progress.observer import Observer, line_of
from limberjack.hil.progress.watch import described, obey, watched_run
from limberjack.hil.scenario.criteria import judge, so_far
from limberjack.hil.scenario.evidence import Evidence
from limberjack.hil.scenario.execution import run_scenario
from limberjack.hil.scenario.scenario_file import load_scenario
from limberjack.hil.scenario.schema_criteria import CriterionSpec
from limberjack.hil.scenario.tape import Columns
from tests.hil.progress_runs import write

SPECS = TypeAdapter(list[CriterionSpec])
#: a criterion on y = t, the ramp; its states at 0, 2, 4, … 10 s
CASES = [
    ({"type": "bounds", "upper": 5}, "ppp fff"),
    ({"type": "bounds", "upper": 5, "start": 3, "until": 4.5}, "uup ppp"),
    ({"type": "bounds", "upper": 5, "start": 7}, "uuu uff"),
    ({"type": "settling", "target": 9, "tolerance": 5, "within": 5}, "uup ppp"),
    ({"type": "settling", "target": 9, "tolerance": 2, "within": 5}, "uuu fff"),
    ({"type": "rms", "most": 3}, "ppp fff"),
    ({"type": "final", "target": 10, "tolerance": 0.5}, "uuu uup"),
    ({"type": "deadline", "above": 3, "by": 5}, "uup ppp"),
    ({"type": "deadline", "above": 7, "by": 5}, "uuu fff"),
    ({"type": "event", "kind": "trip", "until": 7}, "uuu ppp"),
    ({"type": "event", "kind": "arm", "until": 7}, "uuu uff"),
    ({"type": "no_event", "kind": "trip"}, "ppp fff"),
    ({"type": "no_event", "kind": "trip", "until": 5}, "ppp ppp"),
]
WORDS = {"p": "passing", "f": "failing", "u": "undecided"}


def evidence(until: float, duration: float = 10.0) -> Evidence:
    """Of a run in which y = t and a watchdog tripped at 5.5 s."""
    time = np.arange(0.0, until + 1e-9, 0.5)
    tape = Columns(["time", "q.y"], ["s", "rad"], np.column_stack([time, time]))
    tape.count = len(time)
    log = EventLog()
    if until >= 5.5:
        log.add(Event(5.5, "trip", "dog", "barks"))
    return Evidence(tape, log, {"c": ("q.y",)}, duration)


def spec_of(case: dict) -> CriterionSpec:
    on_signals = {} if "event" in case["type"] else {"signals": ["q.y"]}
    return SPECS.validate_python([{"name": "c", **on_signals, **case}])[0]


@pytest.mark.parametrize(("case", "states"), CASES)
def test_how_a_criterion_stands(case, states):
    found = [so_far(spec_of(case), evidence(2.0 * k))[0] for k in range(6)]
    assert found == [WORDS[letter] for letter in states.replace(" ", "")]


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(CASES), st.floats(0.0, 10.0), st.booleans())
def test_what_is_final_so_far_is_the_verdict(case, at, to_the_end):
    """At the end passing and failing are the verdict; before, what `judge` decides is never shown otherwise."""
    spec, seen = spec_of(case[0]), evidence(10.0 if to_the_end else at)
    verdict, (state, _) = judge(spec, replace(seen, meant=False)), so_far(spec, seen)
    if not verdict.undecided:
        assert state == ("passing" if verdict.passed else "failing")
    assert not to_the_end or not verdict.undecided


def observer(shared: Shared, **about: object) -> Observer:
    spec = {"name": "c", "type": "bounds", "signals": ["q.y"], "upper": 0.5}
    known = {
        "scenario": "ramp", "duration": 4.0, "paced": True, "names": ["time", "q.y"], "units": ["s", "rad"],
        "judged": {"c": ["q.y"]}, "criteria": [spec], "timeline": [[1.0, "fault dead"], [3.0, "clear dead"]],
    }  # fmt: skip
    return Observer({**known, **about}, shared)


@pytest.fixture
def shared():
    made = Shared((401, 2))
    made.rows.fill(np.nan)
    yield made
    made.close()


def hear(watching: Observer, *event) -> None:
    watching.hear(line_of(Event(*event), 4096))


def test_rows_events_and_counts_become_progress(shared):
    watching = observer(shared)
    assert watching.look().state == "starting"
    shared.rows[:202] = np.column_stack([0.01 * np.arange(202)] * 2)
    shared.counts[OVERRUNS], shared.counts[LATE] = 7, 2_500_000
    hear(watching, 1.0, "fault", "dead", "begins")
    hear(watching, 1.2, "fault", "blind", "begins", {"client": "alice", "frame": 120})
    hear(watching, 1.3, "trip", "dog", "barks")
    found = watching.look()
    assert (found.state, found.time, found.frames, found.to_go) == ("running", 2.0, 200, 2.0)
    assert (found.overruns, found.late_max, found.next) == (7, 0.0025, {"time": 3.0, "text": "clear dead"})
    assert [(each["name"], each["by"]) for each in found.faults] == [("dead", "scenario"), ("blind", "alice")]
    assert found.tripped == [{"name": "dog", "since": 1.3}]
    assert [each["state"] for each in found.criteria] == ["failing"]
    hear(watching, 2.0, "clear", "dead", "ends")
    hear(watching, 2.0, "arm", "dog", "armed again")
    hear(watching, 2.0, "pause", "the terminal", "lunch")
    found = watching.look()
    assert (found.state, found.why, found.tripped) == ("paused", "by the terminal: lunch", [])
    assert [each["name"] for each in found.faults] == ["blind"]


def test_at_the_end_all_rows_count(shared):
    watching = observer(shared)
    shared.rows[:] = np.column_stack([0.01 * np.arange(401)] * 2)
    hear(watching, 4.0, "end", "completed", "")
    found = watching.look()
    assert (found.state, found.time, found.frames, found.why, found.next) == ("ended", 4.0, 400, "completed", None)


def test_events_that_are_lost_make_no_claim(shared):
    """'no event' cannot be said to pass when some were not heard."""
    none = {"name": "quiet", "type": "no_event", "kind": "trip"}
    watching = observer(shared, criteria=[none])
    shared.rows[:3] = np.column_stack([0.01 * np.arange(3)] * 2)
    assert watching.look().criteria[0]["state"] == "passing"
    watching = observer(shared, criteria=[none])
    watching.hear(b"3")
    found = watching.look()
    assert (found.lost, found.criteria[0]["state"]) == (3, "undecided")


CONTACTS = [
    {"name": "load", "type": "contact", "most_force": 100.0},
    {"name": "pace", "type": "contact", "most_speed": 0.4},
    {"name": "caught", "type": "capture", "loop": "latch", "by": 3.0, "most_speed": 0.4},
]


def test_contacts_and_captures_are_judged_while_the_run_lasts(shared):
    watching = observer(shared, criteria=CONTACTS, judged={})
    shared.rows[:202] = np.column_stack([0.01 * np.arange(202)] * 2)
    hear(watching, 1.0, "touch", "feet", "", {"speed": 0.2, "force": 90.0, "shapes": ["foot", "ground"]})
    hear(watching, 1.5, "touch", "feet", "", {"speed": 0.3, "force": 20.0, "untold_speed": 0.5, "untold_force": 80.0})
    found = {each["name"]: (each["state"], each["text"]) for each in watching.look().criteria}
    assert found["load"] == ("passing", "the largest force of feet is 90 N, reported at 1 s; 100 N is allowed")
    assert found["pace"][0] == "failing"
    assert "0.5 m/s, reported at 1.5 s" in found["pace"][1]
    assert found["caught"][0] == "undecided"
    watching = observer(shared, criteria=CONTACTS, judged={})
    hear(watching, 1.0, "touch", "feet", "", {"speed": 0.2, "force": 90.0})
    hear(watching, 1.2, "capture", "latch", "", {"speed": 0.0, "force": 9.0, "lasted": 0.2})
    assert watching.look().criteria[2]["state"] == "passing"
    watching.hear(b"3")
    hear(watching, 1.9, "end", "completed", "")
    assert [each["state"] for each in watching.look().criteria] == ["undecided"] * 3


def test_a_long_event_is_cut_to_one_line():
    text = "\n" * 9000
    assert len(line_of(Event(1.0, "device", "d", text), 4096)) <= 4096
    assert json.loads(line_of(Event(1.0, "device", "d", text), 4096))[3] == text[:200]
    assert line_of(Event(1.0, "device", "d" * 9000, ""), 4096) == b""


def test_a_message_is_read_whole_or_not_at_all(shared):
    other = Shared((401, 2), shared.descriptor)
    assert other.read(0) == (0, b"")
    for count in range(1, 5):
        shared.write(b"%d" % count * 1000)
        seen, message = other.read(count - 1)
        assert (seen, message) == (count, b"%d" % count * 1000)
    assert other.read(4) == (4, b"")
    shared.write(bytes(1 << 20))
    assert other.read(4) == (4, b"")


def test_entries_of_the_timeline_in_words(tmp_path):
    entries = load_scenario(write(tmp_path)).spec.timeline
    assert [described(entry) for entry in entries] == ["fault heavy", "clear heavy", "ramp swing to 1.5 in 2 s"]


def test_watching_changes_no_bit(tmp_path):
    """The same rows with the table in shared memory, and no visitor in the loop."""
    path, tables = write(tmp_path), []
    for name in ("", "a"):
        kept = {}

        def visit(built, kept=kept, name=name):
            return _Moved(built, kept, bool(name))

        result = run_scenario(path, paced=False, visit=visit)
        assert result.built.executive.visitor is None
        tables.append(kept["tape"].table.copy())
    assert np.array_equal(*tables)


class _Moved:
    def __init__(self, built, kept: dict, moved: bool) -> None:
        kept["tape"] = built.tape
        if moved:
            self.shared = Shared(built.tape.rows.shape)
            built.tape.move(self.shared.rows)

    def __enter__(self) -> None:
        """It visits nothing."""

    def __exit__(self, *_) -> None:
        """Nothing is open."""


def run_beside(folder, program: str, **options):
    """The short run beside a process that runs this Python text."""
    scenario = load_scenario(write(folder))
    command = [sys.executable, "-c", program]

    @contextlib.contextmanager
    def visit(built):
        with watched_run(scenario, built, command):
            yield None

    return run_scenario(scenario, visit=visit, **options)


def test_a_run_outlives_the_process_that_watches_it(tmp_path):
    """It shows nothing then, and comes to the same end."""
    result = run_beside(tmp_path, "pass", paced=False)
    assert result.outcome.reason == "completed"
    assert [event.kind for event in result.outcome.log.events] == ["fault", "clear", "command", "end"]


def test_a_paced_run_does_not_begin_without_it(tmp_path):
    with pytest.raises(HilError, match="did not start; --no-progress does without"):
        run_beside(tmp_path, "pass", paced=True)


def test_orders_that_make_no_sense_are_left_out(tmp_path):
    """The bench hears what it can do, whatever else comes."""
    program = 'import os, sys; os.write(int(sys.argv[3]), b\'[]\\nnonsense\\n{"do": 5}\\n{"no": 1}\\n\')'
    assert run_beside(tmp_path, program, paced=False).outcome.reason == "completed"


def test_what_nobody_knows_is_not_done():
    obey(None, "dance", "tester")
