"""Samples for Yamcs as JSON parameters, where CCSDS packets would be too much (docs/how-to/telemetry.md)."""

from __future__ import annotations

import json
import math
import socket
from datetime import UTC, datetime
from urllib.parse import parse_qsl, urlsplit

import numpy as np

from limberjack.addresses import Address, address
from limberjack.bridge.telemetry.dictionary import Dictionary
from limberjack.bridge.telemetry.identifiers import safe_name
from limberjack.bridge.telemetry.outlets.registry import Context
from limberjack.bridge.telemetry.sample import Notice, Sample
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.files.patterns import compiled

FORM = "udp://127.0.0.1:11016"
#: UdpParameterDataLink reads 10 KiB of a datagram
_LARGEST_DATAGRAM = 10_000
_DEFAULT_HZ = 5.0
#: with places for the time and the number
_PARAMETER = '{"id":{"name":NAME},"generationTime":"%s","engValue":{"type":"DOUBLE","doubleValue":%s}}'


class YamcsOutlet:
    """Sends samples as datagrams of JSON, the form that Yamcs' UdpParameterDataLink takes with `json: true`.

    target : where that link listens;  patterns : of identifiers
    space : SpaceSystem of the parameters in Yamcs; None: the model's name, as the exported XTCE has it
    rate_hz : samples a second at most
    """

    name = "yamcs"

    def __init__(
        self, target: Address, patterns: list[str], space: str | None = None, rate_hz: float = _DEFAULT_HZ
    ) -> None:
        self._target, self._patterns, self._space, self.rate_hz = target, patterns, space, rate_hz
        self._socket: socket.socket | None = None

    def open(self, dictionary: Dictionary) -> None:
        """Find the quantities. ArgumentError for a pattern that none fits."""
        places: dict[int, None] = {}
        for pattern in self._patterns:
            fits = [place for id, place in dictionary.places.items() if compiled(pattern).match(id)]
            if not fits:
                groups = ", ".join(dictionary.groups)
                raise ArgumentError(f"--yamcs: no quantity fits '{pattern}'; the groups are {groups}.")
            places |= dict.fromkeys(fits)
        space = self._space or f"/{safe_name(dictionary.model)}"
        ids = [f"{space}/{safe_name(dictionary.quantities[place].id)}" for place in places]
        self._datagrams = _datagrams(ids, list(places))
        self._sequence = 0
        self._socket = socket.socket(self._target.family, socket.SOCK_DGRAM)

    def sample(self, sample: Sample) -> None:
        """Send a sample. OSError where there is no way to the address."""
        assert self._socket is not None
        stamp = datetime.fromtimestamp(sample.unix_ns // 1_000_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        stamp += f".{sample.unix_ns % 1_000_000_000:09d}Z"
        for places, template in self._datagrams:
            values = [each for value in sample.vector[places].tolist() for each in (stamp, _number(value))]
            self._socket.sendto((template % (self._sequence, *values)).encode(), self._target.pair)
            self._sequence = (self._sequence + 1) & 0x7FFFFFFF

    def notice(self, notice: Notice) -> None:
        """Parameters have no place for text."""

    def close(self) -> None:
        """Close the socket; safe to call more than once."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def _datagrams(ids: list[str], places: list[int]) -> list[tuple[np.ndarray, str]]:
    """Places and the JSON around their numbers, split so that each fits a datagram."""
    head, tail, longest_number = '{"seqNum":%d,"parameter":[', "]}", 60
    found: list[tuple[np.ndarray, str]] = []
    group: list[str] = []
    start = size = 0
    for k, id in enumerate(ids):
        text = _PARAMETER.replace("NAME", json.dumps(id).replace("%", "%%"))
        if group and size + len(text) + longest_number > _LARGEST_DATAGRAM:
            found.append((np.array(places[start:k]), head + ",".join(group) + tail))
            group, start, size = [], k, 0
        group.append(text)
        size += len(text) + longest_number
    return [*found, (np.array(places[start:]), head + ",".join(group) + tail)]


def _number(value: float) -> str:
    """The JSON of protobuf has words for NaN and infinities."""
    if math.isfinite(value):
        return repr(value)
    return '"NaN"' if math.isnan(value) else '"Infinity"' if value > 0.0 else '"-Infinity"'


def make(text: str, context: Context) -> YamcsOutlet:
    """An outlet for "udp://HOST:PORT?quantities=q.*,energy.*&space=/arm&rate_hz=5"."""
    parts, where = urlsplit(text), f"--yamcs {text}"
    if parts.scheme != "udp" or parts.path not in ("", "/") or parts.fragment:
        raise ArgumentError(f"{where}: not understood; give {FORM}.")
    given = {**context.settings, **dict(parse_qsl(parts.query, keep_blank_values=True))}
    unknown = set(given) - {"quantities", "space"}
    if unknown:
        raise ArgumentError(f"{where}: there is no option '{min(unknown)}'; there are quantities and space.")
    wanted = given.get("quantities", "*")
    patterns = [str(each) for each in wanted] if isinstance(wanted, list) else str(wanted).split(",")
    space = given.get("space")
    return YamcsOutlet(address(parts.netloc, where), patterns, None if space is None else f"/{str(space).strip('/')}")
