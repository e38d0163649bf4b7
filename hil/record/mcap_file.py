"""Records in MCAP files: `McapRecorder` writes one while a bench runs, `McapFile` reads one, unfinished ones too."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import mmap
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError, MissingExtraError, UnknownNameError
from limberjack.engine.files.patterns import compiled
from limberjack.hil.errors import HilError
from limberjack.hil.events import Event, EventLog
from limberjack.hil.record import recording_process as process
from limberjack.hil.record.record_file import record_file
from limberjack.version import __version__

#: memory for rows and for events on their way to the file, bytes, and least rows
RING_BYTES, EVENT_BYTES, FEWEST_ROWS = 16 << 20, 4 << 20, 16
#: longest waits for the recording process, s: to begin, to write what is left
_BEGIN_S, _END_S = 30.0, 60.0
#: signals that every record keeps: replay needs them
_ALWAYS = ("time", "command.*")
#: bytes that a chunk of a record may unpack to: a hundred times what a bench writes
_MOST_CHUNK = 1 << 30


def require_mcap() -> None:
    """MissingExtraError if the package mcap is not installed."""
    if importlib.util.find_spec("mcap") is None:
        raise MissingExtraError("recording runs and reading records", "mcap", "hil")


class McapRecorder:
    """Records a run; the Recorder of an Executive.

    Rows and events go to memory shared with a separate process, which writes them: `row` copies numbers and does
    nothing else. A row is *acknowledged* once the chunk that holds it has been handed to the operating system, at most
    `flush_s` and two looks (20 ms each) after `row` while the process keeps up. Acknowledged rows outlive a kill of
    bench and process, with `sync` a loss of power too. When the bench alone is killed, the process still writes every
    row and event put, and finishes the file.

    path : file to write; one that is there is replaced
    signals : patterns (* and ?) of what to keep; time and all commands are kept always
    flush_s : longest time between two chunks, s
    sync : the process waits for the disk after each chunk
    ring_bytes : memory for rows; a full one drops rows, counts them, and the record says where. In lockstep (meta
        "paced" false) the run waits for room instead, while the process lives
    log : gets a line when rows begin to be dropped
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        signals: Sequence[str] = ("*",),
        flush_s: float = 0.5,
        sync: bool = False,
        ring_bytes: int = RING_BYTES,
        log: EventLog | None = None,
    ) -> None:
        self.path, self._patterns = Path(path), tuple(signals)
        self._flush_s, self._sync = arguments.positive("flush_s", flush_s), bool(sync)
        self._ring_bytes, self._log = arguments.count("ring_bytes", ring_bytes, 1, 1 << 40), log
        self._child: _Child | None = None
        self._lock = threading.Lock()
        self._dropping = self._patient = False
        self.rows = 0

    def open(self, names: Sequence[str], units: Sequence[str], meta: Mapping[str, Any]) -> None:
        """Begin the file and its process. HilError if that fails, UnknownNameError for a pattern, MissingExtraError."""
        require_mcap()
        if self._child is not None:
            raise HilError(f"{self.path}: a recorder makes one record; make a new one for another run.")
        self._places = _chosen(names, self._patterns)
        self._patient = meta.get("paced") is False
        width = len(self._places)
        self._capacity = max(self._ring_bytes // (8 * width + 16), FEWEST_ROWS)
        texts = {"limberjack": __version__, "started": time.time(), "folder": os.getcwd(), **meta}
        order = {
            "path": str(self.path.absolute()),
            "names": [names[i] for i in self._places],
            "units": [units[i] for i in self._places],
            "meta": {key: json.dumps(value) for key, value in texts.items()},
            "capacity": self._capacity,
            "event_bytes": EVENT_BYTES,
            "flush_s": self._flush_s,
            "sync": self._sync,
            "parent": os.getpid(),
        }
        memory = self._share(process.Ring.size(width, self._capacity, EVENT_BYTES), width)
        try:
            self._child = _Child({**order, "memory": memory}, memory)
        finally:
            os.close(memory)
        answer = self._child.answer(_BEGIN_S)
        if "error" in answer:
            self._child.kill()
            raise HilError(f"{self.path}: the record cannot be written: {answer['error']}. Choose another place.")

    def _share(self, size: int, width: int) -> int:
        """Make the shared memory, every page of it touched; returns its file descriptor."""
        if not hasattr(os, "memfd_create"):
            raise HilError(f"{self.path}: records are made on Linux; this system has no memory files.")
        memory = os.memfd_create("limberjack-record")
        os.ftruncate(memory, size)
        self._ring = process.Ring(mmap.mmap(memory, size), width, self._capacity, EVENT_BYTES)
        table = np.frombuffer(self._ring.values).reshape(self._capacity, width)
        table.fill(0.0)
        self._slots, self._counts, self._stamps = list(table), self._ring.counts, self._ring.stamps
        return memory

    @property
    def pid(self) -> int:
        """Number of the recording process; 0 before `open`."""
        return self._child.pid if self._child else 0

    @property
    def acknowledged(self) -> int:
        """Rows in chunks that have been written."""
        return int(self._counts[process.ROWS_ACKNOWLEDGED]) if self._child else 0

    @property
    def dropped(self) -> int:
        """Rows that found the ring full."""
        return int(self._counts[process.ROWS_DROPPED]) if self._child else 0

    def row(self, vector: np.ndarray) -> None:
        """Keep the signals; a row that finds the ring full is counted and lost."""
        counts, number = self._counts, self.rows
        self.rows = number + 1
        put = counts[process.ROWS_PUT]
        if put - counts[process.ROWS_TAKEN] >= self._capacity and not self._await(lambda: not self._ring.full()):
            self._drop(number, float(vector[0]))
            return
        slot = put % self._capacity
        np.take(vector, self._places, out=self._slots[slot], mode="clip")
        self._stamps[2 * slot] = number
        self._stamps[2 * slot + 1] = time.time_ns()
        counts[process.ROWS_PUT] = put + 1
        self._dropping = False

    def _await(self, ready: Callable[[], bool]) -> bool:
        """In lockstep, wait for the process to make room; whether there is some."""
        until = time.monotonic() + _END_S
        while self._patient and not ready():
            self._patient = self._child is not None and self._child.alive() and time.monotonic() < until
            time.sleep(0.001)
        return ready()

    def _drop(self, number: int, time_s: float) -> None:
        self._counts[process.ROWS_DROPPED] += 1
        if self._dropping or self._log is None:
            return
        self._dropping = True
        text = f"{self.path.name} takes no rows from row {number} on: its process is behind, or dead."
        self._log.add(Event(time_s, "dropped", "recorder", text, {"first_row": number}))

    def event(self, event: Event) -> None:
        """Keep an event; one that finds no room is counted and lost."""
        parts = {"time": event.time, "kind": event.kind, "source": event.source, "text": event.text}
        text = json.dumps({**parts, "data": _plain(event.data)}).encode()
        with self._lock:
            self._await(lambda: self._ring.holds_event(len(text)))
            self._ring.put_event(text, max(round(1e9 * event.time), 0), time.time_ns())

    def close(self) -> None:
        """Write what is left and finish the file. HilError if rows or events are missing in it."""
        if self._child is None or self._child.orders.closed:
            return
        self._counts[process.CLOSING] = 1
        self._child.orders.close()
        answer = self._child.answer(_END_S)
        self._child.kill()
        if "error" in answer:
            raise HilError(
                f"{self.path}: the record is not complete, {answer['error']}: {self.acknowledged} of {self.rows} rows "
                "were acknowledged and can be read."
            )
        if answer["rows"] < self.rows or answer["events_dropped"]:
            raise HilError(
                f"{self.path}: the record is not complete, its process was behind: it has {answer['rows']} of "
                f"{self.rows} rows, and {answer['events_dropped']} events found no room."
            )


class _Child:
    """The recording process, started with its order; it ends when `orders` is closed."""

    def __init__(self, order: dict[str, Any], memory: int) -> None:
        command, pipe = [sys.executable, "-P", process.__file__], subprocess.PIPE
        # a new session: Ctrl-C in the terminal ends the bench, which then closes the record
        self._process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, pass_fds=(memory,), start_new_session=True, bufsize=0
        )
        self.orders, self._answers = cast("IO[bytes]", self._process.stdin), cast("IO[bytes]", self._process.stdout)
        with contextlib.suppress(OSError), open(self.orders.fileno(), "wb", closefd=False) as whole:
            whole.write(json.dumps(order).encode() + b"\n")

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    def alive(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def answer(self, limit_s: float) -> dict[str, Any]:
        """The next line of the process, or {"error": why there is none}."""
        if not select.select([self._answers], [], [], limit_s)[0]:
            return {"error": f"its process did not answer in {limit_s:g} s"}
        line = self._answers.readline()
        if not line:
            return {"error": f"its process ended with code {self._process.wait()}"}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def kill(self) -> None:
        """End the process if it has not ended yet: it does so when it has answered."""
        with contextlib.suppress(OSError):
            self.orders.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        self._process.kill()
        self._process.wait()
        self._answers.close()


def _chosen(names: Sequence[str], patterns: Sequence[str]) -> np.ndarray:
    """Places of the signals to keep, those of a group together. UnknownNameError for a pattern without a match."""
    kept = set()
    for pattern in (*_ALWAYS, *patterns):
        found = [i for i, name in enumerate(names) if compiled(pattern).match(name)]
        if not found and pattern not in _ALWAYS:
            raise UnknownNameError(f"no signal matches '{pattern}', which is to be recorded.")
        kept.update(found)
    groups = {group: i for i, group in enumerate(process.grouped(names))}
    return np.array(sorted(kept, key=lambda i: (groups[names[i].partition(".")[0]], i)), dtype=np.intp)


def _plain(value: Any) -> Any:
    """What JSON can hold: numbers that are not finite become text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if np.isfinite(value) else str(value)
    return value if isinstance(value, (int, str, bool)) or value is None else str(value)


@dataclass(frozen=True)
class Batch:
    """A chunk of a record.

    numbers : (n,) of its rows, counted from 0 at the start of the run; missing ones were dropped
    walls : (n,) wall time of each row, ns since 1970;  rows : (n, signals) values
    events : those that came with them; each stands in the batch of the first row after it, or in an earlier one
    """

    numbers: np.ndarray
    walls: np.ndarray
    rows: np.ndarray
    events: list[Event] = field(default_factory=list)


class McapFile:
    """A record, read a chunk at a time.

    names, units : of the signals;  meta : what the bench reported about the run
    end : how the recording ended: "closed", "rows", "events", "rows_dropped", "events_dropped"; empty before
        `batches` has come to the end, and for a file that was not finished
    trouble : why the file could not be read to its end, "" if it could; what stands before is whole

    ArgumentError if the file is not a record.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        require_mcap()
        self.path, self.trouble = record_file(path), ""
        self.end: dict[str, Any] = {}
        found: dict[str, dict[str, Any]] = {}
        for name, data in self._contents():
            if isinstance(data, list) or process.RUN_META in found:
                break
            found[name] = data
        if not {process.SIGNALS_META, process.RUN_META} <= found.keys():
            why = f" ({self.trouble})" if self.trouble else ""
            raise ArgumentError(f"{self.path}: not a record of a run{why}; give an .mcap file that a bench wrote.")
        self.names: tuple[str, ...] = tuple(found[process.SIGNALS_META]["names"])
        self.units: tuple[str, ...] = tuple(found[process.SIGNALS_META]["units"])
        self.meta: dict[str, Any] = found[process.RUN_META]

    def batches(self) -> Iterator[Batch]:
        """Rows and events in order, as often as wanted."""
        self.end, self.trouble = {}, ""
        for name, data in self._contents():
            if isinstance(data, list):
                yield self._batch(data)
            elif name == process.END_META:
                self.end = data

    def read(self) -> Batch:
        """The whole record at once."""
        parts = list(self.batches())
        rows = [part.rows for part in parts] or [np.zeros((0, len(self.names)))]
        stamps = [np.concatenate([getattr(part, name) for part in parts] or [[]]) for name in ("numbers", "walls")]
        events = [event for part in parts for event in part.events]
        return Batch(stamps[0].astype(np.int64), stamps[1].astype(np.int64), np.concatenate(rows), events)

    def _contents(self) -> Iterator[tuple[str, Any]]:
        """Metadata as name and values, chunks as "" and the list of their messages; whole ones, up to the first
        trouble."""
        from mcap.records import Chunk, Message, Metadata
        from mcap.stream_reader import StreamReader, breakup_chunk

        with self.path.open("rb") as stream:
            records = StreamReader(stream, emit_chunks=True).records
            while True:
                try:
                    record = next(records, None)
                    if record is None:
                        return
                    item: tuple[str, Any] | None = None
                    if isinstance(record, Chunk):
                        if record.uncompressed_size > _MOST_CHUNK:
                            raise ValueError(f"a chunk unpacks to {record.uncompressed_size} bytes")
                        found = breakup_chunk(record, validate_crc=True)
                        item = "", [part for part in found if isinstance(part, Message)]
                    elif isinstance(record, Metadata):
                        item = record.name, {key: json.loads(text) for key, text in record.metadata.items()}
                except Exception as error:  # what mcap, zstandard and struct raise for bytes that are cut or damaged
                    self.trouble = f"it ends within a chunk or is damaged: {str(error) or type(error).__name__}"
                    return
                if item is not None:
                    yield item

    def _batch(self, messages: list[Any]) -> Batch:
        signals = [item for item in messages if item.channel_id == process.SIGNALS_CHANNEL]
        events = [json.loads(item.data) for item in messages if item.channel_id == process.EVENTS_CHANNEL]
        rows = np.empty((len(signals), len(self.names)))
        for row, item in zip(rows, signals):
            row[:] = _values(json.loads(item.data))
        return Batch(
            np.array([item.sequence for item in signals], dtype=np.int64),
            np.array([item.publish_time for item in signals], dtype=np.int64),
            rows,
            [Event(float(e["time"]), e["kind"], e["name"], e["text"], e["data"]) for e in events],
        )


def _values(message: dict[str, Any]) -> list[float | None]:
    """The numbers of a message in their order; NaN stands as null, which numpy reads so."""
    values: list[float | None] = []
    for part in message.values():
        if isinstance(part, dict):
            values.extend(part.values())
        else:
            values.append(part)
    return values
