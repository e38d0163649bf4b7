"""Two operators and a guest in a real browser: alarms, dialogs, histories; pictures in results/console."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from limberjack.bridge.client import Client
from limberjack.bridge.console.access import Access, Address, Visitor
from limberjack.bridge.console.web_server import Console, Settings
from limberjack.bridge.process import EngineProcess
from limberjack.bridge.settings import Settings as EngineSettings
from limberjack.bridge.telemetry.gateway import Gateway
from limberjack.bridge.telemetry.orders import Actor, Order
from limberjack.engine.model.elements.alarm import Alarm, Bounds
from limberjack.engine.model.load import load
from tests.bridge.console.chromium import Chromium, Page
from tests.bridge.telemetry.engines import gateway, until

pytestmark = pytest.mark.long
ROOT = Path(__file__).resolve().parents[3]
PICTURES = ROOT / "results" / "console"
WIDTHS = [(1024, 768), (1280, 720), (1600, 1000)]
TOKENS = {name: f"{name}-token-0123456789" for name in ("alice", "bob", "guest")}
DUTY = "#/browse/limberjack:root/limberjack:duty?hideTree=true&hideInspector=true"
ROLL = "[...document.querySelectorAll('.lj-alarms tr')].find(e => e.textContent.includes('q.wrist_roll'))"
INDICATOR = "document.querySelector('[data-alarms]')"
DIALOG = "document.querySelector('.lj-dialog')"


@dataclasses.dataclass(frozen=True)
class Station:
    """An engine process, its gateway, a console of each of three visitors, a client beside them."""

    engine: EngineProcess
    gateway: Gateway
    consoles: dict[str, Console]
    client: Client

    def roll(self, value: float) -> None:
        """Move the wrist, which is in alarm above 0.4 and 0.5 rad."""
        self.client.command({"wrist_roll": value})
        self.client.release()


@pytest.fixture(scope="module")
def station(libraries: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Station]:
    system = load(ROOT / "examples" / "space_manipulator.yaml")
    alarm = Alarm("q.wrist_roll", warning=Bounds(-0.4, 0.4), critical=Bounds(-0.5, 0.5))
    system = dataclasses.replace(system, alarms=(alarm,))
    settings = EngineSettings(endpoint="tcp://127.0.0.1:*", mode="free-running", rate_hz=100.0)
    history = tmp_path_factory.mktemp("past") / "past.db"
    with EngineProcess(system, settings) as engine, gateway(engine.endpoints.request, history=history) as running:
        consoles = {}
        for name, token in TOKENS.items():
            visitor = Visitor("viewer" if name == "guest" else "operator", name)
            consoles[name] = Console(Settings(Address(port=0), Access({token: visitor}), live_hz=4.0), running)
            running.add(consoles[name])
        with engine.client() as client:
            yield Station(engine, running, consoles, client)


@pytest.fixture(scope="module")
def pages(browser: Chromium, station: Station) -> dict[str, Page]:
    """The overview of each visitor."""
    found = {}
    for name, console in station.consoles.items():
        found[name] = page = browser.open(f"{console.url}?token={TOKENS[name]}")
        page.wait("document.querySelectorAll('button[data-command]').length >= 7")
        page.wait("limberjack.link.newest.size > 20")
    return found


@pytest.fixture
def alarm(station: Station, pages: dict[str, Page]) -> Iterator[None]:
    """The wrist in critical alarm, which nobody has acknowledged; afterwards none."""
    station.roll(0.7)
    for page in pages.values():
        page.wait(f"{ROLL}?.className === 'lj-critical'")
    yield
    station.roll(0.0)
    for page in pages.values():
        page.wait(f"!{ROLL} || {ROLL}.className === 'lj-gone'")
    if pages["alice"].ask(f"!!{ROLL}"):
        press(pages["alice"], "acknowledge q.wrist_roll")
    for page in pages.values():
        page.wait(f"!{ROLL}")


def named(name: str) -> str:
    return f"document.querySelector('button[aria-label=\"{name}\"]')"


def press(page: Page, name: str) -> None:
    page.wait(f"!{named(name)}.disabled")
    page.click(named(name))


def choose(page: Page, label: str) -> None:
    """Press a button of the dialog, once it can be pressed."""
    button = f"[...{DIALOG}.querySelectorAll('button')].find(e => e.textContent === '{label}')"
    page.wait(f"!{button}.disabled")
    page.click(button)
    page.wait(f"!{DIALOG}")


def enter(page: Page, name: str, value: str) -> None:
    """Enter a number for a drive, and press its button."""
    field = f"document.querySelector('input[aria-label=\"command {name}\"]')"
    page.wait(field)
    page.ask(f"{field}.value = ''")
    page.type(field, value)
    page.click(f"document.querySelector('button[data-command={name}]')")
    page.wait(f"{DIALOG}.querySelector('.lj-preview').textContent !== 'Asking the engine …'")


def size(page: Page, width: int, height: int) -> None:
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
    page.wait(f"innerWidth === {width}")


def test_an_acknowledgement_is_seen_by_all_and_is_in_the_history_with_its_name(pages, station, alarm):
    for page in pages.values():
        assert page.ask(f"{INDICATOR}.textContent").count("unacknowledged") == 1
    press(pages["bob"], "acknowledge q.wrist_roll")
    for name, page in pages.items():
        page.wait(f"{ROLL}.textContent.includes('acknowledged by console/bob')")
        page.wait(f"{ROLL}.className === 'lj-critical lj-acknowledged'")
        page.shoot(PICTURES / f"acknowledged_{name}.png")
    reported = [each["text"] for each in orders(station, "bob acknowledge")]
    assert reported == ["console/bob: acknowledge q.wrist_roll."]


def test_an_alarm_that_ended_unseen_is_listed_until_somebody_acknowledges_it(pages, station, alarm):
    station.roll(0.0)
    for page in pages.values():
        page.wait(f"{ROLL}?.className === 'lj-gone' && {ROLL}.textContent.includes('normal again, was critical')")
    press(pages["alice"], "acknowledge q.wrist_roll")
    for page in pages.values():
        page.wait(f"!{ROLL}")


def test_a_shelved_alarm_says_until_when_by_whom_and_why(pages, station, alarm):
    alice, bob = pages["alice"], pages["bob"]
    press(alice, "shelve q.wrist_roll")
    page_choice = f"[...{DIALOG}.querySelectorAll('button')].find(e => e.textContent === 'Shelve')"
    alice.wait(f"{page_choice}.disabled")  # no reason, no shelving
    alice.shoot(PICTURES / "shelve.png")
    alice.type(f"{DIALOG}.querySelector('input')", "the sensor is being changed")
    choose(alice, "Shelve")
    for page in pages.values():
        page.wait(f"{ROLL}.className === 'lj-shelved'")
        assert "by console/alice: the sensor is being changed" in page.ask(f"{ROLL}.textContent")
        page.wait(f"!{INDICATOR}.textContent.includes('critical')")
    assert [each["who"] for each in orders(station, "shelve q.wrist_roll being changed")] == ["console/alice"]
    press(bob, "unshelve q.wrist_roll")
    for page in pages.values():
        page.wait(f"{ROLL}.className === 'lj-critical'")


def test_a_guest_may_look_only(pages, station, alarm):
    page = pages["guest"]
    assert page.ask("[...document.querySelectorAll('.lj-alarms button:not(.lj-sound)')].every(e => e.disabled)")
    assert page.ask(f"!!{named('acknowledge q.wrist_roll')}")
    for order in ('{"action": "acknowledge", "target": "*"}', '{"action": "unshelve", "target": "q.wrist_roll"}'):
        post = f"{{method: 'POST', headers: {{'Content-Type': 'application/json'}}, body: '{order}'}}"
        assert page.ask(f"fetch('/api/order', {post}).then(reply => reply.status)") == 403
        assert page.ask(f"fetch('/api/preview', {post}).then(reply => reply.status)") == 403
    refused = [each["result"] for each in orders(station, "guest acknowledge")]
    assert refused == ["role"]
    assert page.ask(f"{ROLL}.className") == "lj-critical"


def test_a_sound_is_made_only_for_who_asked_for_it(pages, station, alarm):
    alice, bob = pages["alice"], pages["bob"]
    alice.click("document.querySelector('.lj-sound')")
    alice.wait("document.querySelector('.lj-sound').textContent === 'Sound on'")
    alice.wait("limberjack.siren.played >= 2")  # at once, and again while it waits
    assert alice.ask("limberjack.siren.context.state") == "running"
    assert bob.ask("limberjack.siren.played") == 0
    press(bob, "acknowledge q.wrist_roll")
    alice.wait(f"{ROLL}.className === 'lj-critical lj-acknowledged'")
    alice.wait("limberjack.siren.worst < 2")
    alice.click("document.querySelector('.lj-sound')")
    alice.wait("!limberjack.siren.on")


def test_limits_are_lines_in_the_plots(pages, alarm):
    frame = "[...document.querySelectorAll('.c-fl-frame')].find(e => e.textContent.includes('Joint positions'))"
    assert pages["alice"].wait(f"{frame}.querySelectorAll('.c-plot-limit-line').length >= 4")


def test_the_dialog_says_what_would_change_and_the_order_goes_in_its_time(pages, station):
    page = pages["alice"]
    before = station.client.state().command["shoulder_yaw"]
    enter(page, "shoulder_yaw", "0.6")
    cells = page.ask(f"[...{DIALOG}.querySelectorAll('tbody td')].map(e => e.textContent)")
    assert cells[:4] == [f"{before:g}", "0.6", f"+{0.6 - before:g}", "rad"]
    known = station.gateway.session().dictionary["command.shoulder_yaw"]
    assert cells[4] == f"{known.low:g} … {known.high:g}"
    assert "Confirm within " in page.ask(f"{DIALOG}.querySelector('.lj-limit').textContent")
    for width, height in WIDTHS:
        size(page, width, height)
        assert_whole(page, ".lj-dialog", ".c-overlay__outer")
        page.shoot(PICTURES / f"dialog_{width}.png")
    choose(page, "Send")
    until(lambda: station.client.state().command["shoulder_yaw"] == 0.6, "the order was not carried out")


def test_what_the_engine_would_refuse_is_not_sent(pages, station):
    """Beyond the range by the gateway's rule, and while another program commands by the engine's."""
    page = pages["alice"]
    send = f"[...{DIALOG}.querySelectorAll('button')].find(e => e.textContent === 'Send')"
    enter(page, "wrist_yaw", "99")
    assert "the model allows" in page.ask(f"{DIALOG}.querySelector('.lj-critical').textContent")
    assert page.ask(f"{send}.disabled")
    choose(page, "Cancel")
    station.client.acquire(wait_s=20.0)
    try:
        enter(page, "wrist_yaw", "0.1")
        assert "holds the command lease" in page.ask(f"{DIALOG}.querySelector('.lj-critical').textContent")
        assert page.ask(f"{send}.disabled")
        page.shoot(PICTURES / "refused.png")
        choose(page, "Cancel")
    finally:
        station.client.release()
    assert orders(station, "wrist_yaw") == []


def test_an_order_is_not_carried_out_after_its_time_limit(pages, station):
    page = pages["alice"]
    enter(page, "wrist_yaw", "0.2")
    page.ask("window.clock = limberjack.link.now; limberjack.link.now = () => clock.call(limberjack.link) + 31000")
    page.wait(f"{DIALOG}.textContent.includes('The time limit has passed')")
    page.ask("limberjack.link.now = clock")
    choose(page, "Cancel")
    late = '{"action": "command", "values": {"wrist_yaw": 0.2}, "before": 1000}'
    post = f"{{method: 'POST', headers: {{'Content-Type': 'application/json'}}, body: '{late}'}}"
    assert page.ask(f"fetch('/api/order', {post}).then(reply => reply.status)") == 409
    assert [each["result"] for each in orders(station, "alice wrist_yaw")] == ["late"]
    assert station.client.state().command["wrist_yaw"] == 0.0


def test_the_history_can_be_searched_and_saved(browser, pages, station):
    for name in ("alice", "bob"):
        for order in (Order("shelve", "time", 60.0, reason="a test"), Order("unshelve", "time")):
            station.gateway.commander.execute(order, Actor("console", name, "operator"))
    page = browser.open(f"{station.consoles['alice'].url}{DUTY}")
    rows = "[...document.querySelectorAll('.lj-history')].at(-1).querySelectorAll('tbody tr')"
    page.wait(f"{rows}.length >= 4")
    for width, height in WIDTHS:
        size(page, width, height)
        for part in (".lj-history", ".lj-alarms", ".lj-commands"):
            assert_whole(page, part, part)
        page.shoot(PICTURES / f"duty_{width}.png")
    field = "[...document.querySelectorAll('.lj-history')].at(-1).querySelector('input')"
    page.type(field, "BOB unshelve")
    page.wait(f"{rows}.length > 0 && [...{rows}].every(e => e.textContent.includes('console/bobunshelve'))")
    link = page.ask("document.querySelector('.lj-history a[download]').href")
    request = urllib.request.Request(link, headers={"Authorization": f"Bearer {TOKENS['alice']}"})
    with urllib.request.urlopen(request, timeout=20.0) as reply:
        assert reply.headers["Content-Disposition"] == 'attachment; filename="orders.csv"'
        found = list(csv.reader(io.StringIO(reply.read().decode())))
    assert found[0][2:5] == ["who", "order", "result"]
    assert len(found) == 1 + page.ask(f"{rows}.length")
    assert {row[2] for row in found[1:]} == {"console/bob"}
    assert page.faults == []


def test_a_loop_that_waits_says_for_what_and_is_not_attached_out_of_reach(browser):
    system = load(ROOT / "examples" / "satellite_grasp.yaml")
    settings = EngineSettings(endpoint="tcp://127.0.0.1:*", mode="free-running", rate_hz=100.0)
    state = "document.querySelector('.lj-switch')?.textContent"
    with EngineProcess(system, settings) as engine, gateway(engine.endpoints.request) as running:
        console = Console(Settings(Address(port=0), live_hz=4.0), running)
        running.add(console)
        page = browser.open(console.url)
        page.wait(f"{state} === 'open'")
        page.click("[...document.querySelectorAll('.lj-commands button')].find(e => e.textContent === 'Attach')")
        text = page.wait(f"{DIALOG}.querySelector('.lj-critical')?.textContent")
        assert "loop 'grasp' is out of reach" in text
        assert "closes within 0.05 m" in text
        choose(page, "Cancel")
        with engine.client() as client:
            client.command({"grasp.closed": 1.0})
            page.wait(f"/^waiting [(]reach 0.05 m, now [0-9.]+ m[)]$/.test({state})")
            for width, height in WIDTHS:
                size(page, width, height)
                page.ask("document.querySelector('.lj-switch').scrollIntoView({block: 'center'})")
                page.shoot(PICTURES / f"waiting_{width}.png")
                assert_whole(page, ".lj-commands", ".lj-commands")
            client.command({"grasp.closed": 0.0})
            page.wait(f"{state} === 'open'")
        page.go("about:blank")


def test_a_killed_engines_alarms_are_unknown_since_it_was_heard(pages, station):
    """The last of this module: the engine does not come back."""
    page = pages["alice"]
    before = time.time()
    station.engine.kill()
    page.wait(f"{INDICATOR}.dataset.severity === 'old'")
    text = page.wait("document.querySelector('.lj-alarms .lj-quiet:not(.lj-said)')?.textContent")
    assert text.startswith("Alarms are unknown since ")
    assert "No alarms" not in page.ask("document.querySelector('.lj-alarms').textContent")
    assert page.ask(f"{INDICATOR}.title").startswith("Unknown now. Before that:\n")
    shown = text.removeprefix("Alarms are unknown since ")[:8]
    assert shown in {time.strftime("%H:%M:%S", time.gmtime(before + late)) for late in range(-3, 3)}
    for width, height in WIDTHS:
        size(page, width, height)
        below = "[...document.querySelectorAll('.c-indicator')].filter(e => e.getBoundingClientRect().bottom > 40)"
        page.wait(f"{below}.length === 0")
        page.shoot(PICTURES / f"unknown_{width}.png")


def orders(station: Station, search: str) -> list[dict]:
    """Rows of the command history, once all notices are written."""
    console = station.consoles["alice"]
    end = 1000.0 * time.time() + 1e6
    url = f"{console.url}api/orders?start=0&end={end:.0f}&search={search.replace(' ', '+')}"
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {TOKENS['alice']}"})
    until(lambda: all(each["waiting"] == 0 for each in station.gateway.status().values()), "notices wait")
    with urllib.request.urlopen(request, timeout=20.0) as reply:
        return json.load(reply)["orders"]


def assert_whole(page: Page, part: str, frame: str) -> None:
    """All controls of a part are within a frame, and none lies over another, once the page has been laid out."""
    deadline = time.monotonic() + 20.0
    while found := page.ask(outside(part, frame)):
        assert time.monotonic() < deadline, found


def outside(part: str, frame: str) -> str:
    """Script: texts of controls of a part that stick out of a frame, or lie over one another."""
    return f"""(() => {{
      const box = document.querySelector('{frame}').getBoundingClientRect();
      const controls = [...document.querySelector('{part}').querySelectorAll('button, input, select, a, th, td')]
        .filter(e => e.checkVisibility());
      const name = e => e.ariaLabel || e.textContent;
      const out = controls.filter(e => {{ const r = e.getBoundingClientRect();
        return r.left < box.left - 0.5 || r.right > box.right + 0.5; }});
      const leaves = controls.filter(e => !e.querySelector('button, input, select, a'));
      const over = leaves.filter((e, i) => leaves.slice(i + 1).some(f => {{
        if (e.contains(f) || f.contains(e)) return false;
        const [a, b] = [e.getBoundingClientRect(), f.getBoundingClientRect()];
        return Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
          && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1; }}));
      return [...out, ...over].map(name); }})()"""
