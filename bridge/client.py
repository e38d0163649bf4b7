"""The Python client of an engine process."""

from __future__ import annotations

import contextlib
import os
import socket as network
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, overload

import numpy as np
import zmq

from limberjack.bridge.endpoints import DEFAULT_ENDPOINT, as_seen_from
from limberjack.bridge.errors import BridgeError, EngineTimeoutError, LeaseError
from limberjack.bridge.fault_state import FaultState
from limberjack.bridge.link import ClientKeys, Link
from limberjack.bridge.messages import FLOAT64, Message
from limberjack.bridge.state import Description, State
from limberjack.engine.api.impact import Impact
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.model.archive import from_bytes
from limberjack.engine.model.system import System

Commands = Mapping[str, float] | np.ndarray | Sequence[float]

_ACQUIRE_PAUSE_S = 0.05
_ASK_S = 3.0  # period of requests to the supervisor to continue its messages


class Client:
    """A connection to one engine: `with Client("ipc:///tmp/arm") as engine: engine.step(10, {"elbow": 1.5})`.

    The first client that commands holds the command lease until it closes or falls silent; others only read.
    A background thread keeps the lease alive while the program is busy elsewhere. Every wait is bounded by
    ``timeout_s``. Errors: EngineTimeoutError, EngineLostError, KeyRefusedError, LeaseError, RefusedError.

    endpoint : ZeroMQ address of the engine's requests
    name : shown to others while this client holds the lease
    timeout_s : bound of every wait, s; methods take another one for themselves
    keys : folder with ``<key_name>.key_secret`` and ``server.key``, for an engine that runs with keys
    key_name : of the client's key in that folder
    """

    def __init__(
        self,
        endpoint: str = DEFAULT_ENDPOINT,
        *,
        name: str = "",
        timeout_s: float = 5.0,
        keys: Path | str | None = None,
        key_name: str = "client",
    ) -> None:
        """Connect and say hello."""
        if not 0.0 < timeout_s < float("inf"):
            raise ArgumentError(f"timeout_s is {timeout_s}; it must be a finite number of seconds above 0.")
        self._link = Link(endpoint, timeout_s, ClientKeys(keys, key_name) if keys is not None else None)
        self._streams: dict[str, zmq.Socket] = {}
        self._ask_again = 0.0  # the supervisor, not before this time of the monotonic clock
        self._closing = threading.Event()
        self._pulse: threading.Thread | None = None
        try:
            about = self._link.hello((name or _own_name())[:64])
            self.role = str(about.get("role", ""))  # of this client's key when it connected
            self._endpoints = {key: as_seen_from(each, endpoint) for key, each in about["endpoints"].items()}
            self._description = Description.read(self._link.request("describe").body)
        except BaseException:
            self.close()
            raise
        self._pulse = threading.Thread(target=self._beat, args=(about["lease_s"] / 3.0,), daemon=True)
        self._pulse.start()

    # ---- requests

    def describe(self) -> Description:
        """Names, units and constants of the engine's model (requested once, on connecting)."""
        return self._description

    def model(self, *, timeout_s: float | None = None) -> System:
        """The model that the engine runs, as it was loaded: `Simulation(client.model())` has its `model_hash`.

        Raises ModelError if this client is of another version, whose models have other fields.
        """
        return from_bytes(self._link.request("model", None, timeout_s).body, f"the model of {self._link.endpoint}")

    def step(self, steps: int = 1, command: Commands | None = None, *, timeout_s: float | None = None) -> State:
        """Lockstep: apply commands, take steps, return the state. Commands not named keep their values."""
        return self._state("step", [steps, *self._description.command(command)], timeout_s)

    def command(self, command: Commands, *, timeout_s: float | None = None) -> None:
        """Set commands without stepping; a free-running engine applies them in its next cycle."""
        self._link.request("command", list(self._description.command(command)), timeout_s)

    def state(self, *, timeout_s: float | None = None) -> State:
        """The present state."""
        return self._state("state", None, timeout_s)

    def snapshot(self, *, timeout_s: float | None = None) -> bytes:
        """The whole state of the simulation, for `restore`."""
        snapshot: bytes = self._link.request("snapshot", None, timeout_s).body
        return snapshot

    def restore(self, snapshot: bytes, *, timeout_s: float | None = None) -> State:
        """Bring the simulation to the state of a snapshot; the same commands then give the same bits."""
        return self._state("restore", bytes(snapshot), timeout_s)

    def reset(self, *, parameters: bool = False, timeout_s: float | None = None) -> State:
        """Reset the simulation to its initial state; with ``parameters``, also reset these to their loaded values."""
        return self._state("reset", True if parameters else None, timeout_s)

    def parameter(self, name: str, value: float | None = None, *, timeout_s: float | None = None) -> float:
        """Read a parameter, or set it to a value, in its own SI unit (N·m·s/rad, 1, …); returns its present value."""
        wanted = None if value is None else float(value)
        return float(self._link.request("parameter", [name, wanted], timeout_s).body[1])

    def status(self, *, timeout_s: float | None = None) -> dict[str, Any]:
        """Health and counts of the engine; renews the lease if this client holds it."""
        status: dict[str, Any] = self._link.request("heartbeat", None, timeout_s).body
        return status

    def acquire(self, *, wait_s: float = 0.0) -> None:
        """Take the command lease, waiting up to ``wait_s`` for another holder. Raises LeaseError."""
        deadline = time.monotonic() + wait_s
        while True:
            try:
                self._link.request("acquire")
                return
            except LeaseError:
                if time.monotonic() >= deadline:
                    raise
            time.sleep(_ACQUIRE_PAUSE_S)

    def attach(self, loop: str, *, timeout_s: float | None = None) -> Impact:
        """Close a loop that can be switched, now, as `Simulation.attach`; needs the lease."""
        return self._switch("attach", loop, timeout_s)

    @overload
    def release(self) -> None: ...
    @overload
    def release(self, loop: str, *, timeout_s: float | None = None) -> Impact: ...
    def release(self, loop: str | None = None, *, timeout_s: float | None = None) -> Impact | None:
        """Open a loop that can be switched, as `Simulation.release`; without a name give up the command lease."""
        if loop is not None:
            return self._switch("release", loop, timeout_s)
        self._link.request("release", None, timeout_s)
        return None

    def lock(self, hinge: str, *, timeout_s: float | None = None) -> Impact:
        """Stop a hinge that has a lock, and hold it; needs the lease."""
        return self._switch("lock", hinge, timeout_s)

    def unlock(self, hinge: str, *, timeout_s: float | None = None) -> Impact:
        """Let a locked hinge move again; needs the lease."""
        return self._switch("unlock", hinge, timeout_s)

    def fault(self, name: str, active: bool | None = None, *, timeout_s: float | None = None) -> FaultState:
        """Begin (active True) or end (False) a fault of a bench's scenario, or only read it (None); returns its
        state."""
        fault = self._link.request("fault", [name, active], timeout_s).body[2]
        return FaultState(**fault)

    def run(self, what: str, reason: str = "", frames: int = 1, *, timeout_s: float | None = None) -> None:
        """Pause, continue or end the run of a bench; needs the lease.

        what : "pause", "resume", "step" (so many frames) or "abort" (for a reason)
        """
        self._link.request("run", [what, reason or None, int(frames)], timeout_s)

    def _switch(self, kind: str, name: str, timeout_s: float | None) -> Impact:
        reply = self._link.request(kind, name, timeout_s)
        body, impulse = reply.body, np.frombuffer(reply.body["impulse"], FLOAT64)
        impulses = float(impulse[0]) if len(impulse) == 1 else impulse
        return Impact(body["loop"], reply.time, body["energy_loss"], impulses, body["distance"])

    def shutdown(self) -> None:
        """End the engine process."""
        self._link.request("shutdown")

    def _state(self, kind: str, body: Any, timeout_s: float | None) -> State:
        reply = self._link.request(kind, body, timeout_s)
        return State(reply, self._description)

    # ---- streams

    def latest(self, *, timeout_s: float | None = None) -> State:
        """The newest published state, waiting for one if none has come since the last call."""
        socket = self._stream("state")
        payload = _receive(socket, self._wait(timeout_s), "published state", False)
        return State(self._link.decode(payload), self._description)

    def next_event(self, *, timeout_s: float | None = None) -> tuple[str, State | dict[str, Any]]:
        """The next message of the topic stream: ("state", State), ("heartbeat", dict) or ("event", dict).

        The first call subscribes; a reader slower than the engine loses messages.
        """
        message = self.next_message(timeout_s=timeout_s)
        return message.type, State(message, self._description) if message.type == "state" else message.body

    def next_message(self, *, timeout_s: float | None = None, waiting: int | None = None) -> Message:
        """Like `next_event`, but the whole message: gaps in its numbers show lost messages.

        waiting : messages that may wait for this reader before more are lost; only in the first call
        """
        socket = self._streams.get("topics") or self._stream("topics", waiting)
        return self._link.decode(_receive(socket, self._wait(timeout_s), "message on the topic stream", True))

    def supervisor(self, *, timeout_s: float | None = None) -> dict[str, Any]:
        """The supervisor's next message (docs/reference/protocol.md); it also comes while the engine hangs or is gone.

        Raises ArgumentError for an engine without one, EngineTimeoutError when none comes.
        """
        socket = self._supervisor()
        deadline = time.monotonic() + self._wait(timeout_s)
        while (left := deadline - time.monotonic()) > 0.0:
            if time.monotonic() >= self._ask_again:
                self._ask_again = time.monotonic() + _ASK_S
                with contextlib.suppress(zmq.Again):
                    socket.send(b"", zmq.DONTWAIT)
            if socket.poll(int(1e3 * min(left, 1.0)) + 1):
                body: dict[str, Any] = self._link.decode(socket.recv()).body
                return body
        raise EngineTimeoutError(f"no message of the supervisor at {self._endpoints['supervisor']}: it is gone.")

    def _supervisor(self) -> zmq.Socket:
        if "supervisor" not in self._endpoints:
            text = "this engine has no supervisor. Start it with 'limberjack run MODEL --supervise'."
            raise ArgumentError(text)
        if "supervisor" not in self._streams:
            self._streams["supervisor"] = self._link.open(zmq.DEALER)
            self._streams["supervisor"].connect(self._endpoints["supervisor"])
        return self._streams["supervisor"]

    @property
    def lost(self) -> bool:
        """Whether the connection that answered `hello` has broken since, as far as known without a request."""
        return self._link.lost

    def _wait(self, timeout_s: float | None) -> float:
        return self._link.timeout_s if timeout_s is None else timeout_s

    def _stream(self, which: str, waiting: int | None = None) -> zmq.Socket:
        """The subscription, made on first use."""
        if which not in self._streams:
            if self._link.closed:
                raise BridgeError("this client is closed. Make a new one.")
            socket = self._link.open(zmq.SUB)
            if which == "state":
                socket.conflate = 1  # a slow reader gets the newest state, not a queue of old ones
            elif waiting is not None:
                socket.rcvhwm = waiting
            socket.subscribe(b"")
            socket.connect(self._endpoints[which])
            self._streams[which] = socket
        return self._streams[which]

    # ---- life

    def _beat(self, period_s: float) -> None:
        """Keep the lease alive while no request is under way; failures show in the caller's next request."""
        while not self._closing.wait(period_s):
            if not self._link.lock.locked():
                with contextlib.suppress(BridgeError):
                    self._link.request("heartbeat", None, min(period_s, 1.0))

    def close(self) -> None:
        """Release the lease if held and close; safe to call more than once, and when the engine is gone."""
        if self._closing.is_set():
            return
        self._closing.set()
        if self._pulse is not None:
            self._pulse.join()
            with contextlib.suppress(BridgeError):
                self._link.request("release", None, 0.5)
        for socket in self._streams.values():
            socket.close()
        self._link.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _receive(socket: zmq.Socket, timeout_s: float, what: str, topic: bool) -> bytes:
    """The last frame of the next message. topic : whether another frame is before it

    `recv_multipart` asks the socket whether a message goes on after each frame, and needs twice the time.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            if topic:
                socket.recv()
            return socket.recv()
        except zmq.Again:
            if time.monotonic() > deadline:
                raise EngineTimeoutError(
                    f"no {what} within {timeout_s:g} s: the engine is not stepping, or has stopped."
                ) from None


def _own_name() -> str:
    """Program, process and machine, as others will see this client."""
    return f"{Path(sys.argv[0]).name or 'python'}[{os.getpid()}]@{network.gethostname()}"
