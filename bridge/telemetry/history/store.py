"""The file of the history: blocks of points and notices in SQLite, one writer and any number of readers."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

from limberjack.bridge.errors import BridgeError
from limberjack.bridge.file_lock import hold
from limberjack.bridge.telemetry.dictionary import Dictionary
from limberjack.bridge.telemetry.history.encoding import Points, column_size, head_size, pack, unpack
from limberjack.bridge.telemetry.history.home import lock_file
from limberjack.bridge.telemetry.orders import OF_ALARMS
from limberjack.bridge.telemetry.sample import Notice
from limberjack.engine.common.errors import ExitCode

_FORM = 1  # of the tables; another one is refused
_BUSY_S = 5.0
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
_OF_THE_MACHINE = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM)
_ESCAPE = "!"
_LONGEST_TEXT = 4000  # characters of a notice's text, and of its data
_TABLES = """
CREATE TABLE IF NOT EXISTS dictionary (id INTEGER PRIMARY KEY, model TEXT, hash TEXT, ids TEXT, UNIQUE (hash, ids));
CREATE TABLE IF NOT EXISTS block (id INTEGER PRIMARY KEY, tier INTEGER, first INTEGER, last INTEGER,
    dictionary INTEGER, count INTEGER, size INTEGER, data BLOB);
CREATE INDEX IF NOT EXISTS block_time ON block (tier, first, last, dictionary, count, size);
CREATE TABLE IF NOT EXISTS notice (id INTEGER PRIMARY KEY, unix_ns INTEGER, time REAL, kind TEXT, severity INTEGER,
    text TEXT, data TEXT);
CREATE INDEX IF NOT EXISTS notice_time ON notice (unix_ns);
CREATE TABLE IF NOT EXISTS order_notice (id INTEGER PRIMARY KEY, unix_ns INTEGER, time REAL, kind TEXT,
    severity INTEGER, text TEXT, data TEXT);
