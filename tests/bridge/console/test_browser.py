"""The console in a real browser, on a real engine: what an operator sees and does; pictures in results/console."""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from limberjack.bridge.client import Client
from limberjack.bridge.console.access import Access, Address
from limberjack.bridge.console.web_server import Console, Settings
from limberjack.bridge.process import EngineProcess
from limberjack.bridge.settings import Settings as EngineSettings
from limberjack.bridge.telemetry.gateway import Gateway
from limberjack.engine.model.elements.alarm import Alarm, Bounds
from limberjack.engine.model.load import load
from tests.bridge.console.chromium import Chromium, Page
from tests.bridge.console.conftest import TOKENS, VIEWER
from tests.bridge.telemetry.engines import gateway, until

pytestmark = pytest.mark.long
ROOT = Path(__file__).resolve().parents[3]
PICTURES = ROOT / "results" / "console"
PLOTS = "document.querySelectorAll('.gl-plot canvas').length"
GROUND = 39.0  # grey behind the plots
#: live, or on a busy machine behind the clock
CURRENT = "['live', 'overrunning'].includes(document.querySelector('[data-state]').dataset.state)"
LIMIT = 0.5  # rad, of the alarm


@dataclasses.dataclass(frozen=True)
class Station:
    """An engine process, its gateway in this process, the console, a client beside it."""

    console: Console
    gateway: Gateway
    client: Client


@pytest.fixture(scope="module")
def station(libraries: None) -> Iterator[Station]:
    """The space manipulator, at 200 cycles a second, with an alarm on its wrist."""
    system = load(ROOT / "examples" / "space_manipulator.yaml")
    alarm = Alarm("q.wrist_roll", warning=Bounds(-0.4, 0.4), critical=Bounds(-LIMIT, LIMIT))
    system = dataclasses.replace(system, alarms=(alarm,))
    settings = EngineSettings(endpoint="tcp://127.0.0.1:*", mode="free-running", rate_hz=200.0)
    with EngineProcess(system, settings) as engine, gateway(engine.endpoints.request) as running:
        console = Console(Settings(Address(port=0), live_hz=4.0), running)
        running.add(console)
        with engine.client() as client:
            yield Station(console, running, client)


@pytest.fixture(scope="module")
def page(browser: Chromium, station: Station) -> Page:
    """The overview, as it opens."""
    page = browser.open(station.console.url)
    page.wait(f"{PLOTS} >= 10")
    page.wait("limberjack.link.newest.size > 20")
    return page


def button(name: str) -> str:
    return f"document.querySelector('button[data-command={name}]')"


def confirm(page: Page, label: str) -> None:
    """Press a button of the dialog that asks."""
    button = f"[...document.querySelectorAll('.c-overlay button')].find(e => e.textContent.trim() === '{label}')"
    page.wait(f"!{button}.disabled")
    page.click(button)
    page.wait("!document.querySelector('.c-overlay')")


def command(page: Page, name: str, value: str) -> None:
    """Enter a number for a drive, press its button, and agree."""
    field = f"document.querySelector('input[aria-label=\"command {name}\"]')"
    page.wait(field)
    page.ask(f"{field}.value = ''")
    page.type(field, value)
    page.click(button(name))
    page.wait(f"document.querySelector('.c-overlay')?.textContent.includes('Command {name} = {value}')")
    confirm(page, "Send")


def curve(page: Page, title: str, colour: tuple[int, int, int]) -> np.ndarray:
    """(n, 2): places of the pixels of a curve's colour, blended with the ground, from a picture of a plot."""
    place = page.ask(
        "(() => { const frame = [...document.querySelectorAll('.c-fl-frame')].find(e => e.textContent.trim()"
        f".startsWith('{title}')); const r = frame.querySelector('canvas').getBoundingClientRect();"
        " return {x: r.x, y: r.y, width: r.width, height: r.height, scale: 1}; })()"
    )
    picture = np.asarray(Image.open(io.BytesIO(page.picture(clip=place))).convert("RGB")).astype(float)
    above, wanted = picture - GROUND, np.array(colour) - GROUND
    strength = np.linalg.norm(above, axis=2)
    alike = above @ wanted > 0.97 * strength * np.linalg.norm(wanted)
    return np.argwhere(alike & (strength > 40.0))


def height(pixels: np.ndarray) -> int:
    return int(np.ptp(pixels[:, 0])) if len(pixels) else 0


def test_the_overview_shows_what_the_engine_does(page, station):
    """Titles, numbers equal to the engine's own, no error in the browser's console."""
    titles = page.ask("[...document.querySelectorAll('.c-fl-frame .c-object-label__name')].map(e => e.textContent)")
    for title in (
        "Joint positions",
        "Attitude of satellite",
        "Energy",
        "Frame timing",
        "Event log",
        "Alarms",
        "Commands",
    ):
        assert title in titles
    until(lambda: page.ask("limberjack.link.newest.get('v.elbow_pitch').value") is not None, "no telemetry")
    assert page.ask("limberjack.link.newest.get('command.shoulder_pitch').value") == -1.2
    shown = page.wait("document.querySelector('.lj-attitude-numbers')?.innerText")
    assert "qw" in shown
    assert page.ask("document.title").startswith("Overview")
    assert page.wait(CURRENT)
    page.shoot(PICTURES / "overview.png")
    assert page.faults == []


