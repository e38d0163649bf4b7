"""The engine as a process: started, commanded, stopped, killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from limberjack.bridge import Client
from limberjack.bridge.errors import EndpointError, EngineLostError, EngineStartError, EngineTimeoutError
from limberjack.bridge.process import EngineProcess
from limberjack.bridge.settings import Settings
from limberjack.engine.api.simulation import Simulation
from tests.bridge.bridge_helpers import WAIT_S, until


@pytest.fixture
def settings(endpoint):
    return Settings(endpoint=endpoint, lease_s=0.5)


def test_the_process_gives_the_bits_of_an_in_process_simulation(arm, settings):
    local = Simulation(arm, dt=5e-4, integrator="semi_implicit")
    with (
        EngineProcess(arm, settings, dt=5e-4, integrator="semi_implicit") as engine,
        engine.client() as client,
    ):
        assert engine.pid != os.getpid()
        client.step(300, {"shoulder": 0.7})
        snapshot = client.snapshot()
        state = client.step(200)
        local.command["shoulder"] = 0.7
        local.step(500)
        assert (state.q.tobytes(), state.v.tobytes()) == (local.q.tobytes(), local.v.tobytes())
        local.restore(snapshot)  # a snapshot of the process continues here with the same bits, and back
        local.step(200)
        assert state.q.tobytes() == local.q.tobytes()
        assert client.restore(snapshot).step == 300
        assert client.step(200).vector.tobytes() == state.vector.tobytes()


def test_without_settings_a_free_local_port_is_taken(arm):
    with EngineProcess(arm) as engine, engine.client() as client:
        assert engine.endpoints.request.startswith("tcp://127.0.0.1:")
        assert client.step().step == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("mode", ["lockstep", "free-running"])
def test_a_signal_ends_the_engine_cleanly(arm, endpoint, folder, number, mode):
    engine = EngineProcess(arm, Settings(endpoint=endpoint, mode=mode))
    os.kill(engine.pid, number)
    until(lambda: not engine.running, f"{number!r} did not end the engine")
    assert engine.stop() == 0
    assert list(folder.iterdir()) == []


def test_a_client_can_shut_the_engine_down(arm, settings, folder):
    engine = EngineProcess(arm, settings)
    with engine.client() as client:
        client.shutdown()
    until(lambda: not engine.running, "shutdown did not end the engine")
    assert engine.stop() == 0
    assert list(folder.iterdir()) == []


def test_a_killed_engine_gives_the_client_a_clear_error_at_once(arm, settings):
    engine = EngineProcess(arm, settings)
    client = engine.client(timeout_s=WAIT_S)
    client.step()
    assert engine.kill() == -signal.SIGKILL
    start = time.monotonic()
    with pytest.raises(EngineLostError, match="stopped or killed"):
        client.step()
    assert time.monotonic() - start < WAIT_S / 2
    client.close()


def test_an_engine_killed_during_a_step_does_so_too(arm, settings):
    engine = EngineProcess(arm, settings)
    client = engine.client(timeout_s=WAIT_S)
    client.step()
    killer = subprocess.Popen([sys.executable, "-c", f"import os,time; time.sleep(0.3); os.kill({engine.pid}, 9)"])

    def step_for_ever():
        while True:
            client.step(100_000)

    with pytest.raises(EngineLostError):
        step_for_ever()
    killer.wait(WAIT_S)
    client.close()
    engine.kill()


def test_after_a_kill_the_same_path_can_be_used_again(arm, settings):
    first = EngineProcess(arm, settings)
    first.kill()
    with EngineProcess(arm, settings) as second, second.client() as client:
        assert client.step().step == 1


def test_a_restarted_engine_does_not_take_old_clients_for_new(arm, settings):
    engine = EngineProcess(arm, settings)
    client = engine.client(timeout_s=WAIT_S)
    client.step()
    engine.kill()
    with pytest.raises(EngineLostError):
        client.step()
    with EngineProcess(arm, settings) as engine:
        for _ in range(3):  # nor later, when its sign of life has been heard
            with pytest.raises(Exception, match="said hello|connection"):
                client.step()
            time.sleep(0.3)
        with engine.client() as fresh:
            assert fresh.state().step == 0
    client.close()


def test_a_client_without_an_engine_is_reported_so(endpoint):
    with pytest.raises(EngineTimeoutError, match="nothing listens there"):
        Client(endpoint, timeout_s=0.3)


CLIENT_THAT_NEVER_ENDS = """
    import sys
    from limberjack.bridge import Client
    client = Client(sys.argv[1], name="victim")
    print("ready", flush=True)
    while True:
        client.step(20)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_killed_or_frozen_client_never_wedges_the_engine(arm, settings, number):
    with EngineProcess(arm, settings) as engine, engine.client(name="heir") as heir:
        command = [sys.executable, "-c", textwrap.dedent(CLIENT_THAT_NEVER_ENDS), settings.endpoint]
        victim = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert victim.stdout.readline() == b"ready\n"
        until(lambda: heir.status()["lease"] == "victim", "the victim does not command")
        victim.send_signal(number)
        heir.acquire(wait_s=WAIT_S)
        reached = heir.state().step
        assert heir.step(3).step == reached + 3
        victim.kill()
        victim.wait(WAIT_S)
        victim.stdout.close()


