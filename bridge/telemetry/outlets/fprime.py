"""Packets for the ground system of F Prime (fprime-gds), and its commands: one TCP connection, F Prime's own frames."""

from __future__ import annotations

import logging
import select
import socket
import struct
import threading
import zlib
from collections.abc import Iterator
from urllib.parse import parse_qsl, urlsplit

from limberjack.addresses import Address, address, connects_to_itself
from limberjack.bridge.background import Background
from limberjack.bridge.telemetry.ccsds.vocabulary import vocabulary_of
from limberjack.bridge.telemetry.dictionary import Dictionary
from limberjack.bridge.telemetry.exports.fprime import TEXT_BYTES, Command, commands_of, packets_of
from limberjack.bridge.telemetry.orders import Actor, Order, OrderRefused
from limberjack.bridge.telemetry.outlets.registry import Context
from limberjack.bridge.telemetry.sample import Notice, Sample
from limberjack.engine.common.errors import ArgumentError

log = logging.getLogger("limberjack.gateway")

DEFAULT_RATE_HZ = 10.0
_START = b"\xde\xad\xbe\xef"
_HEAD, _CRC = struct.Struct(">II"), struct.Struct(">I")
#: descriptor of a packet; number in it; time base (spacecraft clock), context, s, µs
_PACKET_HEAD = struct.Struct(">HHHBII")
_EVENT_HEAD = struct.Struct(">HIHBIIH")
_OPCODE = struct.Struct(">HI")
_LENGTH = struct.Struct(">H")
_COMMAND, _EVENT, _PACKET, _SPACECRAFT_TIME = 0, 2, 4, 3
#: largest frame from the ground system, bytes
_FRAME_MAX = 4096
#: longest waits, s: to connect and send, between two looks at the end, between two attempts
_SEND_S, _LOOK_S, _AGAIN_S = 1.0, 0.25, 1.0


def frame(data: bytes) -> bytes:
    """A packet as it stands in the stream: start word, length, packet, CRC-32."""
    head = _HEAD.pack(int.from_bytes(_START, "big"), len(data)) + data
    return head + _CRC.pack(zlib.crc32(head))


def unframe(stream: bytearray) -> Iterator[bytes]:
    """Take whole packets from the front of a stream; other bytes are skipped, an incomplete packet stays."""
    while (start := stream.find(_START)) >= 0:
        del stream[:start]
        if len(stream) < _HEAD.size:
            return
        length = _HEAD.unpack_from(stream)[1]
        end = _HEAD.size + length
        if length > _FRAME_MAX:
            del stream[:1]
        elif len(stream) < end + _CRC.size:
            return
        elif _CRC.unpack_from(stream, end)[0] != zlib.crc32(stream[:end]):
            del stream[:1]
        else:
            packet = bytes(stream[_HEAD.size : end])
            del stream[: end + _CRC.size]
            yield packet
    del stream[: max(0, len(stream) - len(_START) + 1)]


class Fprime:
    """Connects to the ground system, sends packetized telemetry and events, takes commands where that was asked for.

    target : where fprime-gds listens;  commands : whether its commands are carried out;  rate_hz : samples a second
    """

    name = "fprime"

    def __init__(self, target: Address, commands: bool, rate_hz: float, context: Context) -> None:
        self.target, self.rate_hz = target, rate_hz
        self._takes, self._context = commands, context
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._background = Background("fprime", self._run)

    def open(self, dictionary: Dictionary) -> None:
        """Begin to look for the ground system; what comes while it is not there is not kept."""
        vocabulary = vocabulary_of(self._context.gateway.session().mirror.simulation, dictionary)
        self._commands = {command.opcode: command for command in commands_of(vocabulary)}
        self._packets = packets_of(dictionary)
        self._time = 0.0
        self._background.start()

    def sample(self, sample: Sample) -> None:
        """Send the packets of a sample."""
        self._time = sample.time
        values = sample.vector.astype(">f8")
        for packet in self._packets:
            head = _PACKET_HEAD.pack(_PACKET, packet.number, *_stamp(sample.time))
            self._send(head + values[packet.places.start : packet.places.stop].tobytes())

    def notice(self, notice: Notice) -> None:
        """Send an event, in ASCII: fprime-gds counts characters where it should count bytes."""
        text = notice.text.encode("ascii", "replace")[:TEXT_BYTES]
        stamp = _stamp(self._time)
        self._send(_EVENT_HEAD.pack(_EVENT, notice.severity + 1, *stamp, len(text)) + text)

    def close(self) -> None:
        """End; safe to call more than once, and when it never opened."""
        self._background.stop()

    def _send(self, packet: bytes) -> None:
        with self._lock:
            if self._socket is not None:
                try:
                    self._socket.sendall(frame(packet))
                except OSError as error:  # a frame cut short would spoil what follows
                    self._lose(error)

    def _lose(self, error: OSError | None) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
            why = f": {error}" if error is not None else ""
            log.warning("the ground system at %s is gone%s", self.target, why)

    # ---- the connection's own thread

    def _run(self) -> None:
        said, stopping = False, self._background.stopping
        while not stopping.is_set():
            try:
                link = connected(self.target.pair)
            except OSError as error:
                if not said:
                    text = f"no F Prime ground system at {self.target} ({error}); looking for it every second."
                    log.warning(text)
                    self._context.gateway.tell(1, text)
                said = True
                stopping.wait(_AGAIN_S)
                continue
            said = False
            with self._lock:
                self._socket = link
            self._context.gateway.tell(0, f"connected to the F Prime ground system at {self.target}.")
            self._listen(link)
            stopping.wait(_AGAIN_S)  # who takes connections and ends them at once is asked no more often
        with self._lock:
            self._lose(None)

    def _listen(self, link: socket.socket) -> None:
        """Take commands until the connection ends."""
        stream = bytearray()
        link.settimeout(_SEND_S)
        while not self._background.stopping.is_set() and self._socket is link:
            try:
                if not select.select([link], [], [], _LOOK_S)[0]:
                    continue
                ready = link.recv(_FRAME_MAX)
            except ValueError:  # the other thread closed it
                return
            except OSError as error:
                with self._lock:
                    self._lose(error)
                return
            if not ready:
                with self._lock:
                    self._lose(None)
                return
            stream += ready
            for packet in unframe(stream):
                self._take(packet)

    def _take(self, packet: bytes) -> None:
        """Carry a command out; the commander reports success and refusal."""
        gateway, actor = (
            self._context.gateway,
            Actor("fprime", str(self.target), "operator" if self._takes else "viewer"),
        )
        try:
            order = order_of(packet, self._commands)
        except ArgumentError as error:
            gateway.tell(1, f"{actor}: {error}", "refused")
            return
        try:
            gateway.commander.execute(order, actor)
        except OrderRefused:
            return


