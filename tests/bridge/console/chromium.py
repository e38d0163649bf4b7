"""A headless Chromium, driven through its DevTools protocol: real pages, real clicks, screenshots."""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import shutil
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
_QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--mute-audio",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--disable-background-timer-throttling",  # each page is somebody's, and in front
    "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
)
_START_S, _ANSWER_S = 60.0, 120.0  # bounds, reached only when something is broken


class Chromium:
    """One browser with a fresh profile. `with Chromium() as browser: page = browser.open(url)`."""

    def __init__(self, width: int = 1920, height: int = 1080) -> None:
        assert PROGRAM is not None
        self._profile = tempfile.mkdtemp(prefix="chromium-")
        window = f"--window-size={width},{height}"
        command = [PROGRAM, *_QUIET, window, f"--user-data-dir={self._profile}", "about:blank"]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._pages: list[Page] = []
        self._address = f"127.0.0.1:{self._port()}"

    def _port(self) -> int:
        """The port that it chose, which it writes into its profile."""
        path, deadline = Path(self._profile) / "DevToolsActivePort", time.monotonic() + _START_S
        while time.monotonic() < deadline:
            if path.is_file() and (lines := path.read_text().splitlines()):
                return int(lines[0])
            assert self._process.poll() is None, "Chromium ended at its start"
            time.sleep(0.05)
        raise TimeoutError("Chromium did not start in time")

    def open(self, url: str) -> Page:
        """A new page at this address."""
        request = urllib.request.Request(f"http://{self._address}/json/new?about:blank", method="PUT")
        with urllib.request.urlopen(request, timeout=_ANSWER_S) as reply:
            page = Page(json.load(reply)["webSocketDebuggerUrl"])
        self._pages.append(page)
        page.go(url)
        return page

    def close(self) -> None:
        """End the browser and forget its profile."""
        for page in self._pages:
            page.close()
        self._process.terminate()
        try:
            self._process.wait(10.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._profile, ignore_errors=True)

    def __enter__(self) -> Chromium:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class PageError(Exception):
    """The browser did not carry out a request."""

    def __init__(self, method: str, error: dict[str, Any]) -> None:
        super().__init__(f"{method}: {error['message']}")
        self.left = "navigated" in error["message"]  # the page that was asked made room for the next


class Page:
    """One page. `faults` gathers what it wrote as errors to its own console, and exceptions."""

    def __init__(self, address: str) -> None:
        self._stack = contextlib.ExitStack()
        self._socket = self._stack.enter_context(connect(address, max_size=None, ping_interval=None, close_timeout=0.5))
        self._numbers = itertools.count(1)
        self.faults: list[str] = []
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One request of the DevTools protocol, and its answer."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        deadline = time.monotonic() + _ANSWER_S
        while True:
            message = json.loads(self._socket.recv(timeout=max(0.0, deadline - time.monotonic())))
            if message.get("id") == number:
                if "error" in message:
                    raise PageError(method, message["error"])
                return dict(message["result"])
            self._note(message)

    def _note(self, message: dict[str, Any]) -> None:
        what, reported = message.get("method"), message.get("params", {})
        if what == "Runtime.exceptionThrown":
            details = reported["exceptionDetails"]
            self.faults.append(str(details.get("exception", {}).get("description", details["text"])))
        elif what == "Runtime.consoleAPICalled" and reported["type"] == "error":
            self.faults.append(" ".join(str(each.get("value", each.get("description"))) for each in reported["args"]))
        elif what == "Log.entryAdded" and reported["entry"]["level"] == "error":
            self.faults.append(f"{reported['entry']['text']} {reported['entry'].get('url', '')}")

    def go(self, url: str) -> None:
        """Open another address."""
        self.call("Page.navigate", url=url)

    def ask(self, expression: str) -> Any:
        """Value of an expression in JavaScript; promises are awaited, exceptions raised."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, expression: str, timeout_s: float = 120.0) -> Any:
        """Wait until an expression is true, and return its value; a page that is being reloaded is asked again."""
        deadline = time.monotonic() + timeout_s
        reported = "found instanceof Node ? true : found"  # an element has no value to return
        attempt = f"(() => {{ try {{ const found = {expression}; return {reported} }} catch {{ return null }} }})()"
        while True:
            found = self._try(attempt)
            if found:
                return found
            assert time.monotonic() < deadline, f"not within {timeout_s:g} s: {expression}; faults: {self.faults[:5]}"
            time.sleep(0.1)

    def _try(self, attempt: str) -> Any:
        try:
            return self.ask(attempt)
        except PageError as error:
            if not error.left:
                raise
            return None

    def click(self, finder: str) -> None:
        """Click with the mouse on the element that an expression finds."""
        self.wait(f"{finder}")
        place = self.ask(
            f"(() => {{ const e = {finder}; e.scrollIntoView({{block: 'center'}}); const r = e.getBoundingClientRect();"
            " return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            x, y = place
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def type(self, finder: str, text: str) -> None:
        """Type into the element that an expression finds."""
        self.wait(f"{finder}")
        self.ask(f"{finder}.focus()")
        self.call("Input.insertText", text=text)

    def shoot(self, path: Path) -> None:
        """Keep a screenshot."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.picture())

    def picture(self, **options: Any) -> bytes:
        """PNG of the page; clip={"x", "y", "width", "height", "scale"}: of a part."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png", **options)["data"])

    def close(self) -> None:
        """Leave the page."""
        with contextlib.suppress(ConnectionClosed):
            self._stack.close()
