"""examples/controllers: the same law over every link moves the cart by the same bits, and without it the pole falls."""

from __future__ import annotations

import importlib.util
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest
import zmq

from limberjack.cli import main
from limberjack.hil.c_program import FLAGS, compile_program, compiled, compiler
from limberjack.hil.devices.device import Wiring
from limberjack.hil.devices.framing import Cobs, uncobs
from limberjack.hil.devices.message import Head, Message
from limberjack.hil.devices.message_layout import default_layout
from limberjack.hil.devices.uri import device_from
from limberjack.hil.scenario.execution import run_scenario
from tests.hil.links import free_port
from tests.hil.octave import needs_octave

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "controllers"
WIRED = Wiring(("q.cart", "q.pole", "v.cart", "v.pole"), ("m", "rad", "m/s", "rad/s"), ("drive",))
LINKS = ["zmq", "udp", "shm", pytest.param("octave", marks=[needs_octave, pytest.mark.long])]


def placed(kind: str) -> tuple[dict[str, Any], list[str]]:
    """The scenario's device on a link that is free, and what starts its controller."""
    python, folder, become = sys.executable, str(FOLDER), [sys.executable, "-m", "limberjack.hil.c_program"]
    if kind == "shm":
        return {}, [str(compiled([FOLDER / "balance_shm.c"]))]
    port = free_port(socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM)
    uri, command = {
        "zmq": (f"zmq://127.0.0.1:{port}?wait_s=60", [python, f"{folder}/balance_zmq.py", f"tcp://127.0.0.1:{port}"]),
        "udp": (
            f"udp://127.0.0.1:{port}",
            [*become, f"{folder}/balance_udp.c", f"{port}"],
        ),
        "octave": (f"tcp://127.0.0.1:{port}?listen=true&wait_s=60", ["octave-cli", "--eval", f"balance_tcp({port})"]),
    }[kind]
    return {"devices[cart].uri": uri, "controllers[balance].command": command}, command


@pytest.fixture(scope="module")
def in_process():
    """The frames of the run whose law stands in the bench's own process."""
    result = run_scenario(FOLDER / "balance_python.yaml")
    assert result.passed, result.explain()
    return result.built.tape.table


@pytest.mark.parametrize("kind", LINKS)
def test_balances_over_its_link_with_the_bits_of_the_law_in_process(kind, in_process):
    changed = placed(kind)[0] | {"pacing.answer_limit_s": 60}
    result = run_scenario(FOLDER / f"balance_{kind}.yaml", overrides=changed)
    assert result.passed, result.explain()
    assert np.array_equal(result.built.tape.table, in_process)
    (device,) = result.built.executive.devices
    assert device.device.link.rejected == {}


@pytest.mark.parametrize("kind", ["zmq", "udp", "shm"])
def test_without_its_answers_the_pole_falls(kind):
    silent = ["{python}", "-c", "import time; print('ready', flush=True); time.sleep(600)"]
    changed = placed(kind)[0] | {"controllers[balance].command": silent, "pacing.answer_limit_s": 0.05}
    changed |= {"devices[cart].options": {"wait_s": 0}} if kind == "zmq" else {}
    if kind == "zmq":
        changed["devices[cart].uri"] = changed["devices[cart].uri"].partition("?")[0]
    result = run_scenario(FOLDER / f"balance_{kind}.yaml", overrides=changed)
    failed = {verdict.name for verdict in result.criteria if not verdict.passed}
    assert {"pole stays up", "cart arrives", "nothing tripped"} <= failed


@pytest.mark.parametrize("kind", LINKS)
def test_serves_one_run_after_the_other_and_ends_when_asked(kind, in_process, tmp_path):
    changed, command = placed(kind)
    short = {"duration": 1.0, "controllers": [], "timeline": [], "criteria": [], "pacing.answer_limit_s": 60}
    changed = {key: value for key, value in changed.items() if key == "devices[cart].uri"} | short
    (tmp_path / "said").touch()
    with (tmp_path / "said").open("wb") as sink:
        program = subprocess.Popen(command, cwd=FOLDER, stdout=sink, stderr=subprocess.STDOUT)
    try:
        deadline = time.monotonic() + 120.0
        while "ready" not in (tmp_path / "said").read_text():
            assert time.monotonic() < deadline
            assert program.poll() is None, (tmp_path / "said").read_text()
            time.sleep(0.01)
        for _ in range(2):
            result = run_scenario(FOLDER / f"balance_{kind}.yaml", overrides=changed)
            assert result.passed, result.explain()
            frames = result.built.tape.table
            assert np.array_equal(frames, in_process[: len(frames)])
    finally:
        program.send_signal(signal.SIGKILL if kind == "octave" else signal.SIGTERM)  # Octave 7 may hang at its end
        program.wait(60.0)
    said = (tmp_path / "said").read_text()
    assert said.count(" refused") == said.count(" 0 refused") >= {"zmq": 0}.get(kind, 1)
    assert "Traceback" not in said
    assert "error" not in said.replace("SIGTERM", "")


