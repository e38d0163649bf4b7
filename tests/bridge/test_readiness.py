"""A running engine compiles nothing: whatever a request calls is in the library."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EVERY_REQUEST = """
import sys

import numpy as np

sys.path.insert(0, {folder!r})
from tests.bridge.bridge_helpers import make_arm, make_dock
from tests.bridge.test_service import Talk

from limberjack.bridge.service import Service
from limberjack.bridge.settings import Settings
from limberjack.engine.api.simulation import Simulation

service = Service(Simulation({model}()), Settings())
talk, sim = Talk(service), service.simulation
snapshot = talk.ask("snapshot").body
for kind, body in {requests}:
    body = snapshot if kind == "restore" else body
    reply = talk.ask(kind, body)
    assert reply.type != "error", (kind, reply.body)
service.free_step(3)
service.state_message(1, 0)
service.status()
assert all(np.all(np.isfinite(value)) for value in sim.output.values())
sim.parameters["gravity.z"] = -1.0
sim.step(2)
assert "numba" not in sys.modules
"""
ANY = [
    ("describe", None),
    ("state", None),
    ("step", [5, None, None]),
    ("parameter", ["gravity.z", -2.0]),
    ("step", [1, None, None]),
    ("restore", None),
    ("heartbeat", None),
    ("reset", None),
]
LOOPS = [
    ("attach", "dock"),
    ("step", [2, None, None]),
    ("lock", "elbow"),
    ("step", [2, None, None]),
    ("unlock", "elbow"),
    ("release", "dock"),
    ("step", [2, None, None]),
]


@pytest.mark.parametrize(("model", "requests"), [("make_arm", ANY), ("make_dock", [*LOOPS, *ANY])])
def test_no_request_compiles_anything(model, requests):
    folder = str(Path(__file__).parent)
    code = EVERY_REQUEST.format(folder=folder, model=model, requests=requests)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=590)
    assert done.returncode == 0, done.stderr
