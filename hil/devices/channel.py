"""A device that speaks the messages of a layout over any channel of bytes, and its counterpart."""

from __future__ import annotations

import secrets
from collections import deque
from typing import Protocol

import numpy as np

from limberjack.engine.common.errors import ArgumentError
from limberjack.hil.devices.answer_wait import await_answer
from limberjack.hil.devices.device import SUPERSEDED, Link, Wiring
from limberjack.hil.devices.message import Head, Message, newer
from limberjack.hil.devices.message_layout import LayoutSpec, default_layout

#: largest number of messages examined in one call, the newest ones
MOST_AT_ONCE = 64
#: largest number of messages taken in one call; others wait in the system's buffer, which is bounded
MOST_TAKEN = 1024


class Channel(Protocol):
    """Carries complete messages; only `wait` waits."""

    def open(self, outgoing: Message, incoming: Message | None, link: Link) -> None:
        """Connect or listen; junk between messages is counted in link.rejected."""

    def push(self, data: bytes) -> bool:
        """Send a message; False if it cannot be sent immediately."""

    def pull(self) -> bytes | None:
        """The next message received, if there is one."""

    def wait(self, limit_s: float) -> None:
        """Return when a message may have arrived, at most after limit_s of wall time."""

    def close(self) -> None:
        """Release all resources; may be called twice."""


class Codec:
    """The two messages of a device for its wiring."""

    def __init__(self, layout: LayoutSpec | None, key: bytes) -> None:
        self._layout, self._key = layout, key
        if layout is not None and (layout.authenticate != "none") != bool(key):
            raise ArgumentError("authenticate: hmac_sha256 in the layout and key_file belong together; give both.")

    @property
    def framing(self) -> str:
        """How messages are separated on a stream."""
        return self._layout.framing if self._layout is not None else "cobs"

    def layout(self, wiring: Wiring) -> LayoutSpec:
        """The layout given, or the default one of such a wiring."""
        return self._layout or default_layout(wiring, bool(self._key))

    def messages(self, wiring: Wiring) -> tuple[Message, Message | None]:
        """Signals and commands; commands None where the device sets none."""
        layout = self.layout(wiring)
        if wiring.commands and layout.commands is None:
            raise ArgumentError("commands are wired to the device, but its layout has no 'commands'; add them.")
        signals = Message(layout, "signals", wiring.signals, self._key)
        return signals, Message(layout, "commands", wiring.commands, self._key) if layout.commands else None


class MessageDevice:
    """A `Device` that sends and takes binary messages.

    Commands count if they are valid and newer than the last by their sequence number, and of this session where the
    layout has one. A restarted controller begins at sequence 0: the bench accepts it immediately if its layout has
    `answer`, whose number is then newer.
    """

    def __init__(self, name: str, channel: Channel, codec: Codec) -> None:
        self.name, self.link = name, Link()
        self._channel, self._codec = channel, codec
        self._head = Head()
        self._last: Head | None = None
        self._asked = False
        self._recent: deque[bytes] = deque(maxlen=MOST_AT_ONCE)
        self._signals: Message
        self._commands: Message | None

    def layout(self, wiring: Wiring) -> LayoutSpec:
        """The layout of its messages. Raises ArgumentError if its numbers are not those of the wiring."""
        self._codec.messages(wiring)
        return self._codec.layout(wiring)

    def open(self, wiring: Wiring) -> None:
        """Connect or listen."""
        self._signals, self._commands = self._codec.messages(wiring)
        self._head, self._last = Head(session=secrets.randbits(63)), None
        self._channel.open(self._signals, self._commands, self.link)

    def send(self, frame: int, time: float, signals: np.ndarray) -> None:
        """Send the signals; dropped and counted when the channel is full."""
        self._head.sequence += 1
        self._head.time = time
        self._asked = self._channel.push(self._signals.pack(self._head, signals))
        self.link.sent += self._asked
        self.link.dropped += not self._asked

    def receive(self, time: float, commands: np.ndarray) -> bool:
        """The newest commands that have arrived."""
        return self._take(time, commands)[0]

    def answer(self, time: float, commands: np.ndarray, limit_s: float) -> bool:
        """The commands that answer the last signals; without `answer` in the layout, the next ones that arrive.

        It does not wait for an answer to signals that could not be sent.
        """
        limit_s = limit_s if self._asked else 0.0
        return await_answer(lambda: self._take(time, commands), self._channel.wait, limit_s)

    def close(self) -> None:
        """Let go."""
        self._channel.close()

    def _take(self, time: float, commands: np.ndarray) -> tuple[bool, bool]:
        """Whether commands came, and whether they answer the last signals."""
        came, answered = False, False
        message = self._commands
        for data in self._newest():
            reason = message.unpack(data) if message is not None else "no commands wired"
            reason = reason or self._stale()
            if reason or message is None:
                self.link.reject(reason)
                continue
            self._last, came = message.head, True
            commands[:] = message.values
            self.link.received += 1
            self.link.last_time = time
            answered = answered or self._answers(message)
        return came, answered

    def _newest(self) -> deque[bytes]:
        """The newest message: with a controller faster than the bench, the delay must not grow."""
        recent, taken = self._recent, 0
        recent.clear()
        while taken < MOST_TAKEN and (data := self._channel.pull()) is not None:
            recent.append(data)
            taken += 1
        if taken > len(recent):
            self.link.reject(SUPERSEDED, taken - len(recent))
        return recent

    def _answers(self, message: Message) -> bool:
        if not message.has("answer"):
            return True
        return (self._head.sequence - message.head.answer) % message.modulus("answer") == 0

    def _stale(self) -> str:
        """Why the commands just unpacked are not new, or ""."""
        message, last = self._commands, self._last
        assert message is not None
        head = message.head
        if message.has("session") and head.session != self._head.session:
            return "other session"
        if message.has("answer"):
            behind = (self._head.sequence - head.answer) % message.modulus("answer")
            if behind >= min(message.modulus("answer"), self._head.sequence + 1):
                return "answers nothing sent"
        if (
            last is None
            or not message.has("sequence")
            or newer(head.sequence, last.sequence, message.modulus("sequence"))
        ):
            return ""
        again = message.has("answer") and newer(head.answer, last.answer, message.modulus("answer"))
        return "" if again and head.sequence == 0 else "replayed or late"


class MessagePeer:
    """The other end of a `MessageDevice`: receives signals, sends commands. For twins and tests."""

    def __init__(self, channel: Channel, codec: Codec, wiring: Wiring) -> None:
        self.link = Link()
        self._channel = channel
        self._signals, self._commands = codec.messages(wiring)
        self._sequence = 0
        if self._commands is None:
            raise ArgumentError("a twin answers with commands; wire some to the device.")
        channel.open(self._commands, self._signals, self.link)

    def signals(self, limit_s: float) -> tuple[float, np.ndarray] | None:
        """Simulated time, s, and the newest signals (ns,); None if none came within limit_s."""
        self._channel.wait(limit_s)
        found = False
        for _ in range(MOST_AT_ONCE):
            data = self._channel.pull()
            if data is None:
                break
            reason = self._signals.unpack(data)
            found = found or not reason
            if reason:
                self.link.reject(reason)
        return (self._signals.head.time, self._signals.values) if found else None

    def reply(self, commands: np.ndarray) -> bool:
        """Send commands (nc,) that answer the last signals; False if they could not go."""
        assert self._commands is not None
        came = self._signals.head
        head = Head(self._sequence, came.sequence, came.session, came.time)
        self._sequence += 1
        return self._channel.push(self._commands.pack(head, commands))

    def close(self) -> None:
        """Let go."""
        self._channel.close()
