"""ZeroMQ: maps of names and numbers in msgpack, one controller, keys beyond this machine.

The bench is a ROUTER. The controller is a DEALER whose routing id is "controller"; a new one replaces the old one.
Signals: {"n": number, "session": random, "time": s, "signals": {name: value}}. Commands: {"n": number,
"session": the bench's, "answer": number of the signals answered, "commands": {name: value}}, any of the device's.
A message with number 0 and no signals announces the bench.
"""

from __future__ import annotations

import contextlib
import math
import secrets
import time as wall
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult

import msgpack
import numpy as np
import zmq
from zmq.auth import load_certificate
from zmq.auth.thread import ThreadAuthenticator

from limberjack.addresses import Address, address, host_number
from limberjack.doors import ZAP_DOMAIN, Door
from limberjack.engine.common.errors import ArgumentError
from limberjack.hil.devices.answer_wait import await_answer
from limberjack.hil.devices.device import Link, Wiring
from limberjack.hil.devices.options import LONGEST_WAIT_S, Made, Options
from limberjack.hil.errors import HilError

ROUTING_ID = b"controller"
MOST_BYTES = 65536
_MOST_AT_ONCE, _QUEUE = 64, 64
_MOST_CONNECTIONS, _FRAMES_A_LOOK = 8, 16
_MOST_NUMBER = 2**63


@dataclass(frozen=True)
class Keys:
    """CurveZMQ keys of a folder that `limberjack keygen` made, and the hosts that may connect.

    client : secret file of the controller, for twins
    """

    folder: Path
    allow: tuple[str, ...]
    client: Path | None

    def serve(self, context: zmq.Context, socket: zmq.Socket) -> ThreadAuthenticator:
        """Let only the folder's clients in."""
        socket.curve_publickey, socket.curve_secretkey = _pair(self.folder / "server.key_secret")
        socket.curve_server = True
        authenticator = ThreadAuthenticator(context)
        authenticator.start()
        authenticator.allow(*self.allow)
        authenticator.configure_curve(domain=ZAP_DOMAIN.decode(), location=str(self.folder / "clients"))
        return authenticator

    def connect(self, socket: zmq.Socket) -> None:
        """Be the client."""
        socket.curve_publickey, socket.curve_secretkey = _pair(self.client or self.folder / "client.key_secret")
        socket.curve_serverkey = load_certificate(self.folder / "server.key")[0]


