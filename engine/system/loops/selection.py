"""Which rows are kept and which velocities depend on the others, from the rows at several configurations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from limberjack.engine.system.loops.samples import rank

_TINY = 1e-12
#: a dependent velocity may be chosen for its place in the mechanism while it moves the rows this share of the best
SHARES = (0.1, 0.3, 1.0)
#: largest scaled entry of X that such a choice may cause
GROWTH = 20.0


def generic(rows: Sequence[np.ndarray]) -> tuple[int, list[np.ndarray]]:
    """The largest rank, and the matrices that have it: singular configurations say nothing about redundancy."""
    ranks = [rank(Y) for Y in rows]
    best = max(ranks, default=0)
    return best, [Y for Y, r in zip(rows, ranks) if r == best]


def _remainders(matrices: Sequence[np.ndarray]) -> np.ndarray:
    """How much each column adds to those already removed: mean logarithm of its length over the configurations."""
    lengths = np.array([np.linalg.norm(A, axis=0) for A in matrices])
    return np.asarray(np.log(np.maximum(lengths, _TINY)).mean(axis=0))


def _remove(A: np.ndarray, column: int) -> np.ndarray:
    """A without what its columns share with one of them."""
    a = A[:, column]
    length = np.linalg.norm(a)
    if length <= _TINY:
        return A
    a = a / length
    return np.asarray(A - np.outer(a, a @ A))


def independent_rows(rows: Sequence[np.ndarray]) -> list[int]:
    """Indices, ascending, of as many rows as the generic rank, those that condition the set best."""
    count, regular = generic(rows)
    left, kept = [Y.T for Y in regular], list[int]()
    for _ in range(count):
        score = _remainders(left)
        best = int(np.flatnonzero(score >= score.max() - 1e-6)[0])
        kept.append(best)
        left = [_remove(A, best) for A in left]
    return sorted(kept)


def dependent_columns(rows: Sequence[np.ndarray], order: Sequence[tuple], free: set[int]) -> list[int]:
    """As many columns as there are rows (all independent), which the other columns then determine.

    order : a key for each column; where several would do, the one of lowest key becomes dependent.
    free : columns that must stay independent. Fewer columns are returned where these leave too few.
    """
    for share in SHARES:
        chosen = _pivots(rows, order, free, share)
        if len(chosen) < len(rows[0]) or growth(rows, chosen) <= GROWTH:
            break
    return chosen


def _pivots(rows: Sequence[np.ndarray], order: Sequence[tuple], free: set[int], share: float) -> list[int]:
    left, chosen = list(rows), list[int]()
    for _ in range(len(rows[0])):
        score = _remainders(left)
        score[[*free, *chosen]] = -np.inf
        best = float(score.max(initial=-np.inf))
        if best <= np.log(1e-7):
            break
        candidates = np.flatnonzero(score >= best + np.log(share) - 1e-6)
        pivot = int(min(candidates, key=lambda j: (order[j], -round(score[j], 6), j)))
        chosen.append(pivot)
        left = [_remove(A, pivot) for A in left]
    return chosen


def growth(rows: Sequence[np.ndarray], chosen: Sequence[int]) -> float:
    """Median over the configurations of the largest entry of X = -Y1⁻¹ Y2."""
    largest = []
    for Y in rows:
        rest = [j for j in range(Y.shape[1]) if j not in set(chosen)]
        X = np.linalg.lstsq(Y[:, list(chosen)], Y[:, rest], rcond=None)[0]
        largest.append(float(np.abs(X).max(initial=0.0)))
    return float(np.median(largest))