def test_a_second_engine_on_the_same_endpoint_says_so(arm, settings):
    with EngineProcess(arm, settings) as first:
        with pytest.raises(EngineStartError, match="in use by another engine"):
            EngineProcess(arm, settings)
        with first.client() as client:
            assert client.step().step == 1


def test_a_taken_port_says_so(arm, engine):
    server = engine(endpoint="tcp://127.0.0.1:*")
    with pytest.raises(EndpointError, match="in use"):
        engine(
            endpoint=server.endpoints.request,
            state_endpoint="tcp://127.0.0.1:*",
            topic_endpoint="tcp://127.0.0.1:*",
        )
    with Client(server.endpoints.request) as client:
        assert client.step().step == 1


def test_wrong_settings_come_back_from_the_child(arm):
    with pytest.raises(EngineStartError, match="limberjack keygen"):
        EngineProcess(arm, Settings(endpoint="tcp://0.0.0.0:*"))


PARENT = """
    import sys, time
    sys.path.insert(0, sys.argv[2])
    from bridge_helpers import make_arm
    from limberjack.bridge.process import EngineProcess
    from limberjack.bridge.settings import Settings
    engine = EngineProcess(make_arm(), Settings(endpoint=sys.argv[1]))
    print(engine.pid, flush=True)
    time.sleep(600)
"""


def test_the_engine_ends_when_its_parent_is_killed(endpoint, folder):
    here = os.path.dirname(__file__)
    parent = subprocess.Popen([sys.executable, "-c", textwrap.dedent(PARENT), endpoint, here], stdout=subprocess.PIPE)
    assert int(parent.stdout.readline()) > 0
    parent.kill()
    parent.wait(WAIT_S)
    parent.stdout.close()
    until(lambda: list(folder.iterdir()) == [], "the engine outlived its parent")


def test_processors_and_priorities_that_cannot_be_had_are_named(arm, endpoint):
    with pytest.raises(EngineStartError, match=r"processors \[4095\] are not all available"):
        EngineProcess(arm, Settings(endpoint=endpoint, cpus=(4095,)))


def test_the_engine_and_its_socket_threads_run_on_the_processor_they_were_given(arm, endpoint):
    cpu = min(os.sched_getaffinity(0))
    with EngineProcess(arm, Settings(endpoint=endpoint, cpus=(cpu,))) as engine:
        tasks = Path(f"/proc/{engine.pid}/task")
        names = {int(task.name): (task / "comm").read_text() for task in tasks.iterdir()}
        ours = [task for task, name in names.items() if task == engine.pid or name.startswith("ZMQ")]
        assert len(ours) >= 3  # main, reaper, input and output
        assert all(os.sched_getaffinity(task) == {cpu} for task in ours)


def may_raise_priority() -> bool:
    """Whether this user may take a real-time priority; asked of a child, which is gone afterwards."""
    ask = "import os; os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(5))"
    return subprocess.run([sys.executable, "-c", ask], capture_output=True, check=False).returncode == 0


def test_a_priority_reaches_the_threads_of_zeromq_or_is_refused_by_name(arm, endpoint):
    settings = Settings(endpoint=endpoint, priority=5)
    if not may_raise_priority():
        with pytest.raises(EngineStartError, match="may not set real-time priority 5"):
            EngineProcess(arm, settings)
        return
    with EngineProcess(arm, settings) as engine:
        tasks = [int(name) for name in os.listdir(f"/proc/{engine.pid}/task")]
        names = {task: Path(f"/proc/{engine.pid}/task/{task}/comm").read_text() for task in tasks}
        urgent = [task for task in tasks if "ZMQ" in names[task] or task == engine.pid]
        assert len(urgent) >= 3
        assert all(os.sched_getscheduler(task) == os.SCHED_FIFO for task in urgent)
        assert all(os.sched_getparam(task).sched_priority == 5 for task in urgent)
