"""How long a command takes over each device: `python -m benchmarks.devices [ROUNDS]`.

Fourteen signals go out, seven commands come back. The other end is a process of its own (CAN: a thread, as python-can's
virtual bus stays within a process), in Python or in C. A bare exchange of datagrams of the same sizes between two
processes is measured in the same run, in turns; ratios are to its median.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from limberjack.examples import servo_controller
from limberjack.examples.servo_controller.build import build
from limberjack.hil.devices.device import Device, Wiring
from limberjack.hil.devices.uri import device_from, twin_from

JOINTS = [f"joint{i}" for i in range(1, 8)]
WIRING = Wiring(
    tuple(f"{part}.{joint}" for part in "qv" for joint in JOINTS), ("rad",) * 7 + ("rad/s",) * 7, tuple(JOINTS)
)
ROUNDS, EXCHANGES = 10, 200
_LIMIT_S = 10.0
_FOLDER = Path(str(servo_controller.__file__)).resolve().parent


def law(_: float, signals: np.ndarray) -> np.ndarray:
    """Something that costs next to nothing."""
    return -signals[:7]


def port(kind: int = socket.SOCK_DGRAM) -> int:
    """A free port of this machine."""
    with socket.socket(socket.AF_INET, kind) as made:
        made.bind(("127.0.0.1", 0))
        return int(made.getsockname()[1])


def _serve(uri: str, options: dict[str, Any]) -> None:
    """The twin, until it is ended."""
    with twin_from(uri, WIRING, law, options) as twin:
        while twin.error is None:
            time.sleep(0.1)


def _echo(number: int, size: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        made.bind(("127.0.0.1", number))
        while True:
            made.sendto(bytes(size), made.recvfrom(4096)[1])


class Bare:
    """Datagrams of the default layout's sizes, nothing packed nor checked."""

    name = "bare datagrams"

    def __init__(self, number: int) -> None:
        self._number = number

    def open(self, wiring: Wiring) -> None:
        """Connect."""
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.connect(("127.0.0.1", self._number))
        self._socket.settimeout(_LIMIT_S)

    def send(self, frame: int, time: float, signals: np.ndarray) -> None:
        """A datagram."""
        self._socket.send(bytes(140))

    def answer(self, time: float, commands: np.ndarray, limit_s: float) -> bool:
        """The one that comes back."""
        try:
            return len(self._socket.recv(4096)) > 0
        except OSError:
            return False

    def close(self) -> None:
        """Close."""
        self._socket.close()


def _process(stack: contextlib.ExitStack, target: Any, *words: Any) -> None:
    process = multiprocessing.get_context("spawn").Process(target=target, args=words, daemon=True)
    process.start()
    stack.callback(process.join, 5.0)
    stack.callback(process.terminate)


@contextlib.contextmanager
def links() -> Iterator[dict[str, Any]]:
    """Every device, open, with something on its other end."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        uris = {
            "UDP": f"udp://127.0.0.1:{port()}",
            "TCP": f"tcp://127.0.0.1:{port(socket.SOCK_STREAM)}",
            "serial (pseudo-terminal)": f"serial://pty?link={folder}/port",
            "shared memory": f"shm://bench-{os.getpid()}",
            "ZeroMQ": f"zmq://127.0.0.1:{port(socket.SOCK_STREAM)}",
        }
        number = port()
        _process(stack, _echo, number, 64 + 48)
        found: dict[str, Any] = {"bare datagrams": Bare(number)}
        for name, uri in uris.items():
            _process(stack, _serve, uri, {})
            found[name] = device_from(uri, name, {"wait_s": 60.0} if name in ("TCP", "ZeroMQ") else {})
        options = {"dbc": str(_FOLDER / "servo.dbc"), "counter": "Count"}
        stack.enter_context(twin_from("can://virtual/bench", WIRING, law, options))
        found["CAN (virtual bus, 14 frames)"] = device_from("can://virtual/bench", "can", options)
        found["UDP, controller in C"] = _in_c(stack, folder)
        for device in found.values():
            device.open(WIRING)
            stack.callback(device.close)
        yield found


def _in_c(stack: contextlib.ExitStack, folder: Path) -> Device:
    number = port()
    child = subprocess.Popen([build(folder / "servo"), "udp", str(number), "0.001"], stdout=subprocess.DEVNULL)
    stack.callback(child.wait, 5.0)
    stack.callback(child.terminate)
    return device_from(f"udp://127.0.0.1:{number}", "servo", {"layout": "servo_layout.yaml"}, _FOLDER)


def exchange(device: Any, commands: np.ndarray, signals: np.ndarray, limit_s: float = _LIMIT_S) -> float:
    """Time from signals to commands, s; nan without an answer."""
    start = time.perf_counter()
    device.send(1, 0.0, signals)
    came = device.answer(0.0, commands, limit_s)
    return time.perf_counter() - start if came else float("nan")


def measure(rounds: int) -> dict[str, np.ndarray]:
    """Times, s, of every device, in turns."""
    signals, commands = np.linspace(-0.5, 0.5, 14), np.zeros(7)
    with links() as devices:
        for name, device in devices.items():
            deadline = time.monotonic() + 120.0
            while np.isnan(exchange(device, commands, signals, 0.5)):
                if time.monotonic() > deadline:
                    raise SystemExit(f"{name}: nobody answers.")
                time.sleep(0.05)
        times: dict[str, list[float]] = {name: [] for name in devices}
        for _ in range(rounds):
            for name, device in devices.items():
                times[name] += [exchange(device, commands, signals) for _ in range(EXCHANGES)]
    return {name: np.array(found) for name, found in times.items()}


def main(rounds: int = ROUNDS) -> None:
    """Print the table."""
    times = measure(rounds)
    bare = float(np.nanmedian(times["bare datagrams"]))
    print("| link | median, µs | 99 %, µs | median / bare | unanswered |\n|---|---|---|---|---|")
    for name, found in times.items():
        median, most = (1e6 * float(np.nanpercentile(found, part)) for part in (50, 99))
        print(f"| {name} | {median:.0f} | {most:.0f} | {1e-6 * median / bare:.2f} | {np.isnan(found).sum()} |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
