"""Plant files: a model's data, variables and texts as C reads them (`plant_file.h`)."""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.model.build import new_state
from limberjack.engine.model.plant import Plant
from limberjack.engine.model.system import System
from limberjack.engine.tables.reports import INTEGRATORS

MAGIC, VERSION = b"LJPLANT\0", 2
COUPLINGS = {"embedded": 0, "process": 1}
TYPE_FLOAT64, TYPE_TEXT, TYPE_BOOLEAN = range(3)
CAUSALITIES = {"independent": 0, "parameter": 1, "input": 2, "output": 3, "local": 4}
FLAG_START, FLAG_TUNABLE, FLAG_FIXED, FLAG_ENDLESS, FLAG_WHOLE = 1, 2, 4, 8, 16
MAX_TOKEN = 39

#: the header, field by field: name, struct format
_HEADER = (
    ("magic", "8s"),
    ("version", "I"),
    ("header_bytes", "I"),
    ("file_bytes", "Q"),
    ("crc32", "I"),
    ("coupling", "I"),
    ("model_hash", "32s"),
    ("token", "40s"),
    ("dt", "d"),
    ("integrator", "I"),
    ("substeps", "I"),
    ("n_ints", "Q"),
    ("n_floats", "Q"),
    ("n_work", "Q"),
    ("n_state", "Q"),
    ("n_observed", "Q"),
    ("n_surveyed", "Q"),
    ("n_switches", "Q"),
    ("n_q", "Q"),
    ("n_v", "Q"),
    ("n_commands", "Q"),
    ("n_loops", "Q"),
    ("n_variables", "Q"),
    ("texts_bytes", "Q"),
    ("at_ints", "Q"),
    ("at_floats", "Q"),
    ("at_state", "Q"),
    ("at_variables", "Q"),
    ("at_labels", "Q"),
    ("at_texts", "Q"),
)
_HEADER_STRUCT = struct.Struct("<" + "".join(form for _, form in _HEADER))
_CRC_AT = struct.calcsize("<8sIIQ")
#: region, count, offset, type, causality, flags, name, start_text, unit, min, max,
#: start (of a number among the settings) or nominal (of a state)
_VARIABLE = struct.Struct("<IIQIIIIIIddd")


class Region(IntEnum):
    """The vector that holds a row's numbers; the codes of `plant_file.h`."""

    TIME = 0
    PARAMETER = 1
    Q = 2
    V = 3
    COMMAND = 4
    OBSERVED = 5
    SURVEYED = 6
    RATE = 7
    SWITCH = 8
    SETTING = 9
    STATE = 10


@dataclass(frozen=True)
class Row:
    """One variable of the table.

    region, offset, count : `count` numbers of that vector from `offset`
    kind : TYPE_…; causality : a key of CAUSALITIES; flags : of FLAG_…
    start_texts : of a text, and of a parameter of the process coupling; unit : SI symbol
    start : of a number among the settings, or nominal value of a state
    """

    name: str
    region: Region
    offset: int
    count: int = 1
    kind: int = TYPE_FLOAT64
    causality: str = "local"
    flags: int = 0
    start_texts: tuple[str, ...] = ("",)
    unit: str = ""
    minimum: float = -math.inf
    maximum: float = math.inf
    start: float = 0.0


class Texts:
    """Zero-terminated UTF-8 texts, one after the other; equal runs of texts are kept once."""

    def __init__(self) -> None:
        self.content = bytearray(b"\0")
        self._places: dict[tuple[str, ...], int] = {("",): 0}

    def place(self, *texts: str) -> int:
        """Offset of the first of these texts; the others follow it."""
        if texts not in self._places:
            self._places[texts] = len(self.content)
            for text in texts:
                self.content += text.encode() + b"\0"
        return self._places[texts]


def plant_file(
    system: System,
    plant: Plant,
    rows: Iterable[Row],
    token: str,
    *,
    coupling: str = "embedded",
    floats: np.ndarray | None = None,
    dt: float | None = None,
    integrator: str | None = None,
    substeps: int = 1,
) -> bytes:
    """A plant file: the same bytes for the same arguments.

    plant : with the model's initial parameters; token : identifies the file, at most 39 characters
    floats : of the process coupling, whose file has no Plant, the start values of the parameters
    dt, integrator : the model's own if None, as `Simulation` has them
    """
    if not 0 < len(token.encode()) <= MAX_TOKEN:
        raise ArgumentError(f"the token '{token}' is empty or longer than {MAX_TOKEN} bytes; give a shorter one.")
    texts = Texts()
    table = [_packed(row, texts) for row in rows]
    named = [texts.place(label) for label in labels(system)]
    sections = {
        "ints": (plant.ints if floats is None else plant.ints[:0]).astype("<i8").tobytes(),
        "floats": (plant.floats if floats is None else floats).astype("<f8").tobytes(),
        "state": new_state(plant, system).astype("<f8").tobytes(),
        "variables": b"".join(table),
        "labels": np.array(named, dtype="<u4").tobytes(),
        "texts": bytes(texts.content),
    }
    counts = {
        "coupling": COUPLINGS[coupling],
        "model_hash": plant.digest()[:32].encode(),
        "token": token.encode(),
        "dt": system.dt if dt is None else dt,
        "integrator": INTEGRATORS[system.integrator if integrator is None else integrator],
        "substeps": substeps,
        "n_work": plant.work_size,
        "n_observed": plant.observed_size,
        "n_surveyed": plant.surveyed_size,
        "n_switches": plant.switches_size,
        "n_q": system.nq,
        "n_v": system.nv,
        "n_commands": len(system.command_names),
        "n_loops": len(system.loops),
        "n_variables": len(table),
        "texts_bytes": len(texts.content),
    }
    return _assembled(counts, sections)


