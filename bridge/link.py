"""One DEALER connection to an engine: replies matched to requests, waits bounded, failures explained."""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
from pathlib import Path
from typing import Any

import zmq
from zmq.utils.monitor import recv_monitor_message

from limberjack.bridge.endpoints import split
from limberjack.bridge.errors import (
    BridgeError,
    Code,
    EngineLostError,
    EngineTimeoutError,
    KeyRefusedError,
    LeaseError,
    RefusedError,
)
from limberjack.bridge.keys import load_pair, load_public
from limberjack.bridge.messages import REPLY_MAX, Encoder, Message, Refusal, decode
from limberjack.bridge.replies import plain_send
from limberjack.engine.common.errors import ArgumentError, SimulationError

_SLICE_MS = 50  # longest wait before the connection's health is looked at
_MONITOR_EVENTS = 256
_REPLACED = "this client has not said hello to the engine that answers now: it was restarted. Make a new client."


class ClientKeys:
    """A client's own key pair and the engine's public key."""

    def __init__(self, folder: Path | str, name: str = "client") -> None:
        """Read ``NAME.key_secret`` and ``server.key`` from a folder. Raises KeyFileError."""
        self.public, self.secret = load_pair(Path(folder) / f"{name}.key_secret")
        self.server = load_public(Path(folder) / "server.key")

    def apply(self, socket: zmq.Socket) -> None:
        """Encrypt a socket; before it connects."""
        socket.curve_publickey, socket.curve_secretkey = self.public, self.secret
        socket.curve_serverkey = self.server


class Health:
    """What the socket's monitor has reported about the connection so far."""

    def __init__(self, socket: zmq.Socket) -> None:
        self._monitor = socket.get_monitor_socket()
        self.connected = False
        self.ever = False  # a connection (not yet a handshake) was made
        self.dropped = 0  # working connections lost
        self.auth_failed = self.handshake_failed = False

    def read(self) -> None:
        """Read the events since the last call; never waits."""
        for _ in range(_MONITOR_EVENTS):
            if not self._monitor.poll(0):
                return
            self._take(recv_monitor_message(self._monitor)["event"])

    def _take(self, event: int) -> None:
        if event == zmq.EVENT_CONNECTED:
            self.ever = True
        elif event == zmq.EVENT_HANDSHAKE_SUCCEEDED:
            self.connected = True
        elif event == zmq.EVENT_DISCONNECTED:
            self.dropped += self.connected
            self.connected = False
        elif event == zmq.EVENT_HANDSHAKE_FAILED_AUTH:
            self.auth_failed = True
        elif event in (zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL, zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL):
            self.handshake_failed = True

    def close(self) -> None:
        self._monitor.close()


