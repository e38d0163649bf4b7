"""Islands: sets of touches that affect each other. Each island is solved separately.

A tree consists of a link that a hinge joins to the ground, and of all its descendants. The force of one touch affects
another only if both move links of the same tree, or if loops that act by force join their trees. Trees are therefore
joined if a touch or such a loop moves several of them, and the touches of joined trees are an island. W is zero between
islands.

Islands come in the order of their first touch, and touches within one in that of their pairs.
"""

from __future__ import annotations

import math

from limberjack.engine.algebra.spatial import ZERO, dot, load3, load9, rot, store3, sub
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.contacts.broad_phase import carried, velocity_at
from limberjack.engine.kernels.groups.paths import acts
from limberjack.engine.tables import contacts as t
from limberjack.engine.tables import loops as lp
from limberjack.engine.tables.plant import UP, W_V


@kernel
def forget(work, j, gap):
    """Clear the force and the law of touch j."""
    known = work.contacts.touch[j]
    known[t.TO_LAW], known[t.TO_GAP], known[t.TO_ACTS] = 0.0, gap, 0.0
    known[t.TO_STORED] = 0.0
    store3(known, t.TO_FORCE, ZERO)
    store3(known, t.TO_MOMENT, ZERO)


@kernel
def _fastest(plant, work):
    """The largest speed at which shapes that would penetrate approach, m/s."""
    most = 0.0
    for i in range(plant.contacts.pair_int.shape[0]):
        pair = plant.contacts.pair_int[i]
        if work.contacts.awake[i, t.AW_NEAR] > 0.0:
            for j in range(pair[t.PA_TOUCH], pair[t.PA_TOUCH] + pair[t.PA_TOUCHES]):
                row = work.contacts.met[j]
                if row[t.ME_NEAR] > 0.0 and row[t.ME_GAP] < 0.0:
                    most = max(most, -dot(load3(row, t.ME_NORMAL), load3(row, t.ME_SPEED)))
    return most


@kernel
def _forget_pair(plant, work, i):
    """Clear the forces and laws of pair i, which is out of reach."""
    pair, awake = plant.contacts.pair_int[i], work.contacts.awake[i]
    awake[t.AW_LIVE] = 0.0
    for j in range(pair[t.PA_TOUCH], pair[t.PA_TOUCH] + pair[t.PA_TOUCHES]):
        forget(work, j, awake[t.AW_GAP])


@kernel
def list_touches(plant, work, h):
    """Touches that forces of others may close as well join work.contacts.listed; returns how many there are. All others
    are forgotten."""
    count, room, margin = 0, work.contacts.listed.shape[0], 2.0 * h * _fastest(plant, work)
    for i in range(plant.contacts.pair_int.shape[0]):
        pair, awake = plant.contacts.pair_int[i], work.contacts.awake[i]
        if awake[t.AW_NEAR] > 0.0:
            awake[t.AW_LIVE] = 1.0
            for j in range(pair[t.PA_TOUCH], pair[t.PA_TOUCH] + pair[t.PA_TOUCHES]):
                row = work.contacts.met[j]
                held = work.contacts.touch[j, t.TO_ACTS] > 0.0
                acts_soon = held or row[t.ME_GAP] < margin or row[t.ME_GAP] <= 0.0
                if row[t.ME_NEAR] > 0.0 and acts_soon and count < room:
                    listed = work.contacts.listed[count]
                    listed[t.LI_TOUCH], listed[t.LI_PAIR] = j, i
                    count += 1
                else:
                    forget(work, j, row[t.ME_GAP])
        elif awake[t.AW_LIVE] > 0.0:
            _forget_pair(plant, work, i)
    return count


@kernel
def blocks_of(plant, pair):
    """How many blocks a touch of a pair takes: forces, and moments if its contact has laws for them."""
    law = plant.contacts.contact[plant.contacts.pair_int[pair, t.PA_CONTACT]]
    return 2 if law[t.K_TORSION] > 0.0 or law[t.K_ROLLING] > 0.0 else 1


@kernel
def _tree_of(work, row):
    """The tree that represents all trees joined with that of `row`: the one with the lowest number."""
    tree = work.contacts.tree
    for _ in range(tree.shape[0]):
        up = int(tree[row, t.TR_UP])
        if up == row:
            break
        tree[row, t.TR_UP] = tree[up, t.TR_UP]
        row = up
    return row


@kernel
def _join(work, a, b):
    a, b = _tree_of(work, a), _tree_of(work, b)
    work.contacts.tree[max(a, b), t.TR_UP] = min(a, b)


@kernel
def _join_moved(plant, work, walk, first, count):
    """Join all trees of a slice of a walk; returns the row of the last one, 0 if there is none."""
    found = 0
    for i in range(first, first + count):
        row = walk[i] + 1
        if plant.topo[row - 1, UP] == 0:
            if found > 0:
                _join(work, found, row)
            found = row
    return found


@kernel
def _join_trees(plant, work, count):
    """Join the trees that touches of the list or loops by force move together."""
    walk, listed, pair, found = plant.contacts.walk, work.contacts.listed, -1, 0
    for i in range(count):
        if int(listed[i, t.LI_PAIR]) != pair:
            pair = int(listed[i, t.LI_PAIR])
            ints = plant.contacts.pair_int[pair]
            found = _join_moved(plant, work, walk, ints[t.PA_WALK], ints[t.PA_WALKS])
        listed[i, t.LI_TREE] = found
    for l in range(plant.loops.loop_int.shape[0]):
        if acts(plant, work, l):
            loop = plant.loops.loop_int[l]
            _join_moved(plant, work, plant.loops.walk, loop[lp.L_WALK], loop[lp.L_WALKS])


