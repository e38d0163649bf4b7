"""Two operators attach and release in real browsers while the engine, or the console, is killed and started again."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from limberjack.bridge.process import EngineProcess
from limberjack.bridge.settings import Settings
from limberjack.engine.model.system import System
from tests.bridge.console.chromium import Chromium, Page
from tests.bridge.telemetry.conftest import dock  # noqa: F401  (fixture)

pytestmark = pytest.mark.long
PICTURES = Path(__file__).resolve().parents[3] / "results" / "console"
HOSTS = {"alice": "127.0.0.1", "bob": "localhost"}  # so that each has a cookie of their own in the one browser
TOKENS = {name: f"{name}-token-0123456789" for name in ("alice", "bob")}
STATE = "document.querySelector('[data-state]').dataset.state"
CURRENT = f"['live', 'overrunning'].includes({STATE})"
CELL = "[...document.querySelectorAll('.lj-commands tr')].find(e => e.firstChild.textContent === 'dock')"
LOOP = f"{CELL}.querySelector('.lj-switch').textContent"
DIALOG = "document.querySelector('.lj-dialog')"
SEND = f"[...{DIALOG}.querySelectorAll('button')].find(e => e.textContent === 'Send')"
MESSAGE = "document.querySelector('.lj-message').textContent"
DUTY = "#/browse/limberjack:root/limberjack:duty?hideTree=true&hideInspector=true"


class Site:
    """An engine and the console of it, as commands of their own, at addresses that stay."""

    def __init__(self, system: System, folder: Path) -> None:
        self._system, self._folder, self._port = system, folder, 0
        self._settings = Settings(endpoint=f"ipc://{folder}/e", mode="free-running", rate_hz=100.0)
        tokens = folder / "tokens"
        tokens.touch(0o600)
        tokens.write_text("".join(f"operator {token} {name}\n" for name, token in TOKENS.items()))
        self.start_engine()
        self.start_console()

    def start_engine(self) -> None:
        self.engine = EngineProcess(self._system, self._settings)

    def start_console(self) -> None:
        options = ["--port", str(self._port), "--tokens", str(self._folder / "tokens"), "--wait", "60"]
        command = [sys.executable, "-m", "limberjack", "console", self._settings.endpoint, *options]
        self._log = self._folder / "log"
        with self._log.open("wb") as log:
            self.console = subprocess.Popen(command, stderr=log)
        deadline = time.monotonic() + 60.0
        while (found := re.search(r"console at http://127.0.0.1:(\d+)", self._log.read_text())) is None:
            assert time.monotonic() < deadline, self._log.read_text()
            time.sleep(0.05)
        self._port = int(found[1])

    def url(self, name: str) -> str:
        """Address of the page of alarms and commands for an operator."""
        return f"http://{HOSTS[name]}:{self._port}/?token={TOKENS[name]}{DUTY}"

    def kill_console(self) -> None:
        os.kill(self.console.pid, signal.SIGKILL)
        self.console.wait(20.0)

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.kill_console()
        self.engine.kill()


@pytest.fixture(scope="module")
def still(dock: System) -> System:  # noqa: F811
    """The arm beside its target, both at rest, so that the weld stays within its reach."""
    bodies = [
        dataclasses.replace(each, hinge=dataclasses.replace(each.hinge, v0=np.zeros_like(each.hinge.v0)))
        for each in dock.bodies
    ]
    return dataclasses.replace(dock, bodies=tuple(bodies))


@pytest.fixture
def site(libraries: None, still: System, folder: Path) -> Iterator[Site]:
    made = Site(still, folder)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def pages(browser: Chromium, site: Site) -> Iterator[dict[str, Page]]:
    """The page of alarms and commands of two operators."""
    found = {}
    for name in TOKENS:
        found[name] = page = browser.open(site.url(name))
        page.wait(f"{CURRENT} && {LOOP} === 'open'")
        page.ask(
            "window.shown = []; setInterval(() => { const now = `${" + STATE + "} ${" + LOOP + "}`;"
            " if (now !== shown.at(-1)?.[1]) shown.push([Date.now(), now]); }, 20)"
        )
    yield found
    for page in found.values():
        page.go("about:blank")


def press(page: Page, label: str) -> None:
    """Press a button of the loop, and wait for what the engine says it would do."""
    button = f"[...{CELL}.querySelectorAll('button')].find(e => e.textContent === '{label}')"
    page.wait(f"{button} && !{button}.disabled")
    page.click(button)
    page.wait(f"!{SEND}.disabled")


def confirm(page: Page) -> None:
    page.click(SEND)
    page.wait(f"!{DIALOG}")


def carry_out(page: Page, label: str) -> None:
    press(page, label)
    confirm(page)
    page.wait(f"{MESSAGE} !== '' && !{MESSAGE}.startsWith('Sent; ')")
    assert page.ask(MESSAGE).startswith("Done: ")


def all_show(pages: dict[str, Page], what: str, state: str, loop: str, since: float, *, only: bool = False) -> None:
    """Wait until every page shows it. After how long each did, by its own clock, is kept, not judged: a machine under
    load decides that."""
    took = {
        name: page.wait(f"shown.find(([at, now]) => /^({state}) {loop}$/.test(now))")[0] for name, page in pages.items()
    }
    for page in pages.values():  # never what was before as if it were of now
        known = page.ask("shown.map(([, now]) => now).filter(now => /^(live|overrunning) /.test(now))")
        assert not only or {each.rpartition(" ")[2] for each in known} <= {loop, "unknown"}
    path = PICTURES / "restarts.json"
    kept = json.loads(path.read_text()) if path.is_file() else {}
    path.parent.mkdir(parents=True, exist_ok=True)
    new = {f"{what}, {name}": round(at / 1e3 - since, 3) for name, at in took.items()}
    path.write_text(json.dumps(kept | new, indent=1))
    for page in pages.values():
        page.ask("shown.length = 0")


LIVE = "live|overrunning"


@pytest.mark.parametrize("action", ["Attach", "Release"])
def test_the_engine_is_killed_while_an_operator_is_asked(pages, site, action):
    """Nothing is sent; the loop is unknown to both, then what the next engine has; the order goes the second time."""
    alice, bob = pages["alice"], pages["bob"]
    if action == "Release":
        carry_out(alice, "Attach")
        all_show(pages, "attached", LIVE, "closed", 0.0)
    press(bob, action)
    since = time.time()
    site.engine.kill()
    all_show(pages, f"{action} asked, engine killed", "gone", "unknown", since)
    confirm(bob)
    assert bob.wait(MESSAGE).startswith("Not sent: ")
    bob.shoot(PICTURES / f"restart_{action}_gone.png")
    site.start_engine()
    since = time.time()  # it answers
    all_show(pages, f"{action} asked, engine again", LIVE, "open", since, only=True)
    if action == "Release":
        carry_out(alice, "Attach")
    carry_out(bob, action)
    all_show(pages, f"{action} done", LIVE, "open" if action == "Release" else "closed", since)


@pytest.mark.parametrize("action", ["Attach", "Release"])
def test_the_engine_is_killed_while_it_has_the_order(pages, site, action):
    """Its operator reads that nobody knows whether it took effect; both see what the next engine has."""
    alice, bob = pages["alice"], pages["bob"]
    if action == "Release":
        carry_out(alice, "Attach")
    press(bob, action)
    os.kill(site.engine.pid, signal.SIGSTOP)
    confirm(bob)
    bob.wait(f"{MESSAGE}.startsWith('Sent; waiting')")
    since = time.time()
    site.engine.kill()
    all_show(pages, f"{action} sent, engine killed", "gone", "unknown", since)
    site.start_engine()
    since = time.time()
    all_show(pages, f"{action} sent, engine again", LIVE, "open", since, only=True)
    rows = "[...document.querySelectorAll('.lj-history')].at(-1).querySelectorAll('tbody tr')"
    for page in pages.values():
        page.wait(f"[...{rows}].some(e => e.textContent.includes('console/bob{action.lower()} docklost'))")


@pytest.mark.parametrize("action", ["Attach", "Release"])
def test_the_console_is_killed_while_an_operator_is_asked(pages, site, action):
    """The pages say so, connect to the next console by themselves, and it knows what was done before."""
    alice, bob = pages["alice"], pages["bob"]
    carry_out(alice, "Attach")
    if action == "Attach":
        carry_out(alice, "Release")
    before = "closed" if action == "Release" else "open"
    all_show(pages, "before", LIVE, before, 0.0)
    press(bob, action)
    since = time.time()
    site.kill_console()
    all_show(pages, f"{action} asked, console killed", "lost", "unknown", since)
    confirm(bob)
    assert bob.wait(MESSAGE).startswith("Not sent: ")
    site.start_console()
    since = time.time()
    all_show(pages, f"{action} asked, console again", LIVE, before, since)
    carry_out(bob, action)
    all_show(pages, f"{action} done", LIVE, "open" if action == "Release" else "closed", since)
    rows = "[...document.querySelectorAll('.lj-history')].at(-1).querySelectorAll('tbody tr')"
    for page in pages.values():
        page.wait(f"[...{rows}].some(e => e.textContent.includes('console/aliceattach dock'))")
        page.wait(f"[...{rows}].some(e => e.textContent.includes('console/bob{action.lower()} dock'))")
    bob.shoot(PICTURES / f"restart_{action}_console.png")
