"""Eight spatial vectors at a time: a block of LANES vectors, component by component (array_views.py)."""

from __future__ import annotations

from limberjack.engine.algebra.array_views import BLOCK, LANES
from limberjack.engine.algebra.lanes import load_lanes, store_lanes, sum_lanes, with_lane
from limberjack.engine.compile.kernel import kernel


@kernel
def load_triple(a, at):
    """A triple of lanes from a[at]."""
    return load_lanes(a, at), load_lanes(a, at + LANES), load_lanes(a, at + 2 * LANES)


@kernel
def load_block(block, at):
    """A block of spatial vectors from block[at] as (angular, linear) triples of lanes."""
    return load_triple(block, at), load_triple(block, at + 3 * LANES)


@kernel
def store_block(block, at, w, u):
    """A block of spatial vectors from (angular, linear) triples of lanes."""
    for c in range(3):
        store_lanes(block, at + LANES * c, w[c])
        store_lanes(block, at + LANES * (c + 3), u[c])


@kernel
def block_lane(block, i):
    """One spatial vector of a block as (angular, linear); its first component is block[i]."""
    w = block[i], block[i + LANES], block[i + 2 * LANES]
    return w, (block[i + 3 * LANES], block[i + 4 * LANES], block[i + 5 * LANES])


@kernel
def set_block_lane(block, i, w, u):
    """block[i], … = one spatial vector."""
    block[i], block[i + LANES], block[i + 2 * LANES] = w
    block[i + 3 * LANES], block[i + 4 * LANES], block[i + 5 * LANES] = u


@kernel
def with_vector(x, i, a):
    """The triple of lanes x with the vector a in lane i, if that is one of them."""
    return with_lane(x[0], i, a[0]), with_lane(x[1], i, a[1]), with_lane(x[2], i, a[2])


@kernel
def sum_triple(a):
    """The sums of lanes of a triple."""
    return sum_lanes(a[0]), sum_lanes(a[1]), sum_lanes(a[2])


@kernel
def block_column(blocks, at, r):
    """Spatial vector r of the blocks that begin at blocks[at], as (angular, linear)."""
    return block_lane(blocks, at + r // LANES * BLOCK + r % LANES)


@kernel
def load_six(a, at):
    """A block of spatial vectors from a[at] as six lanes."""
    return (
        load_lanes(a, at),
        load_lanes(a, at + LANES),
        load_lanes(a, at + 2 * LANES),
        load_lanes(a, at + 3 * LANES),
        load_lanes(a, at + 4 * LANES),
        load_lanes(a, at + 5 * LANES),
    )


@kernel
def store_six(a, x):
    """A block of spatial vectors from six lanes."""
    store_lanes(a, 0, x[0])
    store_lanes(a, LANES, x[1])
    store_lanes(a, 2 * LANES, x[2])
    store_lanes(a, 3 * LANES, x[3])
    store_lanes(a, 4 * LANES, x[4])
    store_lanes(a, 5 * LANES, x[5])


@kernel
def less_six(z, u, y):
    """z - u y in every lane."""
    return (
        z[0] - u[0] * y,
        z[1] - u[1] * y,
        z[2] - u[2] * y,
        z[3] - u[3] * y,
        z[4] - u[4] * y,
        z[5] - u[5] * y,
    )
