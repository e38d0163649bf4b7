"""Eight spatial vectors at a time: a block of LANES vectors, component by component (views.py)."""

from __future__ import annotations

from limberjack.engine.algebra.lanes import load_lanes, store_lanes, sum_lanes
from limberjack.engine.algebra.views import LANES
from limberjack.engine.compile.kernel import kernel


@kernel
def load_block(block, at):
    """A block of spatial vectors from block[at] as (angular, linear) triples of lanes."""
    w = load_lanes(block, at), load_lanes(block, at + LANES), load_lanes(block, at + 2 * LANES)
    at += 3 * LANES
    return w, (load_lanes(block, at), load_lanes(block, at + LANES), load_lanes(block, at + 2 * LANES))


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
def sum_triple(a):
    """The sums of lanes of a triple."""
    return sum_lanes(a[0]), sum_lanes(a[1]), sum_lanes(a[2])
