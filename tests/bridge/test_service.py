"""Requests as bytes, answers as bytes: every refusal, and that none of them disturbs the simulation."""

from __future__ import annotations

import struct

import msgpack
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from limberjack.bridge.messages import decode, encode
from limberjack.bridge.service import Service
from limberjack.bridge.settings import Settings
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.common.errors import SimulationError
from limberjack.engine.model.archive import from_bytes
from limberjack.engine.tables import plant as layout
from tests.bridge.bridge_helpers import make_arm

COMMANDS = len(make_arm().command_names)
ONES = struct.pack(f"<{COMMANDS}d", *([1.0] * COMMANDS))


class Talk:
    """A client without sockets."""

    def __init__(self, service, client=0x8F3A5C0D9E1B2746, name="talker"):
        self.service, self.client, self.sequence = service, client, 0
        self.ask("hello", {"name": name})

    def ask(self, kind, body=None, time=None):
        self.sequence += 1
        seen = self.service.simulation.time if time is None else time
        reply = decode(bytes(self.service.handle(encode(kind, self.sequence, seen, self.client, body))))
        assert (reply.sequence, reply.client) == (self.sequence, self.client)
        return reply

    def code(self, kind, body=None, time=None):
        reply = self.ask(kind, body, time)
        assert reply.type == "error"
        assert len(reply.body["text"]) > 10
        return reply.body["code"]


@pytest.fixture
def service(arm):
    return Service(Simulation(arm), Settings())


@pytest.fixture
def talk(service):
    return Talk(service)


@pytest.mark.parametrize(
    ("kind", "body", "code"),
    [
        ("step", None, "malformed"),
        ("step", [1, None], "malformed"),
        ("step", [0, None, None], "argument"),
        ("step", [-5, None, None], "argument"),
        ("step", [True, None, None], "argument"),
        ("step", [1.0, None, None], "argument"),
        ("step", [10**9, None, None], "argument"),
        ("step", [1, None, ONES[:-8]], "wrong_length"),
        ("step", [1, None, ONES + ONES], "wrong_length"),
        ("step", [1, None, [1.0] * COMMANDS], "malformed"),
        ("step", [1, None, struct.pack("<d", float("nan")) * COMMANDS], "non_finite"),
        ("step", [1, struct.pack("<I", COMMANDS), ONES[:8]], "argument"),
        ("step", [1, struct.pack("<I", 0), ONES[:16]], "wrong_length"),
        ("step", [1, b"\0\0\0", ONES[:8]], "malformed"),
        ("step", [1, "0", ONES[:8]], "malformed"),
        ("step", [1, struct.pack("<I", 0), struct.pack("<d", float("inf"))], "non_finite"),
        ("command", [None, None], "malformed"),
        ("command", None, "malformed"),
        ("restore", None, "malformed"),
        ("parameter", ["gravity.z", "x"], "argument"),
        ("parameter", ["gravity.z", float("nan")], "non_finite"),
        ("parameter", [{}, None], "malformed"),
        ("parameter", ["gravity.w", None], "argument"),
        ("parameter", "gravity.z", "malformed"),
        ("attach", "shoulder", "argument"),
        ("attach", None, "malformed"),
        ("attach", ["shoulder"], "malformed"),
        ("release", "shoulder", "argument"),
        ("release", 7, "malformed"),
        ("lock", "shoulder", "argument"),
        ("lock", b"shoulder", "malformed"),
        ("unlock", "nowhere", "argument"),
        ("unlock", {}, "malformed"),
        ("explode", None, "unknown_type"),
        ("error", None, "unknown_type"),
        ("hello", {"name": ""}, "malformed"),
        ("hello", {"name": "x\n"}, "malformed"),
        ("hello", None, "malformed"),
    ],
)
def test_a_wrong_request_is_refused_counted_and_changes_nothing(service, talk, kind, body, code):
    talk.ask("step", [5, None, ONES])
    before = service.simulation.snapshot()
    assert talk.code(kind, body) == code
    assert service.simulation.snapshot() == before
    assert service.status()["refused"] == {code: 1}
    assert service.events[-1]["code"] == code
    assert talk.ask("step", [1, None, None]).type == "state"


def test_oversize_is_refused(service, talk):
    reply = decode(bytes(service.handle(b"\0" * (service.size_max + 1))))
    assert reply.type == "error"
    assert reply.body["code"] == "oversize"


def test_replayed_and_stale_messages_are_not_carried_out(service, talk):
    step = encode("step", 10, 0.0, talk.client, [1, None, ONES])
    assert decode(bytes(service.handle(step))).type == "state"
    before = service.simulation.snapshot()
    older = encode("step", 9, 0.0, talk.client, [1, None, ONES])
    assert decode(bytes(service.handle(step))).body["code"] == "replayed"
    assert decode(bytes(service.handle(older))).body["code"] == "stale"
    assert service.simulation.snapshot() == before


def test_commands_that_answer_an_old_state_are_refused_when_asked_for(arm):
    service = Service(Simulation(arm), Settings(command_age_s=0.05))
    talk = Talk(service)
    talk.ask("step", [100, None, ONES])
    assert talk.code("command", [None, ONES], time=0.0) == "stale"
    assert talk.ask("command", [None, ONES], time=0.08).type == "command"


