"""Controls of the console at the widths of laptops and desks: each can be seen whole and reached."""

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
WIDTHS = [(1024, 768), (1280, 720), (1600, 1000)]
#: names of controls of the command panel that stick out of it to the right or left
OUTSIDE = """(() => { const panel = document.querySelector('.lj-commands'), box = panel.getBoundingClientRect();
  return [...panel.querySelectorAll('button, input')].filter(e => e.checkVisibility()).filter(e => {
    const r = e.getBoundingClientRect(); return r.width === 0 || r.left < box.left || r.right > box.right + 0.5;
  }).map(e => e.dataset.command ?? e.ariaLabel ?? e.textContent); })()"""
ROWS = "[...document.querySelectorAll('.lj-commands tr')].filter(e => e.checkVisibility()).length"


@pytest.fixture(scope="module", params=["space_manipulator", "cassini"])
def console(libraries: None, request: pytest.FixtureRequest) -> Iterator[Console]:
    """The console of an engine that runs an example."""
    system = load(ROOT / "examples" / f"{request.param}.yaml")
    settings = EngineSettings(endpoint="tcp://127.0.0.1:*", mode="free-running", rate_hz=100.0)
    with EngineProcess(system, settings) as engine, gateway(engine.endpoints.request) as running:
        console = Console(Settings(Address(port=0), live_hz=4.0), running)
        running.add(console)
        yield console


def opened(browser: Chromium, console: Console, width: int, height: int, place: str = "") -> Page:
    """A page of that size."""
    page = browser.open(console.url + place)
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
    return page


@pytest.mark.parametrize(("width", "height"), WIDTHS)
def test_commands_can_be_sent_at_every_width(browser, console, width, height):
    page = opened(browser, console, width, height)
    page.wait("document.querySelectorAll('.lj-commands button[data-command]').length >= 7")
    page.shoot(PICTURES / f"commands_{len(page.ask(ROWS) * [0])}_{width}.png")
    assert page.ask(OUTSIDE) == []


def test_a_long_list_can_be_searched(browser, console):
    page = opened(browser, console, 1280, 720)
    page.wait("document.querySelectorAll('.lj-commands button[data-command]').length >= 7")
    page.wait("document.querySelector('input[aria-label=\"find a command\"]')")
    page.type("document.querySelector('input[aria-label=\"find a command\"]')", "zzz")
    page.wait("![...document.querySelectorAll('.lj-commands button[data-command]')].some(e => e.checkVisibility())")


def test_the_table_of_the_engines_health_shows_its_values(browser, console):
    page = opened(browser, console, 1600, 1000, "#/browse/limberjack:root/limberjack:health")
    page.wait("document.querySelectorAll('.lj-values tbody tr').length >= 10")
    page.wait("[...document.querySelectorAll('.lj-values tbody td.lj-value')].some(e => Number(e.textContent) > 0)")
    assert "Unknown Type" not in page.ask("document.body.innerText")
    page.shoot(PICTURES / "health.png")
