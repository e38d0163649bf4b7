/* The engine in C: reading and setting. */
#include "core.h"

#include <math.h>
#include <string.h>

#include "layout.h"

/* As engine/model/device_tables.py does. */
void core_carry_rotors(Core *core)
{
    const PlantFileHeader *h = core->file.header;
    const int64_t *c = core->ints;
    const int64_t *row = c + h->n_ints - VALVE_INT * c[C_VALVES] - MOTOR_INT * c[C_MOTORS];
    double *const drives = core->state + h->n_state - c[C_DRIVE_STATE];
    const double *const q = core->state + STATE_Q, *const v = q + h->n_q;
    for (int64_t m = 0; m < c[C_MOTORS]; m++, row += MOTOR_INT) {
        drives[row[MO_STATE] + MX_ANGLE] = q[row[MO_Q]];
        drives[row[MO_STATE] + MX_RATE] = v[row[MO_V]];
    }
}

void core_settle(Core *core)
{
    if (!core->refresh_needed)
        return;
    core->kernels->refresh(core->ints, core->floats);
    core->refresh_needed = false;
}

double *core_evaluation_state(Core *core)
{
    core_settle(core);
    if (!core->any_length)
        return core->state;
    if (!(core->fresh & FRESH_UNIT)) {
        memcpy(core->unit, core->state, (size_t)core->file.header->n_state * sizeof(double));
        core->kernels->normalise(core->ints, core->floats, core->unit);
        core->fresh |= FRESH_UNIT;
    }
    return core->unit;
}

void core_observe(Core *core)
{
    const uint64_t n_v = core->file.header->n_v;
    double *tau = core->observed, *vdot = tau + n_v, *outputs = vdot + n_v;
    core->kernels->observe(core->ints, core->floats, core->work, core_evaluation_state(core), tau, vdot, outputs);
    core->fresh |= FRESH_OBSERVED;
}

void core_compute_forces(Core *core)
{
    core->kernels->forces(core->ints, core->floats, core->work, core_evaluation_state(core), core->observed);
    core->fresh |= FRESH_FORCES;
}

void core_survey(Core *core)
{
    core->kernels->survey(core->ints, core->floats, core->work, core_evaluation_state(core), core->surveyed);
    core->fresh |= FRESH_SURVEYED;
}

CoreStatus core_no_such(Core *core, const Variable *variable, const char *what)
{
    core_say(core, "variable '%s' cannot be %s.", core->file.texts + variable->name, what);
    return CORE_REFUSED;
}

CoreStatus core_not_finite(Core *core, const Variable *variable)
{
    core_say(core,
             "At %.9g s variable '%s' is not a finite number: the states are too large, or a quaternion is zero; check "
             "them, and the solver's step.",
             *core->time, core->file.texts + variable->name);
    return CORE_NOT_FINITE;
}

/* Does the value mean that there is no bound? */
static bool is_endless(const Variable *variable, double value)
{
    return variable->flags & FLAG_ENDLESS && isinf(value) && (value == variable->min || value == variable->max);
}

static bool check_value(Core *core, const Variable *variable, uint32_t element, double value)
{
    const bool whole = !(variable->flags & FLAG_WHOLE) || value == floor(value);
    if (is_endless(variable, value) || (isfinite(value) && whole && value >= variable->min && value <= variable->max))
        return true;
    const char *name = core->file.texts + variable->name;
    const unsigned place = element + 1;
    if (!isfinite(value))
        core_say(core, "variable '%s', element %u: %g is not a finite number; set one.", name, place, value);
    else if (!whole)
        core_say(core, "variable '%s', element %u: %.17g is not a whole number; set one.", name, place, value);
    else
        core_say(core, "variable '%s', element %u: %.17g is outside its range, %g to %g; set a value inside.", name,
                 place, value, variable->min, variable->max);
    return false;
}

CoreStatus core_accepts(Core *core, const Variable *variable, const double *values)
{
    if (!core_settable(core, variable))
        return core_no_such(core, variable, "set");
    for (uint32_t i = 0; i < variable->count; i++)
        if (!check_value(core, variable, i, values[i]))
            return CORE_REFUSED;
    return CORE_OK;
}
