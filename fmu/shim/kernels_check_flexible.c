/* Is every index in the tables of modal bodies inside the vector that it leads into? engine/flexible/layout.py */
#include "kernels_check.h"

#define MOST_MODES ((int64_t)1 << 12) /* of one body: no size below can overflow */

static const int64_t *modal_row(const Tables *tables, int64_t slot)
{
    return tables->modal + MODAL_INT * slot;
}

static bool is_flag(int64_t value)
{
    return value == 0 || value == 1;
}

/* The next `size` numbers of both vectors begin where a row says, and end within their counts. */
static bool follows(const int64_t *counts, int64_t table, int64_t work, int64_t at[2], int64_t sizes[2])
{
    if (table != at[0] || work != at[1])
        return false;
    at[0] += sizes[0], at[1] += sizes[1];
    return at[0] <= counts[C_MODAL_TABLE] && at[1] <= counts[C_MODAL_WORK];
}

/* `modal_table_size` and `modal_work_size` */
static bool check_bodies(const Tables *tables, int64_t at[2])
{
    for (int64_t i = 0; i < tables->counts[C_MODAL]; i++) {
        const int64_t *row = modal_row(tables, i), n = row[MI_MODES];
        if (!is_in(n, 0, MOST_MODES + 1) || !is_flag(row[MI_FULL]))
            return false;
        const int64_t width = padded(n), blocks = width / LANES;
        int64_t sizes[2] = {blocks * (2 * BLOCK + (row[MI_FULL] ? n * PER_MODE : 0)),
                            RIGID + (3 + 2 * n) * width + blocks * BLOCK + LANES * n};
        if (!follows(tables->counts, row[MI_TABLE], row[MI_WORK], at, sizes))
            return false;
    }
    return true;
}

/* `attached_table_size` and `attached_work_size` */
static bool check_nodes_of_bodies(const Tables *tables, int64_t at[2])
{
    for (int64_t i = 0; i < tables->counts[C_ATTACHED]; i++) {
        const int64_t *row = tables->attached + ATTACHED_INT * i;
        if (!is_in(row[AI_MODAL], 0, tables->counts[C_MODAL]) || !is_flag(row[AI_CURVED]))
            return false;
        const int64_t n = modal_row(tables, row[AI_MODAL])[MI_MODES], blocks = padded(n) / LANES;
        int64_t sizes[2] = {ATTACHED_HEAD + blocks * (BLOCK + (row[AI_CURVED] ? n * HALF : 0)),
                            ATTACHED_A + blocks * BLOCK};
        if (!follows(tables->counts, row[AI_TABLE], row[AI_WORK], at, sizes))
            return false;
    }
    return true;
}

bool check_modal(const Tables *tables)
{
    const int64_t *counts = tables->counts;
    int64_t at[2] = {0, 0};
    return check_bodies(tables, at) && check_nodes_of_bodies(tables, at) && at[0] == counts[C_MODAL_TABLE] &&
           at[1] == counts[C_MODAL_WORK];
}

/* A link with modes moves by as many coordinates as its row says. */
static bool check_modes(const int64_t *counts, const Tables *tables, const int64_t *body)
{
    if (body[KIND] != MODAL || !is_in(body[SLOT], 0, counts[C_MODAL]))
        return false;
    const int64_t n = modal_row(tables, body[SLOT])[MI_MODES];
    return body[NV] == n && fits(body[QI], n, counts[C_Q]) && fits(body[VI], n, counts[C_V]);
}

/* An attachment node hangs on the link whose modes move it, and has no coordinates. */
static bool check_node(const int64_t *counts, const Tables *tables, const int64_t *body)
{
    if (body[KIND] != ATTACHED || !is_in(body[SLOT], 0, counts[C_ATTACHED]) || body[UP] == 0 || body[NV] != 0)
        return false;
    const int64_t *up = tables->topo + TOPO * (body[UP] - 1);
    return up[PATH] == PATH_MODAL && up[SLOT] == tables->attached[ATTACHED_INT * body[SLOT] + AI_MODAL] &&
           fits(body[QI], 0, counts[C_Q]) && fits(body[VI], 0, counts[C_V]);
}

bool check_modal_link(const Tables *tables, int64_t k)
{
    const int64_t *body = tables->topo + TOPO * k;
    if (body[GROUP] != -1) /* embedded loops are of rigid bodies */
        return false;
    return body[PATH] == PATH_MODAL ? check_modes(tables->counts, tables, body)
                                    : body[PATH] == PATH_NODE && check_node(tables->counts, tables, body);
}
