"""Packet sets resolved with a dictionary: the packet and position of each quantity."""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from limberjack.bridge.telemetry.ccsds.packets import CRC, TELEMETRY_HEADER_BYTES
from limberjack.bridge.telemetry.ccsds.schema import DEFAULT, PacketsSpec, SetSpec
from limberjack.bridge.telemetry.ccsds.vocabulary import Vocabulary
from limberjack.bridge.telemetry.dictionary import GROUPS, Dictionary, Quantity
from limberjack.bridge.telemetry.sample import Sample
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.common.nearest import nearest
from limberjack.engine.files.patterns import compiled

#: before the numbers: structure, signature of the plan, number of the publication, publications lost so far, time
DATA_HEADER = struct.Struct(">HIIId")
_WIDTHS: dict[str, np.dtype] = {"float64": np.dtype(">f8"), "float32": np.dtype(">f4")}
_WHOLE_GROUPS = frozenset(f"{group}.*" for group in GROUPS)
_LARGEST_APID = 2046
#: simulated times are sums of steps; a time this little below a multiple of the period counts as reached
_ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class Packet:
    """One packet of a set: a set that is too large for one has several.

    structure : its number in the plan, from 1;  places : of its quantities in the vector of a sample
    """

    name: str
    description: str
    apid: int
    structure: int
    rate_hz: float | None
    dtype: np.dtype
    quantities: tuple[Quantity, ...] = field(repr=False)
    places: np.ndarray = field(repr=False)

    @property
    def bits(self) -> int:
        """Width of its numbers."""
        return self.dtype.itemsize * 8

    def data(self, sample: Sample, signature: int, lost: int) -> bytes:
        """The data of the packet of a sample; a number too large for float32 becomes infinite."""
        head = DATA_HEADER.pack(self.structure, signature, sample.sequence & 0xFFFFFFFF, lost & 0xFFFFFFFF, sample.time)
        numbers = sample.vector[self.places]
        if self.dtype.itemsize == 8:  # nothing can be too large: to say so would take longer than all the rest
            data: bytes = numbers.astype(self.dtype).tobytes()
        else:
            with np.errstate(over="ignore"):
                data = numbers.astype(self.dtype).tobytes()
        return head + data


class Schedule:
    """When a packet is due: at the first sample at or after each multiple of its period in simulated time.

    While the engine does not step, the same sample arrives once a second and is sent, for new clients.
    """

    def __init__(self, rate_hz: float | None) -> None:
        self._rate_hz, self._last, self._time = rate_hz, math.nan, math.nan

    def due(self, time: float) -> bool:
        """Whether the sample of this time is sent; time that jumps back begins again."""
        if self._rate_hz is None:
            return True
        period = math.floor(time * self._rate_hz + _ROUNDING)
        due = period != self._last or time == self._time
        self._last, self._time = period, time
        return due


class Schedules:
    """When a packet of any of several rates is due. Most samples of a fast engine are answered by two comparisons."""

    def __init__(self, rates_hz: Iterable[float | None]) -> None:
        self._rates = set(rates_hz)
        self._each = [Schedule(rate_hz) for rate_hz in self._rates]
        self._time = self._until = math.nan  # of the newest sample; before which no packet is due

    def due(self, time: float) -> bool:
        """Whether any packet is due at the sample of this time, as of `Schedule.due`."""
        before, self._time = self._time, time
        if before < time < self._until:
            return False
        due = [each.due(time) for each in self._each]
        ends = (-math.inf if rate is None else _end(time, rate) for rate in self._rates)
        self._until = min(ends, default=-math.inf)
        return any(due) or time == before


def _end(time: float, rate_hz: float) -> float:
    """A time just before the next multiple of the period counts as reached."""
    return (math.floor(time * rate_hz + _ROUNDING) + 1.0 - 2.0 * _ROUNDING) / rate_hz


@dataclass(frozen=True, eq=False)
class Plan:
    """All packets of a model, and what its telecommands may name.

    apid : of the gateway itself;  signature : CRC-32 over what stands in the packets and what telecommands may name, so
    that packets and telecommands made by another description are recognised
    """

    spec: PacketsSpec
    model: str
    apid: int
    signature: int
    packets: tuple[Packet, ...]
    vocabulary: Vocabulary


