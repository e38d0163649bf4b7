"""Frames of a DBC file: finds the messages that contain given names, and converts values to bytes and back."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError, MissingExtraError, ModelError
from limberjack.engine.files.bounded_file import read_bytes
from limberjack.hil.devices.message import newer

_MOST_BYTES = 1024 * 1024
#: bytes of a classic frame
_MOST_DATA = 8


def read_dbc(path: Path) -> Any:
    """The database of a DBC file of at most _MOST_BYTES. ArgumentError if it cannot be read, MissingExtraError."""
    try:
        import cantools
    except ImportError:
        raise MissingExtraError("a CAN device with a DBC file", "cantools", "hil") from None
    try:
        content = read_bytes(path, _MOST_BYTES)
    except ModelError as error:
        raise ArgumentError(f"dbc {path}: cannot be read ({error.what}); check the path.") from None
    try:
        return cantools.database.load_string(content.decode("cp1252"), "dbc")
    except Exception as error:  # its parser raises many kinds
        text = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ArgumentError(f"dbc {path}: is not a usable DBC file ({text}).") from None


class Frames:
    """The messages that contain given names.

    `mapped` gives the signal of a name as "Message.Signal" or "Signal". Without an entry it is the signal of the same
    name with "_" for every other character. Signals of these messages without a name are sent as their initial value.
    """

    def __init__(self, database: Any, names: tuple[str, ...], mapped: Mapping[str, str], counter: str) -> None:
        """counter : signal that counts those messages that have it. ArgumentError for signals that are not there."""
        signals = _signals(database)
        self._plans: dict[int, _Plan] = {}
        for place, name in enumerate(names):
            wanted = mapped.get(name, re.sub(r"\W", "_", name))
            message, signal = _find(name, wanted, signals)
            plan = self._plans.setdefault(key_of(message.frame_id, message.is_extended_frame), _Plan(message, counter))
            plan.add(name, signal, place)

    @property
    def identifiers(self) -> list[int]:
        """Of the messages, as `key_of` makes them."""
        return list(self._plans)

    @property
    def counted(self) -> bool:
        """Whether one of the messages has the counter."""
        return any(plan.counted for plan in self._plans.values())

    @property
    def filters(self) -> list[dict[str, Any]]:
        """For the bus: these messages only."""
        messages = [plan.message for plan in self._plans.values()]
        return [{"can_id": m.frame_id, "can_mask": 0x1FFFFFFF, "extended": m.is_extended_frame} for m in messages]

    def encode(self, values: np.ndarray) -> Iterator[tuple[int, bool, bytes]]:
        """Identifier, whether it is extended, and data of each message; values beyond a signal's range are cut."""
        for plan in self._plans.values():
            yield plan.message.frame_id, plan.message.is_extended_frame, plan.encode(values)

    def decode(self, frame: Any, values: np.ndarray) -> str:
        """Put a frame's signals (can.Message) into values (n,). Returns "", or why it is refused; values then stay."""
        plan = self._plans.get(key_of(frame.arbitration_id, frame.is_extended_id))
        if plan is None or frame.is_error_frame or frame.is_remote_frame:
            return "not a frame of the device"
        return plan.decode(bytes(frame.data), values)


def key_of(identifier: int, extended: bool) -> int:
    """One number for a message: the same identifier may be there in its short and in its extended form."""
    return identifier | (extended << 31)


