"""Samples and notices into an MCAP file of the form that the bench's records have (package mcap)."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mcap.writer import Writer

from limberjack.bridge.telemetry.dictionary import Dictionary
from limberjack.bridge.telemetry.outlets import rows
from limberjack.bridge.telemetry.outlets.registry import Context
from limberjack.bridge.telemetry.sample import Notice, Sample
from limberjack.engine.common.errors import ArgumentError
from limberjack.version import __version__

log = logging.getLogger("limberjack.bridge")

#: longest time between two chunks, s, and size of a chunk, bytes: a kill of the gateway loses at most the last chunk
_FLUSH_S, _CHUNK_BYTES = 0.5, 1 << 20
#: files that one path can have: run.mcap, run-2.mcap, …
_FILES_MAX = 1000
_SIGNALS_META, _RUN_META, _END_META = "limberjack.signals", "limberjack.run", "limberjack.end"


class McapOutlet:
    """Writes samples and notices to a file that Foxglove, `limberjack plot`, `compare` and `parquet` read.

    Message time is simulated time, publish time the wall's. Rows are numbered; publications lost on the way are
    missing numbers. A file that is there is never replaced: the next free name is taken, also
    when the engine comes back with another model, and when there is room again on a disk that was full.

    path : where; "run.mcap" may become "run-2.mcap"; `path` says which after `open`
    """

    name = "mcap"

    def __init__(self, path: Path | str) -> None:
        self.wanted = self.path = Path(path)
        self._stream: io.BufferedWriter | None = None
        self._writer: Any = None
        self._whole = 0  # bytes of the file up to the end of its last chunk

    def open(self, dictionary: Dictionary) -> None:
        """Begin a file. Raises ArgumentError for a place that cannot be written, OSError for a full disk."""
        self._dictionary = dictionary
        self._stream = self._create()
        try:
            self._begin(self._stream, dictionary)
        except BaseException:  # a file without a beginning is of no use to anybody
            stream, self._stream = self._stream, None
            with contextlib.suppress(OSError):
                stream.close()
            self.path.unlink(missing_ok=True)
            raise

    def _begin(self, stream: io.BufferedWriter, dictionary: Dictionary) -> None:
        self._text = rows.RowText(dictionary)
        self._writer = Writer(stream, chunk_size=_CHUNK_BYTES)
        self._writer.start(profile="", library="limberjack")
        names = [quantity.id for quantity in dictionary]
        units = [quantity.unit for quantity in dictionary]
        run = {"limberjack": __version__, "started": time.time(), "model": dictionary.model}
        run |= {"model_hash": dictionary.model_hash, "source": "gateway"}
        self._metadata(_SIGNALS_META, {"names": names, "units": units})
        self._metadata(_RUN_META, run)
        schema = rows.signals_schema(dictionary)
        self._signals = self._channel(rows.SIGNALS_TOPIC, rows.SIGNALS_SCHEMA, schema)
        self._events = self._channel(rows.EVENTS_TOPIC, rows.EVENTS_SCHEMA, rows.events_schema())
        self._flush()
        self._time_ns = self._rows = self._notices = self._lost = 0

    def _create(self) -> io.BufferedWriter:
        """A new file at the wanted path or the next free one beside it."""
        for number in range(1, _FILES_MAX + 1):
            suffix = f"-{number}" if number > 1 else ""
            self.path = self.wanted.with_name(f"{self.wanted.stem}{suffix}{self.wanted.suffix}")
            try:
                stream = self.path.open("xb")
            except FileExistsError:
                continue
            except OSError as error:
                where = "Choose a folder that exists and that you may write to."
                raise ArgumentError(f"--mcap {self.path}: {error.strerror}. {where}") from None
            log.info("recording to %s", self.path)
            return stream
        raise ArgumentError(f"--mcap {self.wanted}: there are {_FILES_MAX} records of that name. Choose another.")

    def _metadata(self, name: str, values: dict[str, Any]) -> None:
        self._writer.add_metadata(name, {key: json.dumps(value) for key, value in values.items()})

    def _channel(self, topic: str, name: str, schema: dict[str, Any]) -> int:
        number = self._writer.register_schema(name, "jsonschema", json.dumps(schema).encode())
        return int(self._writer.register_channel(topic, "json", number))

    def sample(self, sample: Sample) -> None:
        """Add one row. OSError when the disk is full or gone."""
        with self._writing():
            self._add(sample)

    def _add(self, sample: Sample) -> None:
        self._time_ns = max(round(1e9 * sample.time), 0)
        text = self._text(sample.vector)
        self._lost += sample.gap
        number = (self._rows + self._lost) & 0xFFFFFFFF
        self._writer.add_message(self._signals, self._time_ns, text, sample.unix_ns, number)
        self._rows += 1
        if time.monotonic() - self._flushed >= _FLUSH_S:
            self._flush()

    def notice(self, notice: Notice) -> None:
        """Add one event. OSError when the disk is full or gone."""
        with self._writing():
            text = rows.event(notice, self._time_ns)
            self._writer.add_message(self._events, self._time_ns, text, notice.unix_ns, self._notices)
            self._notices += 1

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """After an error end the file with its last complete chunk and begin another: a partial chunk is unreadable."""
        if self._stream is None:
            self.open(self._dictionary)
        try:
            yield
        except OSError:
            stream, self._stream = self._stream, None
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.raw.close()  # with what waits in its buffer
                os.truncate(self.path, self._whole)
            raise

    def _flush(self) -> None:
        self._writer.flush()
        if self._stream is not None:
            self._stream.flush()
            self._whole = self._stream.tell()
        self._flushed = time.monotonic()

    def close(self) -> None:
        """Finish the file with its index; safe to call more than once."""
        if self._stream is None:
            return
        stream, self._stream = self._stream, None
        with contextlib.closing(stream):
            end = {"closed": True, "rows": self._rows, "events": self._notices}
            self._writer.flush()
            self._metadata(_END_META, {**end, "rows_dropped": self._lost, "events_dropped": 0})
            self._writer.finish()


def make(text: str, context: Context) -> McapOutlet:
    """A path."""
    if not text.endswith(".mcap"):
        raise ArgumentError(f"--mcap {text}: the file's name must end in .mcap, as run.mcap.")
    return McapOutlet(context.folder / text)
