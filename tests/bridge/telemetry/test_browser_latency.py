"""From the engine's step to a frame that a real browser drew: measured and printed, no time decides."""

from __future__ import annotations

import contextlib
import importlib.resources
import os
import time

import numpy as np
import pytest

from benchmarks.telemetry import telemetry_bench
from tests.bridge.console.chromium import PROGRAM, Chromium, Page
from tests.bridge.console.conftest import libraries  # noqa: F401  (fixture)

SECONDS = 10.0
#: the plot of one quantity; the overview has a dozen, which a machine without a graphics processor draws slowly
PLOT = "#/browse/limberjack:root/limberjack:engine/limberjack:engine.step?hideTree=true&hideInspector=true"
#: notes the newest step of each message, when it came, and the second frame after it: what came is on the screen then
WATCH = """
window.marks = [];
limberjack.link.subscribe('engine.step', (data) => {
  const mark = [data[data.length - 1].value, performance.now()];
  requestAnimationFrame(() => requestAnimationFrame(() => window.marks.push([...mark, performance.now()])));
});
"""


def clock_of(page: Page) -> tuple[float, float]:
    """What to add to the page's performance.now() in ns for this process's monotonic clock, and how unsure that is.

    Of many readings the one that was answered soonest; the page's reading lies between question and answer.
    """
    readings = []
    for _ in range(50):
        asked = time.monotonic_ns()
        there = 1e6 * page.ask("performance.now()")
        answered = time.monotonic_ns()
        readings.append((answered - asked, asked - there))
    took, offset = min(readings)
    return offset, took


@pytest.mark.long
@pytest.mark.skipif(PROGRAM is None, reason="no Chromium on this machine")
@pytest.mark.usefixtures("libraries")
def test_from_a_step_to_the_screen(tmp_path, capsys):
    endpoint, web = f"ipc://{tmp_path}/e", telemetry_bench.free_port()
    model = str(importlib.resources.files("limberjack.examples") / f"{telemetry_bench.MODEL}.yaml")
    every = sorted(os.sched_getaffinity(0))
    engine = {"model": model, "endpoint": endpoint, "rate": 1000.0, "priority": None, "cpus": every}
    gateway = {"endpoint": endpoint, "outlets": [("console", str(web))], "cpus": every}
    with contextlib.ExitStack() as stack:
        stack.enter_context(telemetry_bench.child("engine", {**engine, "out": f"{tmp_path}/engine.npy"}))
        stack.enter_context(telemetry_bench.child("gateway", {**gateway, "out": f"{tmp_path}/gateway.npy"}))
        page = stack.enter_context(Chromium()).open(f"http://127.0.0.1:{web}/{PLOT}")
        page.wait("document.querySelector('canvas') && limberjack.link.newest.size > 0", 60.0)
        page.ask(WATCH)
        time.sleep(SECONDS)
        marks = np.array(page.ask("window.marks"))
        offset, unsure = clock_of(page)
    ended = np.load(f"{tmp_path}/engine.npy")[:, 0]
    step, came, drawn = marks[:, 0].astype(int), *(1e6 * marks[:, 1:].T + offset)
    frames = np.arange(step[0], step[-1])
    seen = drawn[np.searchsorted(step, frames)] - ended[frames]
    with capsys.disabled():
        for what, each in (("page", came - ended[step]), ("screen", drawn - ended[step]), ("screen, all steps", seen)):
            p50, p99 = 1e-6 * np.percentile(each, [50, 99])
            print(f"\nfrom a step to the {what}: p50 {p50:.0f} ms, p99 {p99:.0f} ms, {len(each)} values")
    assert len(marks) > 10
    assert (np.diff(step) > 0).all()
    # the engine notes a step's end behind publishing it: a busy machine may hold it up between the two
    assert np.median(came - ended[step]) > -unsure
    assert (drawn >= came).all()