class Link:
    """Requests and replies with one engine. Usable from several threads; one request at a time."""

    def __init__(self, endpoint: str, timeout_s: float, keys: ClientKeys | None) -> None:
        split(endpoint)  # raises EndpointError
        self.endpoint, self.timeout_s, self.keys = endpoint, timeout_s, keys
        self.client = secrets.randbits(64) | 1
        self.seen = 0.0  # simulated time of the newest message seen
        self.size_max = 65536
        self.lock = threading.Lock()
        self._sequence, self._encode = 0, Encoder()
        self._name, self._run = "", None  # as given in `hello`, and which run of the engine answered
        self._replaced = False  # another run of the engine answers now
        self.closed = False
        self.context = zmq.Context()
        self._socket = self.open(zmq.DEALER)
        self._send, self._health = plain_send(self._socket), Health(self._socket)
        self._socket.connect(endpoint)

    def open(self, kind: int) -> zmq.Socket:
        """A socket with this link's keys and bounds, not yet connected."""
        socket: zmq.Socket = self.context.socket(kind)
        socket.linger = 0
        socket.maxmsgsize = REPLY_MAX
        socket.sndhwm = socket.rcvhwm = 64
        socket.sndtimeo = socket.rcvtimeo = _SLICE_MS
        socket.tcp_keepalive = 1
        if "[" in self.endpoint:
            socket.ipv6 = True
        if self.keys is not None:
            self.keys.apply(socket)
        return socket

    def request(self, kind: str, body: Any = None, timeout_s: float | None = None) -> Message:
        """Send a request and return its reply.

        Raises RefusedError (LeaseError, ArgumentError, SimulationError by kind) for an error reply,
        EngineTimeoutError, EngineLostError, KeyRefusedError when none comes. An engine that remembers clients that
        spoke later instead hears hello again, and then the request.
        """
        allowed = self.timeout_s if timeout_s is None else timeout_s
        with self.lock:
            if self.closed:
                raise BridgeError("this client is closed. Make a new one.")
            if self._replaced:
                raise RefusedError(Code.UNKNOWN_CLIENT, _REPLACED)
            reply = self._ask(kind, body, allowed)
            if _code(reply) == Code.UNKNOWN_CLIENT and kind != "hello" and self._met_again(allowed):
                reply = self._ask(kind, body, allowed)
        answer = reply.type
        if answer == "error":
            raise _error(reply)
        if answer != "state" and answer != kind:
            raise BridgeError(f"{self.endpoint} answered '{kind}' with '{answer}'; it is not a Limberjack engine.")
        return reply

    def hello(self, name: str) -> dict[str, Any]:
        """Introduce this client; returns what the engine says about itself. Raises as `request`."""
        self._name = name
        about: dict[str, Any] = self.request("hello", {"name": name}).body
        self.size_max, self._run = int(about["size_max"]), about.get("run")
        return about

    def _met_again(self, allowed: float) -> bool:
        """Say hello again; whether it is the same run of the engine still, so that nothing was lost but this client."""
        if self._run is None:
            return False
        reply = self._ask("hello", {"name": self._name}, allowed)
        about = reply.body if reply.type == "hello" and type(reply.body) is dict else {}
        self._replaced = about.get("run") != self._run  # it knows this client, but not its earlier messages
        return not self._replaced

    def _ask(self, kind: str, body: Any, allowed: float) -> Message:
        """Send one request and return its reply, also an error."""
        self._sequence += 1
        payload = self._encode(kind, self._sequence, self.seen, self.client, body)
        if len(payload) > self.size_max:
            raise ArgumentError(f"'{kind}' is {len(payload)} bytes; the engine takes at most {self.size_max}.")
        reply = self._exchange(kind, payload, allowed)
        self.seen = reply.time
        return reply

    def _exchange(self, kind: str, payload: bytes, allowed: float) -> Message:
        """Send, then wait for the reply with the same sequence; older ones belong to abandoned requests.

        Both wait in slices. libzmq may learn only while it waits that the engine has read what was sent before: after
        64 requests whose replies were there at once, the next one finds no room although none is under way.
        """
        socket, sequence = self._socket, self._sequence
        deadline = time.monotonic() + allowed
        dropped = self._health.dropped
        sent = False
        while True:
            try:
                if not sent:
                    self._send(payload)
                    sent = True
                reply = self.decode(socket.recv())
            except zmq.Again:
                self._check(kind, dropped)
            else:
                if reply.sequence == sequence or (reply.sequence == 0 and reply.type == "error"):
                    return reply
            if time.monotonic() > deadline:
                raise EngineTimeoutError(self._explain(kind, allowed))

    @property
    def lost(self) -> bool:
        """Whether a working connection has broken; during a request, as known before it."""
        if self.lock.acquire(blocking=False):
            try:
                if not self.closed:
                    self._health.read()
            finally:
                self.lock.release()
        return self._health.dropped > 0

    def decode(self, payload: bytes) -> Message:
        """Decode a message of this engine. Raises BridgeError if the bytes are not a message."""
        try:
            return decode(payload)
        except Refusal as refusal:
            text = f"{self.endpoint} sent a message that is not protocol version 1 ({refusal.text})"
            raise BridgeError(f"{text} Is it a Limberjack engine of the same version?") from None

    def _check(self, kind: str, dropped: int) -> None:
        """No reply yet: raise immediately if the state of the connection shows that none can arrive."""
        health = self._health
        health.read()
        if health.auth_failed:
            raise KeyRefusedError(
                f"{self.endpoint} refused this client's key. Put the client's .key file into the engine's "
                "folder of allowed clients, which it looks at every second."
            )
        if health.handshake_failed:
            raise KeyRefusedError(self._mismatch())
        if health.dropped > dropped and not health.connected:
            raise EngineLostError(
                f"{self.endpoint} closed the connection before answering '{kind}': the engine was stopped or "
                "killed, or the message was larger than it takes. Start the engine again."
            )

    def _mismatch(self) -> str:
        if self.keys is None:
            return f"{self.endpoint} wants an encrypted connection. Give this client keys (keys=DIR)."
        return (
            f"{self.endpoint} did not complete the encrypted connection: it runs without keys, or server.key "
            "is another engine's. Copy server.key from the engine's folder, or start the engine with --keys."
        )

    def _explain(self, kind: str, allowed: float) -> str:
        """Why a request got no reply in time, as far as can be known."""
        health = self._health
        health.read()
        start = f"no reply to '{kind}' from {self.endpoint} within {allowed:g} s"
        if health.connected:
            return f"{start}: the engine is busy or stuck. Allow more time (timeout_s), or look at the engine."
        if health.dropped:
            return f"{start}: the connection was lost. Start the engine again and make a new client."
        if health.ever:
            return f"{start}: {self._mismatch()}"
        remedy = f"Start an engine with 'limberjack run MODEL --endpoint {self.endpoint}'."
        return f"{start}: nothing listens there. {remedy}"

    def close(self) -> None:
        """Close the connection; safe to call more than once."""
        with self.lock:
            if not self.closed:
                self.closed = True
                self._socket.disable_monitor()
                self._health.close()
                self._socket.close()
                with contextlib.suppress(zmq.ZMQError):
                    self.context.term()


def _code(reply: Message) -> str:
    """The code of an error reply, else nothing."""
    return str(reply.body.get("code", "")) if reply.type == "error" and type(reply.body) is dict else ""


def _error(reply: Message) -> Exception:
    """The exception for an error reply."""
    body = reply.body if type(reply.body) is dict else {}
    code, text = str(body.get("code", "")), str(body.get("text", "the engine gave no reason."))
    if code == Code.SIMULATION:
        return SimulationError(text)
    if code == Code.LEASE:
        return LeaseError(code, text)
    return RefusedError(code, text)