class ZmqDevice:
    """The bench's end.

    wait_s : how long `open` waits for the controller, s; 0: it does not
    """

    def __init__(self, name: str, bind: Address, keys: Keys | None, wait_s: float) -> None:
        self.name, self.link = name, Link()
        self._bind, self._keys, self._wait_s = bind, keys, wait_s
        self._context: zmq.Context | None = None
        self._authenticator: ThreadAuthenticator | None = None
        self._socket: zmq.Socket
        self._asked = False
        self._wiring = Wiring((), (), ())

    def open(self, wiring: Wiring) -> None:
        """Bind. HilError if the address is taken."""
        self.close()
        self._wiring, self._places = wiring, {name: i for i, name in enumerate(wiring.commands)}
        self._session, self._number, self._last = secrets.randbits(63), 0, (-1, -1)
        self._context = zmq.Context()
        self._socket = socket = _socket(self._context, zmq.ROUTER, self._bind)
        socket.router_handover, socket.router_mandatory = 1, 1
        self._door, self._looks = Door(socket, _MOST_CONNECTIONS, (_QUEUE + 1) * MOST_BYTES), 0
        try:
            if self._keys is not None:
                self._authenticator = self._keys.serve(self._context, socket)
            socket.bind(f"tcp://{self._bind}")
            self._door.bound(socket.get_string(zmq.LAST_ENDPOINT).rstrip("\0"))
        except zmq.ZMQError as error:
            self.close()
            raise HilError(f"zmq: {self._bind} cannot be bound ({error.strerror}); choose another port.") from None
        if self._wait_s:
            self._greet()

    def _greet(self) -> None:
        """Wait for the controller. HilError if it does not come."""
        deadline = wall.monotonic() + self._wait_s
        while not self._push({"n": 0, "session": self._session, "time": 0.0, "signals": {}}):
            if wall.monotonic() > deadline:
                self.close()
                raise HilError(
                    f"zmq: no controller connected to {self._bind} in {self._wait_s:g} s; start it, or give wait_s."
                )
            wall.sleep(0.005)

    def _push(self, message: dict[str, Any]) -> bool:
        try:
            self._socket.send_multipart([ROUTING_ID, msgpack.packb(message)], zmq.DONTWAIT)
        except zmq.ZMQError as error:
            if error.errno not in (zmq.EAGAIN, zmq.EHOSTUNREACH):
                raise
            return False
        return True

    def send(self, frame: int, time: float, signals: np.ndarray) -> None:
        """Send the signals to the controller; dropped and counted while none is connected."""
        self._number += 1
        self._look()
        named = dict(zip(self._wiring.signals, signals.tolist()))
        self._asked = self._push({"n": self._number, "session": self._session, "time": time, "signals": named})
        self.link.sent += self._asked
        self.link.dropped += not self._asked

    def _look(self) -> None:
        """Every few frames, end connections beyond those that a controller needs, and those with endless messages."""
        self._looks += 1
        if self._looks % _FRAMES_A_LOOK == 0:
            self._door.look()
            self._door.weigh(wall.monotonic())

    def receive(self, time: float, commands: np.ndarray) -> bool:
        """The newest commands that have come."""
        return self._take(time, commands)[0]

    def answer(self, time: float, commands: np.ndarray, limit_s: float) -> bool:
        """The commands that answer the last signals."""
        poll = self._socket.poll
        limit_s = limit_s if self._asked else 0.0
        return await_answer(lambda: self._take(time, commands), lambda left: poll(math.ceil(1e3 * left)), limit_s)

    def close(self) -> None:
        """Close the socket, the context and the authenticator's thread."""
        if self._context is None:
            return
        if self._authenticator is not None:
            self._authenticator.stop()
            self._authenticator = None
        self._door.close()
        self._socket.close(0)
        self._context.term()
        self._context = None

    def _take(self, time: float, commands: np.ndarray) -> tuple[bool, bool]:
        """Whether commands came, and whether they answer the last signals."""
        came = answered = False
        for _ in range(_MOST_AT_ONCE):
            try:
                parts = self._socket.recv_multipart(zmq.DONTWAIT, copy=False)
            except zmq.Again:
                break
            self._door.hear(parts[0])
            frames = [part.bytes for part in parts]
            reason, places, values = self._read(frames)
            if reason:
                self.link.reject(reason)
                continue
            commands[places] = values
            self.link.received += 1
            self.link.last_time = time
            came, answered = True, answered or self._last[1] == self._number
        return came, answered

    def _read(self, frames: list[bytes]) -> tuple[str, list[int], list[float]]:
        """The indices and values of a message's commands, or why it is refused."""
        if len(frames) != 2 or frames[0] != ROUTING_ID:
            return "other peer", [], []
        message = _unpacked(frames[1])
        if message is None or set(message) != {"n", "session", "answer", "commands"}:
            return "wrong form", [], []
        named, numbers = message["commands"], (message["n"], message["answer"])
        if not isinstance(named, dict) or not all(type(x) is int and 0 <= x < _MOST_NUMBER for x in numbers):
            return "wrong form", [], []
        if message["session"] != self._session:
            return "other session", [], []
        if not 0 < numbers[1] <= self._number:
            return "answers nothing sent", [], []
        again = numbers[0] == 0 and numbers[1] > self._last[1]
        if numbers[0] <= self._last[0] and not again:
            return "replayed or late", [], []
        if not all(name in self._places for name in named):
            return "unknown command", [], []
        if not all(type(value) in (int, float) for value in named.values()):
            return "wrong form", [], []
        values = [float(value) for value in named.values()]
        if not all(map(math.isfinite, values)):
            return "not finite", [], []
        self._last = numbers
        return "", [self._places[name] for name in named], values