def test_a_command_asks_first_then_moves_the_engine_and_the_plot(page, station):
    field = "document.querySelector('input[aria-label=\"command shoulder_yaw\"]')"
    page.type(field, "0.6")
    page.click(button("shoulder_yaw"))
    page.wait("document.querySelector('.c-overlay')?.textContent.includes('shoulder_yaw = 0.6 rad')")
    page.shoot(PICTURES / "confirm.png")
    confirm(page, "Cancel")
    assert station.client.state().command["shoulder_yaw"] == 0.0
    before = curve(page, "Joint rates", (0xE8, 0xA3, 0x3D))
    command(page, "shoulder_yaw", "0.6")
    until(lambda: station.client.state().command["shoulder_yaw"] == 0.6, "the engine did not get the command")
    place = station.client.describe().names["q"].index("shoulder_yaw")
    until(lambda: abs(station.client.state().q[place] - 0.6) < 0.05, "the joint did not move")
    page.wait("Math.abs(limberjack.link.newest.get('q.shoulder_yaw').value - 0.6) < 0.05")
    page.wait("document.querySelector('.lj-log').textContent.includes('command shoulder_yaw = 0.6')")
    after = curve(page, "Joint rates", (0xE8, 0xA3, 0x3D))
    assert height(after) > height(before) + 20, "the plot shows no motion"
    page.shoot(PICTURES / "command.png")


def test_what_cannot_be_commanded_is_said(page, station):
    page.type("document.querySelector('input[aria-label=\"command wrist_yaw\"]')", "99")
    page.click(button("wrist_yaw"))
    assert "the model allows" in page.wait("document.querySelector('.lj-preview .lj-critical')?.textContent")
    confirm(page, "Cancel")
    page.ask("document.querySelector('input[aria-label=\"command wrist_yaw\"]').value = ''")
    page.type("document.querySelector('input[aria-label=\"command wrist_yaw\"]')", "x")
    page.click(button("wrist_yaw"))
    assert page.wait("document.querySelector('.lj-message.lj-warning')?.textContent") == "Enter a number first."
    assert station.client.state().command["wrist_yaw"] == 0.0


def test_an_alarm_turns_red_and_goes(page, station):
    roll = "[...document.querySelectorAll('.lj-alarms tr')].find(e => e.textContent.includes('q.wrist_roll'))"
    assert not page.ask(f"!!{roll}")
    command(page, "wrist_roll", "0.45")
    page.wait(f"{roll}.className === 'lj-warning'")
    command(page, "wrist_roll", "0.7")
    page.wait(f"{roll}.className === 'lj-critical'")
    colour = page.ask(f"getComputedStyle({roll}.querySelector('td')).backgroundColor")
    red, green, blue = (int(part) for part in colour.strip("rgb()").split(","))
    assert red > 150 > 3 * max(green, blue)
    count = "document.querySelectorAll('.lj-alarms tr.lj-critical').length"  # a busy machine's overruns may be another
    indicator = "document.querySelector('[data-alarms]').textContent"
    page.wait(f"{indicator}.includes(`${{{count}}} critical`)")
    page.shoot(PICTURES / "alarm.png")
    command(page, "wrist_roll", "0")
    page.wait(f"{roll}.className === 'lj-gone'")
    page.wait(f"{indicator}.includes('critical') === ({count} > 0)")


WITHIN = """import('/static/alarms.js').then(({ refresh }) => {
  const list = document.createElement('table');
  list.innerHTML = '<tr><td data-id="a" data-unit="rad" data-low="-Infinity" data-high="0.5"></td></tr>';
  return [0.7, 0.4].map((value) => {
    refresh(list, { newest: new Map([['a', { value }]]) });
    return list.textContent;
  });
})"""


def test_an_alarm_whose_value_is_back_says_so(page):
    """Until it falls, 5 s later, a red row would show a value within the limits beside it."""
    assert page.ask(WITHIN) == ["0.7 rad", "0.4 rad (within)"]


def test_how_late_a_browser_is(page, station):
    """Ages of the newest samples when the page has them and when it has drawn them, kept, not judged."""
    page.ask(
        "window.ages = []; window.off = limberjack.link.on('time', ({utc}) => { const had = Date.now() - utc;"
        " requestAnimationFrame(() => setTimeout(() => ages.push([had, Date.now() - utc]))); })"
    )
    page.wait("ages.length >= 60")
    ages = np.array(page.ask("off() && ages"))
    parts = {
        name: {"p50_ms": float(np.percentile(column, 50)), "p99_ms": float(np.percentile(column, 99))}
        for name, column in zip(("in the page", "drawn"), ages.T, strict=True)
    }
    (PICTURES / "latency.json").write_text(json.dumps(parts, indent=1))
    assert np.all(ages[:, 1] >= ages[:, 0])


