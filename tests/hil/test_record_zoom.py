"""A page of a record that zooms: what is in it, what it needs, and that it zooms in a browser without a network."""

from __future__ import annotations

import base64
import gzip
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from limberjack.cli import main
from limberjack.commands.record_plot import Envelope
from limberjack.hil.events import Event
from limberjack.hil.record.mcap_file import McapRecorder
from tests.bridge.console.chromium import PROGRAM, Chromium, Page

PICTURES = Path(__file__).resolve().parents[2] / "results" / "record"
ROWS = 400
FIGURES = "Bokeh.documents[0].roots()[0].children.filter(e => e.x_range !== undefined)"


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """Sines and an event whose text would be markup."""
    path = tmp_path / "r.mcap"
    recorder = McapRecorder(path)
    recorder.open(["time", "q.a", "q.b", "v.a"], ["s", "rad", "rad", "rad/s"], {"model": "two <i>sines</i> $$x$$"})
    for row in range(ROWS):
        at = 0.01 * row
        recorder.row(np.array([at, np.sin(at), np.cos(at), np.cos(at)]))
    recorder.event(Event(1.0, "fault", "a", "</script><img src=x onerror=alert(1)>"))
    recorder.event(Event(2.0, "overrun", "executive", "late"))
    recorder.close()
    return path


@pytest.fixture
def page_of(record: Path) -> Path:
    target = record.with_suffix(".html")
    assert main(["plot", str(record), "-o", str(target)]) == 0
    return target


def columns(page: str, name: str) -> list[np.ndarray]:
    """Numbers of the page's tables under this name."""
    found = []
    document = json.loads(re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.S)[0])

    def walk(value: object) -> None:
        if isinstance(value, dict):
            for key, array in value.get("entries", []) if value.get("type") == "map" else []:
                if key == name and isinstance(array, dict) and array.get("type") == "ndarray":
                    data = gzip.decompress(base64.b64decode(array["array"]["data"]))
                    found.append(np.frombuffer(data, array["dtype"]))
            value = list(value.values())
        for each in value if isinstance(value, list) else []:
            walk(each)

    walk(document)
    return found


def test_the_page_has_every_number_and_needs_nothing_else(page_of):
    page = page_of.read_text()
    time = 0.01 * np.arange(ROWS)
    values = columns(page, "value")
    assert len(values) == 3
    assert np.array_equal(values[0], np.sin(time))
    assert np.array_equal(values[1], np.cos(time))
    tags = re.sub(r"(<script[^>]*>).*?</script>", r"\1", page, flags=re.S)
    assert re.findall(r"<[^>]*(?:src|href)=[^>]*>", tags) == []
    (document,) = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.S)
    assert "$$" not in document  # a formula would be set by a library that is fetched
    assert "<img src=x" not in page
    assert "<i>sines" not in page
    assert page_of.stat().st_size < 5_000_000


def test_signals_are_chosen_as_for_a_picture(record, tmp_path, capsys):
    assert main(["plot", str(record), "--signals", "v.*", "-o", str(tmp_path / "v.html")]) == 0
    assert len(columns((tmp_path / "v.html").read_text(), "value")) == 1
    assert main(["plot", str(record), "--signals", "w.*", "-o", str(tmp_path / "w.html")]) == 2
    assert "no signal of the record matches" in capsys.readouterr().err
    assert main(["plot", str(record), "-o", str(tmp_path / "w.doc")]) == 2
    assert ".html for a page that zooms" in capsys.readouterr().err


def test_a_log_can_be_zoomed_too(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("time,q.a\n" + "".join(f"{0.1 * k!r},{k * k}\n" for k in range(20)))
    assert main(["plot", str(log), "-o", str(tmp_path / "log.html")]) == 0
    (values,) = columns((tmp_path / "log.html").read_text(), "value")
    assert values.tolist() == [k * k for k in range(20)]


def test_without_bokeh_it_says_what_to_install(record, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "bokeh", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["plot", str(record), "-o", str(record.with_suffix(".html"))]) == 2
    assert "needs the package 'bokeh', which is not installed. Install it with: pip install \"limberjack[plots]\"" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize("most", [10, 200])
def test_a_long_record_keeps_every_spike(most):
    random, envelope = np.random.default_rng(0), Envelope(2, most)
    rows = random.normal(size=(3000, 2))
    for first in range(0, 3000, 700):
        part = slice(first, first + 700)
        envelope.add(np.arange(3000.0)[part], rows[part])
    assert len(envelope.time) <= most
    assert envelope.low.min(axis=0).tolist() == rows.min(axis=0).tolist()
    assert envelope.high.max(axis=0).tolist() == rows.max(axis=0).tolist()


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    if PROGRAM is None:
        pytest.skip("no Chromium on this machine")
    with Chromium(1280, 900) as running:
        yield running


@pytest.mark.long
def test_the_wheel_zooms_all_panels_together(browser, page_of):
    page: Page = browser.open(page_of.as_uri())
    page.wait(f"window.Bokeh?.documents.length === 1 && {FIGURES}.length === 2")
    ends = f"{FIGURES}.map(e => [e.x_range.start, e.x_range.end])"
    before = page.ask(ends)
    assert before == [[0.0, 0.01 * (ROWS - 1)]] * 2
    wheel = {"type": "mouseWheel", "x": 500, "y": 200, "deltaX": 0, "deltaY": -400}
    page.wait(f"(document.body.scrollHeight > 500) && {FIGURES}[0].inner_width > 100")
    for _ in range(20):
        page.call("Input.dispatchMouseEvent", **wheel)
        if page.ask(ends) != before:
            break
        page.wait("true")
    page.wait(f"{FIGURES}.every(e => e.x_range.end - e.x_range.start < 3.9)")
    first, second = page.ask(ends)
    assert first == second
    page.shoot(PICTURES / "zoomed.png")
    assert page.faults == []