class ZmqPeer:
    """The controller's end, for twins and tests."""

    def __init__(self, bench: Address, keys: Keys | None, wiring: Wiring) -> None:
        self.link = Link()
        self._wiring, self._number = wiring, 0
        self._came: dict[str, Any] = {}
        self._values = np.zeros(len(wiring.signals))
        self._context = zmq.Context()
        self._socket = _socket(self._context, zmq.DEALER, bench)
        self._socket.routing_id = ROUTING_ID
        if keys is not None:
            keys.connect(self._socket)
        self._socket.connect(f"tcp://{bench}")

    def signals(self, limit_s: float) -> tuple[float, np.ndarray] | None:
        """Simulated time, s, and the newest signals (ns,); None if none came within limit_s."""
        found = False
        self._socket.poll(math.ceil(1e3 * limit_s))
        for _ in range(_MOST_AT_ONCE):
            try:
                message = _unpacked(self._socket.recv(zmq.DONTWAIT))
            except zmq.Again:
                break
            if message is not None and message.get("n") == 0:
                continue
            if message is None or list(message.get("signals", ())) != list(self._wiring.signals):
                self.link.reject("wrong form")
                continue
            self._came, found = message, True
        if not found:
            return None
        self._values[:] = list(self._came["signals"].values())
        return self._came["time"], self._values

    def reply(self, commands: np.ndarray) -> bool:
        """Send commands (nc,) that answer the last signals."""
        message = {
            "n": self._number,
            "session": self._came["session"],
            "answer": self._came["n"],
            "commands": dict(zip(self._wiring.commands, commands.tolist())),
        }
        self._number += 1
        with contextlib.suppress(zmq.Again):
            self._socket.send(msgpack.packb(message), zmq.DONTWAIT)
            return True
        return False

    def close(self) -> None:
        """Let go."""
        if not self._context.closed:
            self._socket.close(0)
            self._context.term()


def zmq_link(parts: SplitResult, options: Options) -> Made:
    """zmq://HOST:PORT: where the bench listens; keys: folder of `limberjack keygen`, allow: hosts, beyond loopback."""
    bind, where = address(parts.netloc, options.where), options.where
    folder, client = options.path("keys"), options.path("client_key")
    allow = tuple(host_number(host, f"{where}: allow") for host in options.texts("allow"))
    if not bind.local and not (folder and allow):
        raise ArgumentError(
            f"{where}: {bind} is not this machine, and whoever reaches it could command the bench. Stay on 127.0.0.1, "
            "or give keys (a folder that 'limberjack keygen' made) and allow (the hosts that may connect)."
        )
    wait_s = options.number("wait_s", 5.0, 0.0, LONGEST_WAIT_S)
    if folder is None and (client or allow):
        raise ArgumentError(f"{where}: client_key and allow belong to keys; give keys, or leave them out.")
    keys = Keys(folder, tuple({*allow, "127.0.0.1", "::1"}), client) if folder is not None else None
    if keys is not None:
        _pair(keys.folder / "server.key_secret")
    return lambda name: ZmqDevice(name, bind, keys, wait_s), lambda wiring: ZmqPeer(bind, keys, wiring)


def _socket(context: zmq.Context, kind: int, place: Address) -> zmq.Socket:
    socket: zmq.Socket = context.socket(kind)
    socket.linger = 0
    socket.maxmsgsize = MOST_BYTES
    socket.sndhwm = socket.rcvhwm = _QUEUE
    socket.ipv6 = ":" in place.host
    return socket


def _unpacked(data: bytes) -> dict[str, Any] | None:
    """A map with text keys, or None; lengths in the data are checked against its size before memory is allocated."""
    try:
        message = msgpack.unpackb(data)
    except ValueError:
        return None
    return message if isinstance(message, dict) and all(isinstance(key, str) for key in message) else None


def _pair(file: Path) -> tuple[bytes, bytes]:
    """Public and secret key of a file that others cannot read. ArgumentError."""
    try:
        public, secret = load_certificate(file)
        shared = file.stat().st_mode & 0o077
    except (OSError, ValueError) as error:
        raise ArgumentError(f"{file}: no key could be read ({error}); make keys with 'limberjack keygen'.") from None
    if secret is None or shared:
        remedy = f"run: chmod 600 {file}" if secret else "give a .key_secret file"
        raise ArgumentError(f"{file}: {'others can read it' if secret else 'it holds no secret key'}; {remedy}")
    return public, secret
