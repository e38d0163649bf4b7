"""FMUs of the process coupling when the engine is absent, foreign, frozen or killed: an error and a reason, in time."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import signal
import socket
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import limberjack as lj
from limberjack.bridge import Client
from limberjack.bridge.keys import keygen
from limberjack.bridge.server import Server
from limberjack.bridge.settings import Settings
from tests.fmu.coupled_fmu import (
    COMMAND,
    COUNTS,
    SNAPSHOT,
    CoupledFmu,
    FakeEngine,
    about,
    children,
    message,
    right,
    state,
    write_resources,
)
from tests.fmu.shim_build import ERROR, OK

WAIT_S = 20.0  # bound on every wait; reached only when something is broken


@pytest.fixture
def engine(arm, address):
    """Starts one engine in a thread."""
    running = []

    def start(model=arm, dt=None, integrator=None, substeps=1, **options):
        server = Server(
            lj.Simulation(model, dt=dt, integrator=integrator, substeps=substeps),
            Settings(endpoint=address, **options),
        )
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        running.append((server, thread))
        return address

    yield start
    for server, thread in running:
        server.stop()
        thread.join(WAIT_S)


def fails(unit, *words, within=WAIT_S):
    """The start is an error whose last line has these words."""
    begun = time.monotonic()
    assert unit.start() == ERROR
    assert time.monotonic() - begun < within
    for word in words:
        assert word in unit.last_error()


def fails_fast(unit):
    """Every later question about the engine is an error at once."""
    begun = time.monotonic()
    assert unit.step(0.0, 0.01)[0] == ERROR
    assert unit.assign("hinge.shoulder.damping", 1.0) == ERROR
    assert time.monotonic() - begun < 1.0


# ---- engines of one's own


@pytest.mark.parametrize("version", [2, 3])
def test_killed_while_nobody_asks(fmu, version):
    """The reset finds out, so that the next start does not fail first."""
    unit = fmu(version)
    assert unit.start() == OK, unit.log
    victim = children()[0]
    os.kill(victim, signal.SIGKILL)
    os.waitid(os.P_PID, victim, os.WEXITED | os.WNOWAIT)  # it is dead, and the FMU can still ask how it ended
    assert unit.call("Reset") == OK
    assert unit.set_text("engine.command", COMMAND) == OK
    assert unit.start() == OK, unit.log
    assert unit.step(0.0, 0.01)[0] == OK
    assert victim not in children()


@pytest.mark.parametrize("version", [2, 3])
def test_killed_during_the_run(fmu, arm, version):
    unit = fmu(version)
    assert unit.start() == OK, unit.log
    assert unit.step(0.0, 0.1)[0] == OK
    os.kill(children()[0], signal.SIGKILL)
    begun = time.monotonic()
    assert unit.step(0.1, 0.1)[0] == ERROR
    assert time.monotonic() - begun < 2.0
    assert "signal 9" in unit.last_error()
    fails_fast(unit)
    assert unit.call("Reset") == OK  # and can begin again
    assert unit.set_text("engine.command", COMMAND) == OK
    assert unit.start() == OK, unit.log
    assert unit.step(0.0, 0.01)[0] == OK


def test_killed_during_a_long_step(fmu):
    unit = fmu()
    assert unit.start() == OK
    victim = children()[0]
    threading.Timer(0.5, os.kill, (victim, signal.SIGKILL)).start()
    assert unit.assign("hinge.shoulder.angle_command", 0.1) == OK
    assert unit.step(0.0, 900.0)[0] == ERROR
    assert "signal 9" in unit.last_error()


def test_frozen(fmu):
    unit = fmu()
    assert unit.assign("engine.timeout", 0.5) == OK
    assert unit.start() == OK
    os.kill(children()[0], signal.SIGSTOP)
    begun = time.monotonic()
    assert unit.step(0.0, 0.01)[0] == ERROR
    assert 0.4 < time.monotonic() - begun < 3.0
    assert "no reply to 'step' within 0.5 s: it is busy or stuck" in unit.last_error()
    fails_fast(unit)
    begun = time.monotonic()
    unit.free()  # ends it although it is stopped
    assert time.monotonic() - begun < 10.0
    assert children() == []


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("no-such-program run", ["cannot be started", "No such file", "engine.command"]),
        ("", ["it is empty"]),
        ("'open", ["an unclosed quote"]),
        ("false", ["exit code 1", "its last output: nothing"]),
        ("sh -c 'echo the dog ate it >&2; exit 3'", ["exit code 3", "the dog ate it"]),
        ("sh -c 'kill -6 $$'", ["signal 6"]),
    ],
)
def test_a_command_that_starts_no_engine(fmu, command, words):
    before = set(Path(tempfile.gettempdir()).glob("lj??????"))
    fails(fmu(command=command), *words)
    assert set(Path(tempfile.gettempdir()).glob("lj??????")) <= before


def test_a_model_that_the_engine_refuses(place, arm, tmp_path):
    resources = write_resources(tmp_path, arm)
    (resources / "model.ljm").write_bytes(b"damaged")
    unit = CoupledFmu(place / "coupled.so", resources, arm)
    fails(unit, "exit code 2", "model.ljm: this is not a .ljm model")
    unit.free()


def test_a_library_that_is_missing(place, arm, tmp_path, address):
    resources = write_resources(tmp_path, arm)
    next(resources.glob("*/libzmq.so")).unlink()
    unit = CoupledFmu(place / "coupled.so", resources, arm, endpoint=address)
    fails(unit, "libzmq, which this FMU carries, cannot be loaded from", "export the model on this platform")
    unit.free()


def test_nothing_stays_open(fmu):
    def descriptors():
        return len(os.listdir("/proc/self/fd"))

    counts = []
    for _ in range(3):
        unit = fmu(command="false")
        fails(unit, "exit code 1")
        unit.free()
        unit = fmu()
        assert unit.start() == OK
        unit.free()
        counts.append((descriptors(), threading.active_count(), len(os.listdir("/proc/self/task"))))
    assert counts[1] == counts[2]


# ---- engines of others


@pytest.mark.parametrize("endpoint", ["ipc:///tmp/lj-nobody-there", "tcp://127.0.0.1:9"])
def test_nobody_listens(fmu, endpoint):
    unit = fmu(endpoint=endpoint)
    assert unit.assign("engine.timeout", 0.3) == OK
    fails(unit, "no reply to 'hello' within 0.3 s: nothing listens there", endpoint, within=3.0)
    fails_fast(unit)


@pytest.mark.parametrize("endpoint", ["arm", "udp://127.0.0.1:1", "tcp://", "ipc://" + "x" * 200])
def test_an_address_that_cannot_be_used(fmu, endpoint):
    unit = fmu(endpoint=endpoint)
    assert unit.assign("engine.timeout", 0.3) == OK
    fails(unit, "engine.endpoint", "use tcp://HOST:PORT or ipc:///path", within=3.0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"gravity": (0.0, 0.0, -1.0)}, "another model, with the hash"),
        ({"dt": 2e-3}, "the step 0.002"),
        ({"integrator": "implicit"}, "the integrator implicit"),
        ({"substeps": 3}, "substeps: 3"),
        ({"mode": "free-running"}, "the mode free-running"),
    ],
)
def test_an_engine_of_another_model_step_or_mode(fmu, arm, engine, address, options, words):
    gravity = np.array(options.pop("gravity", arm.gravity))
    engine(dataclasses.replace(arm, gravity=gravity), **options)
    fails(fmu(endpoint=address), f"engine at {address} has {words}", "point engine.endpoint at")


def test_another_client_holds_the_lease_or_moves_the_engine(fmu, engine):
    endpoint = engine(lease_s=0.4)
    first = fmu(endpoint=endpoint)
    assert first.start() == OK
    second = fmu(endpoint=endpoint)
    fails(second, "refuses 'reset' (lease)", "'FMU arm' holds the command lease")
    time.sleep(0.6)  # the importer pauses longer than the lease lasts
    with Client(endpoint) as intruder:
        intruder.step(3)
    assert first.step(0.0, 0.01)[0] == ERROR
    assert "stands at step 13 instead of 10: another client has moved it" in first.last_error()
    fails_fast(first)


def test_an_engine_that_ends(fmu, arm, address):
    server = Server(lj.Simulation(arm), Settings(endpoint=address))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    unit = fmu(endpoint=address)
    assert unit.start() == OK
    server.stop()
    thread.join(WAIT_S)
    begun = time.monotonic()
    assert unit.step(0.0, 0.01)[0] == ERROR
    assert time.monotonic() - begun < 2.0 + 5.0
    assert "the connection was lost" in unit.last_error() or "closed the connection" in unit.last_error()
    fails_fast(unit)


def test_a_refused_parameter_is_an_error_that_names_it(fmu, engine):
    unit = fmu(endpoint=engine())
    assert unit.start() == OK
    assert unit.assign("hinge.shoulder.lower", 5.0) == ERROR
    assert "leaves no travel between 5 and 2" in unit.last_error()


# ---- pretended engines


def wrong_at(kind, answer):
    """Fitting but for one type of request."""
    return lambda asked, sequence, client: (answer if asked == kind else right)(asked, sequence, client)


def test_the_pretender_is_believed_when_it_answers_well(fmu, address):
    """So the tests below fail for the reason that they name."""
    with FakeEngine(address, right):
        unit = fmu(endpoint=address)
        assert unit.start() == OK, unit.log
        assert unit.value("hinge.base.qx") == 1.0


VERSION_2 = {"code": "version", "text": "protocol version 1 is not 2."}


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda k, s, c: message(k, s, c, about(), version=2), "it speaks protocol version 2, this FMU speaks 1"),
        (lambda k, s, c: message("error", s, c, VERSION_2), "Use the same version of limberjack"),
        (lambda k, s, c: message("error", 0, 0, {"code": "malformed", "text": "what?"}), "(malformed): what?"),
        (lambda k, s, c: message("error", s, c, ["oops"]), "the engine gave no reason"),
        (lambda k, s, c: message(k, s, c, about(model_hash="0" * 32)), "has another model, with the hash 0000"),
        (lambda k, s, c: message(k, s, c, about(shape=COUNTS | {"q": 11})), "has coordinates: 11, this FMU needs 10"),
        (
            lambda k, s, c: message(k, s, c, about(shape=COUNTS | {"outputs": 2**40})),
            "has sensor outputs: 1099511627776",
        ),
        (lambda k, s, c: message(k, s, c, {"protocol": 1}), "has the mode unknown"),
        (lambda k, s, c: message(k, s, c, about(dt="fast")), "its answer to hello cannot be read"),
        (lambda k, s, c: message(k, s, c, 7), "its answer to hello cannot be read"),
        (lambda k, s, c: message(k, s, c, about(steps_max=0)), "a largest number of steps 0"),
        (lambda k, s, c: message("poem", s, c, about()), "is not a message of a Limberjack engine"),
        (lambda k, s, c: b"", "is not a message of a Limberjack engine"),
        (lambda k, s, c: b"\xdd\xff\xff\xff\xff", "is not a message of a Limberjack engine"),
        (lambda k, s, c: bytes(200_000), "is too long for this model"),
        (lambda k, s, c: [message(k, 0, c, about())] * 2000, "it sends unrequested messages"),
    ],
)
def test_foreign_answers_to_hello(fmu, address, answer, words):
    with FakeEngine(address, answer):
        fails(fmu(endpoint=address), f"engine at {address}", words)


@pytest.mark.parametrize(
    ("kind", "answer", "words"),
    [
        ("reset", lambda k, s, c: state(s, c, numbers=40), "its state cannot be read"),
        ("reset", lambda k, s, c: message("state", s, c, [0, "text"]), "its state cannot be read"),
        ("snapshot", lambda k, s, c: message(k, s, c, SNAPSHOT[:-8]), "its snapshot cannot be read"),
        ("snapshot", lambda k, s, c: message(k, s, c, None), "its snapshot cannot be read"),
        ("restore", lambda k, s, c: message(k, s, c, None), "its state cannot be read"),
        ("parameter", lambda k, s, c: None, "no reply to 'parameter' within 0.4 s: it is busy or stuck"),
    ],
)
def test_foreign_answers_at_the_start(fmu, address, kind, answer, words):
    with FakeEngine(address, wrong_at(kind, answer)):
        unit = fmu(endpoint=address)
        assert unit.assign("engine.timeout", 0.4) == OK
        fails(unit, words, within=3.0)
        fails_fast(unit)


def test_late_replies_are_left_out(fmu, address):
    def answer(kind, sequence, client):
        late = state(sequence - 1, client, steps=77), state(sequence, client + 2, steps=78)
        return [*late, right(kind, sequence, client) if kind != "step" else state(sequence, client, steps=10)]

    with FakeEngine(address, answer):
        unit = fmu(endpoint=address)
        assert unit.start() == OK, unit.log
        assert unit.step(0.0, 0.01)[0] == OK, unit.log


@pytest.mark.parametrize("answer", [lambda k, s, c: None, lambda k, s, c: [message(k, 0, c, None)]])
def test_a_silent_engine(fmu, address, answer):
    with FakeEngine(address, wrong_at("step", answer)):
        unit = fmu(endpoint=address)
        assert unit.assign("engine.timeout", 0.3) == OK
        assert unit.start() == OK
        begun = time.monotonic()
        assert unit.step(0.0, 0.01)[0] == ERROR
        assert time.monotonic() - begun < 3.0
        assert "no reply to 'step' within 0.3 s" in unit.last_error()
        fails_fast(unit)


@pytest.mark.long
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_garbage_is_an_error_and_no_crash(fmu, address, data):
    good = right("hello", 1, 5)
    garbage = data.draw(st.binary(max_size=300) | st.integers(0, len(good) - 1).map(lambda n: good[:n]))

    with FakeEngine(address, lambda k, s, c: garbage):
        unit = fmu(endpoint=address)
        assert unit.assign("engine.timeout", 0.2) == OK
        assert unit.start() == ERROR
        unit.free()


# ---- keys


def test_keys_that_cannot_be_read(fmu, address, tmp_path):
    fails(fmu(endpoint=address, keys=str(tmp_path / "absent")), "engine.keys", "cannot be opened", "limberjack keygen")
    pipes = tmp_path / "pipes"
    pipes.mkdir()
    for name in ("client.key_secret", "server.key"):  # which nobody writes to
        os.mkfifo(pipes / name, 0o600)
    fails(fmu(endpoint=address, keys=str(pipes)), "engine.keys", "cannot be opened", "limberjack keygen")
    keygen(tmp_path)
    secret = tmp_path / "client.key_secret"
    secret.chmod(0o644)
    fails(fmu(endpoint=address, keys=str(tmp_path)), "can be read by other users", f"chmod 600 {secret}")
    secret.chmod(0o600)
    text = secret.read_text()
    secret.write_text(text.replace('secret-key = "', 'secret-key = "~'))
    fails(fmu(endpoint=address, keys=str(tmp_path)), "is damaged: it has no secret-key of 40 characters of Z85")
    secret.write_text(text)
    (tmp_path / "server.key").write_text("nothing")
    fails(fmu(endpoint=address, keys=str(tmp_path)), "server.key' is not such a key file")


def test_keys_that_the_engine_does_not_know_or_has_not(fmu, engine, address, tmp_path):
    keygen(tmp_path / "engine")
    keygen(tmp_path / "other")
    shutil.copy(tmp_path / "engine" / "server.key", tmp_path / "other" / "server.key")
    engine(keys=tmp_path / "engine")
    stranger = fmu(endpoint=address, keys=str(tmp_path / "other"))
    fails(stranger, "it refuses the key of this FMU")
    plain = fmu(endpoint=address)
    assert plain.assign("engine.timeout", 1.0) == OK
    fails(plain, "the encrypted connection failed", within=5.0)


def test_keys_for_an_engine_without(fmu, engine, address, tmp_path):
    keygen(tmp_path)
    engine()
    unit = fmu(endpoint=address, keys=str(tmp_path))
    assert unit.assign("engine.timeout", 1.0) == OK
    fails(unit, "the encrypted connection failed", within=5.0)


def test_something_else_listens(fmu):
    """A program that closes the connection, as a web server does: keys are not the only thing that may be wrong."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_close_each, args=(listener,), daemon=True)
        thread.start()
        unit = fmu(endpoint=f"tcp://127.0.0.1:{listener.getsockname()[1]}")
        assert unit.assign("engine.timeout", 1.0) == OK
        fails(unit, "what listens there is not a Limberjack engine", "correct engine.endpoint", within=5.0)
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(WAIT_S)


def _close_each(listener):
    """Answers every connection with something that no engine says, until the listener is shut down."""
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection, contextlib.suppress(OSError):
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


# ---- settings


def test_settings_out_of_range(fmu):
    unit = fmu()
    for value in (0.0, -1.0, float("nan"), 1e9):
        other = fmu()
        assert other.assign("engine.timeout", value) == ERROR
        assert "engine.timeout" in other.last_error()
    assert unit.set_text("engine.endpoint", "x" * 5000) == ERROR
    assert "longer than 4095 bytes" in unit.last_error()