class _Plan:
    """One message: its signals and their places among the values."""

    def __init__(self, message: Any, counter: str) -> None:
        if message.is_multiplexed() or message.is_container:
            raise ArgumentError(f"can: message '{message.name}' is multiplexed or a container; use plain messages.")
        if message.length > _MOST_DATA:
            what = f"can: message '{message.name}' has {message.length} bytes, as only CAN FD has"
            raise ArgumentError(f"{what}; use messages of at most {_MOST_DATA}.")
        self.message = message
        self._limits = {signal.name: _limits(signal) for signal in message.signals}
        self._content = {
            signal.name: _cut(signal.initial or 0, *self._limits[signal.name]) for signal in message.signals
        }
        self._places: dict[str, int] = {}
        self._rounding = {signal.name: _rounding(signal) for signal in message.signals}
        self._counter = next((signal for signal in message.signals if signal.name == counter), None)
        self._count: int | None = None

    @property
    def counted(self) -> bool:
        """Whether it has the counter."""
        return self._counter is not None

    def add(self, name: str, signal: Any, place: int) -> None:
        """A value in this message."""
        if signal.name in self._places or signal is self._counter:
            raise ArgumentError(
                f"can: '{name}' is signal '{signal.name}' of '{self.message.name}', which is used already."
            )
        self._places[signal.name] = place

    def encode(self, values: np.ndarray) -> bytes:
        content = self._content
        for name, place in self._places.items():
            value = float(values[place])
            content[name] = _cut(value if value == value else 0.0, *self._limits[name])
        if self._counter is not None:
            self._count = ((-1 if self._count is None else self._count) + 1) % (1 << self._counter.length)
            content[self._counter.name] = self._count
        return bytes(self.message.encode(content, strict=False))

    def decode(self, data: bytes, values: np.ndarray) -> str:
        if len(data) != self.message.length:
            return "wrong size"
        content = self.message.decode(data, decode_choices=False)
        found = {place: float(content[name]) for name, place in self._places.items()}
        if not all(map(math.isfinite, found.values())):
            return "not finite"
        for name, place in self._places.items():
            (low, high), rounding = self._limits[name], self._rounding[name]
            if not low - rounding <= found[place] <= high + rounding:
                return "out of range"
            found[place] = _cut(found[place], low, high)
        if self._counter is not None:
            count = int(content[self._counter.name])
            if self._count is not None and not newer(count, self._count, 1 << self._counter.length):
                return "replayed or late"
            self._count = count
        for place, value in found.items():
            values[place] = value
        return ""


def _cut(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def _rounding(signal: Any) -> float:
    """By how much rounding may put a value at the end of its range beyond it: 7 · 0.1 is more than 0.7."""
    if not signal.is_float:
        return 1e-3 * abs(float(signal.scale))
    ends = [abs(float(end)) for end in (signal.minimum, signal.maximum) if end is not None]
    return max(ends, default=0.0) * (2.0**-10 if signal.length == 16 else 2.0**-23 if signal.length == 32 else 0.0)


def _limits(signal: Any) -> tuple[float, float]:
    """Least and greatest value: what the bits hold, within what the file says.

    Of more than 53 bits the outermost numbers are left out, which doubles would round beyond the type.
    """
    low, high = -math.inf, math.inf
    if signal.is_float:
        high = float(np.finfo(np.float32).max) if signal.length == 32 else math.inf
        low = -high
    else:
        raw = (
            (-(2 ** (signal.length - 1)), 2 ** (signal.length - 1) - 1)
            if signal.is_signed
            else (0, 2**signal.length - 1)
        )
        inner = 0 if signal.length <= 53 else 2 ** (signal.length - 50)
        raw = raw[0] + inner * (raw[0] < 0), raw[1] - inner
        low, high = sorted(float(number * signal.scale + signal.offset) for number in raw)
    least = -math.inf if signal.minimum is None else float(signal.minimum)
    most = math.inf if signal.maximum is None else float(signal.maximum)
    return max(low, least), min(high, most)


def _signals(database: Any) -> dict[str, list[tuple[Any, Any]]]:
    """Messages and signals by "Message.Signal" and by "Signal"."""
    found: dict[str, list[tuple[Any, Any]]] = {}
    for message in database.messages:
        for signal in message.signals:
            found.setdefault(signal.name, []).append((message, signal))
            found.setdefault(f"{message.name}.{signal.name}", []).append((message, signal))
    return found


def _find(name: str, wanted: str, signals: Mapping[str, list[tuple[Any, Any]]]) -> tuple[Any, Any]:
    """Message and signal of a name."""
    if wanted not in signals:
        arguments.index_of(f"signal of the DBC file (for '{name}', see option names)", wanted, signals)
    if len(signals[wanted]) > 1:
        owners = ", ".join(f"{message.name}.{wanted}" for message, _ in signals[wanted])
        raise ArgumentError(f"can: signal '{wanted}' of '{name}' is in several messages; name one in names: {owners}.")
    return signals[wanted][0]
