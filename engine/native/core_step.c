/* The engine in C: checks before a run, and steps. */
#include "core.h"

#define BATCH 256 /* integrator's steps between two calls of `goes_on` */

/* Writes what `check` found, and what the model therefore cannot do; `place` is its second number. */
static void tell(Core *core, const char *verb, int64_t status, int64_t place)
{
    const int64_t n_q = (int64_t)core->file.header->n_q;
    if (status == CHECK_LIMITS_CROSSED)
        core_say(core,
                 "The model cannot %s: the stops of %s are crossed, the lower one lies above the upper; set them in "
                 "order.",
                 verb, core_label(core, place));
    else if (status == CHECK_QUATERNION)
        core_say(core,
                 "The model cannot %s: the quaternion (w, x, y, z) that begins with %s does not have length 1; scale "
                 "its start values.",
                 verb, core_label(core, -1 - place));
    else
        core_say(core, "The model cannot %s: the start value of %s is not a finite number; set one.", verb,
                 core_label(core, place < n_q ? -1 - place : place - n_q));
}

CoreStatus core_check(Core *core, const char *verb)
{
    core_settle(core);
    int64_t report[2] = {CHECK_OK, 0};
    core->kernels->check(core->ints, core->floats, core->state, report);
    core->unchecked = report[0] != CHECK_OK;
    if (!core->unchecked)
        return CORE_OK;
    tell(core, verb, report[0], report[1]);
    return CORE_REFUSED;
}

static CoreStatus diverged(Core *core, const int64_t *report, double reached)
{
    const char *step = core->words->step;
    const double dt = core->file.header->dt;
    if (report[0] == ADVANCE_LOOP_OPEN)
        core_say(core,
                 "At %.9g s %s cannot be closed again: the mechanism came to the end of its reach, or start values do "
                 "not fit it. Check commands and start values, or reduce %s (%g s).",
                 reached, core_loop_label(core, report[1]), step, dt);
    else if (report[0] == ADVANCE_CROWDED)
        core_say(core, "At %.9g s %d points of the contacts touch at once, more than a step solves. Use fewer shapes.",
                 reached, (int)report[1]);
    else
        core_say(core, "At %.9g s %s %s. Reduce %s (%g s), or check stiffnesses, gains and commands.", reached,
                 core_label(core, report[1]),
                 report[0] == ADVANCE_NOT_FINITE ? "is no longer a finite number: the motion diverged"
                                                 : "grew beyond all bounds: the motion diverges",
                 step, dt);
    return CORE_DIVERGED;
}

/* Steps between two calls of `goes_on`. */
static int64_t batch(const Core *core, int64_t count, GoesOn goes_on)
{
    const int64_t substeps = (int64_t)core->file.header->substeps;
    return !goes_on ? count : substeps < BATCH ? BATCH / substeps : 1;
}

CoreStatus core_advance(Core *core, double time, double step, int64_t count, GoesOn goes_on, void *owner, int64_t *done)
{
    const PlantFileHeader *header = core->file.header;
    const int64_t most = batch(core, count, goes_on);
    CoreStatus status = CORE_OK;
    core_settle(core);
    *done = 0;
    for (bool on = count > 0; on;) {
        const int64_t left = count - *done, portion = left < most ? left : most;
        int64_t report[3] = {ADVANCE_OK, 0, 0};
        core->kernels->advance(core->ints, core->floats, core->work, core->state, step, (int64_t)header->integrator,
                               (int64_t)header->substeps, portion, left, report);
        *done += report[2];
        const double reached = time + (double)*done * step;
        if (report[0] != ADVANCE_OK)
            status = diverged(core, report, reached);
        on = status == CORE_OK && *done < count && goes_on(owner, reached);
    }
    core_changed(core, false);
    return status;
}
