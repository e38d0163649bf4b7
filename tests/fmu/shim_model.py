"""The toy model of shim/toy_kernels.c: its plant.bin, written field by field, and its motion as an oracle."""

from __future__ import annotations

import math
import struct
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path

from limberjack.engine.tables.plant import HEADER

TOKEN = "{toy-model}"
DT = 0.01
NQ, NV, NU, NY = 5, 4, 2, 3
STIFFNESS, DAMPING, MASS, INVERSE, LOWER, UPPER, LIMIT = range(7)
FLOATS = (9.0, 0.25, 2.0, 0.5, -2.0, 2.0, 5.0)
START = (0.0, 0.0, 0.5, 0.6, 0.0, 0.8, 0.0, 0.1, 0.3, -0.2, 0.4, 0.0, 0.0)

(TIME, PARAMETER, Q, V, COMMAND, OBSERVED, SURVEYED, RATE, SWITCH, SETTING) = range(10)
INDEPENDENT, PARAM, INPUT, OUTPUT, LOCAL = range(5)
HAS_START, TUNABLE, FIXED = 1, 2, 4


@dataclass(frozen=True)
class Row:
    """One line of the variable table."""

    name: str
    region: int
    offset: int
    causality: int
    flags: int = 0
    count: int = 1
    low: float = -math.inf
    high: float = math.inf
    text: bool = False
    boolean: bool = False
    nominal: float = 1.0


def table() -> list[Row]:
    """All variables; the place is the value reference."""
    quaternion = [Row(f"top.{c}", Q, 1 + i, LOCAL, HAS_START) for i, c in enumerate("wxyz")]
    spins = [Row(f"top.w{c}", V, 1 + i, LOCAL, HAS_START) for i, c in enumerate("xyz")]
    return [
        Row("time", TIME, 0, INDEPENDENT),
        Row("angle", Q, 0, OUTPUT, HAS_START),
        *quaternion,
        Row("rate", V, 0, OUTPUT, HAS_START, nominal=2.5),
        *spins,
        *[Row(f"der(q{i})", RATE, i, LOCAL) for i in range(NQ)],
        *[Row(f"der(v{i})", OBSERVED, NV + i, LOCAL) for i in range(NV)],
        Row("torque", OBSERVED, 0, OUTPUT),
        Row("torque_command", COMMAND, 0, INPUT, HAS_START, low=-100.0, high=100.0),
        Row("stiffness", PARAMETER, STIFFNESS, PARAM, HAS_START | TUNABLE),
        Row("damping", PARAMETER, DAMPING, PARAM, HAS_START | TUNABLE, low=0.0),
        Row("mass", PARAMETER, MASS, PARAM, HAS_START | TUNABLE, low=1e-3),
        Row("lower", PARAMETER, LOWER, PARAM, HAS_START | FIXED),
        Row("energy", SURVEYED, 2, OUTPUT),
        Row("top.length", SURVEYED, 3, LOCAL),
        Row("upper_stop", SWITCH, 0, LOCAL),
        Row("lower_stop", SWITCH, NV, LOCAL),
        Row("above_limit", SWITCH, 2 * NV, LOCAL),
        Row("below_limit", SWITCH, 2 * NV + 1, LOCAL),
        Row("encoder", OBSERVED, 2 * NV, OUTPUT),
        Row("misalignment", OBSERVED, 2 * NV + 1, LOCAL),
        Row("q", Q, 0, OUTPUT, HAS_START, count=NQ),
        Row("v", V, 0, OUTPUT, count=NV),
        Row("tau", OBSERVED, 0, OUTPUT, count=NV),
        Row("latch", COMMAND, 1, INPUT, HAS_START, boolean=True),
        Row("latched", OBSERVED, 2 * NV + 2, OUTPUT, boolean=True),
        Row("note#1 at 100%", SETTING, 0, PARAM, HAS_START | FIXED, text=True),
    ]


REFERENCE = {row.name: place for place, row in enumerate(table())}
STATES = [REFERENCE[n] for n in ("angle", "top.w", "top.x", "top.y", "top.z", "rate", "top.wx", "top.wy", "top.wz")]
_FIRST_DERIVATIVE = REFERENCE["der(q0)"]
DERIVATIVES = list(range(_FIRST_DERIVATIVE, _FIRST_DERIVATIVE + NQ + NV))
LABELS = [f"coordinate {i} of the toy" for i in range(NQ)] + [f"velocity {j} of the toy" for j in range(NV)]

_HEADER = struct.Struct("<8sIIQII32s40sdII19Q")
_VARIABLE = struct.Struct("<IIQIIIIIIddd")
_CRC_AT = 24
HEADER_BYTES = _HEADER.size


