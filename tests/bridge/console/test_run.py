"""The panel of a test bench's run in a real browser: what it shows, and pause, one frame and abort from it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from limberjack.bridge.console.access import Address
from limberjack.bridge.console.web_server import Console, Settings
from tests.bridge.console.chromium import Chromium, Page
from tests.bridge.telemetry.engines import gateway
from tests.hil.progress_runs import write
from tests.hil.test_progress_served import connected

pytestmark = pytest.mark.long
PICTURES = Path(__file__).resolve().parents[3] / "results" / "console"
PANEL = "document.querySelector('.lj-run')"
TEXT = f"{PANEL}.innerText"
STATE = f"{PANEL}.querySelector('.lj-run-state')?.textContent"
#: what of the panel sticks out of its frame, or is cut off within it
OUTSIDE = """(() => { const frame = document.querySelector('.lj-run').closest('.c-fl-frame, .l-shell__main-container');
  const box = frame.getBoundingClientRect();
  return [...document.querySelectorAll('.lj-run button, .lj-run input, .lj-run progress, .lj-run dd, .lj-run li span')]
    .filter(e => e.checkVisibility()).filter(e => { const r = e.getBoundingClientRect();
      return r.width === 0 || r.left < box.left || r.right > box.right + 0.5 || e.scrollWidth > e.clientWidth + 1 &&
        getComputedStyle(e).display !== 'inline'; }).map(e => e.outerHTML.slice(0, 80)); })()"""
DESK_HIDDEN = """(() => { const r = document.querySelector('.lj-run-desk').getBoundingClientRect();
  const at = document.elementFromPoint(r.left + 20, r.top + 12); return !at?.closest('.lj-run-desk'); })()"""


def button(label: str) -> str:
    return f"[...{PANEL}.querySelectorAll('button')].find(e => e.textContent === '{label}')"


@pytest.fixture
def page(browser: Chromium, tmp_path: Path) -> Iterator[Page]:
    endpoint = f"ipc://{tmp_path}/b"
    command = [sys.executable, "-m", "limberjack", "hil", str(write(tmp_path)), "--out", "out", "--serve", endpoint]
    with open(tmp_path / "said", "w") as said:
        process = subprocess.Popen(
            [*command, "--set", "pacing.overrun_share=1"], cwd=tmp_path, stdout=said, stderr=said
        )
    try:
        connected(endpoint).close()
        with gateway(endpoint) as running:
            console = Console(Settings(Address(port=0), live_hz=4.0), running)
            running.add(console)
            page = browser.open(console.url)
            page.wait(f"{PANEL} !== null && {STATE} === 'running'")
            yield page
            page.go("about:blank")
    finally:
        process.kill()
        process.wait()


def size(page: Page, width: int, height: int) -> None:
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)


def test_an_operator_sees_pauses_steps_and_aborts_a_run(page, tmp_path):
    page.wait(f"{TEXT}.includes('heavy since 0.5 s (scenario)') && {TEXT}.includes('1 failing')")
    for width, height in ((1024, 768), (1280, 720), (1600, 1000), (2560, 1440)):
        size(page, width, height)
        page.wait(f"innerWidth === {width}")
        page.wait(f"{OUTSIDE}.length === 0 && !{DESK_HIDDEN}")
        page.shoot(PICTURES / f"run_{width}.png")
    assert "50 s: clear heavy" in page.ask(TEXT)
    assert page.ask(f"{PANEL}.querySelector('li').textContent").startswith("failingslow")
    page.click(button("Pause"))
    page.wait(f"{STATE} === 'paused' && {button('Go on')} !== undefined")
    page.wait("document.querySelector('[data-state]').dataset.state === 'paused'")
    at = page.ask(f"{PANEL}.querySelector('progress').value")
    page.click(button("One frame"))
    page.wait(f"{PANEL}.querySelector('progress').value > {at}")
    page.shoot(PICTURES / "run_paused.png")
    page.click(button("Go on"))
    page.wait(f"{STATE} === 'running'")
    page.click(button("Abort …"))
    page.click(button("Abort the run"))
    page.wait(f"{TEXT}.includes('Say why')")
    page.type(f"{PANEL}.querySelector('input')", "smoke <b>")
    page.shoot(PICTURES / "run_abort.png")
    page.click(button("Abort the run"))
    page.wait(f"{STATE} === 'ended' && {TEXT}.includes('smoke <b>')")
    page.wait(f"{button('Pause')}.disabled")
    page.shoot(PICTURES / "run_ended.png")
    assert page.faults == []


def test_the_run_has_a_page_of_its_own(page):
    page.ask("location.hash = '#/browse/limberjack:root/limberjack:progress'")
    page.wait(f"document.title.includes('Test run') && {STATE} === 'running' && {TEXT}.includes('criteria') === false")
    page.wait(f"{OUTSIDE}.length === 0")
    page.shoot(PICTURES / "run_page.png")
