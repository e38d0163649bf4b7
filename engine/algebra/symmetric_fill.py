"""Fill the lower triangle of a symmetric matrix from its upper one; large ones by strips of rows that are in cache."""

from __future__ import annotations

from limberjack.engine.algebra.array_views import LANES
from limberjack.engine.algebra.lanes import load_lanes, split_lanes, store_lanes, transpose_lanes
from limberjack.engine.compile.kernel import kernel


@kernel
def _load_tile(M, i, j):
    """Rows i … i + 7 of a tile that begins at column j, transposed: lanes are rows."""
    return transpose_lanes(
        load_lanes(M[i], j),
        load_lanes(M[i + 1], j),
        load_lanes(M[i + 2], j),
        load_lanes(M[i + 3], j),
        load_lanes(M[i + 4], j),
        load_lanes(M[i + 5], j),
        load_lanes(M[i + 6], j),
        load_lanes(M[i + 7], j),
    )


@kernel
def _mirror_corner(M, i):
    """The tile on the diagonal: its lower triangle from the upper."""
    t = _load_tile(M, i, i)
    for r in range(LANES):
        row = M[i + r]
        store_lanes(row, i, split_lanes(t[r], load_lanes(row, i), r))


@kernel
def mirror_strip(M, i):
    """M[c, r] = M[r, c] for the rows r = i … i + 7 and all c > r.

    If the last columns do not fill a tile, the last tile overlaps the one before it.
    """
    nv = M.shape[0]
    _mirror_corner(M, i)
    for tile in range(i + LANES, nv, LANES):
        j = min(tile, nv - LANES)
        t = _load_tile(M, i, j)
        for r in range(LANES):
            store_lanes(M[j + r], i, t[r])


@kernel
def _mirror_tile(M, i, j):
    for r in range(LANES):
        for c in range(LANES):
            M[i + r, j + c] = M[j + c, i + r]


@kernel
def mirror(M):
    """M[r, c] = M[c, r] for all c < r of a small matrix, which stays in the nearest cache."""
    nv = M.shape[0]
    whole = nv // LANES * LANES
    for i in range(0, whole, LANES):
        for j in range(0, i, LANES):
            _mirror_tile(M, i, j)
        for r in range(i, i + LANES):
            for c in range(i, r):
                M[r, c] = M[c, r]
    for r in range(whole, nv):
        for c in range(r):
            M[r, c] = M[c, r]
