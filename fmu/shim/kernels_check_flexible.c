/* Is every index in the tables of modal bodies inside the vector that it leads into? engine/flexible/layout.py */
#include "kernels_check.h"

#define MOST_MODES ((int64_t)1 << 12) /* of one body: no size below can overflow */
#define MOST_RANK ((int64_t)1 << 16)  /* of all nodes of one body */
enum { NODE_RANK = 6 };

static const int64_t *modal_row(const Tables *tables, int64_t slot)
{
    return tables->modal + MODAL_INT * slot;
}

static bool is_flag(int64_t value)
{
    return value == 0 || value == 1;
}

/* Where the next table and the next scratch begin, of what was seen so far. */
typedef struct {
    int64_t table, work;
} Places;

/* Scratch follows scratch; tables do too, but for one that is shared, among those before. */
static bool follows(const int64_t *counts, Places *at, int64_t table, int64_t table_size, int64_t work,
                    int64_t work_size)
{
    if (work != at->work || (table != at->table && !fits(table, table_size, at->table)))
        return false;
    at->table += table == at->table ? table_size : 0;
    at->work += work_size;
    return at->table <= counts[C_MODAL_TABLE] && at->work <= counts[C_MODAL_WORK];
}

/* `row_width` */
static int64_t row_width(int64_t rank)
{
    return rank > 0 ? LANES + padded(rank + 2) : LANES;
}

/* Modes, and what their solution needs. Condensed, it has rows for rank columns in the place of those for n. */
static bool check_solution(const int64_t *counts, const int64_t *row)
{
    const int64_t n = row[MI_MODES], rank = row[MI_RANK];
    if (!is_in(n, 0, MOST_MODES + 1) || !is_flag(row[MI_FULL]) || !is_flag(row[MI_CONDENSED]))
        return false;
    if (!is_in(rank, 0, MOST_RANK + 1) || rank % NODE_RANK != 0)
        return false;
    return !row[MI_CONDENSED] || (rank < n && counts[C_LOOPS] == 0);
}

/* `modal_table_size` and `modal_work_size` */
static bool check_bodies(const Tables *tables, Places *at)
{
    for (int64_t i = 0; i < tables->counts[C_MODAL]; i++) {
        const int64_t *row = modal_row(tables, i), n = row[MI_MODES];
        if (!check_solution(tables->counts, row))
            return false;
        const int64_t width = padded(n), blocks = width / LANES;
        const int64_t table = blocks * (2 * BLOCK + (row[MI_FULL] ? n * PER_MODE : 0));
        int64_t work = RIGID + (4 + 2 * n) * width + blocks * BLOCK + LANES * n + BLOCK;
        work += row[MI_CONDENSED] ? width + (n + 1) * row_width(row[MI_RANK]) : 0;
        if (!follows(tables->counts, at, row[MI_TABLE], table, row[MI_WORK], work))
            return false;
    }
    return true;
}

/* `attached_table_size` and `attached_work_size` */
static bool check_nodes_of_bodies(const Tables *tables, Places *at)
{
    for (int64_t i = 0; i < tables->counts[C_ATTACHED]; i++) {
        const int64_t *row = tables->attached + ATTACHED_INT * i, column = row[AI_COLUMN];
        if (!is_in(row[AI_MODAL], 0, tables->counts[C_MODAL]) || !is_flag(row[AI_CURVED]))
            return false;
        const int64_t *modal = modal_row(tables, row[AI_MODAL]), n = modal[MI_MODES], blocks = padded(n) / LANES;
        if (column != -1 && (!fits(column, NODE_RANK, modal[MI_RANK]) || column % NODE_RANK != 0))
            return false;
        const int64_t table = ATTACHED_HEAD + blocks * (BLOCK + (row[AI_CURVED] ? n * HALF : 0));
        if (!follows(tables->counts, at, row[AI_TABLE], table, row[AI_WORK], ATTACHED_A + blocks * BLOCK))
            return false;
    }
    return true;
}

bool check_modal(const Tables *tables)
{
    const int64_t *counts = tables->counts;
    Places at = {0, 0};
    return check_bodies(tables, &at) && check_nodes_of_bodies(tables, &at) && at.table == counts[C_MODAL_TABLE] &&
           at.work == counts[C_MODAL_WORK];
}

/* A link with modes moves by as many coordinates as its row says. */
static bool check_modes(const int64_t *counts, const Tables *tables, const int64_t *body)
{
    if (body[KIND] != MODAL || !is_in(body[SLOT], 0, counts[C_MODAL]))
        return false;
    const int64_t n = modal_row(tables, body[SLOT])[MI_MODES];
    return body[NV] == n && fits(body[QI], n, counts[C_Q]) && fits(body[VI], n, counts[C_V]);
}

/* An attachment node hangs on the link whose modes move it, and has no coordinates; in a group so are the modes. */
static bool check_node(const int64_t *counts, const Tables *tables, const int64_t *body)
{
    if (body[KIND] != ATTACHED || !is_in(body[SLOT], 0, counts[C_ATTACHED]) || body[UP] == 0 || body[NV] != 0)
        return false;
    const int64_t *up = tables->topo + TOPO * (body[UP] - 1);
    if (body[GROUP] != -1 && up[GROUP] != body[GROUP])
        return false;
    return up[PATH] == PATH_MODAL && up[SLOT] == tables->attached[ATTACHED_INT * body[SLOT] + AI_MODAL] &&
           fits(body[QI], 0, counts[C_Q]) && fits(body[VI], 0, counts[C_V]);
}

bool check_modal_link(const Tables *tables, int64_t k)
{
    const int64_t *body = tables->topo + TOPO * k;
    return body[PATH] == PATH_MODAL ? check_modes(tables->counts, tables, body)
                                    : body[PATH] == PATH_NODE && check_node(tables->counts, tables, body);
}
