"""A console on an engine in a thread; the browser's libraries; a browser."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from limberjack.bridge.console import assets
from limberjack.bridge.console.access import Access, Address, Visitor
from limberjack.bridge.console.web_server import Console, Settings
from limberjack.bridge.telemetry.commander import Commander
from limberjack.bridge.telemetry.condition import Condition
from limberjack.bridge.telemetry.dictionary import Dictionary, Quantity
from limberjack.bridge.telemetry.gateway import Gateway
from limberjack.engine.model.system import System
from tests.bridge.console.asking import Asker
from tests.bridge.console.chromium import PROGRAM, Chromium
from tests.bridge.telemetry.conftest import dock  # noqa: F401  (fixture)
from tests.bridge.telemetry.engines import engine, gateway

OPERATOR, VIEWER = "operator-token-0123456789", "viewer-token-0123456789"
TOKENS = {OPERATOR: Visitor("operator", "alice"), VIEWER: Visitor("viewer")}


@dataclass(frozen=True)
class Bench:
    """A console, its gateway, and one who asks it over HTTP."""

    console: Console
    gateway: Gateway
    ask: Asker


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Folders in place of the browser's libraries, where no browser looks at the pages."""
    monkeypatch.setattr("limberjack.bridge.console.web_server.installed_folder", lambda package: tmp_path)
    (tmp_path / "dist").mkdir()


@pytest.fixture
def serve(endpoint: str) -> Callable[..., contextlib.AbstractContextManager[Bench]]:
    """`with serve(system) as bench`: options beginning with engine_ are the engine's, the others the console's."""

    @contextlib.contextmanager
    def bench(
        system: System, access: Access | None = None, live_hz: float = 20.0, **options: object
    ) -> Iterator[Bench]:
        with engine(system, endpoint, **options), gateway(endpoint) as running:
            console = Console(Settings(Address(port=0), access or Access(), live_hz), running)
            running.add(console)
            yield Bench(console, running, Asker(console.port))

    return bench


class Still:
    """A gateway without an engine: it keeps what it is given, and answers what `history` does."""

    def __init__(self, system: System, dictionary: Dictionary) -> None:
        raw = {"loops": []}
        description = SimpleNamespace(names={"command": ["shoulder"]}, parameters=["gravity.z"], raw=raw)
        self._session = SimpleNamespace(dictionary=dictionary, system=system, mirror=None, description=description)
        self.history: Any = SimpleNamespace()
        self.commander = Commander("ipc:///nowhere", self.session, self.tell)
        self.texts: list[str] = []
        self.keeps_history = False

    def session(self) -> Any:
        return self._session

    def alarms(self) -> dict[str, Any]:
        return {}

    def condition(self) -> Condition:
        return Condition("live", "live")

    def progress(self) -> None:
        """An engine without a scenario."""

    def tell(self, severity: int, text: str, kind: str = "link", **data: Any) -> None:
        self.texts.append(text)


@pytest.fixture
def still(pretended: None, dock: System) -> Iterator[Bench]:  # noqa: F811
    """A console of 300 quantities q.0, q.1, … without an engine, whose gateway a test may change."""
    quantities = (Quantity("time", "time", "s", ""), *(Quantity(f"q.{k}", "q", "", "") for k in range(300)))
    dictionary = Dictionary("still", "hash", quantities)
    made = Still(dock, dictionary)
    console = Console(Settings(Address(port=0)), made)
    console.open(dictionary)
    yield Bench(console, made, Asker(console.port))
    console.close()


@pytest.fixture(scope="session")
def libraries() -> None:
    """Open MCT and three.js, installed as a user does."""
    try:
        assets.install()
    except assets.AssetError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def browser(libraries: None) -> Iterator[Chromium]:
    """A browser for a module."""
    if PROGRAM is None:
        pytest.skip("no Chromium on this machine")
    with Chromium(1440, 900) as running:
        yield running
