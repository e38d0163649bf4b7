"""Plots, legends and tables of values in a browser: what they show is true, whole and readable."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from limberjack.bridge.console.access import Address
from limberjack.bridge.console.web_server import Console, Settings
from limberjack.bridge.process import EngineProcess
from limberjack.bridge.settings import Settings as EngineSettings
from limberjack.engine.model.load import load
from tests.bridge.console.chromium import Chromium, Page
from tests.bridge.telemetry.engines import gateway

pytestmark = pytest.mark.long
ROOT = Path(__file__).resolve().parents[3]
PICTURES = ROOT / "results" / "console"
MODELS = ["space_manipulator", "satellite_grasp", "cassini", "solar_satellite"]
SIZES = [(1024, 768), (1280, 720), (1600, 1000), (2560, 1440)]
ALONE = "?hideTree=true&hideInspector=true"
VALUES, HEALTH = (f"#/browse/limberjack:root/limberjack:{key}{ALONE}" for key in ("values", "health"))
RATES = "[...document.querySelectorAll('.c-fl-frame')].find(e => e.textContent.includes('Joint rates'))"
#: legend entries whose name or number does not fit, or that overlap the next
CROWDED = """(() => { const outside = []; for (const legend of document.querySelectorAll('.lj-legend')) {
  const box = legend.getBoundingClientRect();
  for (const entry of legend.children) {
    const [, name, number] = [...entry.children].map(e => e.getBoundingClientRect());
    const spills = number.right > box.right + 1 || name.right > number.left + 1;
    if (name.width < 12 || spills) outside.push(entry.textContent);
  } } return outside; })()"""
#: rows of the table of angles that are cut off
CUT = """(() => [...document.querySelectorAll('.lj-attitude')].flatMap(each => {
  const box = each.getBoundingClientRect();
  return [...each.querySelectorAll('tr')].filter(e => { const r = e.getBoundingClientRect();
    return r.bottom > box.bottom + 1 || r.top < box.top - 1; }).map(e => e.textContent); }))()"""
#: times below the plots that overlap
OVERLAPPING = """(() => [...document.querySelectorAll('.gl-plot-x')].filter(axis => {
  const labels = [...axis.querySelectorAll('.gl-plot-x-tick-label')];
  const boxes = labels.filter(e => getComputedStyle(e).visibility !== 'hidden').map(e => {
    const range = document.createRange(); range.selectNodeContents(e); return range.getBoundingClientRect();
  }).sort((a, b) => a.left - b.left);
  return boxes.some((box, k) => k && box.left < boxes[k - 1].right); }).length)()"""


@pytest.fixture(scope="module", params=MODELS)
def console(libraries: None, request: pytest.FixtureRequest) -> Iterator[tuple[str, Console]]:
    """An example and the console of an engine that runs it."""
    system = load(ROOT / "examples" / f"{request.param}.yaml")
    settings = EngineSettings(endpoint="tcp://127.0.0.1:*", mode="free-running", rate_hz=50.0)
    with EngineProcess(system, settings) as engine, gateway(engine.endpoints.request) as running:
        made = Console(Settings(Address(port=0), live_hz=4.0), running)
        running.add(made)
        yield request.param, made


def opened(browser: Chromium, console: Console, width: int, height: int, place: str = "") -> Page:
    """A page of that size, with curves."""
    page = browser.open("about:blank")
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
    page.go(console.url + place)
    page.wait("limberjack.link.newest.size > 5")
    return page


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_nothing_of_the_overview_is_cut_off(browser, console, width, height):
    name, made = console
    page = opened(browser, made, width, height)
    page.wait("document.querySelectorAll('.lj-entry').length >= 6")
    page.wait("document.querySelector('.lj-attitude-numbers')?.textContent.includes('roll') ?? true")
    page.shoot(PICTURES / f"plots_{name}_{width}.png")
    assert page.ask(CROWDED) == []
    assert page.ask(CUT) == []
    assert page.ask(OVERLAPPING) == 0
    assert page.ask("location.hash.includes('overview.narrow')") == (width < 1400)
    assert page.faults == []
    page.go("about:blank")


def test_rounding_is_a_flat_line_and_motion_is_not(browser, console):
    """Numbers as of a wheel at rest, put into the page; then a motion."""
    name, made = console
    if name != "space_manipulator":
        pytest.skip("one model is enough")
    page = opened(browser, made, 1600, 1000)
    page.wait(f"{RATES}.querySelectorAll('.lj-entry').length === 7")
    page.ask("limberjack.link.socket.onmessage = () => {}")
    put = "limberjack.link.hand('v.elbow_pitch', [[limberjack.link.now() + MS, VALUE]])"
    for ms, value in (("0", "1e-13"), ("1", "-2e-13")):
        page.ask(put.replace("MS", ms).replace("VALUE", value))
    heights = f"[...{RATES}.querySelectorAll('.gl-plot-y-tick-label')].map(e => Number(e.textContent))"
    page.wait(f"{RATES}.querySelector('.lj-legend').textContent.includes('-2e-13 rad/s')")
    found = page.wait(f"({heights}).length > 2 && {heights}")
    assert 5e-5 < max(found) - min(found) < 2e-4
    page.ask(put.replace("MS", "2").replace("VALUE", "0.5"))
    page.wait(f"Math.max(...{heights}) > 0.3")
    page.go("about:blank")


def test_present_values_can_be_searched(browser, console):
    name, made = console
    page = opened(browser, made, 1024, 768, VALUES)
    rows = "[...document.querySelectorAll('.lj-values tbody tr')].filter(e => e.checkVisibility())"
    count = page.wait(f"{rows}.length")
    page.wait(f"!{rows}.some(e => e.querySelector('.lj-value').textContent === '–' && e.textContent.startsWith('q.'))")
    page.shoot(PICTURES / f"values_{name}.png")
    page.ask("(() => { const e = document.querySelector('.lj-find'); e.value = 'energy'; e.oninput(); })()")
    assert 3 <= page.ask(f"{rows}.length") < count
    assert page.ask(f"{rows}.every(e => /energy/.test(e.textContent))")
    page.go("about:blank")


#: a table of Open MCT's own, as an operator may make one, of the quantity KEY
OWN_TABLE = """(() => {
  const place = { namespace: '', key: 'own' }, member = limberjack.objects['KEY'].identifier;
  const table = { identifier: place, type: 'LadTable', name: 'own', composition: [member], configuration: {} };
  const element = document.body.appendChild(document.createElement('div'));
  const view = openmct.objectViews.get(table, [table])[0].view(table, [table]);
  view.show(element, false, { renderWhenVisible: (draw) => draw() });
})()"""


def test_tables_of_limits_on_one_side(browser, console):
    """The console's table and Open MCT's own: `engine.running` has a limit below alone."""
    _, made = console
    page = opened(browser, made, 1280, 720, HEALTH)
    page.wait("document.querySelector('.lj-values')?.textContent.includes('1 … ∞')")
    page.ask(OWN_TABLE.replace("KEY", "engine.running"))
    page.wait("document.querySelector('.c-lad-table')?.textContent.includes('1 → ∞')")
    assert page.faults == []
    page.go("about:blank")


def test_the_view_is_drawn_beside_many_plots(browser, console):
    """Cassini's joints are in 18 plots; a page has 16 contexts to draw with, and gives those of the oldest away."""
    name, made = console
    if name != "cassini":
        pytest.skip("the others have few joints")
    page = opened(browser, made, 1600, 1000)
    view = "document.querySelector('iframe').contentWindow.view"
    page.wait(f"{view}.begun && !{view}.lost")
    page.ask(
        "[...Array(17)].map((_, k) => window['canvas' + k] = Object.assign(document.createElement('canvas'))"
        ".getContext('webgl')).length"
    )
    page.wait(f"{view}.lost")
    page.wait(f"{view}?.begun && !{view}.lost")
    label = "document.querySelector('iframe').contentDocument.querySelector('#link').className"
    page.wait(f"{view}.drawn && {label} !== 'off'")
    page.shoot(PICTURES / "view_cassini.png")
    page.ask("(() => { for (let k = 0; k < 17; k += 1) delete window['canvas' + k]; })()")
    page.go("about:blank")
