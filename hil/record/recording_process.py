"""The process that writes a record: takes rows and events from shared memory, writes them to an MCAP file.

`mcap_file.McapRecorder` starts this file as a script. It imports nothing of limberjack, so that it is ready within a
tenth of a second, and the bench spends no time on text, compression or files. It goes on when the bench is killed:
what was in the shared memory then is written, and the file finished.
"""

from __future__ import annotations

import contextlib
import errno
import json
import math
import mmap
import os
import select
import signal
import struct
import sys
import time
from collections.abc import Iterator, Sequence
from typing import IO, Any, cast

#: where the counts (int64) stand at the start of the shared memory
ROWS_PUT, ROWS_TAKEN, ROWS_ACKNOWLEDGED, ROWS_DROPPED = range(4)
EVENT_BYTES_PUT, EVENT_BYTES_TAKEN, EVENTS_DROPPED, CLOSING = range(4, 8)
_COUNTS = 8
#: length of an event's text, simulated time and wall time, ns
_EVENT_HEAD = struct.Struct("<Iqq")
#: longest time between two looks at the shared memory, s
_POLL_S = 0.02
#: text after which a chunk is written though its time has not come, bytes
_CHUNK_BYTES = 1 << 20

SIGNALS_TOPIC, EVENTS_TOPIC = "/signals", "/events"
#: numbers that the channels get
SIGNALS_CHANNEL, EVENTS_CHANNEL = 1, 2
SIGNALS_META, RUN_META, END_META = "limberjack.signals", "limberjack.run", "limberjack.end"
#: levels of the Log schema of Foxglove: info, warning, error
_LEVELS = {"end": 2, "command": 2, "parameter": 2, "clear": 2, "attach": 2, "release": 2, "lock": 2, "unlock": 2}


class Ring:
    """Rows and events on their way from the bench to the process, in memory that both see; each side adds to its
    own counts only, so neither waits for the other.

    width : signals in a row;  capacity : rows that fit;  event_bytes : size of the ring of events
    """

    def __init__(self, memory: mmap.mmap, width: int, capacity: int, event_bytes: int) -> None:
        self.width, self.capacity, self.event_bytes = width, capacity, event_bytes
        whole, ends = memoryview(memory), [8 * _COUNTS]
        for size in (16 * capacity, 8 * capacity * width, event_bytes):
            ends.append(ends[-1] + size)
        self.counts = whole[: ends[0]].cast("q")
        self.stamps = whole[ends[0] : ends[1]].cast("q")
        self.values: Any = whole[ends[1] : ends[2]].cast("d")
        self._events = whole[ends[2] : ends[3]]

    @staticmethod
    def size(width: int, capacity: int, event_bytes: int) -> int:
        """Bytes of shared memory that it takes."""
        return 8 * _COUNTS + capacity * (16 + 8 * width) + event_bytes

    def full(self) -> bool:
        """Whether another row does not fit now."""
        return bool(self.counts[ROWS_PUT] - self.counts[ROWS_TAKEN] >= self.capacity)

    def holds_event(self, length: int) -> bool:
        """Whether an event with a text of so many bytes fits now."""
        used = self.counts[EVENT_BYTES_PUT] - self.counts[EVENT_BYTES_TAKEN]
        return bool(used + _EVENT_HEAD.size + length <= self.event_bytes)

    def put_event(self, text: bytes, time_ns: int, wall_ns: int) -> bool:
        """Add an event; False, and counted, where it does not fit."""
        data = _EVENT_HEAD.pack(len(text), time_ns, wall_ns) + text
        put = self.counts[EVENT_BYTES_PUT]
        if not self.holds_event(len(text)):
            self.counts[EVENTS_DROPPED] += 1
            return False
        at = put % self.event_bytes
        first = min(len(data), self.event_bytes - at)
        self._events[at : at + first] = data[:first]
        self._events[: len(data) - first] = data[first:]
        self.counts[EVENT_BYTES_PUT] = put + len(data)
        return True

    def events(self, until: int) -> Iterator[tuple[bytes, int, int]]:
        """Take the events put up to a count of bytes: text, simulated time and wall time, ns."""
        taken = self.counts[EVENT_BYTES_TAKEN]
        while taken < until:
            length, time_ns, wall_ns = _EVENT_HEAD.unpack(self._bytes(taken, _EVENT_HEAD.size))
            yield self._bytes(taken + _EVENT_HEAD.size, length), time_ns, wall_ns
            taken += _EVENT_HEAD.size + length
            self.counts[EVENT_BYTES_TAKEN] = taken

    def _bytes(self, start: int, length: int) -> bytes:
        at = start % self.event_bytes
        first = min(length, self.event_bytes - at)
        return bytes(self._events[at : at + first]) + bytes(self._events[: length - first])

    def rows(self, until: int) -> Iterator[tuple[int, int, list[float]]]:
        """Take the rows put up to a count: number of the row, wall time, ns, and values."""
        for count in range(self.counts[ROWS_TAKEN], until):
            slot = count % self.capacity
            values = self.values[slot * self.width : (slot + 1) * self.width].tolist()
            yield self.stamps[2 * slot], self.stamps[2 * slot + 1], values
            self.counts[ROWS_TAKEN] = count + 1


