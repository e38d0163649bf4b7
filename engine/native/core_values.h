/* The engine in C: functions that run for every number that is read or set. Part of core.h. */
#ifndef LIMBERJACK_CORE_VALUES_H
#define LIMBERJACK_CORE_VALUES_H

#include <math.h>

/* Marks computed vectors as out of date after a change. */
static inline void core_changed(Core *core, bool parameters)
{
    core->fresh = 0;
    if (core->state[STATE_STEPS] == 0.0)
        core_carry_rotors(core);
    core->refresh_needed = core->refresh_needed || parameters;
    core->unchecked = core->unchecked || parameters;
}

/* Brings computed vectors up to date. */
static inline const double *core_observed(Core *core)
{
    if (!(core->fresh & FRESH_OBSERVED))
        core_observe(core);
    return core->observed;
}

static inline const double *core_forces(Core *core)
{
    if (!(core->fresh & (FRESH_OBSERVED | FRESH_FORCES)))
        core_compute_forces(core);
    return core->observed;
}

static inline const double *core_surveyed(Core *core)
{
    if (!(core->fresh & FRESH_SURVEYED))
        core_survey(core);
    return core->surveyed;
}

/* The vector to which the offset of a settable variable refers; NULL for other variables. */
static inline double *core_settable(Core *core, const Variable *variable)
{
    return variable->region <= REGION_COMMAND ? core->settable[variable->region] : NULL;
}

/* The vector to which a variable's offset refers, up to date; NULL for regions of the owner, and for unknown ones. */
static inline const double *core_vector(Core *core, const Variable *variable)
{
    const double *stored = core_settable(core, variable);
    if (stored)
        return stored;
    switch (variable->region) {
    case REGION_TIME: return core->time;
    case REGION_OBSERVED:
        return variable->offset + variable->count <= core->file.header->n_v ? core_forces(core) : core_observed(core);
    case REGION_SURVEYED: return core_surveyed(core);
    case REGION_STATE: return core->state;
    default: return NULL;
    }
}

/* Copies a variable's numbers out of its vector; NULL is refused. */
static inline CoreStatus core_get(Core *core, const Variable *variable, const double *vector, double *values)
{
    if (!vector)
        return core_no_such(core, variable, "read");
    bool finite = true;
    for (uint32_t i = 0; i < variable->count; i++) {
        values[i] = vector[variable->offset + i];
        finite = finite && isfinite(values[i]);
    }
    if (finite || variable->region < REGION_OBSERVED) /* parameters may be infinite */
        return CORE_OK;
    return core_not_finite(core, variable);
}

/* Are these numbers valid whatever the variable's flags? */
static inline bool core_in_range(const Variable *variable, const double *values)
{
    bool good = !(variable->flags & (FLAG_ENDLESS | FLAG_WHOLE));
    for (uint32_t i = 0; i < variable->count; i++)
        good = good && isfinite(values[i]) && values[i] >= variable->min && values[i] <= variable->max;
    return good;
}

/* Sets parameters, coordinates, velocities or commands, all numbers of a variable or none. */
static inline CoreStatus core_set(Core *core, const Variable *variable, const double *values)
{
    double *to = core_settable(core, variable);
    if ((!to || !core_in_range(variable, values)) && core_accepts(core, variable, values) != CORE_OK)
        return CORE_REFUSED;
    for (uint32_t i = 0; i < variable->count; i++)
        to[variable->offset + i] = values[i];
    core_changed(core, variable->region == REGION_PARAMETER);
    return CORE_OK;
}

#endif