def labels(system: System) -> list[str]:
    """Texts for log lines: a name for each of the nq coordinates, then of the nv velocities, then of the loops."""
    listed = []
    for word, attribute in (("coordinate", "coordinate_names"), ("velocity", "velocity_names")):
        for body in system.bodies:
            listed += [f"{word} '{name}' of body '{body.name}'" for name in getattr(body.hinge, attribute)]
    return listed + [f"loop '{loop.name}'" for loop in system.loops]


def _packed(row: Row, texts: Texts) -> bytes:
    return _VARIABLE.pack(
        row.region,
        row.count,
        row.offset,
        row.kind,
        CAUSALITIES[row.causality],
        row.flags,
        texts.place(row.name),
        texts.place(*row.start_texts),
        texts.place(row.unit),
        row.minimum,
        row.maximum,
        row.start,
    )


def _assembled(counts: dict[str, Any], sections: dict[str, bytes]) -> bytes:
    """Header and sections, each section on a multiple of 8 bytes; the checksum is of the whole, with itself zero."""
    body, places = bytearray(), {}
    for name, content in sections.items():
        places[f"at_{name}"] = _HEADER_STRUCT.size + len(body)
        body += content + bytes(-len(content) % 8)
    values = {
        "magic": MAGIC,
        "version": VERSION,
        "header_bytes": _HEADER_STRUCT.size,
        "file_bytes": _HEADER_STRUCT.size + len(body),
        "crc32": 0,
        **counts,
        **places,
        **{f"n_{name}": len(sections[name]) // 8 for name in ("ints", "floats", "state")},
    }
    whole = bytearray(_HEADER_STRUCT.pack(*(values[name] for name, _ in _HEADER)) + body)
    struct.pack_into("<I", whole, _CRC_AT, zlib.crc32(whole))
    return bytes(whole)


@dataclass(frozen=True)
class PlantFileContent:
    """The result of `read_plant_file`: the header's fields, the vectors, a row for each variable, the labels.

    variables : name, region, count, offset, type, causality, flags, start text, unit, minimum, maximum, start
    """

    header: dict[str, Any]
    ints: np.ndarray
    floats: np.ndarray
    state: np.ndarray
    variables: tuple[dict[str, Any], ...]
    labels: tuple[str, ...]


def read_plant_file(content: bytes) -> PlantFileContent:
    """The parts of a plant file, for inspection. Raises ArgumentError if the file is damaged."""
    if len(content) < _HEADER_STRUCT.size or content[:8] != MAGIC:
        raise ArgumentError("this is not a plant file.")
    header = dict(zip((name for name, _ in _HEADER), _HEADER_STRUCT.unpack_from(content)))
    zeroed = content[:_CRC_AT] + bytes(4) + content[_CRC_AT + 4 :]
    if header["file_bytes"] != len(content) or zlib.crc32(zeroed) != header["crc32"]:
        raise ArgumentError("the plant file is damaged; write it again.")
    texts = content[header["at_texts"] : header["at_texts"] + header["texts_bytes"]]
    rows = [
        _VARIABLE.unpack_from(content, header["at_variables"] + _VARIABLE.size * i)
        for i in range(header["n_variables"])
    ]
    named = np.frombuffer(content, "<u4", sum(header[f"n_{part}"] for part in ("q", "v", "loops")), header["at_labels"])

    def numbers(name: str, form: str) -> np.ndarray:
        return np.frombuffer(content, form, header[f"n_{name}"], header[f"at_{name}"])

    return PlantFileContent(
        header,
        numbers("ints", "<i8"),
        numbers("floats", "<f8"),
        numbers("state", "<f8"),
        tuple(_described(row, texts) for row in rows),
        tuple(_text(texts, int(at)) for at in named),
    )


def _described(row: tuple, texts: bytes) -> dict[str, Any]:
    region, count, offset, kind, causality, flags, name, start_text, unit, minimum, maximum, start = row
    return {
        "name": _text(texts, name),
        "region": Region(region),
        "count": count,
        "offset": offset,
        "type": kind,
        "causality": list(CAUSALITIES)[causality],
        "flags": flags,
        "start_text": _text(texts, start_text),
        "unit": _text(texts, unit),
        "minimum": minimum,
        "maximum": maximum,
        "start": start,
    }


def _text(texts: bytes, at: int) -> str:
    return texts[at : texts.index(0, at)].decode()
