"""Replay in a browser: all displays are of the same moment, and nothing can be commanded."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from limberjack.bridge.console.access import Address
from limberjack.bridge.console.web_server import Console, Settings
from limberjack.bridge.process import EngineProcess
from limberjack.bridge.settings import Settings as EngineSettings
from limberjack.bridge.telemetry.outlets.mcap import McapOutlet
from limberjack.engine.model.load import load
from tests.bridge.console.chromium import Chromium, Page
from tests.bridge.telemetry.engines import gateway, until

pytestmark = pytest.mark.long
ROOT = Path(__file__).resolve().parents[3]
MODEL = ROOT / "examples" / "space_manipulator.yaml"
PICTURES = ROOT / "results" / "console"
SCENE = (
    "[...document.querySelectorAll('iframe')].map(e => e.contentDocument.querySelector('#status').textContent).join()"
)
STATE = "document.querySelector('[data-state]').dataset.state"
BAR = "document.querySelector('.lj-replay')"
BUTTON = f"[...{BAR}.querySelectorAll('button')].find(e => e.textContent === 'NAME')"
LOG = "[...document.querySelectorAll('.lj-log p > span')]"
CUT = f"""(() => {{ const box = {BAR}.getBoundingClientRect();
  const out = r => r.right > innerWidth || r.left < 0 || r.bottom > box.bottom + 1;
  return [...{BAR}.children].filter(e => !e.hidden && out(e.getBoundingClientRect())).map(e => e.textContent); }})()"""


@pytest.fixture(scope="module")
def past(libraries: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Console, Path]]:
    """The console of an arm that has moved, and the record of that."""
    system = load(MODEL)
    record = tmp_path_factory.mktemp("record") / "run.mcap"
    settings = EngineSettings(endpoint="tcp://127.0.0.1:*", mode="free-running", rate_hz=50.0)
    with EngineProcess(system, settings) as engine, gateway(engine.endpoints.request) as running:
        console = Console(Settings(Address(port=0), live_hz=4.0), running)
        running.add(console)
        outlet = McapOutlet(record)
        running.add(outlet)
        with engine.client() as client:
            until(lambda: np.ptp(running.history.bounds()) > 2e9, "the history does not grow")  # with the arm at rest
            client.command({"shoulder_yaw": 1.0})
            until(lambda: abs(client.state()["shoulder_yaw"] - 1.0) < 0.05, "the arm did not move")
        yield console, record


def opened(browser: Chromium, url: str, width: int = 1600, height: int = 1000) -> Page:
    """A page of that size."""
    page = browser.open("about:blank")
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
    page.go(url)
    return page


def test_all_displays_move_together_through_history(browser, past):
    page = opened(browser, past[0].url)
    page.wait("limberjack.link.newest.get('q.shoulder_yaw')?.value > 0.9")
    page.wait(f"{SCENE}.includes('t = ')")
    page.ask("openmct.time.setMode('fixed', {start: limberjack.link.now() - 60000, end: limberjack.link.now() - 10})")
    page.wait("limberjack.player.bounds.start > 0")
    begun = page.ask("limberjack.player.bounds.start")
    page.ask(f"openmct.time.setBounds({{start: {begun} - 1000, end: {begun} + 1000}})")
    page.wait("limberjack.link.newest.get('q.shoulder_yaw')?.value === 0")
    then = page.ask("limberjack.player.frame.time")
    page.wait(f"{SCENE}.includes('t = {then:.2f} s') && {SCENE}.includes('replay')")
    assert page.wait(STATE) == "replay"
    page.wait("[...document.querySelectorAll('.lj-entry')].find(e => e.textContent.includes('shoulder_yaw0 rad'))")
    assert page.ask("[...document.querySelectorAll('.lj-commands button')].every(e => e.disabled)")
    notices = page.ask("fetch('/api/events?start=0&end=' + limberjack.player.at).then(r => r.json())")["notices"]
    page.wait(f"{LOG}.length === {len(notices)}")
    assert page.ask(f"{LOG}.map(e => e.textContent)") == [each["text"] for each in reversed(notices)]
    page.shoot(PICTURES / "replay_fixed.png")
    page.click(BUTTON.replace("NAME", "Play"))
    page.wait(f"limberjack.player.frame?.time > {then} + 0.5")
    page.wait(f"{BAR}.textContent.includes('Pause')")
    page.click(BUTTON.replace("NAME", "Pause"))
    page.wait("!limberjack.player.playing")
    stood = page.ask("limberjack.player.at")
    page.wait(f"{SCENE}.includes('paused')")
    assert page.ask("limberjack.player.at") == stood
    page.click(BUTTON.replace("NAME", "Back to live"))
    page.wait(f"{STATE} !== 'replay' && limberjack.link.newest.get('q.shoulder_yaw')?.value > 0.9")
    page.wait(f"!{SCENE}.includes('replay')")
    page.wait("[...document.querySelectorAll('.lj-commands button[data-command]')].some(e => !e.disabled)")
    assert page.faults == []
    page.go("about:blank")


def test_an_answer_that_comes_late_is_not_shown(browser, past):
    """The log asks at each move; the answer about the moment before comes after the one about the moment shown."""
    page = opened(browser, past[0].url)
    page.wait("limberjack.link.newest.get('q.shoulder_yaw')?.value > 0.9")
    page.wait(f"{LOG}.length > 0")
    page.ask(
        "window.before = fetch; window.late = 0; window.fetch = async (address, ...more) => {"
        " const slow = address.startsWith('/api/events') && late === 0; if (slow) late = 1;"
        " const reply = await before(address, ...more);"
        " if (slow) { while (late < 2) await new Promise(go => setTimeout(go, 50)); setTimeout(() => late = 3, 500); }"
        " return reply; }"
    )
    page.ask("openmct.time.setMode('fixed', {start: limberjack.link.now() - 60000, end: limberjack.link.now() - 10})")
    page.wait("late === 1 && limberjack.player.bounds.start > 0")
    begun = page.ask("limberjack.player.bounds.start")
    page.ask(f"openmct.time.setBounds({{start: {begun} - 1000, end: {begun} + 1000}})")
    page.wait("limberjack.link.newest.get('q.shoulder_yaw')?.value === 0")
    notices = page.ask("before('/api/events?start=0&end=' + limberjack.player.at).then(r => r.json())")["notices"]
    page.wait(f"{LOG}.length === {len(notices)}")
    page.ask("late = 2")
    page.wait("late === 3")
    assert page.ask(f"{LOG}.length") == len(notices)
    page.go("about:blank")


@pytest.mark.parametrize("width", [1024, 1600])
def test_a_record_is_replayed(browser, past, width):
    copy = past[1]
    until(lambda: copy.stat().st_size > 100_000, "the record is empty")
    command = [sys.executable, "-m", "limberjack", "console", str(MODEL), "--replay", str(copy), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as served:
        try:
            assert served.stderr is not None
            lines = iter(served.stderr.readline, "")
            found = next(filter(None, (re.search(r"http://\S+", line) for line in lines)), None)
            assert found is not None, "no console"
            page = opened(browser, found[0], width, 768)
            page.wait("limberjack.player?.frame?.time > 0.5")
            page.wait(f"{SCENE}.includes('replay')")
            assert page.ask(STATE) == "replay"
            page.ask("limberjack.player.speed = 10")
            page.wait("limberjack.link.newest.get('q.shoulder_yaw')?.value > 0.9")
            assert page.ask("[...document.querySelectorAll('.lj-commands button')].every(e => e.disabled)")
            assert page.ask(CUT) == []
            assert page.ask(f"{BAR}.textContent.includes('live') && {BUTTON.replace('NAME', 'Back to live')}.hidden")
            page.shoot(PICTURES / f"replay_record_{width}.png")
            assert page.faults == []
            page.go("about:blank")
        finally:
            served.terminate()
            served.wait(20.0)