@pytest.mark.parametrize("steps", [-1.0, 1e300])
def test_a_snapshot_with_an_impossible_step_count_is_refused(service, talk, steps):
    talk.ask("step", [5, None, ONES])
    before = service.simulation.snapshot()
    place = len(before) - 8 * (len(service.simulation.state) - layout.S_STEPS)
    assert struct.unpack_from("<d", before, place)[0] == 5.0
    forged = bytearray(before)
    struct.pack_into("<d", forged, place, steps)
    assert talk.code("restore", bytes(forged)) == "argument"
    assert service.simulation.snapshot() == before


def test_a_stranger_must_say_hello(service):
    reply = decode(bytes(service.handle(encode("state", 1, 0.0, 5, None))))
    assert reply.body["code"] == "unknown_client"


def test_free_running_refuses_steps_and_names_the_way(arm):
    talk = Talk(Service(Simulation(arm), Settings(mode="free-running")))
    reply = talk.ask("step", [1, None, None])
    assert reply.body["code"] == "mode"
    assert "'command'" in reply.body["text"]


def test_a_failed_step_is_reported_and_leaves_the_last_good_state(service, talk, monkeypatch):
    talk.ask("step", [3, None, ONES])
    before = bytes(talk.ask("state").body[1])

    def fail(steps=1, ahead=None):
        raise SimulationError("body 'link1' diverged at 0.004 s.")

    monkeypatch.setattr(service.simulation, "step", fail)
    reply = talk.ask("step", [1, None, None])
    assert reply.body == {"code": "simulation", "text": "body 'link1' diverged at 0.004 s."}
    assert bytes(talk.ask("state").body[1]) == before


def test_an_unforeseen_error_is_answered_and_logged(service, talk, monkeypatch, caplog):
    monkeypatch.setattr(service.simulation, "reset", lambda **_: 1 / 0)
    assert talk.code("reset") == "internal"
    assert "ZeroDivisionError" in caplog.text
    assert talk.ask("step", [1, None, None]).type == "state"


def test_a_long_step_ends_when_the_engine_is_asked_to_stop(service, talk, monkeypatch):
    step = service.simulation.step

    def step_and_stop(steps=1, ahead=None):
        step(steps, ahead)
        service.stopping = True

    monkeypatch.setattr(service.simulation, "step", step_and_stop)
    assert talk.code("step", [50_000, None, None]) == "stopping"
    assert service.simulation.step_count < 50_000


VALID = st.sampled_from(
    [
        ("hello", {"name": "x"}), ("describe", None), ("state", None), ("snapshot", None),
        ("heartbeat", None), ("step", [1, None, ONES]),
        ("step", [3, struct.pack("<I", 1), ONES[:8]]), ("command", [None, ONES]),
        ("parameter", ["gravity.z", None]), ("release", None), ("acquire", None),
        ("attach", "loop"), ("release", "loop"), ("lock", "shoulder"), ("unlock", "j1"),
    ]
)  # fmt: skip


@st.composite
def hostile(draw):
    """Random bytes, or a valid message of another client, perhaps never met, with a few bytes changed."""
    if draw(st.booleans()):
        return draw(st.binary(max_size=300))
    kind, body = draw(VALID)
    data = bytearray(encode(kind, draw(st.integers(0, 2**64 - 1)), draw(st.floats()), draw(st.integers(20, 22)), body))
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(data) - 1))
        data[place : place + draw(st.integers(0, 2))] = draw(st.binary(max_size=3))
        if not data:
            break
    return bytes(data)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(messages=st.lists(hostile(), min_size=1, max_size=20))
def test_fuzzed_messages_never_disturb_the_commander(messages):
    arm = make_arm()
    service = Service(Simulation(arm), Settings())
    undisturbed = Simulation(arm)
    talk = Talk(service)
    talk.ask("step", [2, None, ONES])
    undisturbed.command_vector = np.ones(COMMANDS)
    undisturbed.step(2)
    for data in messages:
        decode(bytes(service.handle(data)))
    assert not service.stopping
    state = talk.ask("step", [5, None, None])
    undisturbed.step(5)
    assert state.type == "state"
    assert np.frombuffer(state.body[1])[: arm.nq].tobytes() == undisturbed.q.tobytes()
    assert service.simulation.snapshot() == undisturbed.snapshot()
    assert service.refused["internal"] == 0


LEAVES = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.binary() | st.text()
BODIES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
KINDS = st.sampled_from(
    ["step", "command", "restore", "parameter", "hello", "describe", "heartbeat", "attach", "release", "lock", "unlock"]
)


@settings(max_examples=200, deadline=None)
@given(BODIES, KINDS)
def test_any_body_is_answered_without_an_internal_error(body, kind):
    service = Service(Simulation(make_arm()), Settings(steps_max=10))
    reply = Talk(service).ask(kind, body)
    assert msgpack.packb(reply.body) is not None
    assert service.refused["internal"] == 0


def test_model_is_the_whole_model_and_needs_no_lease(arm, service, talk):
    other = Talk(service, client=0x55, name="holder")
    other.ask("acquire")
    reply = talk.ask("model")
    assert reply.type == "model"
    copy = Simulation(from_bytes(reply.body, "the reply"))
    assert copy.model_hash == service.simulation.model_hash
    assert copy.system.command_names == arm.command_names


def test_a_model_too_large_for_a_reply_is_refused(monkeypatch, talk):
    monkeypatch.setattr("limberjack.bridge.service.REPLY_MAX", 2000)
    reply = talk.ask("model")
    assert (reply.type, reply.body["code"]) == ("error", "oversize")
    assert "from its file" in reply.body["text"]
