"""What was, for consoles: all of the last minutes, then ever coarser points, in a file of bounded size."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from limberjack.bridge.telemetry.dictionary import Dictionary
from limberjack.bridge.telemetry.history.encoding import (
    LAST,
    MAXIMUM,
    MINIMUM,
    Points,
    empty,
    joined,
    newest_of,
    single,
)
from limberjack.bridge.telemetry.history.home import set_aside
from limberjack.bridge.telemetry.history.store import SOURCES, HistoryError, Store
from limberjack.bridge.telemetry.sample import Notice, Sample
from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError
from limberjack.scratch import Scratch

log = logging.getLogger("limberjack.gateway")

_ROWS = 256  # samples in a block of the first tier
_FLUSH_NS = 1_000_000_000  # longest time of samples that are only in memory
_READ_POINTS = 300_000  # points that one question reads at most; where there are more, the next tier answers
_MOST_IDS, _MOST_POINTS = 64, 100_000
_NOTICES = 100_000  # kept of orders, and of all others
_LONGEST_SEARCH = 200  # characters


@dataclass(frozen=True)
class Tier:
    """bin_s : length of a point (0: one sample);  points : in a block;  keep_s : age;  share : of the file's size"""

    bin_s: float
    points: int
    keep_s: float
    share: float


@dataclass(frozen=True, eq=False)
class Series:
    """One quantity over time.

    unix_ns : (n,) int64, of the last sample of each point
    gap : (n,) publications lost before or within it; where it is not 0, no line is to be drawn from the point before
    minimum, maximum, last : (n,) of the samples of each point; all equal where each point is one sample
    """

    unix_ns: np.ndarray
    gap: np.ndarray
    minimum: np.ndarray
    maximum: np.ndarray
    last: np.ndarray