def grouped(names: Sequence[str]) -> dict[str, list[str]]:
    """Names as they stand in a message: "q.elbow" is "elbow" in "q"; one without a dot has no keys."""
    groups: dict[str, list[str]] = {}
    for name in names:
        group, dot, key = name.partition(".")
        keys = groups.setdefault(group, [])
        if dot:
            keys.append(key)
    return groups


def _template(names: Sequence[str]) -> str:
    """The message of a row with %s for each value."""
    parts = []
    for group, keys in grouped(names).items():
        inner = ",".join(f"{_quoted(key)}:%s" for key in keys)
        parts.append(f"{_quoted(group)}:{{{inner}}}" if keys else f"{_quoted(group)}:%s")
    return "{" + ",".join(parts) + "}"


def _quoted(name: str) -> str:
    return json.dumps(name).replace("%", "%%")


def _signals_schema(names: Sequence[str], units: Sequence[str]) -> dict[str, Any]:
    unit = dict(zip(names, units))

    def number(name: str) -> dict[str, Any]:
        return {"type": "number", "description": unit[name]}

    properties = {
        group: {"type": "object", "properties": {key: number(f"{group}.{key}") for key in keys}}
        if keys
        else number(group)
        for group, keys in grouped(names).items()
    }
    return {"type": "object", "title": "limberjack.Signals", "properties": properties}


def _events_schema() -> dict[str, Any]:
    """Foxglove's Log, with the parts of an event beside it."""
    stamp = {"type": "object", "properties": {"sec": {"type": "integer"}, "nsec": {"type": "integer"}}}
    texts = {name: {"type": "string"} for name in ("message", "name", "file", "kind", "text")}
    numbers = {
        "level": {"type": "integer"},
        "line": {"type": "integer"},
        "time": {"type": "number", "description": "s"},
    }
    properties = {"timestamp": stamp, **texts, **numbers, "data": {"type": "object"}}
    return {"type": "object", "title": "foxglove.Log", "properties": properties}


class RecordFile:
    """The MCAP file, a chunk at a time.

    stream : file to write to;  names, units : of the signals, in groups;  meta : texts by key
    """

    def __init__(self, stream: IO[bytes], names: Sequence[str], units: Sequence[str], meta: dict[str, str]) -> None:
        from mcap.writer import Writer

        self.rows = self.events = 0
        self._next = self.time_ns = self._length = 0
        self._stream, self._template = stream, _template(names)
        self._writer = cast("Any", Writer(stream, chunk_size=_CHUNK_BYTES))  # flush and finish are not typed
        self._writer.start(profile="", library="limberjack")
        self._writer.add_metadata(SIGNALS_META, {"names": json.dumps(list(names)), "units": json.dumps(list(units))})
        self._writer.add_metadata(RUN_META, meta)
        self._signals = self._channel(SIGNALS_TOPIC, "limberjack.Signals", _signals_schema(names, units))
        self._events = self._channel(EVENTS_TOPIC, "foxglove.Log", _events_schema())
        self._writer.flush()

    def _channel(self, topic: str, name: str, schema: dict[str, Any]) -> int:
        number = self._writer.register_schema(name, "jsonschema", json.dumps(schema).encode())
        return int(self._writer.register_channel(topic, "json", number))

    def row(self, number: int, wall_ns: int, values: list[float]) -> None:
        """Add a row; an event reports rows that are missing before it."""
        time_ns = self.time_ns = max(round(values[0] * 1e9), 0) if math.isfinite(values[0]) else self.time_ns
        if number != self._next:
            text = f"{number - self._next} rows are missing: the record could not keep up with the bench."
            data = {"first_row": self._next, "rows": number - self._next}
            self.own_event("dropped", text, data, values[0], wall_ns)
        self._next = number + 1
        finite = all(map(math.isfinite, values))
        text = self._template % tuple(values if finite else map(_number, values))
        self._writer.add_message(self._signals, time_ns, text.encode(), wall_ns, number & 0xFFFFFFFF)
        self.rows += 1

    def event(self, text: bytes, time_ns: int, wall_ns: int) -> None:
        """Add an event: JSON of time, kind, source, text and data."""
        event = json.loads(text)
        sec, nsec = divmod(time_ns, 1_000_000_000)
        event["timestamp"] = {"sec": sec, "nsec": nsec}
        event["level"] = _LEVELS.get(event["kind"], 3)
        event["name"] = event.pop("source")
        event["message"] = f"{event['kind']}: {event['text']}"
        event["file"], event["line"] = "", 0
        self._writer.add_message(self._events, time_ns, json.dumps(event).encode(), wall_ns, self.events)
        self.events += 1

    def own_event(self, kind: str, text: str, data: dict[str, Any], time_s: float, wall_ns: int) -> None:
        """Add an event of the recorder's own."""
        event = {"time": time_s, "kind": kind, "source": "recorder", "text": text, "data": data}
        self.event(json.dumps(event).encode(), self.time_ns, wall_ns)

    def flush(self, sync: bool) -> None:
        """Write the chunk begun: what was added so far outlives this process, with `sync` a loss of power too.

        OSError if somebody else shortened the file.
        """
        if os.fstat(self._stream.fileno()).st_size < self._length:
            raise OSError(errno.ESTALE, "somebody shortened the file")
        self._writer.flush()
        self._stream.flush()
        self._length = self._stream.tell()
        if sync:
            os.fdatasync(self._stream.fileno())

    def finish(self, meta: dict[str, str]) -> None:
        """Write the last chunk, how the recording ended, and the index."""
        self._writer.flush()
        self._writer.add_metadata(END_META, meta)
        self._writer.finish()
        self._stream.flush()