def plan_of(dictionary: Dictionary, vocabulary: Vocabulary, spec: PacketsSpec = DEFAULT) -> Plan:
    """The packets of a model.

    spec : the file of packets (`schema.read_packets`); sets of groups that this model does not have are left out

    ArgumentError for a pattern that fits no quantity, an APID or a name that is given twice.
    """
    packets = tuple(_packets(dictionary, spec))
    _check_names(packets)
    text = "\n".join((vocabulary.text, *(_signed(packet) for packet in packets)))
    return Plan(spec, dictionary.model, spec.apid, zlib.crc32(text.encode()), packets, vocabulary)


def _signed(packet: Packet) -> str:
    return f"{packet.name} {packet.apid} {packet.bits} {[quantity.id for quantity in packet.quantities]}"


def _packets(dictionary: Dictionary, spec: PacketsSpec) -> Iterator[Packet]:
    taken = {spec.apid, *(each.apid for each in spec.sets if each.apid is not None)}
    used, structure = {spec.apid}, 0
    for each in spec.sets:
        chosen = _chosen(dictionary, each)
        dtype = _WIDTHS[each.type]
        most = (spec.largest - TELEMETRY_HEADER_BYTES - DATA_HEADER.size - CRC.size) // dtype.itemsize
        parts = [chosen[i : i + most] for i in range(0, len(chosen), most)]
        for k, part in enumerate(parts):
            structure += 1
            apid = _apid(each, k, used, taken)
            used.add(apid)
            name = each.name if len(parts) == 1 else f"{each.name}_{k + 1}"
            quantities = tuple(dictionary.quantities[place] for place in part)
            description = f"{', '.join(each.quantities)}" + (
                f" (part {k + 1} of {len(parts)})" if len(parts) > 1 else ""
            )
            yield Packet(name, description, apid, structure, each.rate_hz, dtype, quantities, np.array(part))


def _apid(each: SetSpec, part: int, used: set[int], taken: set[int]) -> int:
    """The set's own APID and the ones behind it, or the next that nobody asked for."""
    if each.apid is not None:
        apid = each.apid + part
        if apid in used or (part and apid in taken) or apid > _LARGEST_APID:
            why = "is in use already" if apid <= _LARGEST_APID else f"is beyond {_LARGEST_APID}"
            raise ArgumentError(f"set '{each.name}': APID {apid} {why}; give it another apid, or none.")
        return apid
    apid = max(used) + 1
    while apid in taken:
        apid += 1
    if apid > _LARGEST_APID:
        raise ArgumentError(f"set '{each.name}': no APID up to {_LARGEST_APID} is left; give the sets lower ones.")
    return apid


def _chosen(dictionary: Dictionary, each: SetSpec) -> list[int]:
    """Places of the set's quantities, in the order of its patterns, each once; time stands in every packet anyway.

    A whole group ("output.*") may be empty, so that one file serves many models.
    """
    found: dict[int, None] = {}
    for pattern in each.quantities:
        match = compiled(pattern).match
        places = [place for id, place in dictionary.places.items() if match(id)]
        if not places and pattern not in _WHOLE_GROUPS:
            _none_fits(dictionary, each, pattern)
        found |= dict.fromkeys(places)
    chosen = [place for place in found if dictionary.quantities[place].group != "time"]
    if found and not chosen:
        raise ArgumentError(f"set '{each.name}' holds only the time, which every packet has; name more quantities.")
    return chosen


def _none_fits(dictionary: Dictionary, each: SetSpec, pattern: str) -> NoReturn:
    near = nearest(pattern, list(dictionary.places), count=3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"the groups are {', '.join(dictionary.groups)}."
    raise ArgumentError(f"set '{each.name}': no quantity fits '{pattern}'; {hint}")


def _check_names(packets: Sequence[Packet]) -> None:
    names = [packet.name for packet in packets]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ArgumentError(f"two packets are called '{twice}'; rename one of the sets.")
