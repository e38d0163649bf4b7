"""Blocks of history as bytes, and their reduction to fewer points: times, gaps, then one column per quantity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_INT, _FLOAT = np.dtype("<i8"), np.dtype("<f8")
MINIMUM, MAXIMUM, LAST = range(3)


@dataclass(frozen=True, eq=False)
class Points:
    """Points in time of some quantities, each of one sample or of several.

    unix_ns : (n,) of the last sample of each point
    gap : (n,) publications lost before it or within it; if not 0, draw no line to it from the point before
    values : (quantities, 3, n) smallest, largest and last value
    """

    unix_ns: np.ndarray
    gap: np.ndarray
    values: np.ndarray

    def __len__(self) -> int:
        return len(self.unix_ns)

    def reduced(self, group: np.ndarray) -> Points:
        """Merge neighbours with the same number in group (n,), which does not decrease, to one point."""
        if not len(self):
            return self
        starts = np.flatnonzero(np.diff(group, prepend=group[0] - 1))
        ends = np.append(starts[1:], len(self)) - 1
        values = np.empty((len(self.values), 3, len(starts)))
        values[:, MINIMUM] = np.minimum.reduceat(self.values[:, MINIMUM], starts, axis=1)
        values[:, MAXIMUM] = np.maximum.reduceat(self.values[:, MAXIMUM], starts, axis=1)
        values[:, LAST] = self.values[:, LAST, ends]
        return Points(self.unix_ns[ends], np.add.reduceat(self.gap, starts), values)

    def part(self, start: int, stop: int) -> Points:
        """Those at places start to stop."""
        return Points(self.unix_ns[start:stop], self.gap[start:stop], self.values[:, :, start:stop])

    def within(self, start_ns: int, end_ns: int) -> Points:
        """Those from start (inclusive) to end (exclusive)."""
        chosen = (self.unix_ns >= start_ns) & (self.unix_ns < end_ns)
        return self if chosen.all() else Points(self.unix_ns[chosen], self.gap[chosen], self.values[:, :, chosen])


def empty(quantities: int) -> Points:
    """No points."""
    return Points(np.zeros(0, _INT), np.zeros(0, _INT), np.zeros((quantities, 3, 0)))


def joined(parts: list[Points]) -> Points:
    """One behind the other; at least one part."""
    return Points(
        np.concatenate([each.unix_ns for each in parts]),
        np.concatenate([each.gap for each in parts]),
        np.concatenate([each.values for each in parts], axis=2),
    )


def single(unix_ns: np.ndarray, gap: np.ndarray, rows: np.ndarray) -> Points:
    """Points of one sample each, from rows (n, quantities)."""
    columns = rows.T.copy()
    values = np.broadcast_to(columns[:, np.newaxis], (len(columns), 3, len(rows)))
    return Points(unix_ns.copy(), gap.copy(), values)


def pack(points: Points, single: bool) -> bytes:
    """Bytes of a block: times, gaps, then for each quantity its columns. single: each point is one sample"""
    values = points.values[:, LAST:] if single else points.values
    columns = np.ascontiguousarray(values, _FLOAT)
    return points.unix_ns.astype(_INT).tobytes() + points.gap.astype(_INT).tobytes() + columns.tobytes()


def head_size(count: int) -> int:
    """Bytes before the columns of a block of so many points."""
    return 16 * count


def column_size(count: int, single: bool) -> int:
    """Bytes of one quantity."""
    return (8 if single else 24) * count


def unpack(head: bytes, columns: list[bytes], single: bool) -> Points:
    """The points of a block, of those quantities whose columns are given."""
    times = np.frombuffer(head, _INT).reshape(2, -1)
    count = times.shape[1]
    table = np.frombuffer(b"".join(columns), _FLOAT).reshape(len(columns), 1 if single else 3, count)
    return Points(times[0], times[1], np.broadcast_to(table, (len(columns), 3, count)))


def newest_of(blocks: list[tuple[np.ndarray, np.ndarray]], moment_ns: int) -> tuple[int, np.ndarray] | None:
    """Of blocks (times (n,), values (quantities, 3, n)) the newest point at or before a time, and its last values."""
    best: tuple[int, np.ndarray] | None = None
    for times, values in blocks:
        place = int(np.searchsorted(times, moment_ns, side="right")) - 1
        if place >= 0 and (best is None or times[place] > best[0]):
            best = int(times[place]), values[:, LAST, place].copy()
    return best
