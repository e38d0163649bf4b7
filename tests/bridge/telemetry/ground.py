"""Ground systems in processes of their own, with the Python that has them."""

from __future__ import annotations

import json
import subprocess
import threading
from pathlib import Path
from typing import Any

from tests.bridge.telemetry.engines import WAIT_S

FOLDER = Path(__file__).parent


class Peer:
    """A script beside this file; `lines` keeps the JSON lines that it writes."""

    def __init__(self, python: str, script: str, *options: object) -> None:
        command = [python, str(FOLDER / script), *map(str, options)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.lines: list[dict[str, Any]] = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        self.lines.extend(map(json.loads, self.process.stdout))

    def command(self, name: str, arguments: object) -> None:
        """Let it send a command."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([name, arguments]) + "\n")

    def close(self) -> None:
        """End it, whatever it does."""
        self.process.kill()
        self.process.wait(WAIT_S)
        self._thread.join(WAIT_S)