def _number(value: float) -> str:
    """JSON has no infinity and no NaN: 1e999 is read as infinity, null as NaN."""
    if math.isnan(value):
        return "null"
    return repr(value) if math.isfinite(value) else ("1e999" if value > 0.0 else "-1e999")


def drain(ring: Ring, file: RecordFile, flush_s: float, sync: bool, poll: Any) -> None:
    """Move everything from the ring to the file until `poll` says that the bench has gone; then what is left.

    poll : waits a moment, returns whether the bench closed the record or ended
    """
    counts, flushed, ended = ring.counts, time.monotonic(), False
    rows, events = counts[ROWS_PUT], counts[EVENT_BYTES_PUT]
    while not ended:
        # what was put before the wait: stores of the other side in whatever order have arrived by now
        ended = poll()
        if ended:
            rows, events = counts[ROWS_PUT], counts[EVENT_BYTES_PUT]
        for text, time_ns, wall_ns in ring.events(events):
            file.event(text, time_ns, wall_ns)
        for number, wall_ns, values in ring.rows(rows):
            file.row(number, wall_ns, values)
        if time.monotonic() - flushed >= flush_s or ended:
            file.flush(sync)
            flushed, counts[ROWS_ACKNOWLEDGED] = time.monotonic(), rows
        # rows first: every event before a row is then among the events
        rows, events = counts[ROWS_PUT], counts[EVENT_BYTES_PUT]


def _poll_of(parent: int) -> Any:
    def poll() -> bool:
        closed = bool(select.select([sys.stdin.buffer], [], [], _POLL_S)[0])
        return closed or os.getppid() != parent

    return poll


def _record(order: dict[str, Any]) -> dict[str, Any]:
    """The whole work; returns what was written."""
    sizes = len(order["names"]), order["capacity"], order["event_bytes"]
    ring = Ring(mmap.mmap(order["memory"], Ring.size(*sizes)), *sizes)
    with open(order["path"], "wb") as stream:
        file = RecordFile(stream, order["names"], order["units"], order["meta"])
        print(json.dumps({"ready": True}), flush=True)
        drain(ring, file, order["flush_s"], order["sync"], _poll_of(order["parent"]))
        counts = ring.counts
        if not counts[CLOSING]:
            text = "the process of the bench ended without closing the record."
            file.own_event("end", text, {}, 1e-9 * file.time_ns, time.time_ns())
        dropped = {"rows_dropped": counts[ROWS_DROPPED], "events_dropped": counts[EVENTS_DROPPED]}
        report = {"closed": bool(counts[CLOSING]), "rows": file.rows, "events": file.events, **dropped}
        file.finish({key: json.dumps(value) for key, value in report.items()})
        _check_place(stream, order["path"])
    return report


def _check_place(stream: IO[bytes], path: str) -> None:
    """OSError if the written file is no longer at its path."""
    with contextlib.suppress(FileNotFoundError):
        if os.path.samestat(os.stat(path), os.fstat(stream.fileno())):
            return
    raise OSError(errno.ESTALE, "somebody moved, removed or replaced the file")


def main() -> int:
    """Read the order from standard input, record until that ends, report on standard output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    order = json.loads(sys.stdin.buffer.readline())
    try:
        report: dict[str, Any] = _record(order)
    except Exception as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else f"{type(error).__name__}: {error}"
        report = {"error": why}
    # the bench may be gone
    with contextlib.suppress(OSError):
        print(json.dumps(report), flush=True)
    return 1 if "error" in report else 0


if __name__ == "__main__":
    sys.exit(main())
