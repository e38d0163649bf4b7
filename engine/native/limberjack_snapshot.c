/* The C interface: snapshots, in the bytes of `Simulation.snapshot` (engine/api/simulation.py). */
#include <math.h>
#include <string.h>

#include "layout.h"
#include "limberjack_model.h"

#define MAGIC "LJSNAP02" /* without a final zero */

typedef struct {
    char magic[8];
    char model_hash[32];
    double dt;
    uint64_t size; /* of the state, which follows */
} Head;
_Static_assert(sizeof(Head) == 56, "no padding");

size_t lj_snapshot_size(const lj_model *model)
{
    return model && model->is_open ? sizeof(Head) + (size_t)model->core.file.header->n_state * sizeof(double) : 0;
}

/* Are there `size` bytes, as many as a snapshot has? */
static bool fits(lj_model *model, const void *bytes, size_t size)
{
    if (!lj_usable(model) || !lj_has(model, bytes, "bytes"))
        return false;
    if (size != lj_snapshot_size(model))
        core_say(&model->core, "a snapshot of this model has %zu bytes, not %zu; call lj_snapshot_size.",
                 lj_snapshot_size(model), size);
    return size == lj_snapshot_size(model);
}

int lj_snapshot(lj_model *model, void *bytes, size_t size)
{
    if (!fits(model, bytes, size))
        return LJ_BAD_ARGUMENT;
    const PlantFileHeader *header = model->core.file.header;
    Head head = {.dt = header->dt, .size = header->n_state};
    memcpy(head.magic, MAGIC, sizeof head.magic);
    memcpy(head.model_hash, header->model_hash, sizeof head.model_hash);
    memcpy(bytes, &head, sizeof head);
    memcpy((char *)bytes + sizeof head, model->core.state, size - sizeof head);
    return LJ_OK;
}

/* What is wrong with the head of a snapshot, or NULL. */
static const char *wrong_head(const PlantFileHeader *header, const Head *head)
{
    if (memcmp(head->magic, MAGIC, sizeof head->magic) != 0)
        return "this is not a snapshot, or it is damaged";
    if (head->size != header->n_state || memcmp(head->model_hash, header->model_hash, sizeof head->model_hash) != 0)
        return "the snapshot belongs to another model";
    return head->dt != header->dt ? "the snapshot was taken with another dt" : NULL;
}

/* What is wrong with a state, or NULL; the core's checks come on top. */
static const char *wrong_state(const Core *core, const double *state)
{
    const PlantFileHeader *header = core->file.header;
    for (uint64_t i = 0; i < header->n_state; i++)
        if (!isfinite(state[i]))
            return "the snapshot is damaged: a number in it is not finite";
    const double steps = state[STATE_STEPS];
    if (steps < 0.0 || steps > 0x1p53 || steps != floor(steps) || state[STATE_TIME] != steps * header->dt)
        return "the snapshot is damaged: its time does not match its steps";
    const double *closed = state + STATE_Q + header->n_q + header->n_v + header->n_commands + SW_CLOSED;
    for (int64_t s = 0; s < core->ints[C_SWITCHES]; s++, closed += SWITCH)
        if (*closed != 0.0 && *closed != 1.0)
            return "the snapshot is damaged: a loop in it is neither closed nor open";
    return NULL;
}

/* Is a quaternion in a state not of unit length? */
static bool is_bent(const Core *core, double *state)
{
    int64_t report[2] = {CHECK_OK, 0};
    core->kernels->check(core->ints, core->floats, state, report);
    return report[0] == CHECK_QUATERNION;
}

int lj_restore(lj_model *model, const void *bytes, size_t size)
{
    if (!fits(model, bytes, size))
        return LJ_BAD_ARGUMENT;
    Core *core = &model->core;
    Head head;
    memcpy(&head, bytes, sizeof head);
    memcpy(core->unit, (const char *)bytes + sizeof head, size - sizeof head); /* aligned */
    const char *wrong = wrong_head(core->file.header, &head);
    if (!wrong)
        wrong = wrong_state(core, core->unit);
    if (!wrong && is_bent(core, core->unit))
        wrong = "the snapshot is damaged: a quaternion in it does not have length 1";
    if (wrong) {
        core_say(core, "%s; give the bytes of lj_snapshot or Simulation.snapshot.", wrong);
        return LJ_BAD_ARGUMENT;
    }
    memcpy(core->state, core->unit, size - sizeof head);
    core_changed(core, false);
    return LJ_OK;
}