def connected(pair: tuple[str, int]) -> socket.socket:
    """A connection to a ground system. Raises OSError if nobody listens there."""
    link = socket.create_connection(pair, _SEND_S)
    if connects_to_itself(link):
        link.close()
        raise ConnectionRefusedError("nobody listens there")
    return link


def order_of(packet: bytes, commands: dict[int, Command]) -> Order:
    """What a command packet asks for. ArgumentError for one that is none."""
    if len(packet) < _OPCODE.size:
        raise ArgumentError(f"a command of {len(packet)} bytes is too short.")
    kind, opcode = _OPCODE.unpack_from(packet)
    command = commands.get(opcode)
    if kind != _COMMAND or command is None:
        raise ArgumentError(
            f"packet type {kind}, opcode {opcode} is not a command of this model. Export its dictionary."
        )
    arguments = packet[_OPCODE.size :]
    if command.takes_text:
        return Order(command.action, _text(command, arguments))
    form = struct.Struct(f">{'H' if command.names_type else ''}{'d' if command.takes_value else ''}")
    _expect(command, arguments, form.size)
    values = list(form.unpack(arguments))
    target = command.target
    if command.names_type:
        number = values.pop(0)
        if number >= len(command.names):
            raise ArgumentError(f"command {command.name}: there is no {command.names_type} {number}.")
        target = command.names[number]
    if command.action == "command":
        return Order("command", values={target: values[0]})
    return Order(command.action, target, values[0] if command.takes_value else None)


def _text(command: Command, arguments: bytes) -> str:
    """A string of F Prime: its length in bytes, then UTF-8."""
    length = _LENGTH.unpack_from(arguments)[0] if len(arguments) >= _LENGTH.size else 0
    _expect(command, arguments, _LENGTH.size + length)
    return arguments[_LENGTH.size :].decode("utf-8", "replace")


def _expect(command: Command, arguments: bytes, size: int) -> None:
    if len(arguments) != size:
        raise ArgumentError(f"command {command.name} has {len(arguments)} bytes of arguments, not {size}.")


def _stamp(time_s: float) -> tuple[int, int, int, int]:
    """Time base, context, seconds, microseconds of a simulated time."""
    whole = max(0, round(1e6 * time_s))
    return _SPACECRAFT_TIME, 0, (whole // 1_000_000) & 0xFFFFFFFF, whole % 1_000_000


def make(text: str, context: Context) -> Fprime:
    """tcp://HOST:PORT of fprime-gds, with ?rate=HZ&commands=yes."""
    where, parts = f"--fprime {text}", urlsplit(text)
    if parts.scheme != "tcp" or parts.path or parts.fragment:
        raise ArgumentError(f"{where}: not understood; give tcp://127.0.0.1:50000, where fprime-gds listens.")
    given = {**{key: str(value) for key, value in context.settings.items()}, **dict(parse_qsl(parts.query))}
    unknown = given.keys() - {"rate", "commands"}
    if unknown:
        raise ArgumentError(f"{where}: there is no option '{min(unknown)}'; there are rate and commands.")
    target = address(parts.netloc, where)
    return Fprime(target, _commands(given.get("commands", "no"), target, where), _rate(given, where), context)


def _rate(given: dict[str, str], where: str) -> float:
    try:
        rate = float(given.get("rate", DEFAULT_RATE_HZ))
    except ValueError:
        rate = 0.0
    if not 0.01 <= rate <= 1000.0:
        raise ArgumentError(f"{where}: rate is {given['rate']}; give 0.01 to 1000 samples a second.")
    return rate


def _commands(text: str, target: Address, where: str) -> bool:
    if text.lower() not in ("yes", "no", "true", "false"):
        raise ArgumentError(f"{where}: commands is {text}; give yes or no.")
    if text.lower() in ("no", "false"):
        return False
    if not target.local:
        raise ArgumentError(
            f"{where}: commands of F Prime carry no key, so only this machine may send them. Go through ssh -L."
        )
    return True
