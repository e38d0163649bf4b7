/* Is every index in the tables of closed loops inside the vector that it leads into? engine/loops/layout.py */
#include "kernels_check.h"

enum { MOST_LOCKED = 6 };                /* velocities of one hinge */
enum { ROWS_OF_WHEEL = 3 };              /* height, and slip in two directions */
#define MOST_IN_GROUP ((int64_t)1 << 20) /* the scratch of a larger group could not be allocated */

static const int64_t *group_row(const Tables *tables, int64_t group)
{
    return tables->groups + GROUP_INT * group;
}

/* Are the items that a group lists from `start` numbers of a vector of `end`? */
static bool check_list(const Tables *tables, int64_t start, int64_t size, int64_t end)
{
    if (!fits(start, size, tables->counts[C_LISTED]))
        return false;
    for (int64_t i = start; i < start + size; i++)
        if (!is_in(tables->listed[i], 0, end))
            return false;
    return true;
}

/* `group_work_size` of engine/loops/layout.py */
static int64_t group_work_size(const int64_t *group)
{
    const int64_t n = group[GI_DOFS], bodies = group[GI_BODIES], width = padded(n + 1), blocks = width / LANES * BLOCK;
    return GROUP_HEAD + 3 * n + (n + 2) * (padded(group[GI_ROWS]) + LANES) + (2 * n + 2) * width +
           (2 * bodies + 1) * blocks + ACC * bodies;
}

bool check_groups(const Tables *tables)
{
    const int64_t *counts = tables->counts;
    int64_t work = 0;
    for (int64_t g = 0; g < counts[C_GROUPS]; g++) {
        const int64_t *group = group_row(tables, g);
        if (!check_list(tables, group[GI_BODY], group[GI_BODIES], counts[C_BODIES]) ||
            !check_list(tables, group[GI_DOF], group[GI_DOFS], counts[C_V]) ||
            !check_list(tables, group[GI_DOF] + group[GI_DOFS], group[GI_RANK], group[GI_ROWS]) || /* their rows */
            !check_list(tables, group[GI_LOOP], group[GI_LOOPS], counts[C_LOOPS]))
            return false;
        if (!is_in(group[GI_RANK], 0, group[GI_DOFS] + 1) || !is_in(group[GI_ROWS], group[GI_RANK], MOST_IN_GROUP) ||
            !is_in(group[GI_PARENT], 0, counts[C_BODIES] + 1) || group[GI_DOFS] > MOST_IN_GROUP ||
            group[GI_WORK] != work)
            return false;
        work += group_work_size(group);
        if (work > counts[C_GROUP_WORK])
            return false;
    }
    return work == counts[C_GROUP_WORK];
}

/* Is the item at this rank of a slice of listed? Not in a group: rank -1. */
static bool is_member(const Tables *tables, int64_t group, int64_t rank, int start, int64_t item)
{
    if (group == -1)
        return rank == -1;
    if (!is_in(group, 0, tables->counts[C_GROUPS]))
        return false;
    const int64_t *row = group_row(tables, group);
    return is_in(rank, 0, row[start + 1]) && tables->listed[row[start] + rank] == item;
}

bool check_body_group(const Tables *tables, int64_t body)
{
    const int64_t *topo = tables->topo + TOPO * body;
    return is_member(tables, topo[GROUP], topo[MEMBER], GI_BODY, body);
}

bool check_dof_group(const Tables *tables, int64_t dof)
{
    const int64_t *row = tables->dof + DOF_INT * dof;
    return is_member(tables, tables->topo[TOPO * row[DI_BODY] + GROUP], row[DI_MEMBER], GI_DOF, dof);
}

bool check_terms(const Tables *tables)
{
    const int64_t *counts = tables->counts;
    for (int64_t i = 0; i < counts[C_TERMS]; i++) {
        const int64_t *term = tables->terms + TERM_INT * i;
        if (!is_in(term[TI_Q], -1, counts[C_Q]) || !is_in(term[TI_V], 0, counts[C_V]) ||
            !is_in(term[TI_BODY], 1, counts[C_BODIES] + 1))
            return false;
    }
    return true;
}

bool check_walk(const Tables *tables)
{
    for (int64_t i = 0; i < tables->counts[C_WALK]; i++)
        if (!is_in(tables->walk[i], 0, tables->counts[C_BODIES]))
            return false;
    return true;
}

/* Most rows of a loop of this kind; -1 for a kind that there is not. */
static int64_t most_rows(int64_t kind)
{
    static const int8_t rows[HINGE_TYPES] = {6, 5, 5, 5, 4, 4, 3, 3, 3, 5, 0, 6};
    if (is_in(kind, 0, HINGE_TYPES))
        return rows[kind];
    if (kind == DISC || kind == BALL)
        return ROWS_OF_WHEEL;
    return kind == LOCK ? MOST_LOCKED : kind == DISTANCE || kind == COUPLING ? 1 : -1;
}

