"""The engine's condition in a real browser: frozen, killed, started again."""

from __future__ import annotations

import json
import os
import signal
import time
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
STATE = "document.querySelector('[data-state]').dataset.state"
ALARMS = "document.querySelector('[data-alarms]')"
SENDS = "[...document.querySelectorAll('button[data-command]')]"
SCENE = "document.querySelector('iframe').contentDocument.getElementById('link').textContent"
BANNERS = "[...document.querySelectorAll('.lj-banner')].map(e => e.textContent)"
CURRENT = f"['live', 'overrunning'].includes({STATE})"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[EngineProcess]:
    with EngineProcess(*_job(f"ipc://{tmp_path}/engine")) as running:
        yield running


def _job(endpoint: str) -> tuple:
    system = load(ROOT / "examples" / "space_manipulator.yaml")
    return system, EngineSettings(endpoint=endpoint, mode="free-running", rate_hz=100.0)


@pytest.fixture
def page(browser: Chromium, engine: EngineProcess) -> Iterator[Page]:
    with gateway(engine.endpoints.request) as running:
        console = Console(Settings(Address(port=0), live_hz=4.0), running)
        running.add(console)
        page = browser.open(console.url)
        page.wait(f"{CURRENT} && {SENDS}.length >= 7 && {SENDS}.every(e => !e.disabled)")
        page.wait(f"!{SCENE}.includes('drawing') && {SCENE} !== 'connecting …'")
        yield page
        page.go("about:blank")


def watch(page: Page) -> None:
    """Let the page note when it shows which state."""
    page.ask(
        f"window.shown = []; setInterval(() => {{ const now = {STATE};"
        " if (now !== shown.at(-1)?.[1]) shown.push([Date.now(), now]); }, 20)"
    )


def keep(page: Page, name: str, state: str, since: float) -> None:
    """How long it took until the page showed a state: kept, not judged, as it depends on the machine."""
    at = page.wait(f"shown.find(([at, state]) => at > {1e3 * since} && state === '{state}')")[0]
    path = PICTURES / "condition.json"
    kept = json.loads(path.read_text()) if path.is_file() else {}
    PICTURES.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(kept | {name: round(at / 1e3 - since, 3)}, indent=1))


def assert_old(page: Page, why: str) -> None:
    """Nothing is shown as if it were of now, and nothing can be commanded."""
    page.wait(f"{SENDS}.every(e => e.disabled)")
    assert page.ask(f"{ALARMS}.dataset.severity") == "old"
    assert "alarms unknown" in page.ask(f"{ALARMS}.textContent")
    assert page.ask("document.querySelectorAll('.lj-old').length") == 2  # attitude and alarms
    assert all(text.startswith(f"Old values: {why}") for text in page.ask(BANNERS))
    assert "You cannot send commands: the engine is" in page.ask("document.querySelector('.lj-message').textContent")
    page.wait(f"{SCENE}.startsWith('{why}')")


def test_a_frozen_engine_is_stale_everywhere_and_live_again(page, engine):
    watch(page)
    since = time.time()
    os.kill(engine.pid, signal.SIGSTOP)
    page.wait(f"{STATE} === 'stale'")
    assert_old(page, "stale")
    page.shoot(PICTURES / "stale.png")
    keep(page, "stale after", "stale", since)
    os.kill(engine.pid, signal.SIGCONT)
    page.wait(f"{CURRENT} && {SENDS}.every(e => !e.disabled)")
    page.wait("document.querySelectorAll('.lj-old').length === 0")
    assert page.ask(f"{ALARMS}.dataset.severity") != "old"
    assert page.faults == []


def test_a_killed_engine_is_gone_and_one_that_is_started_again_is_live(page, engine):
    watch(page)
    since = time.time()
    engine.kill()
    page.wait(f"{STATE} === 'gone'")
    assert_old(page, "engine gone")
    page.shoot(PICTURES / "gone.png")
    keep(page, "gone after", "gone", since)
    with EngineProcess(*_job(engine.endpoints.request)):
        page.wait(f"{CURRENT} && {SENDS}.every(e => !e.disabled)")
        page.wait("document.querySelectorAll('.lj-old').length === 0")
    assert page.faults == []


def test_an_order_that_was_asked_before_the_engine_went_is_not_sent(page, engine):
    field = "document.querySelector('input[aria-label=\"command shoulder_yaw\"]')"
    page.type(field, "0.3")
    page.click("document.querySelector('button[data-command=shoulder_yaw]')")
    page.wait("document.querySelector('.c-overlay')?.textContent.includes('shoulder_yaw = 0.3')")
    page.wait("document.querySelector('.lj-preview table')")
    engine.kill()
    page.wait(f"{STATE} === 'gone'")
    page.ask(
        "window.posts = 0; window.before = fetch; window.fetch = (...all) => { posts += 1; return before(...all); }"
    )
    page.click("[...document.querySelectorAll('.c-overlay button')].find(e => e.textContent.trim() === 'Send')")
    assert "Not sent: the engine is gone" in page.wait("document.querySelector('.lj-message.lj-critical')?.textContent")
    assert page.ask("posts") == 0