@kernel
def find_islands(plant, work, count):
    """Chains of the touches of each island, `count` of which are listed; returns the blocks of the largest."""
    listed, trees, most = work.contacts.listed, work.contacts.tree, 0
    for row in range(trees.shape[0]):
        tree = trees[row]
        tree[t.TR_UP], tree[t.TR_FIRST], tree[t.TR_LAST], tree[t.TR_BLOCKS] = row, -1.0, -1.0, 0.0
    _join_trees(plant, work, count)
    for i in range(count):
        tree = trees[_tree_of(work, int(listed[i, t.LI_TREE]))]
        if tree[t.TR_LAST] < 0.0:
            tree[t.TR_FIRST] = i
        else:
            listed[int(tree[t.TR_LAST]), t.LI_NEXT] = i
        tree[t.TR_LAST], listed[i, t.LI_NEXT] = i, -1.0
        tree[t.TR_BLOCKS] += blocks_of(plant, int(listed[i, t.LI_PAIR]))
        most = max(most, int(tree[t.TR_BLOCKS]))
    return most


@kernel
def is_first(work, i):
    """Whether an island begins with touch i of the list."""
    row = _tree_of(work, int(work.contacts.listed[i, t.LI_TREE]))
    return work.contacts.tree[row, t.TR_FIRST] == i


@kernel
def spin(work, row):
    """Angular velocity of a link, inertial axes."""
    return rot(load9(work.pose[row], 0), load3(work.rows[row], W_V))


@kernel
def _note_once(work, met, pair, row_a, row_b, time):
    """ME_ONCE of a touch of a pair that has no place at the start of the step."""
    x = load3(met, t.ME_POINT)
    a = velocity_at(work, row_a, carried(work, pair[t.PA_A], x, time))
    b = velocity_at(work, row_b, carried(work, pair[t.PA_B], x, time))
    store3(met, t.ME_ONCE, sub(b, a))


@kernel
def note_motion(plant, work, count, time):
    """work.contacts.met has the relative angular velocities of the touches of the list, and the velocities at the start
    of the step, `time` before the one to which the links are placed and move."""
    for i in range(count):
        pair = plant.contacts.pair_int[int(work.contacts.listed[i, t.LI_PAIR])]
        met = work.contacts.met[int(work.contacts.listed[i, t.LI_TOUCH])]
        row_a = plant.contacts.collider_int[pair[t.PA_A], t.CO_ROW]
        row_b = plant.contacts.collider_int[pair[t.PA_B], t.CO_ROW]
        if met[t.ME_BEGAN] == 0.0:
            _note_once(work, met, pair, row_a, row_b, time)
        if blocks_of(plant, int(work.contacts.listed[i, t.LI_PAIR])) > 1:
            store3(met, t.ME_SPIN, sub(spin(work, row_b), spin(work, row_a)))


@kernel
def _basis(row, n):
    """Store n and two unit vectors across it, right-handed."""
    if abs(n[2]) < 0.7:
        s = 1.0 / math.sqrt(n[0] * n[0] + n[1] * n[1])
        x = -s * n[1], s * n[0], 0.0
    else:
        s = 1.0 / math.sqrt(n[1] * n[1] + n[2] * n[2])
        x = 0.0, -s * n[2], s * n[1]
    y = n[1] * x[2] - n[2] * x[1], n[2] * x[0] - n[0] * x[2], n[0] * x[1] - n[1] * x[0]
    store3(row, t.AC_BASIS, n)
    store3(row, t.AC_BASIS + 3, x)
    store3(row, t.AC_BASIS + 6, y)


@kernel
def _begin(work, active, listed, turns, free, last):
    """A row of work.contacts.active: its axes, its free velocity, and the last force or moment along these."""
    j = int(listed[t.LI_TOUCH])
    met, known = work.contacts.met[j], work.contacts.touch[j]
    active[t.AC_TOUCH], active[t.AC_PAIR], active[t.AC_TURNS] = listed[t.LI_TOUCH], listed[t.LI_PAIR], turns
    _basis(active, load3(met, t.ME_NORMAL))
    speed, force = load3(met, free), load3(known, last)
    for c in range(3):
        axis = load3(active, t.AC_BASIS + 3 * c)
        active[t.AC_FREE + c] = dot(axis, speed)
        active[t.AC_FORCE + c] = dot(axis, force)
        active[t.AC_HELD + c] = active[t.AC_FORCE + c] if known[t.TO_ACTS] > 0.0 else 0.0
    active[t.AC_STEPS] = abs(known[t.TO_ACTS])


@kernel
def take_island(plant, work, first):
    """The blocks of the island that begins with touch `first` of the list become rows of work.contacts.active; returns
    how many there are, for which there is room."""
    i, count = first, 0
    for _ in range(work.contacts.listed.shape[0]):
        listed, active = work.contacts.listed[i], work.contacts.active[count]
        _begin(work, active, listed, 0.0, t.ME_SPEED, t.TO_FORCE)
        active[t.AC_FORCE] = max(active[t.AC_FORCE], 0.0)
        count += 1
        if blocks_of(plant, int(listed[t.LI_PAIR])) > 1:
            _begin(work, work.contacts.active[count], listed, 1.0, t.ME_SPIN, t.TO_MOMENT)
            count += 1
        i = int(listed[t.LI_NEXT])
        if i < 0:
            break
    return count