def test_udp_answers_each_datagram_once_and_nothing_else():
    layout = default_layout(WIRED)
    signals, commands = (Message(layout, part, getattr(WIRED, part), b"") for part in ("signals", "commands"))
    pole = np.array([0.0, 0.1, 0.0, 0.0])
    sent = [signals.pack(Head(number, 0, 7, 0.0), pole) for number in (1, 2, 2, 1, 3)]
    junk = [b"", b"x", bytes(len(sent[0])), sent[0] + b"x", sent[0][:-1]]
    program = compiled([FOLDER / "balance_udp.c"])
    port = free_port()
    with (
        subprocess.Popen([program, str(port)], stdout=subprocess.PIPE, text=True) as running,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as bench,
    ):
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        bench.connect(("127.0.0.1", port))
        bench.settimeout(20.0)
        for data in (*junk, *sent):
            bench.send(data)
        for number in (1, 2, 3):
            assert commands.unpack(bench.recv(1000)) == ""
            assert (commands.head.answer, commands.head.session, commands.values[0]) == (number, 7, 63.5 * 0.1)
        bench.send(signals.pack(Head(1, 0, 8, 0.0), pole))  # another run begins at 1
        assert commands.unpack(bench.recv(1000)) == ""
        assert (commands.head.answer, commands.head.session) == (1, 8)
        running.send_signal(signal.SIGTERM)
        assert running.stdout.read() == "4 answered, 7 refused; ended by a signal\n"
    assert running.returncode == 0


