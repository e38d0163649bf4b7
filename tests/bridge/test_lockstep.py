"""Lockstep over real sockets: the same bits as in process, by name, through snapshot and restore."""

from __future__ import annotations

import numpy as np
import pytest

from limberjack.bridge import Client
from limberjack.bridge.errors import LeaseError, RefusedError
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.common.errors import ArgumentError


@pytest.mark.parametrize("address", ["ipc", "tcp://127.0.0.1:*", "tcp://[::1]:*"])
def test_same_bits_as_in_process(engine, arm, endpoint, address):
    server = engine(**({} if address == "ipc" else {"endpoint": address}))
    local = Simulation(arm)
    random = np.random.default_rng(1)
    with Client(server.endpoints.request) as client:
        for steps in (1, 7, 100, 1, 2500):
            command = random.normal(size=len(local.command_names))
            state = client.step(steps, command)
            local.command_vector = command
            local.step(steps)
            assert state.q.tobytes() == local.q.tobytes()
            assert state.v.tobytes() == local.v.tobytes()
            assert state.tau.tobytes() == local.tau.tobytes()
            assert state.outputs.tobytes() == np.asarray(local.output_vector).tobytes()
            assert (state.time, state.step) == (local.time, local.step_count)


def test_commands_by_name_hold_their_values(engine, endpoint):
    engine()
    with Client(endpoint) as client:
        client.step(1, {"shoulder": 1.5})
        state = client.step(1, {"j1": -2.0})
        assert state.command["shoulder"] == 1.5
        assert state.command["j1"] == -2.0
        client.command({"shoulder": 0.25})
        assert client.state().command["shoulder"] == 0.25
        assert state["j1"] == state.q[1]
        assert state.velocity["j1"] == state.v[1]
        assert state.effort["shoulder"] == state.tau[0]
        assert state.output["shoulder.angle"] == state.outputs[0]
        with pytest.raises(ArgumentError, match=r"not a coordinate; read state.output\['shoulder.angle'\]"):
            state["shoulder.angle"]


def test_unknown_names_and_bad_values_are_explained_before_anything_is_sent(engine, endpoint):
    server = engine()
    with Client(endpoint) as client:
        received = server.service.received
        with pytest.raises(ArgumentError, match="no command named 'sholder'. Did you mean 'shoulder'"):
            client.step(1, {"sholder": 1.0})
        with pytest.raises(ArgumentError, match="'j1' is nan"):
            client.step(1, {"j1": float("nan")})
        with pytest.raises(ArgumentError, match="each command must be one number, got {'j1': 'fast'}"):
            client.step(1, {"j1": "fast"})
        with pytest.raises(ArgumentError, match="shape"):
            client.step(1, [1.0])
        assert server.service.received == received


def test_snapshot_restore_repeats_the_bits(engine, endpoint):
    engine()
    with Client(endpoint) as client:
        client.step(50, {"shoulder": 1.0})
        snapshot = client.snapshot()
        first = client.step(200, {"j1": 0.5}).vector
        restored = client.restore(snapshot)
        assert restored.step == 50
        assert restored.command["shoulder"] == 1.0
        assert client.step(200, {"j1": 0.5}).vector.tobytes() == first.tobytes()


def test_reset_goes_back_to_the_start(engine, endpoint, arm):
    engine()
    with Client(endpoint) as client:
        client.step(50, {"shoulder": 1.0})
        state = client.reset()
        assert (state.time, state.step) == (0.0, 0)
        assert np.array_equal(state.q, arm.q0)


def test_a_broken_snapshot_changes_nothing(engine, endpoint):
    engine()
    with Client(endpoint) as client:
        before = client.step(20, {"shoulder": 1.0}).vector.tobytes()
        for wrong in (b"", client.snapshot()[:-8], client.snapshot() + b"\0" * 8):
            with pytest.raises(RefusedError):
                client.restore(wrong)
        assert client.state().vector.tobytes() == before


def test_parameters_are_read_and_set(engine, endpoint, arm):
    engine()
    local = Simulation(arm)
    local.parameters["gravity.z"] = 0.0
    local.step(10)
    with Client(endpoint) as client:
        assert client.parameter("gravity.z") == pytest.approx(-9.80665)
        assert client.parameter("gravity.z", 0.0) == 0.0
        assert client.parameter("gravity.z") == 0.0
        assert client.step(10).q.tobytes() == local.q.tobytes()
        with pytest.raises(RefusedError, match="no parameter is called 'gravity.w'"):
            client.parameter("gravity.w", 1.0)
        with pytest.raises(RefusedError, match="negative"):
            client.parameter("hinge.j1.damping", -1.0)
        with pytest.raises(RefusedError, match="finite"):
            client.parameter("gravity.z", float("nan"))


def test_infinite_limits_and_reset_with_parameters(engine, endpoint, arm):
    """What has no limit can lose one again; whoever listens hears of every parameter that a reset restores."""
    engine()
    limit = next(name for name in Simulation(arm).parameters if name.endswith(".limit"))
    with Client(endpoint) as client:
        given = client.parameter(limit)
        assert client.parameter(limit, 1.5) == 1.5
        assert client.parameter(limit, float("inf")) == float("inf")
        with pytest.raises(RefusedError, match="finite"):
            client.parameter("gravity.z", float("inf"))
        client.parameter("gravity.z", 0.0)
        count = client.status()["parameters_set"]
        assert client.reset().time == 0.0
        assert client.parameter("gravity.z") == 0.0
        assert client.reset(parameters=True).step == 0
        assert client.parameter("gravity.z") == pytest.approx(-9.80665)
        assert client.parameter(limit) == given
        assert client.status()["parameters_set"] == count + 2


def test_second_commander_is_refused_by_name_and_may_read(engine, endpoint):
    engine()
    with Client(endpoint, name="first") as first, Client(endpoint, name="second") as second:
        first.step()
        with pytest.raises(LeaseError, match="client 'first' holds the command lease"):
            second.step()
        for change in (lambda: second.command({"j1": 1.0}), second.reset, second.shutdown, second.acquire):
            with pytest.raises(LeaseError):
                change()
        with pytest.raises(LeaseError):
            second.parameter("gravity.z", 0.0)
        assert second.state().step == 1
        assert len(second.snapshot()) == len(first.snapshot())
        first.release()
        assert second.step().step == 2


def test_lease_outlives_a_busy_program_and_ends_with_the_client(engine, endpoint):
    server = engine(lease_s=0.3)
    with Client(endpoint, name="slow") as slow, Client(endpoint, name="other") as other:
        slow.step()
        with pytest.raises(LeaseError):
            other.acquire(wait_s=1.0)  # the background heartbeat keeps it
        slow.close()
        other.acquire()
        assert server.service.status()["lease"] == "other"


def test_description_names_everything(engine, endpoint, arm):
    server = engine()
    with Client(endpoint) as client:
        about = client.describe()
    assert about.model == "test arm"
    assert about.names["q"] == arm.coordinate_names
    assert about.names["command"] == arm.command_names
    assert about.bodies == arm.body_names
    assert about.units["q"] == ("rad",) * 3
    assert about.model_hash == server.service.simulation.model_hash
    assert about.mode == "lockstep"