@dataclass(frozen=True)
class PlantData:
    """What goes into plant.bin; tests replace fields to make wrong files with right checksums."""

    magic: bytes = b"LJPLANT\0"
    version: int = 2
    coupling: int = 0
    token: bytes = TOKEN.encode()
    dt: float = DT
    integrator: int = 0
    substeps: int = 1
    loops: int = 0
    ints: tuple[int, ...] = ()
    floats: tuple[float, ...] = FLOATS
    state: tuple[float, ...] = START
    rows: tuple[Row, ...] = field(default_factory=lambda: tuple(table()))
    counts: dict[str, int] = field(default_factory=dict)  # overrides of header counts and places
    texts_end: bytes = b"\0"

    def __post_init__(self) -> None:
        if not self.ints:
            object.__setattr__(
                self, "ints", (1, 2, NQ, NV, 0, 1, 1, NU, 2, NY, 0, 0, self.loops, *(0,) * (HEADER - 13))
            )

    @property
    def labels(self) -> list[str]:
        """Of coordinates, velocities and loops."""
        return LABELS + [f"loop {i} of the toy" for i in range(self.loops)]

    def packed(self) -> bytes:
        """The bytes of the file."""
        texts, places = bytearray(b"\0"), []
        for text in [row.name for row in self.rows] + self.labels:
            places.append(len(texts))
            texts += text.encode() + b"\0"
        texts = texts[:-1] + self.texts_end
        variables = b"".join(self._row(row, at) for row, at in zip(self.rows, places))
        labels = struct.pack(f"<{len(self.labels)}I", *places[len(self.rows) :])
        parts = {
            "ints": struct.pack(f"<{len(self.ints)}q", *self.ints),
            "floats": struct.pack(f"<{len(self.floats)}d", *self.floats),
            "state": struct.pack(f"<{len(self.state)}d", *self.state),
            "variables": variables,
            "labels": labels,
            "texts": bytes(texts),
        }
        return self._assembled(parts)

    def _row(self, row: Row, name: int) -> bytes:
        kind = 1 if row.text else 2 if row.boolean else 0
        return _VARIABLE.pack(
            row.region,
            row.count,
            row.offset,
            kind,
            row.causality,
            row.flags,
            name,
            0,
            0,
            row.low,
            row.high,
            row.nominal,
        )

    def _assembled(self, parts: dict[str, bytes]) -> bytes:
        at, body = {}, bytearray()
        for name, content in parts.items():
            at[f"at_{name}"] = HEADER_BYTES + len(body)
            body += content + bytes(-len(content) % 8)
        numbers = {
            "n_ints": len(self.ints),
            "n_floats": len(self.floats),
            "n_work": 24,
            "n_state": len(self.state),
            "n_observed": 2 * NV + NY,
            "n_surveyed": 9 + 13,
            "n_switches": 2 * NV + 2,
            "n_q": NQ,
            "n_v": NV,
            "n_commands": NU,
            "n_loops": self.loops,
            "n_variables": len(self.rows),
            "texts_bytes": len(parts["texts"]),
            **at,
            **self.counts,
        }
        head = (self.magic, self.version, HEADER_BYTES, HEADER_BYTES + len(body), 0, self.coupling, b"0" * 32)
        tail = (self.token, self.dt, self.integrator, self.substeps, *numbers.values())
        return sealed(_HEADER.pack(*head, *tail) + bytes(body))

    def write(self, folder: Path) -> Path:
        """plant.bin in a new resources directory; its path."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "plant.bin").write_bytes(self.packed())
        return folder


def sealed(content: bytes) -> bytes:
    """`content` with the checksum that fits it."""
    blank = content[:_CRC_AT] + bytes(4) + content[_CRC_AT + 4 :]
    return blank[:_CRC_AT] + struct.pack("<I", zlib.crc32(blank)) + blank[_CRC_AT + 4 :]


def with_row(name: str, **changes: object) -> PlantData:
    """A file whose variable `name` is changed."""
    rows = tuple(replace(row, **changes) if row.name == name else row for row in table())  # type: ignore[arg-type]
    return PlantData(rows=rows)


@dataclass
class Toy:
    """The pendulum in Python, operation by operation as the kernels compute it."""

    angle: float = START[2]
    rate: float = START[7]
    command: float = 0.0
    floats: tuple[float, ...] = FLOATS

    def torque(self) -> float:
        limit = self.floats[LIMIT]
        return max(-limit, min(limit, self.command)) - self.floats[DAMPING] * self.rate

    def acceleration(self) -> float:
        return (self.torque() - self.floats[STIFFNESS] * math.sin(self.angle)) * (1.0 / self.floats[MASS])

    def step(self, dt: float, count: int = 1) -> None:
        for _ in range(count):
            self.rate += dt * self.acceleration()
            self.angle += dt * self.rate