static bool check_rows(const Tables *tables, const int64_t *loop)
{
    const int64_t *counts = tables->counts;
    if (!is_in(loop[L_ROWS], 0, most_rows(loop[L_KIND]) + 1) || !is_in(loop[L_GROUP], -1, counts[C_GROUPS]))
        return false;
    if (loop[L_GROUP] >= 0)
        return loop[L_FORCED] == -1 && fits(loop[L_ROW], loop[L_ROWS], group_row(tables, loop[L_GROUP])[GI_ROWS]);
    return is_in(loop[L_FORCED], 0, counts[C_FORCED]) && fits(loop[L_ROW], loop[L_ROWS], counts[C_FORCE_ROWS]);
}

/* Coordinates that a coupling adds up, velocities that a lock holds. */
static bool check_coupled(const Tables *tables, const int64_t *loop)
{
    if (!fits(loop[L_TERM], loop[L_TERMS], tables->counts[C_TERMS]))
        return false;
    if (loop[L_KIND] == LOCK)
        return is_in(loop[L_TERMS], loop[L_ROWS], MOST_LOCKED + 1);
    for (int64_t i = 0; loop[L_KIND] == COUPLING && i < loop[L_TERMS]; i++)
        if (tables->terms[TERM_INT * (loop[L_TERM] + i) + TI_Q] < 0)
            return false;
    return true;
}

static bool check_commands(const int64_t *counts, const int64_t *loop)
{
    if (!is_in(loop[L_SWITCH], -1, counts[C_SWITCHES]) || !is_in(loop[L_DRIVE], -1, counts[C_DRIVES]))
        return false;
    const int64_t taken = (loop[L_SWITCH] >= 0) + 3 * (loop[L_DRIVE] >= 0);
    return taken ? fits(loop[L_COMMAND], taken, counts[C_COMMANDS]) : loop[L_COMMAND] == -1;
}

bool check_loops(const Tables *tables)
{
    const int64_t *counts = tables->counts;
    for (int64_t l = 0; l < counts[C_LOOPS]; l++) {
        const int64_t *loop = tables->loops + LOOP_INT * l;
        if (most_rows(loop[L_KIND]) < 0 || !is_in(loop[L_A], 0, counts[C_BODIES] + 1) ||
            !is_in(loop[L_B], 0, counts[C_BODIES] + 1))
            return false;
        if (!check_rows(tables, loop) || !check_coupled(tables, loop) || !check_commands(counts, loop))
            return false;
        if (!fits(loop[L_CHAIN_A], loop[L_CHAIN_AS], counts[C_WALK]) ||
            !fits(loop[L_CHAIN_B], loop[L_CHAIN_BS], counts[C_WALK]) ||
            !fits(loop[L_WALK], loop[L_WALKS], counts[C_WALK]))
            return false;
    }
    return true;
}

/* A body of a group hangs on another one of it or on what carries the group, and moves by velocities of the group. */
static bool check_member(const Tables *tables, int64_t g, int64_t rank, int64_t body)
{
    const int64_t *topo = tables->topo + TOPO * body, up = topo[UP];
    if (topo[GROUP] != g || topo[MEMBER] != rank)
        return false;
    if (up != group_row(tables, g)[GI_PARENT] && (up == 0 || tables->topo[TOPO * (up - 1) + GROUP] != g))
        return false;
    for (int64_t j = topo[VI]; j < topo[VI] + topo[NV]; j++)
        if (tables->dof[DOF_INT * j + DI_BODY] != body)
            return false;
    return true;
}

bool check_members(const Tables *tables)
{
    for (int64_t g = 0; g < tables->counts[C_GROUPS]; g++) {
        const int64_t *group = group_row(tables, g), *listed = tables->listed;
        for (int64_t i = 0; i < group[GI_BODIES]; i++)
            if (!check_member(tables, g, i, listed[group[GI_BODY] + i]))
                return false;
        for (int64_t i = 0; i < group[GI_DOFS]; i++) {
            const int64_t *dof = tables->dof + DOF_INT * listed[group[GI_DOF] + i];
            if (dof[DI_MEMBER] != i || tables->topo[TOPO * dof[DI_BODY] + GROUP] != g)
                return false;
        }
        for (int64_t i = 0; i < group[GI_LOOPS]; i++)
            if (tables->loops[LOOP_INT * listed[group[GI_LOOP] + i] + L_GROUP] != g)
                return false;
    }
    return true;
}
