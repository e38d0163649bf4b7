"""Samples for PlotJuggler: what its "ZMQ Subscriber" reads with the protocol MessagePack (docs/how-to/telemetry.md)."""

from __future__ import annotations

import struct
import time
from typing import Any

import msgpack  # type: ignore[import-untyped]
import numpy as np
import zmq

from limberjack.bridge.doorkeeper import Doorkeeper
from limberjack.bridge.endpoints import is_local, split
from limberjack.bridge.errors import EndpointError
from limberjack.bridge.replies import plain_send
from limberjack.bridge.telemetry.dictionary import Dictionary
from limberjack.bridge.telemetry.outlets.registry import Context
from limberjack.bridge.telemetry.sample import Notice, Sample
from limberjack.doors import ReaderDoor

DEFAULT_ADDRESS = "tcp://127.0.0.1:9872"
CONNECT = "connect:"
#: samples that wait for one slow subscriber; libzmq drops what comes on top
_QUEUE = 1000
_READERS_MAX, _LOOK_S, _WATCH_MS = 16, 0.05, 100
_NUMBER = np.dtype(">f8")
_LAST = {"stream": {"sequence": 2**64 - 1, "gap": 2**64 - 1}}  # behind all quantities; eight bytes each
_COUNTS = struct.Struct(">Q5sQ")  # the end of a packed sample: sequence, what is between, gap
_BETWEEN = msgpack.packb("gap") + b"\xcf"
_MORE = int(zmq.SNDMORE | zmq.DONTWAIT)


class PlotJuggler:
    """Publishes every sample as [model, nested maps of numbers, seconds since 1970 as text].

    PlotJuggler shows "q.base.w" as MODEL/q/base/w. It takes numbers in maps only: no text, no bin, and an array at the
    top would be a batch. ``stream/sequence`` and ``stream/gap`` show what was lost on the way. With "use field as
    timestamp" = ``time`` its axis is simulated time.

    address : to bind, ``tcp://127.0.0.1:9872``; ``connect:tcp://HOST:PORT`` for a PlotJuggler that binds
    """

    name = "plotjuggler"
    sends = True

    def __init__(self, address: str = DEFAULT_ADDRESS) -> None:
        """Raises EndpointError for an address that cannot be used."""
        self._connects = address.startswith(CONNECT)
        self.address = address.removeprefix(CONNECT)
        split(self.address)
        if not self._connects and not is_local(self.address):
            raise EndpointError(
                f"--plotjuggler {address}: other machines can reach this address, and PlotJuggler has no keys. "
                f"Bind to 127.0.0.1 and go through ssh -L, or send to one that binds: {CONNECT}{self.address}."
            )

    def open(self, dictionary: Dictionary) -> None:
        """Bind or connect. Raises EndpointError."""
        self._topic = dictionary.model.encode()
        self._packed, self._places = _template(dictionary)
        self._counts_at = len(self._packed) - _COUNTS.size
        # a number at every byte: those at the places of the quantities are written
        self._numbers = np.ndarray(len(self._packed) - 7, _NUMBER, self._packed, strides=(1,))
        self._context, self._next_look = zmq.Context(), 0.0
        self._socket = self._context.socket(zmq.XPUB)
        self._plain_send = plain_send(self._socket)
        self._door = ReaderDoor(self._socket, _READERS_MAX)
        self._keeper = Doorkeeper([self._door], None, _WATCH_MS)
        self._socket.linger, self._socket.sndhwm = 0, _QUEUE
        self._socket.ipv6 = "[" in self.address
        try:
            if self._connects:
                self._socket.connect(self.address)
            else:
                self._socket.bind(self.address)
                self._door.bound(self._socket.get_string(zmq.LAST_ENDPOINT).rstrip("\0"))
        except zmq.ZMQError as error:
            self.close()
            raise EndpointError(f"--plotjuggler {self.address}: {error.strerror}. Choose another address.") from None
        self.address = self._socket.get_string(zmq.LAST_ENDPOINT) if not self._connects else self.address
        self._keeper.start()

    def sample(self, sample: Sample) -> None:
        """Publish one sample, if anybody is connected; a slow subscriber loses some and delays nobody."""
        self._keeper.inside = now = time.monotonic()
        try:
            if now >= self._next_look:
                self._next_look = now + _LOOK_S
                self._door.read_subscriptions()
            if self._connects or self._door.table:
                self._send(sample)
        finally:
            self._keeper.inside = None

    def _send(self, sample: Sample) -> None:
        self._numbers[self._places] = sample.vector
        _COUNTS.pack_into(self._packed, self._counts_at, sample.sequence, _BETWEEN, sample.gap)
        send = self._plain_send
        send(self._topic, _MORE)
        send(self._packed, _MORE)
        send(b"%d.%09d" % divmod(sample.unix_ns, 1_000_000_000), zmq.DONTWAIT)

    def notice(self, notice: Notice) -> None:
        """PlotJuggler has no place for text."""

    def close(self) -> None:
        """Close the socket; safe to call more than once."""
        self._keeper.stop()
        self._door.close()
        self._socket.close()
        self._context.term()


def _template(dictionary: Dictionary) -> tuple[bytearray, np.ndarray]:
    """A packed sample, and where in it the quantities' numbers are, in the order of the dictionary.

    Numbers are float64 and counts uint64, so that all samples have the same bytes but for them: to write these takes
    a fiftieth of the time of packing nested maps again.
    """
    tree = _tree(dictionary) | _LAST
    packer, places = msgpack.Packer(autoreset=False), np.zeros(len(dictionary), dtype=np.intp)

    def pack(branch: dict[str, Any]) -> None:
        packer.pack_map_header(len(branch))
        for key, value in branch.items():
            packer.pack(key)
            if isinstance(value, dict):
                pack(value)
            elif branch is tree["stream"]:
                packer.pack(value)
            else:
                packer.pack(0.0)
                places[value] = len(packer.bytes()) - 8

    pack(tree)
    return bytearray(packer.bytes()), places


def _tree(dictionary: Dictionary) -> dict[str, Any]:
    """Nested maps with the place of every quantity.

    A name that is both a number and the start of others ("arm" and "arm.x") keeps its dots.
    """
    ids = set(dictionary.places)
    tree: dict[str, Any] = {}
    for place, quantity in enumerate(dictionary):
        branch, rest, path = tree, quantity.id, ""
        while "." in rest:
            key, tail = rest.split(".", 1)
            path = f"{path}.{key}" if path else key
            if path in ids or not key or not tail:
                break
            branch, rest = branch.setdefault(key, {}), tail
        branch[rest] = place
    return tree


def make(text: str, context: Context) -> PlotJuggler:
    """An address."""
    return PlotJuggler(text)