@needs_octave
def test_octave_answers_the_newest_of_many_messages():
    layout = default_layout(WIRED)
    signals, commands = (Message(layout, part, getattr(WIRED, part), b"") for part in ("signals", "commands"))
    frame = Cobs(signals.size).frame
    sent = [frame(signals.pack(Head(i, 0, 7, 0.0), np.array([0.0, 0.001 * i, 0.0, 0.0]))) for i in range(1, 31)]
    with socket.create_server(("127.0.0.1", 0)) as bench:
        bench.settimeout(200.0)
        words = ["octave-cli", "--eval", f"balance_tcp({bench.getsockname()[1]})"]
        program = subprocess.Popen(words, cwd=FOLDER, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            link = bench.accept()[0]
            link.settimeout(200.0)
            link.sendall(b"".join([b"\x05junk\0", *sent]))
            answers: list[tuple[int, float]] = []
            said = b""
            while not answers or answers[-1][0] < len(sent):
                said += link.recv(1000)
                *whole, said = said.split(b"\0")
                for data in whole:
                    assert commands.unpack(uncobs(data) or b"") == ""
                    answers.append((commands.head.answer, float(commands.values[0])))
            link.close()
        finally:
            program.kill()
            program.wait(60.0)
    assert len(answers) < 5, answers  # one, or a few where the system hands the burst over in parts
    assert answers[-1] == (30, pytest.approx(63.5 * 0.03))


def test_a_port_that_is_taken_is_said(capfd):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        assert subprocess.run([compiled([FOLDER / "balance_udp.c"]), str(taken.getsockname()[1])]).returncode == 2
    assert "cannot take the port: Address already in use" in capfd.readouterr().err


@pytest.mark.parametrize("name", ["balance_udp", "balance_shm"])
def test_c_ends_when_nobody_speaks(name, tmp_path):
    flags = [*FLAGS, "-Werror", "-DIDLE_MS=200"]
    subprocess.run([*compiler(), *flags, FOLDER / f"{name}.c", "-o", tmp_path / name, "-lm"], check=True)
    words = [str(free_port())] if name == "balance_udp" else []
    done = subprocess.run([tmp_path / name, *words], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "ready\n0 answered, 0 refused; no bench any more\n")


@pytest.fixture
def zmq_law():
    """The module balance_zmq, and a ROUTER in the place of the bench."""
    spec = importlib.util.spec_from_file_location("balance_zmq", FOLDER / "balance_zmq.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    context = zmq.Context()
    bench, socket_ = context.socket(zmq.ROUTER), context.socket(zmq.DEALER)
    port = bench.bind_to_random_port("tcp://127.0.0.1")
    socket_.routing_id, bench.linger, socket_.linger, bench.rcvtimeo = b"controller", 0, 0, 5000
    bench.router_mandatory = 1
    socket_.connect(f"tcp://127.0.0.1:{port}")
    yield module, bench, socket_
    bench.close()
    socket_.close()
    context.term()


def test_zmq_refuses_what_it_cannot_read_and_ends_when_nobody_speaks(zmq_law):
    module, bench, link = zmq_law
    module.IDLE_S = 0.5
    state = dict.fromkeys(WIRED.signals, 0.0) | {"q.pole": 0.1}
    good = {"n": 1, "session": 5, "time": 0.0, "signals": state}
    deadline = time.monotonic() + 20.0
    while True:
        try:
            bench.send_multipart([b"controller", msgpack.packb(good | {"n": 0, "signals": {}})])
            break
        except zmq.ZMQError:
            assert time.monotonic() < deadline
            time.sleep(0.01)
    for data in (b"\xc1", b"", msgpack.packb([1]), msgpack.packb({"n": 9}), msgpack.packb(good)):
        bench.send_multipart([b"controller", data])
    assert module.serve(link) == "no bench for 0.5 s"
    answer = msgpack.unpackb(bench.recv_multipart()[1])
    assert answer == {"n": 0, "session": 5, "answer": 1, "commands": {"drive": 63.5 * 0.1}}


@pytest.mark.parametrize(
    ("scenario", "file"),
    [
        ("controllers/balance_udp.yaml", "controllers/cart_messages.h"),
        ("controllers/balance_shm.yaml", "controllers/cart_memory.h"),
        ("controllers/balance_octave.yaml", "controllers/cart_messages.m"),
        ("scenarios/servo_in_c.yaml", "servo_controller/servo_messages.h"),
    ],
)
def test_the_code_of_the_messages_is_what_the_command_makes(scenario, file, tmp_path):
    made = tmp_path / Path(file).name
    assert main(["messages", str(FOLDER.parent / scenario), "-o", str(made)]) == 0
    assert made.read_text(encoding="utf-8") == (FOLDER.parent / file).read_text(encoding="utf-8")


def test_programs_in_c_say_what_is_wrong(tmp_path):
    (tmp_path / "bad.c").write_text("#error no such law\n", encoding="utf-8")
    for word, reported in (
        ("bad.c", "no such law"),
        ("none.c", "there is no such file"),
        ("47202", "give the C files"),
    ):
        words = [sys.executable, "-m", "limberjack.hil.c_program", word]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 2
        assert reported in done.stderr


def test_of_programs_those_used_last_are_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("limberjack.hil.c_program.MOST_KEPT", 2)
    made = {}
    for name in ("a", "b", "a", "c"):
        (tmp_path / f"{name}.c").write_text("int main(void) { return 0; }\n")
        made[name] = compiled([tmp_path / f"{name}.c"])
    assert {name for name, program in made.items() if program.exists()} == {"a", "c"}


def test_a_changed_header_makes_the_program_again(tmp_path):
    (tmp_path / "a.c").write_text('#include <stdio.h>\n#include "a.h"\nint main(void) { puts(TEXT); return 0; }\n')
    said = []
    for text in ("one", "two"):
        (tmp_path / "a.h").write_text(f'#define TEXT "{text}"\n')
        program = compile_program([tmp_path / "a.c"], tmp_path / text)
        cached = compiled([tmp_path / "a.c"])
        assert cached == compiled([tmp_path / "a.c"])
        said += [subprocess.run([each], capture_output=True, text=True).stdout.strip() for each in (program, cached)]
        cached.unlink()
    assert said == ["one", "one", "two", "two"]


SPIN = """
#include "cart_memory.h"
#include <stdio.h>
int main(int count, char **words) {
    struct cart_memory memory;
    uint64_t now, last = 0, falls = 0;
    (void)count;
    if (cart_open(&memory) != NULL) return 1;
    puts("ready"); fflush(stdout);
    for (const uint64_t end = strtoull(words[1], NULL, 10); last < end; last = now > last ? now : last) {
        now = atomic_load((_Atomic uint64_t *)(memory.bytes + CART_FIRST));
        falls += now < last;
    }
    printf("%lu\\n", (unsigned long)falls);
    return 0;
}
"""


def test_the_counter_of_shared_memory_never_falls(tmp_path):
    (tmp_path / "spin.c").write_text("#include <stdlib.h>\n" + SPIN, encoding="utf-8")
    (tmp_path / "cart_memory.h").write_text((FOLDER / "cart_memory.h").read_text(encoding="utf-8"), encoding="utf-8")
    program = compile_program([tmp_path / "spin.c"], tmp_path / "spin")
    device, signals = device_from("shm://cart", "cart"), np.zeros(4)
    device.open(WIRED)
    sends = 20_000
    with subprocess.Popen([program, str(2 * sends)], stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        for frame in range(sends):
            device.send(frame, 0.0, signals)
        assert running.stdout.read() == "0\n"
    device.close()