def test_a_page_that_draws_for_long_does_not_count_that_as_silence_of_the_server(page):
    """A slow machine once drew for 20 s, and all requests that waited for the page meanwhile failed."""
    busy = "{ const until = Date.now() + 4000; while (Date.now() < until); }"
    made = f"import('./static/link.js').then(({{ patience }}) => {{ window.patient = patience(3).signal; {busy} }})"
    page.ask(made)
    assert not page.ask("new Promise(done => setTimeout(done, 100)).then(() => window.patient.aborted)")
    page.wait("window.patient.aborted")
    assert page.ask("window.patient.reason.message") == "no answer within 3 s"


def test_two_browsers_see_the_same(browser, page, station):
    second = browser.open(station.console.url)
    second.wait("document.querySelector('.lj-log')?.textContent.includes('command wrist_roll = 0')")
    command(page, "elbow_pitch", "1.5")
    second.wait("document.querySelector('.lj-log').textContent.includes('command elbow_pitch = 1.5')")
    second.wait("limberjack.link.newest.get('command.elbow_pitch').value === 1.5")
    assert second.faults == []
    second.go("about:blank")


def test_the_past_is_there_after_a_reload(page, station):
    """Plots begin with what was before the page, also what happened between."""
    page.ask("window.before = true; location.reload()")
    page.wait(f"!window.before && {PLOTS} >= 10 && limberjack.link.newest.size > 20")
    ask = (
        "openmct.telemetry.request(limberjack.objects['KEY'] , {start: limberjack.link.now() - 600000,"
        " end: limberjack.link.now()}).then(found => found.map(datum => datum.value))"
    )
    key = page.ask("Object.entries(limberjack.objects).find(([k, o]) => o.quantity === 'command.shoulder_yaw')[0]")
    values = page.ask(ask.replace("KEY", key))
    assert {0.0, 0.6} <= set(values)


def test_a_console_that_comes_back(page, station):
    """While it is away the page says so and takes no commands; then what was missed is there, without a hole."""
    page.ask("window.seen = []; limberjack.link.subscribe('time', data => seen.push(...data))")
    page.wait("seen.length > 3")
    station.console.close()
    page.wait("document.querySelector('[data-state]').dataset.state === 'lost'")
    page.wait(f"{button('elbow_pitch')}.disabled")
    page.shoot(PICTURES / "lost.png")
    away = page.ask("seen.length")
    until(lambda: page.ask("Date.now() - seen.at(-1).utc") > 2500, "time stands still")
    station.console.open(station.gateway.session().dictionary)
    page.wait(CURRENT)
    page.wait(f"!{button('elbow_pitch')}.disabled")
    page.wait(f"seen.length > {away} + 5")
    times = np.array(page.ask("seen.map(datum => datum.utc)"))
    assert np.all(np.diff(times) > 0.0)
    assert np.max(np.diff(times)) < 1000.0
    command(page, "elbow_pitch", "1.7")
    until(lambda: station.client.state().command["elbow_pitch"] == 1.7, "no command after the return")


def test_lost_telemetry_is_a_hole_in_the_plot(page, station):
    """The browser knows of lost samples; the curve is not drawn across them."""
    page.wait("limberjack.link.held === null")
    page.ask("window.hear = limberjack.link.socket.onmessage")
    page.ask("limberjack.link.socket.onmessage = () => limberjack.link.send({ kind: 'seen' })")  # lost, yet confirmed
    start = page.ask("Date.now()")
    until(lambda: page.ask("Date.now()") - start > 8000, "time stands still")
    page.ask(
        "limberjack.link.socket.onmessage = (event) => { const message = JSON.parse(event.data);"
        " if (message.kind === 'samples') { message.gap = 1; limberjack.link.socket.onmessage = hear;"
        " limberjack.link.hear(message); } }"
    )
    until(lambda: page.ask("Date.now()") - start > 12000, "time stands still")
    columns = np.unique(curve(page, "Energy", (0xC7, 0x79, 0xD0))[:, 1])
    page.shoot(PICTURES / "gap.png")
    assert np.max(np.diff(columns)) > 20, "the curve is drawn across what was lost"


def test_a_viewer_may_only_look(browser, station):
    console = Console(Settings(Address(port=0), Access(TOKENS)), station.gateway)
    station.gateway.add(console)
    page = browser.open(console.url)
    page.wait("document.body?.textContent.includes('asks for a token')")
    page.go(f"{console.url}?token={VIEWER}")
    page.wait(f"{button('elbow_pitch')}?.disabled")
    assert "token" not in page.ask("location.href")
    assert "You may watch" in page.wait("document.querySelector('.lj-message')?.textContent")
    before = station.client.state().command["elbow_pitch"]
    body = '{"action": "command", "values": {"elbow_pitch": 0}}'
    post = f"{{method: 'POST', headers: {{'Content-Type': 'application/json'}}, body: '{body}'}}"
    assert page.ask(f"fetch('/api/order', {post}).then(reply => reply.status)") == 403
    assert station.client.state().command["elbow_pitch"] == before
    page.shoot(PICTURES / "viewer.png")
