"""What rows of closed loops do with body k, whatever its kind: the functions of its kind (`kinds.py`), and what kinds
with one velocity share."""

from __future__ import annotations

from limberjack.engine.algebra.array_views import LANES
from limberjack.engine.algebra.blocks import load_six
from limberjack.engine.algebra.lanes import load_lanes, store_lanes
from limberjack.engine.algebra.spatial import load3
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.nodes import articulated
from limberjack.engine.kernels.nodes.dispatch import deforms, hinge_acceleration
from limberjack.engine.kernels.nodes.kinds import by_kind, flag, last_two, nothing
from limberjack.engine.tables import plant as t

_is_simple = flag("ONE_VELOCITY")


@kernel
def _no_weight(plant, work, k, most):
    return most


#: (plant, work, k, n, f): H [n; f] of a kind with one velocity, of numbers or of lanes
_picked = by_kind("picked")
#: (plant, work, k, w, u): [w; u] + a(k) of a link that deforms
_link_bias = by_kind("bias", last_two)
#: (plant, work, k, x, w, u): [w; u] + H*(k) x for x (nv,) of all velocities
push_body = by_kind("push", last_two)
#: (plant, work, k, x, at, w, u): [w; u] + H*(k) X(k) for the eight columns from `at` of X, whose rows are the
#: velocities of a group
push_lanes = by_kind("push_lanes", last_two)
#: (plant, work, k, y, first, at, n, f): coefficients H(k) [n; f] of the velocities of hinge k in eight rows of a group,
#: which begin at `first`
trace_entries = by_kind("trace_entries", nothing)
_cross = by_kind("cross_hinge")
_collect = by_kind("collect", nothing)
_largest_weight = by_kind("largest_weight", _no_weight)
_add_innovation = by_kind("add_innovation", nothing)
_clear_innovation = by_kind("clear_innovation", nothing)
_respond = by_kind("respond")
_answer = by_kind("answer")


@kernel
def bias_body(plant, work, k, v, still, w, u):
    """α' of body k for [w; u] of its parent, seen there: with its velocities steady."""
    row = work.rows[k + 1]
    if deforms(plant.topo[k]):
        return _link_bias(plant, work, k, w, u)
    return hinge_acceleration(plant, work, k, v, still, load3(row, t.W_V), load3(row, t.W_V + 3), w, u)


@kernel
def _trace_simple(plant, work, k, z):
    """H z of a hinge with one velocity, in eight rows."""
    return _picked(plant, work, k, (z[0], z[1], z[2]), (z[3], z[4], z[5]))


@kernel
def cross_body(plant, work, k, path):
    """e of body k's velocities in eight rows; returns z⁺ (000 eq. 0.36)."""
    topo, z = plant.topo[k], load_six(work.loops.cross[k + 1], 0)
    if _is_simple(topo):
        h = _trace_simple(plant, work, k, z)
        return articulated.cross_simple(work.rows[k + 1], path, LANES * topo[t.VI], z, h)
    return _cross(plant, work, k, path, z)


@kernel
def collect_body(plant, work, k, path):
    """e of the velocities of a body inside a group, as it is; returns z, which stays."""
    topo, z = plant.topo[k], load_six(work.loops.cross[k + 1], 0)
    if _is_simple(topo):
        at = LANES * topo[t.VI]
        store_lanes(path, at, load_lanes(path, at) + _trace_simple(plant, work, k, z))
    else:
        _collect(plant, work, k, path, z)
    return z


@kernel
def weight(plant, work, k):
    """Weight of e* e in Λ at the hinge of body k."""
    topo = plant.topo[k]
    return work.rows[k + 1, t.W_DINV] if _is_simple(topo) and topo[t.GROUP] < 0 else 1.0


@kernel
def largest_weight(plant, work, k, most):
    """The larger of `most` and of D⁻¹ of the velocities of body k, outside of groups."""
    if _is_simple(plant.topo[k]):
        return max(most, work.rows[k + 1, t.W_DINV])
    return _largest_weight(plant, work, k, most)


@kernel
def add_innovation(plant, work, k, path, f):
    """ε += e f at one hinge, f the rows' forces in lanes."""
    if _is_simple(plant.topo[k]):
        articulated.add_innovation(work.rows[k + 1], path, plant.topo[k, t.VI], f)
    else:
        _add_innovation(plant, work, k, path, f)


@kernel
def clear_innovation(plant, work, k):
    """ε = 0 at the hinge of body k."""
    if _is_simple(plant.topo[k]):
        work.rows[k + 1, t.W_EPS] = 0.0
    else:
        _clear_innovation(plant, work, k)


@kernel
def respond_body(plant, work, k, n, f):
    """ε of body k's velocities to the force z = [n; f] on it, and z⁺; not in a group, nor of modal bodies."""
    if _is_simple(plant.topo[k]):
        return articulated.respond_simple(work.rows[k + 1], _picked(plant, work, k, n, f), n, f)
    return _respond(plant, work, k, n, f)


@kernel
def answer_body(plant, work, k, out, w, u):
    """The answer of body k's velocities to ε where it sees [w; u] of its parent, and its own motion; not in a group."""
    if _is_simple(plant.topo[k]):
        out[plant.topo[k, t.VI]] = articulated.solve_simple(work.rows[k + 1], w, u)
        return push_body(plant, work, k, out, w, u)
    return _answer(plant, work, k, out, w, u)
