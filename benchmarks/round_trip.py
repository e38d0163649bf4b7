"""Lockstep round trip of an engine process, beside a bare pyzmq echo of the same sizes in the same run.

The echo is a child process with a ROUTER that unpacks each request and packs a reply as large as a state, and a
DEALER that packs, sends, receives and unpacks: what messaging costs whatever is behind it. The engine's round trip
is compared with that plus the step itself, measured in this process. Blocks of both alternate, so that a change of
the machine's pace falls on both.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import msgpack  # type: ignore[import-untyped]
import numpy as np
import zmq

from limberjack.bridge.client import Client
from limberjack.bridge.errors import EngineTimeoutError
from limberjack.bridge.process import EngineProcess
from limberjack.bridge.settings import Settings
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.model.system import System

_BLOCKS = 20
_WARM_UP = 200
_TIMEOUT_MS = 10_000


@dataclass(frozen=True)
class RoundTrip:
    """Times in microseconds; ``ratio``: median round trip over median echo plus median step (aim: 1.3)."""

    model: str
    requests: int
    pinned_cpu: int | None
    request_bytes: int
    reply_bytes: int
    echo_us: float
    echo_p99_us: float
    step_us: float
    round_trip_us: float
    round_trip_p99_us: float
    ratio: float


def measure(system: System, *, requests: int = 10_000, cpu: int | None = None) -> RoundTrip:
    """Round trips of one-step requests over ipc. ``cpu``: pin all three processes to this processor."""
    with _pinned(cpu), tempfile.TemporaryDirectory(prefix="lj") as folder:
        settings = Settings(endpoint=f"ipc://{folder}/engine", cpus=None if cpu is None else (cpu,))
        with EngineProcess(system, settings) as engine, engine.client() as client:
            command = np.zeros(len(system.command_names))
            sizes = _sizes(client, command)
            with bare_echo(f"ipc://{folder}/echo", sizes) as bare:
                block = max(1, requests // _BLOCKS)
                echo_us, trip_us = _alternate(bare, lambda: client.step(1, command), block)
        step_us = _alternate(_local_step(system, command), lambda: None, block)[0]
    echo, trip, step = (statistics.median(times) for times in (echo_us, trip_us, step_us))
    p99 = [float(np.percentile(times, 99)) for times in (echo_us, trip_us)]
    ratio = trip / (echo + step)
    return RoundTrip(system.name, len(trip_us), cpu, *sizes, echo, p99[0], step, trip, p99[1], ratio)


def _sizes(client: Client, command: np.ndarray) -> tuple[int, int]:
    """Bytes of one step request and of its reply."""
    request = msgpack.packb([1, "step", 2**40, 0.5, 2**63, [1, None, command.tobytes()]])
    return len(request), 50 + 8 * len(client.step(1, command).vector)


def _alternate(
    first: Callable[[], object], second: Callable[[], object], block: int
) -> tuple[list[float], list[float]]:
    """Microseconds of each call, in alternating blocks after a warm-up."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(_WARM_UP):
        first()
        second()
    for _ in range(_BLOCKS):
        for call, record in zip((first, second), times):
            for _ in range(block):
                start = time.perf_counter_ns()
                call()
                record.append(1e-3 * (time.perf_counter_ns() - start))
    return times


def _local_step(system: System, command: np.ndarray) -> Callable[[], None]:
    """The step itself: commands in, one step, and the forces and outputs that a reply carries."""
    simulation = Simulation(system)

    def step() -> None:
        simulation.command_vector = command
        simulation.step(1)
        _ = simulation.tau, simulation.output_vector

    return step


@contextmanager
def _pinned(cpu: int | None) -> Iterator[None]:
    before = os.sched_getaffinity(0)
    if cpu is not None:
        os.sched_setaffinity(0, {cpu})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def bare_echo(endpoint: str, sizes: tuple[int, int]) -> Iterator[Callable[[], object]]:
    """A function that makes one round trip to a bare echo in a child process."""
    command = [sys.executable, "-m", "benchmarks.round_trip", endpoint, str(sizes[1])]
    child = subprocess.Popen(command)
    with zmq.Context() as context, context.socket(zmq.DEALER) as socket:
        socket.linger = 0
        socket.rcvtimeo = _TIMEOUT_MS
        socket.connect(endpoint)
        body = b"\0" * (sizes[0] - 40)

        def round_trip() -> object:
            socket.send(msgpack.packb([1, "step", 2**40, 0.5, 2**63, [1, None, body]]))
            try:
                return msgpack.unpackb(socket.recv())
            except zmq.Again:
                raise EngineTimeoutError("the echo process does not answer.") from None

        try:
            yield round_trip
        finally:
            child.terminate()
            child.wait(10.0)


def echo_main(endpoint: str, reply_bytes: int) -> None:
    """The echo process: answer until terminated."""
    body = b"\0" * (reply_bytes - 50)
    with zmq.Context() as context, context.socket(zmq.ROUTER) as socket:
        socket.bind(endpoint)
        while True:
            identity = socket.recv()
            _, _, sequence, moment, client, _ = msgpack.unpackb(socket.recv())
            reply = msgpack.packb([1, "state", sequence, moment, client, [sequence, body]])
            socket.send(identity, zmq.SNDMORE)
            socket.send(reply)


if __name__ == "__main__":
    echo_main(sys.argv[1], int(sys.argv[2]))
