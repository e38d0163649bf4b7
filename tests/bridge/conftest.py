"""A small arm, engines in threads and in processes, and short ipc paths."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from limberjack.bridge.server import Server
from limberjack.bridge.settings import Settings
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.model.system import System
from tests.bridge.bridge_helpers import WAIT_S, make_arm


@pytest.fixture(scope="session")
def arm() -> System:
    return make_arm()


@pytest.fixture
def engine(arm: System, endpoint: str) -> Iterator[Callable[..., Server]]:
    """Start engines in threads of this process: `server = engine(lease_s=0.3)`; stopped at the end."""
    running: list[tuple[Server, threading.Thread]] = []

    def start(system: System = arm, **options: Any) -> Server:
        settings = Settings(**{"endpoint": endpoint, **options})
        server = Server(Simulation(system), settings)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        running.append((server, thread))
        return server

    yield start
    for server, thread in running:
        server.stop()
        thread.join(WAIT_S)
        assert not thread.is_alive()
