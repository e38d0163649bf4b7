"""A request of many steps is one way to the commands of a driven loop, in whatever portions the engine takes it."""

from __future__ import annotations

import struct
from importlib.resources import files
from pathlib import Path

import limberjack as lj
from limberjack.bridge import service as serving
from limberjack.bridge import stepping
from limberjack.bridge.messages import decode, encode
from limberjack.bridge.settings import Settings

CRANK = Path(str(files("limberjack.examples"))) / "driven_crank.yaml"
GOAL = (0.06, 5.0, 20.0)


def test_portions_of_a_request_have_the_bits_of_one_call(monkeypatch):
    monkeypatch.setattr(stepping, "_FIRST", 3)
    system = lj.load(CRANK)
    engine, alone = serving.Service(lj.Simulation(system), Settings()), lj.Simulation(system)
    for number, (kind, body) in enumerate(
        (("hello", {"name": "one"}), ("step", [10, None, struct.pack("<3d", *GOAL)]))
    ):
        reply = decode(bytes(engine.handle(encode(kind, number + 1, engine.simulation.time, 7, body))))
        assert reply.type != "error", reply.body
    alone.command_vector = GOAL
    alone.step(10)
    assert engine.simulation.state.tobytes() == alone.state.tobytes()
    assert abs(alone.q[0] - GOAL[0]) < 1e-12
    assert abs(alone.v[0] - GOAL[1]) < 1e-10
