/* The C interface: loops that are closed and opened while the model runs. */
#include <stdio.h>
#include <string.h>

#include "layout.h"
#include "limberjack_model.h"

#define MOST_NAME 1000 /* bytes of a name with its group and leaf */

/* The number of a loop, or -1. */
static int64_t place_of(const lj_model *model, const char *loop)
{
    char label[MOST_NAME];
    snprintf(label, sizeof label, "loop '%s'", loop);
    const int64_t count = (int64_t)model->core.file.header->n_loops;
    for (int64_t i = 0; i < count; i++)
        if (strcmp(core_loop_label(&model->core, i), label) == 0)
            return i;
    return -1;
}

/* Whether "<group>.<loop>.<leaf>" is true; false too if the model has no such quantity, which *known reports. */
static bool is_true(lj_model *model, const char *group, const char *loop, const char *leaf, bool *known)
{
    char name[MOST_NAME];
    snprintf(name, sizeof name, "%s.%s.%s", group, loop, leaf);
    const int64_t index = lj_index_of(model, name);
    *known = index >= 0;
    if (!*known)
        return false;
    const Variable *variable = &model->core.file.variables[index];
    return core_vector(&model->core, variable)[variable->offset] > 0.5;
}

/* Is the loop switchable, and not yet in the wanted state? */
static bool may_switch(lj_model *model, const char *loop, int64_t place, bool close)
{
    bool known = false;
    const bool closed = is_true(model, "loop", loop, "is_closed", &known);
    const bool commanded = is_true(model, "command", loop, "closed", &known);
    if (place < 0)
        core_say(&model->core, "the model has no loop '%.200s'; give the name that it has in the model.", loop);
    else if (!known)
        core_say(&model->core,
                 "loop '%.200s' is always closed and cannot be %s; write 'switchable: true' at the loop in the model.",
                 loop, close ? "attached" : "released");
    else if (closed == close && commanded == close)
        core_say(&model->core, "loop '%.200s' is %s already.", loop, closed ? "closed" : "open");
    else
        return true;
    return false;
}

static void take_report(const double *report, lj_impact *impact)
{
    *impact = (lj_impact){.energy_loss = report[RP_LOSS], .distance = report[RP_DISTANCE]};
    impact->n_impulse = (int)report[RP_COUNT];
    memcpy(impact->impulse, report + RP_IMPULSE, sizeof impact->impulse);
}

static int switch_loop(lj_model *model, const char *loop, bool close, lj_impact *impact)
{
    if (!lj_usable(model) || !lj_has(model, loop, "loop"))
        return LJ_BAD_ARGUMENT;
    const int64_t place = place_of(model, loop);
    if (!may_switch(model, loop, place, close) || lj_settle(model) != LJ_OK)
        return LJ_BAD_ARGUMENT;
    Core *core = &model->core;
    double report[REPORT];
    core->kernels->switch_loop(core->ints, core->floats, core->work, core->state, place, close, report);
    if (impact)
        take_report(report, impact);
    if ((int)report[RP_STATUS] == SWITCH_FAR) {
        core_say(core,
                 "loop '%.200s' is out of reach: its frames are %.6g m apart; bring them nearer, or give the loop more "
                 "'reach' in the model.",
                 loop, report[RP_DISTANCE]);
        return LJ_OUT_OF_REACH;
    }
    core_changed(core, false);
    return LJ_OK;
}

int lj_attach(lj_model *model, const char *loop, lj_impact *impact)
{
    return switch_loop(model, loop, true, impact);
}

int lj_release(lj_model *model, const char *loop, lj_impact *impact)
{
    return switch_loop(model, loop, false, impact);
}
