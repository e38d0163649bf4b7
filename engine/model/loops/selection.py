"""Which rows are kept and which velocities depend on the others, from the rows at several configurations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from limberjack.engine.algebra.ranks import RANK_TOLERANCE, TIED, rank

_TINY = 1e-12
#: a dependent velocity may be chosen for its place in the mechanism while it moves the rows this share of the best
SHARES = (0.1, 0.3, 1.0)
#: the share of the best set's smallest singular value, at the worst configuration, that is good enough
ENOUGH = 0.2


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
        best = int(np.flatnonzero(score >= score.max() - TIED)[0])
        kept.append(best)
        left = [_remove(A, best) for A in left]
    return sorted(kept)


def needed_rows(rows: Sequence[np.ndarray]) -> list[int]:
    """Indices, ascending, of rows that span all others at every configuration.

    As many as the generic rank where the same ones do everywhere, as in a plane. Of linkages that move in space only
    because of their proportions any such set becomes singular somewhere: there more are kept, all but those that are
    constant combinations of others.
    """
    everywhere = np.hstack(rows)
    if rank(everywhere) > generic(rows)[0]:
        return independent_rows([everywhere])
    return independent_rows(rows)


def condensed(Y: np.ndarray, count: int) -> np.ndarray:
    """`count` orthonormal combinations of the rows that span them all; Y itself if it has no more."""
    if len(Y) <= count:
        return Y
    return np.asarray(np.linalg.svd(Y)[0][:, :count].T @ Y)


def dependent_columns(rows: Sequence[np.ndarray], order: Sequence[tuple[int, ...]], free: set[int]) -> list[int]:
    """As many columns as there are rows, which the other columns then determine; fewer if that cannot be.

    Of the sets found by pivoting over all configurations and over each, those that are nearly as well conditioned as
    the best where they are worst; of these the one that heeds `order` best.

    order : numbers for each column; where several would do, the one of lowest numbers becomes dependent.
    free : columns that must stay independent.
    """
    found = [_pivots(rows, order, free, share) for share in SHARES]
    found += [_pivots([Y], order, free, 1.0) for Y in rows]
    full = [chosen for chosen in found if len(chosen) == len(rows[0])]
    if not full:
        return found[0]
    worth = [min(smallest(Y[:, chosen]) for Y in rows) for chosen in full]
    cost = [tuple(sum(order[j][c] for j in chosen) for c in range(len(order[0]))) for chosen in full]
    good = [i for i, value in enumerate(worth) if value >= ENOUGH * max(worth)]
    least = min(cost[i] for i in good)
    best = [i for i in good if cost[i] == least]
    most = max(worth[i] for i in best)
    return full[next(i for i in best if worth[i] >= (1.0 - TIED) * most)]


def smallest(A: np.ndarray) -> float:
    """The smallest singular value, infinite of an empty matrix."""
    return float(np.linalg.svd(A, compute_uv=False).min(initial=np.inf))


def _pivots(rows: Sequence[np.ndarray], order: Sequence[tuple[int, ...]], free: set[int], share: float) -> list[int]:
    left, chosen = list(rows), list[int]()
    for _ in range(len(rows[0])):
        score = _remainders(left)
        score[[*free, *chosen]] = -np.inf
        best = float(score.max(initial=-np.inf))
        if best <= np.log(RANK_TOLERANCE):
            break
        candidates = np.flatnonzero(score >= best + np.log(share) - TIED).tolist()
        least = min(order[j] for j in candidates)
        most = max(score[j] for j in candidates if order[j] == least)
        pivot = next(j for j in candidates if order[j] == least and score[j] >= most - TIED)
        chosen.append(pivot)
        left = [_remove(A, pivot) for A in left]
    return chosen