class History:
    """An outlet that keeps what it gets; `query` and `notices` answer from any thread.

    What a killed gateway had not yet written, at most a second, is lost; the next one goes on with the same file.
    """

    name = "history"
    patience_s = 0.05

    def __init__(
        self,
        path: Path | None = None,
        *,
        full_s: float = 600.0,
        size_bytes: int = 1_000_000_000,
        say: Callable[[str], None] | None = None,
    ) -> None:
        """path : file; None: a temporary one (a killed gateway leaves it until the next one begins)

        full_s : age up to which every sample is kept

        size_bytes : of the file, about; the oldest goes first

        say : a file that cannot be used raises no error; this function reports it: a damaged one is set aside, and
            where it is in use by another gateway, or cannot be written, there is a temporary one
        """
        self._tiers = (
            Tier(0.0, _ROWS, full_s, 0.5),
            Tier(1.0, 60, 86400.0, 0.3),
            Tier(30.0, 10, 400.0 * 86400.0, 0.2),
        )
        self._size = size_bytes
        self._temporary: Scratch | None = None
        self._path = self._temporary_file() if path is None else path
        self.say, self._damaged = say, False
        self._store: Store | None = None
        self._lock = threading.Lock()
        self._pending: dict[int, Points] = {}  # tier → points that are not in the file yet

    # ---- outlet

    def open(self, dictionary: Dictionary) -> None:
        """Open the file. HistoryError, OSError when it cannot be used."""
        store, number = self._opening(dictionary) if self.say is None else self._opening_some(dictionary, self.say)
        with self._lock:  # a question may be looking at what is in memory
            self._store, self._number = store, number
            self._place = dict(dictionary.places)
            self._times = np.zeros(_ROWS, dtype=np.int64)
            self._gaps = np.zeros(_ROWS, dtype=np.int64)
            self._rows = np.zeros((_ROWS, len(dictionary)))
            self._count = 0
            self._broken = 1  # what was before this is not known
            self._pending = {k: empty(len(dictionary)) for k in range(1, len(self._tiers))}

    @property
    def kept(self) -> bool:
        """Whether the file outlives this object."""
        return self._temporary is None

    def _temporary_file(self) -> Path:
        self._temporary = Scratch("limberjack-history-")
        return self._temporary.path / "history"

    def _opening(self, dictionary: Dictionary) -> tuple[Store, int]:
        """The store, and the number of the dictionary in it."""
        store = Store(self._path)
        try:
            if self.say is not None:
                store.check()
            self._catch_up(store)
            return store, store.dictionary(dictionary)
        except BaseException:  # the file is to be free for the next attempt
            store.close()
            raise

    def _opening_some(self, dictionary: Dictionary, say: Callable[[str], None]) -> tuple[Store, int]:
        """The same of the file as it is, of a new one in its place, or of a temporary one; say : what became of it"""
        trouble: Exception
        for damaged in (self._damaged, True):
            try:
                self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                if damaged:
                    aside = set_aside(self._path)
                    say(f"{self._path} is damaged. It is kept as {aside.name}, and another history begins.")
                return self._opening(dictionary)
            except (HistoryError, OSError, ValueError, LookupError) as error:
                trouble = error
                if not (error.damaged if isinstance(error, HistoryError) else not isinstance(error, OSError)):
                    break
        self._path = self._temporary_file()
        say(f"{trouble} The history of this gateway is temporary and ends with it.")
        return self._opening(dictionary)

    def sample(self, sample: Sample) -> None:
        self.sample_many([sample])

    def sample_many(self, samples: list[Sample]) -> None:
        """Several at once, which takes a fifth of the time of one by one."""
        with self._lock:
            while samples:
                room = _ROWS - self._count
                self._store_rows(samples[:room])
                samples = samples[room:]
                newest = int(self._times[self._count - 1])
                if self._count == _ROWS or newest - self._times[0] >= _FLUSH_NS:
                    try:
                        self._flush(newest)
                    except BaseException:
                        self._broken += sum(1 + each.gap for each in samples)  # these are lost as well
                        raise

    def _store_rows(self, samples: list[Sample]) -> None:
        """Put into memory as many as there is room for, at least one."""
        at, end = self._count, self._count + len(samples)
        chosen = slice(at, end)
        self._times[chosen] = [each.unix_ns for each in samples]
        self._rows[chosen] = [each.vector for each in samples]
        self._gaps[chosen] = [each.gap for each in samples]
        self._gaps[at], self._broken = max(samples[0].gap, self._broken), 0
        self._count = end

    def notice(self, notice: Notice) -> None:
        store = self._opened()
        with store.transaction():
            store.write_notice(notice, _NOTICES)

    def close(self) -> None:
        """Write what is left and close the file; a temporary one goes with this object."""
        with self._lock:
            if self._store is not None:
                try:
                    self._flush(int(self._times[self._count - 1]) if self._count else 0, last=True)
                finally:
                    self._damaged = self._store.damaged
                    self._store.close()
                    self._store = None

    def _flush(self, now_ns: int, last: bool = False) -> None:
        """Write the samples in memory, and the points of each tier that are complete (at the last time all)."""
        store = self._opened()
        fresh = self._in_memory()
        done: dict[int, Points] = {0: fresh}
        pending = {}
        for k, tier in enumerate(self._tiers[1:], 1):
            fresh = _binned(fresh, tier)  # also for the next tier: its bins are made of whole ones of this
            points = _binned(joined([self._pending[k], fresh]), tier)
            complete = len(points) if last else len(points) - 1
            cut = complete if last or complete >= tier.points else 0
            done[k], pending[k] = points.part(0, cut), points.part(cut, len(points))
        lost, self._count = self._count, 0
        self._broken = lost  # if they cannot be written
        with store.transaction():
            for k, points in done.items():
                if len(points):
                    store.write(k, self._number, points)
                    tier = self._tiers[k]
                    store.trim(k, int(tier.share * self._size), now_ns - int(1e9 * tier.keep_s))
        self._pending, self._broken = pending, 0

    def _catch_up(self, store: Store) -> None:
        """Make the coarser points that a killed gateway did not write from the samples that it wrote."""
        for k, tier in enumerate(self._tiers[1:], 1):
            parts: dict[int, list[Points]] = {}
            newest = store.newest(k)
            for dictionary, points in store.whole_blocks(newest):
                points = points.within(newest + 1, 2**63 - 1)
                parts.setdefault(dictionary, []).append(_binned(points, tier))
            with store.transaction():
                for dictionary, found in parts.items():
                    store.write(k, dictionary, _binned(joined(found), tier))

    def _in_memory(self) -> Points:
        return single(self._times[: self._count], self._gaps[: self._count], self._rows[: self._count])

    def _opened(self) -> Store:
        if self._store is None:
            raise HistoryError("the history is closed. Ask again when the gateway is up.")
        return self._store

    # ---- what operators made of alarms

    def keep_desk(self, model_hash: str, text: str) -> None:
        """Keep it, in place of what was kept before. HistoryError."""
        self._opened().keep_desk(model_hash, text)

    def desk(self, model_hash: str) -> str | None:
        """What was kept of this model; None: nothing. HistoryError."""
        return self._opened().desk(model_hash)

    # ---- questions

    def query(self, ids: Sequence[str], start_ns: int, end_ns: int, most_points: int = 1000) -> dict[str, Series]:
        """Quantities between two times (ns since 1970, end exclusive), each in at most so many points.

        Where every sample is still there and they are few enough, each point is one sample; else points have the
        extremes of theirs. Raises UnknownNameError, ArgumentError, HistoryError.
        """
        store = self._opened()
        start_ns, end_ns = _time("start_ns", start_ns), _time("end_ns", end_ns)
        arguments.count("most_points", most_points, 1, _MOST_POINTS)
        arguments.count("the number of quantities", len(ids), 1, _MOST_IDS)
        found = {}
        for id in ids:
            places = store.holding(id)
            if not places:
                arguments.index_of("quantity", id, store.names())
            found[id] = self._series(store, id, places, start_ns, end_ns, most_points)
        return found

    def _series(self, store: Store, id: str, places: dict[int, int], start: int, end: int, most: int) -> Series:
        """From the finest tier that has not too many points, and from coarser ones for what is older."""
        first = next((k for k in range(len(self._tiers) - 1) if store.count(k, start, end) <= _READ_POINTS), 2)
        parts: list[Points] = []
        until = end
        for k in range(first, len(self._tiers)):
            cut = bool(parts) and start < until and store.oldest(k - 1) > start  # the finer tier forgot what was before
            bin_ns = int(1e9 * self._tiers[k].bin_s) if cut else 0
            points = self._read(store, k, id, places, start, until + bin_ns)
            if cut:
                points = _up_to(points, bin_ns, parts[0])
            if len(points):
                parts.insert(0, points)
                until = int(points.unix_ns[0])
        points = joined(parts) if parts else empty(1)
        if len(points) > most:
            points = points.reduced((points.unix_ns - start) // -(-(end - start) // most))
        values = points.values[0]
        return Series(points.unix_ns, points.gap, values[MINIMUM], values[MAXIMUM], values[LAST])

    def _read(self, store: Store, k: int, id: str, places: dict[int, int], start: int, end: int) -> Points:
        """One quantity in one tier, in the file and in memory."""
        with self._lock:
            live = self._live(k, id)
        parts = [each for number, place in places.items() for each in store.read(k, number, place, start, end)]
        filed = joined(parts) if parts else empty(1)
        order = np.argsort(filed.unix_ns, kind="stable")
        points = Points(filed.unix_ns[order], filed.gap[order], filed.values[:, :, order])
        newest = int(points.unix_ns[-1]) if len(points) else -1  # some may have been written since
        return joined([points, live.within(newest + 1, end)]).within(start, end)

    def _live(self, k: int, id: str) -> Points:
        """One quantity in what is not in the file yet."""
        if id not in self._place:
            return empty(1)
        at = self._place[id]
        rows = self._rows[: self._count, at : at + 1]
        fresh = single(self._times[: self._count], self._gaps[: self._count], rows)
        if k == 0:
            return fresh
        pending = self._pending[k]
        own = Points(pending.unix_ns, pending.gap, pending.values[at : at + 1])
        return _binned(joined([own, fresh]), self._tiers[k])

    def newest_at(self, moment_ns: int) -> tuple[int, np.ndarray] | None:
        """Time (ns since 1970) and all values (quantities,) of the newest point at or before a time. HistoryError."""
        store = self._opened()
        with self._lock:
            times, rows = self._times[: self._count].copy(), self._rows[: self._count].T[:, np.newaxis].copy()
        found = [store.newest_block(k, self._number, moment_ns) for k in range(len(self._tiers))]
        blocks = [(each.unix_ns, each.values) for each in found if each is not None]
        return newest_of([*blocks, (times, np.broadcast_to(rows, (len(rows), 3, len(times))))], moment_ns)

    def bounds(self) -> tuple[int, int]:
        """When the history begins and ends, ns since 1970; zeros while there is none. HistoryError."""
        first, last = self._opened().bounds()
        with self._lock:
            fresh = self._times[: self._count]
            return (first or int(fresh[0]), int(fresh[-1])) if len(fresh) else (first, last)

    def notices(
        self, start_ns: int, end_ns: int, most: int = 1000, *, what: str = "all", search: str = ""
    ) -> list[Notice]:
        """The newest notices between two times, oldest first. Raises HistoryError, ArgumentError.

        what, search : as for `Store.notices`
        """
        start_ns, end_ns = _time("start_ns", start_ns), _time("end_ns", end_ns)
        arguments.index_of("kind of notices", what, SOURCES)
        if len(search) > _LONGEST_SEARCH:
            raise ArgumentError(f"search has {len(search)} characters; give at most {_LONGEST_SEARCH}.")
        most = arguments.count("most", most, 1, _NOTICES)
        return self._opened().notices(start_ns, end_ns, most, what, search)


def _time(name: str, value: int) -> int:
    return min(max(arguments.count(name, value, -(2**200), 2**200), 0), 2**63 - 1)


def _up_to(points: Points, bin_ns: int, finer: Points) -> Points:
    """Coarse points up to where finer ones begin. One that lasts beyond, and has extremes that none of the finer ones
    has, stands just before them."""
    until = int(finer.unix_ns[0])
    count = int(np.searchsorted(points.unix_ns, until))
    before, across = points.part(0, count), points.part(count, count + 1)
    if not len(across):
        return before
    within = finer.within(until, int(across.unix_ns[0]) + 1).values
    low, high = within[:, MINIMUM].min(), within[:, MAXIMUM].max()
    if low <= across.values[0, MINIMUM, 0] and across.values[0, MAXIMUM, 0] <= high:
        return before
    values = across.values.copy()
    values[:, LAST] = finer.values[:, LAST, :1]
    return joined([before, Points(np.array([until - 1]), across.gap, values)])


def _binned(points: Points, tier: Tier) -> Points:
    return points.reduced(points.unix_ns // int(1e9 * tier.bin_s))