CREATE INDEX IF NOT EXISTS order_time ON order_notice (unix_ns);
CREATE TABLE IF NOT EXISTS desk (model_hash TEXT, text TEXT);
"""
_FIELDS = "unix_ns, time, kind, severity, text, data"
#: kinds of notices about orders. They have their own bounded table, so a flood of alarms cannot drive them out
_OF_ORDERS = ("command", "refused")
_ORDERS = f"SELECT id, {_FIELDS} FROM order_notice"
_ALARM_ORDERS = ", ".join(f"'{action}'" for action in OF_ALARMS)
#: what may be asked for → where it stands
SOURCES = {
    "all": f"SELECT id, {_FIELDS} FROM notice UNION ALL {_ORDERS}",
    "orders": _ORDERS,
    "alarms": f"SELECT id, {_FIELDS} FROM notice WHERE kind = 'alarm' UNION ALL {_ORDERS} "
    f"WHERE json_valid(data) AND json_extract(data, '$.action') IN ({_ALARM_ORDERS})",
}


class HistoryError(BridgeError, ValueError):
    """A history file that cannot be used, or a question that cannot be answered from it.

    damaged : whether the file itself is at fault, and another one would do
    """

    exit_code = ExitCode.BAD_INPUT
    damaged = False


class Store:
    """One history file. Methods may be called from any thread; readers do not wait for the writer.

    damaged : whether the file proved to be damaged while it was used
    """

    def __init__(self, path: Path) -> None:
        """Open or make the file. HistoryError if it is not one, of another version, or in use by another gateway."""
        self.path, self.damaged = path, False
        self._lock_file = _take(path)
        self._writing, self._reading = threading.Lock(), threading.Lock()
        try:
            with self._explained():
                self._writer, self._reader = self._connect(), self._connect()
                self._prepare()
        except BaseException:
            os.close(self._lock_file)
            raise

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)

    def _prepare(self) -> None:
        form = self._writer.execute("PRAGMA user_version").fetchone()[0]
        found = self._writer.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if form != _FORM and (form or found):
            remedy = "Give another path, or move the file away"
            problem = HistoryError(f"{self.path}: not a history of this version of Limberjack. {remedy}.")
            problem.damaged = True
            raise problem
        for text in (
            "page_size = 16384",
            "journal_mode = WAL",
            "synchronous = NORMAL",
            "wal_autocheckpoint = 512",
            "journal_size_limit = 16777216",
            f"user_version = {_FORM}",
        ):
            self._writer.execute(f"PRAGMA {text}")
        self._writer.executescript(_TABLES)
        kinds = ", ".join(f"'{kind}'" for kind in _OF_ORDERS)
        self._writer.executescript(  # files of before had one table
            f"BEGIN; INSERT INTO order_notice ({_FIELDS}) SELECT {_FIELDS} FROM notice WHERE kind IN ({kinds}); "
            f"DELETE FROM notice WHERE kind IN ({kinds}); COMMIT;"
        )

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Errors of SQLite become errors that name the file."""
        try:
            yield
        except sqlite3.Error as error:
            remedy = "Give another path, or move the file away; if the disk is full, make room"
            problem = HistoryError(f"{self.path}: the history cannot be used ({error}). {remedy}.")
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in _OF_THE_MACHINE:
                problem.exit_code = ExitCode.MACHINE
            problem.damaged = code in _DAMAGED
            self.damaged = self.damaged or problem.damaged
            raise problem from None

    def check(self) -> None:
        """HistoryError where what is kept of orders and alarms is damaged."""
        for table in ("notice", "order_notice", "desk"):
            found = next(self._rows(f"PRAGMA quick_check('{table}')"))[0]
            if found != "ok":
                problem = HistoryError(f"{self.path}: the history is damaged ({found}).")
                problem.damaged = True
                raise problem

    # ---- writing

    def dictionary(self, dictionary: Dictionary) -> int:
        """The number under which this model's quantities are stored."""
        ids = json.dumps([each.id for each in dictionary])
        row = (dictionary.model, dictionary.model_hash, ids)
        with self._writing, self._explained():
            self._writer.execute("INSERT OR IGNORE INTO dictionary (model, hash, ids) VALUES (?, ?, ?)", row)
            found = self._writer.execute("SELECT id FROM dictionary WHERE hash = ? AND ids = ?", row[1:])
            return int(found.fetchone()[0])

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """What is written within is there as a whole, or not at all."""
        with self._writing, self._explained():
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._writer.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    self._writer.execute("ROLLBACK")
                raise

    def write(self, tier: int, dictionary: int, points: Points) -> None:
        """Add a block; tier 0 has single samples. Within a transaction."""
        data = pack(points, tier == 0)
        row = (tier, int(points.unix_ns[0]), int(points.unix_ns[-1]), dictionary, len(points), len(data), data)
        text = "INSERT INTO block (tier, first, last, dictionary, count, size, data) VALUES (?, ?, ?, ?, ?, ?, ?)"
        self._writer.execute(text, row)

    def write_notice(self, notice: Notice, most: int) -> None:
        """Add a notice; of those of orders, and of all others, the oldest beyond so many go. Within a transaction."""
        data = json.dumps(notice.data, default=str)
        data = data if len(data) <= _LONGEST_TEXT else "{}"
        row = (notice.unix_ns, notice.time, notice.kind, notice.severity, notice.text[:_LONGEST_TEXT], data)
        table = "order_notice" if notice.kind in _OF_ORDERS else "notice"
        newest = self._writer.execute(f"INSERT INTO {table} ({_FIELDS}) VALUES (?, ?, ?, ?, ?, ?)", row).lastrowid or 0
        self._writer.execute(f"DELETE FROM {table} WHERE id <= ?", (newest - most,))

    def keep_desk(self, model_hash: str, text: str) -> None:
        """What operators made of the alarms of a model, in place of what was kept before."""
        with self.transaction():
            self._writer.execute("DELETE FROM desk")
            self._writer.execute("INSERT INTO desk (model_hash, text) VALUES (?, ?)", (model_hash, text))

    def trim(self, tier: int, most_bytes: int, oldest_ns: int) -> None:
        """Delete the oldest blocks beyond a size, and those that ended before a time. Within a transaction."""
        self._writer.execute(
            "DELETE FROM block WHERE tier = ? AND first < ? AND last < ?", (tier, oldest_ns, oldest_ns)
        )
        size = self._writer.execute("SELECT sum(size) FROM block WHERE tier = ?", (tier,)).fetchone()[0] or 0
        while size > most_bytes:
            oldest = "SELECT id, size FROM block WHERE tier = ? ORDER BY first LIMIT 1"
            id, length = self._writer.execute(oldest, (tier,)).fetchone()
            self._writer.execute("DELETE FROM block WHERE id = ?", (id,))
            size -= length

    # ---- reading

    def desk(self, model_hash: str) -> str | None:
        """What was kept of the alarms of this model."""
        rows = self._rows("SELECT text FROM desk WHERE model_hash = ?", (model_hash,))
        return next((str(text) for (text,) in rows), None)

    def holding(self, id: str) -> dict[int, int]:
        """Number of each dictionary that has a quantity → its place there."""
        found = {}
        for number, ids in self._rows("SELECT id, ids FROM dictionary"):
            names = json.loads(ids)
            if id in names:
                found[number] = names.index(id)
        return found

    def names(self) -> list[str]:
        """Identifiers of all quantities of all models."""
        return sorted({id for (ids,) in self._rows("SELECT ids FROM dictionary") for id in json.loads(ids)})

    def count(self, tier: int, start_ns: int, end_ns: int) -> int:
        """Points in the blocks of a tier that reach into a time."""
        text = "SELECT sum(count) FROM block WHERE tier = ? AND first < ? AND last >= ?"
        return int(next(self._rows(text, (tier, end_ns, start_ns)))[0] or 0)

    def newest(self, tier: int) -> int:
        """When the last point of a tier was, ns since 1970; 0 without any."""
        return int(next(self._rows("SELECT max(last) FROM block WHERE tier = ?", (tier,)))[0] or 0)

    def oldest(self, tier: int) -> int:
        """When the first point of a tier was, ns since 1970; 0 without any."""
        return int(next(self._rows("SELECT min(first) FROM block WHERE tier = ?", (tier,)))[0] or 0)

    def read(self, tier: int, dictionary: int, place: int, start_ns: int, end_ns: int) -> Iterator[Points]:
        """One quantity in the blocks of a tier that reach into a time."""
        width = column_size(1, tier == 0)
        text = (
            f"SELECT substr(data, 1, {head_size(1)} * count), "
            f"substr(data, 1 + ({head_size(1)} + {width} * ?) * count, {width} * count) FROM block "
            "WHERE tier = ? AND dictionary = ? AND first < ? AND last >= ? ORDER BY first"
        )
        for head, column in self._rows(text, (place, tier, dictionary, end_ns, start_ns)):
            yield unpack(head, [column], tier == 0)

    def whole_blocks(self, after_ns: int) -> Iterator[tuple[int, Points]]:
        """Dictionary and all quantities of the blocks of single samples that end after a time."""
        text = "SELECT dictionary, count, data FROM block WHERE tier = 0 AND last > ? ORDER BY first"
        for dictionary, count, data in self._rows(text, (after_ns,)):
            head = head_size(count)
            width = column_size(count, True)
            columns = [data[at : at + width] for at in range(head, len(data), width)]
            yield dictionary, unpack(data[:head], columns, True)

    def newest_block(self, tier: int, dictionary: int, moment_ns: int) -> Points | None:
        """All quantities of the newest block of a tier that begins at or before a time."""
        text = (
            "SELECT count, data FROM block WHERE tier = ? AND dictionary = ? AND first <= ? ORDER BY first DESC LIMIT 1"
        )
        for count, data in self._rows(text, (tier, dictionary, moment_ns)):
            head, width = head_size(count), column_size(count, tier == 0)
            columns = [data[at : at + width] for at in range(head, len(data), width)]
            return unpack(data[:head], columns, tier == 0)
        return None

    def bounds(self) -> tuple[int, int]:
        """When the first and the last point of all were, ns since 1970; zeros without any."""
        first, last = next(self._rows("SELECT min(first), max(last) FROM block"))
        return int(first or 0), int(last or 0)

    def notices(self, start_ns: int, end_ns: int, most: int, what: str = "all", search: str = "") -> list[Notice]:
        """The newest notices of a time, oldest first.

        what : "all", "orders" carried out and refused, or "alarms" and what became of them
        search : words that all stand in the text, in capitals or not
        """
        wanted = [f"%{_escaped(word)}%" for word in search.split()]
        text = (
            f"SELECT kind, severity, text, time, unix_ns, data FROM ({SOURCES[what]}) "
            f"WHERE unix_ns >= ? AND unix_ns < ?{' AND text LIKE ? ESCAPE ?' * len(wanted)} "
            "ORDER BY unix_ns DESC, id DESC LIMIT ?"
        )
        words = [value for word in wanted for value in (word, _ESCAPE)]
        rows = list(self._rows(text, (start_ns, end_ns, *words, most)))
        return [
            Notice(kind, severity, text, time, unix_ns, json.loads(data))
            for kind, severity, text, time, unix_ns, data in reversed(rows)
        ]

    def _rows(self, text: str, values: tuple = ()) -> Iterator[tuple]:
        """Rows of a question, fetched before the first is given, so that no reader holds up the file."""
        with self._reading, self._explained():
            return iter(self._reader.execute(text, values).fetchall())

    def close(self) -> None:
        """Close the file; safe to call more than once."""
        with self._writing, self._reading, contextlib.suppress(sqlite3.Error):
            self._reader.close()
            self._writer.close()
        with contextlib.suppress(OSError):
            os.close(self._lock_file)


def _escaped(word: str) -> str:
    """A word for LIKE that stands for itself."""
    return "".join(f"{_ESCAPE}{each}" if each in f"%_{_ESCAPE}" else each for each in word)


def _take(path: Path) -> int:
    """Hold the file for this gateway, by a lock that the system releases when it dies. HistoryError, OSError."""
    try:
        return hold(lock_file(path))
    except BlockingIOError:
        text = f"{path} is the history of another gateway that runs now. Stop that one, or give another path."
        raise HistoryError(text) from None
