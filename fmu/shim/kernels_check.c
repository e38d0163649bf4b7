/* Is every index in ints inside the vector that it leads into? The kernels do not ask: they trust the file. */
#include "kernels_check.h"

#include <stddef.h>

#include "kernels.h"

#define MOST ((int64_t)1 << 30) /* of any count: no sum or product below can overflow */
/* commands of one actuator and of one loop, outputs of one sensor, rows of one loop */
enum { MOST_COMMANDS = 3, MOST_LOOP_COMMANDS = 4, MOST_OUTPUTS = 6, MOST_ROWS = 6 };

/* What no table lists is bounded by the table that needs it, so that a small file cannot ask for much memory. */
static bool check_unlisted(const int64_t *c)
{
    return c[C_GENERAL] <= c[C_BODIES] && c[C_OUTPUTS] <= MOST_OUTPUTS * c[C_SENSORS] &&
           c[C_COMMANDS] <= MOST_COMMANDS * c[C_ACTUATORS] + MOST_LOOP_COMMANDS * c[C_LOOPS] + c[C_THRUSTERS] &&
           c[C_CENTRAL] <= 1 && c[C_ROWS] <= MOST_ROWS * c[C_LOOPS] && c[C_SWITCHES] <= c[C_LOOPS] &&
           c[C_DRIVES] <= c[C_LOOPS] && c[C_FORCED] <= c[C_LOOPS] && c[C_FORCE_ROWS] <= c[C_ROWS];
}

/* The counts are possible and ask for n numbers. */
static bool check_counts(const int64_t *ints, uint64_t n, Tables *tables)
{
    if (n < HEADER || ints[C_VERSION] != FORMAT_VERSION)
        return false;
    for (int i = C_BODIES; i <= C_DRIVE_STATE; i++)
        if (!is_in(ints[i], 0, MOST))
            return false;
    for (int i = C_DRIVE_STATE + 1; i < HEADER; i++)
        if (ints[i] != 0)
            return false;
    if (!check_unlisted(ints))
        return false;
    const int64_t sizes[] = {HEADER,
                             TOPO * ints[C_BODIES],
                             ints[C_NODES],
                             DOF_INT * ints[C_V],
                             ACTUATOR_INT * ints[C_ACTUATORS],
                             SENSOR_INT * ints[C_SENSORS],
                             ints[C_PARTS],
                             MODAL_INT * ints[C_MODAL],
                             ATTACHED_INT * ints[C_ATTACHED],
                             LOOP_INT * ints[C_LOOPS],
                             TERM_INT * ints[C_TERMS],
                             ints[C_WALK],
                             GROUP_INT * ints[C_GROUPS],
                             ints[C_LISTED],
                             THRUSTER_INT * ints[C_THRUSTERS],
                             ints[C_ROTORS],
                             INSTRUMENT_INT * ints[C_INSTRUMENTS],
                             MOTOR_INT * ints[C_MOTORS],
                             VALVE_INT * ints[C_VALVES]};
    const int64_t **const starts[] = {&tables->counts,      &tables->topo,    &tables->node_row,  &tables->dof,
                                      &tables->actuators,   &tables->sensors, &tables->part_body, &tables->modal,
                                      &tables->attached,    &tables->loops,   &tables->terms,     &tables->walk,
                                      &tables->groups,      &tables->listed,  &tables->thrusters, &tables->rotors,
                                      &tables->instruments, &tables->motors,  &tables->valves};
    uint64_t at = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        *starts[i] = at <= n ? ints + at : ints;
        at += (uint64_t)sizes[i];
    }
    return at == n;
}

/* Coordinates and velocities of a hinge of a type: those that it has, and that kernels of its path touch. */
static bool check_hinge(const int64_t *counts, const int64_t *body)
{
    static const int8_t n_q[HINGE_TYPES] = {0, 1, 1, 1, 2, 2, 3, 4, 3, 1, 7, 7};
    static const int8_t n_v[HINGE_TYPES] = {0, 1, 1, 1, 2, 2, 3, 3, 3, 1, 6, 6};
    static const int8_t fast[] = {[PATH_REVOLUTE] = REVOLUTE, [PATH_PRISMATIC] = PRISMATIC, [PATH_BASE] = FREE};
    const int64_t kind = body[KIND], path = body[PATH];
    if (!is_in(kind, 0, HINGE_TYPES) || !is_in(path, 0, PATH_BASE + 1))
        return false;
    if (path == PATH_GENERAL ? !is_in(body[SLOT], 0, counts[C_GENERAL]) : kind != fast[path])
        return false;
    if (path == PATH_BASE && counts[C_LOOPS] > 0)
        return false;
    if (kind == CUSTOM ? !is_in(body[NV], 0, n_v[CUSTOM] + 1) || !is_in(body[MAP], 0, counts[C_MAPS])
                       : body[NV] != n_v[kind])
        return false;
    return fits(body[QI], n_q[kind], counts[C_Q]) && fits(body[VI], body[NV], counts[C_V]);
}

static bool check_topo(const Tables *tables)
{
    const int64_t *counts = tables->counts;
    for (int64_t k = 0; k < counts[C_BODIES]; k++) {
        const int64_t *body = tables->topo + TOPO * k;
        if (!is_in(body[UP], 0, k + 1)) /* parents first: no sweep runs in a ring */
            return false;
        if (body[PATH] >= PATH_MODAL ? !check_modal_link(tables, k) : !check_hinge(counts, body))
            return false;
        if (!is_in(body[VEND], body[VI] + body[NV], counts[C_V] + 1) || !check_body_group(tables, k))
            return false;
    }
    return true;
}

static bool check_nodes(const Tables *tables)
{
    for (int64_t i = 0; i < tables->counts[C_NODES]; i++)
        if (!is_in(tables->node_row[i], 0, tables->counts[C_BODIES] + 1)) /* row 0 is the ground */
            return false;
    return true;
}

static bool check_dofs(const Tables *tables)
{
    for (int64_t j = 0; j < tables->counts[C_V]; j++) {
        const int64_t *dof = tables->dof + DOF_INT * j;
        if (!is_in(dof[DI_Q], -1, tables->counts[C_Q]) || !is_in(dof[DI_BODY], 0, tables->counts[C_BODIES]) ||
            !check_dof_group(tables, j))
            return false;
    }
    return true;
}

static bool check_actuators(const Tables *tables)
{
    static const int64_t commands[] = {[MODE_TORQUE] = 1, [MODE_VELOCITY] = 2, [MODE_SERVO] = 3};
    const int64_t *counts = tables->counts;
    for (int64_t a = 0; a < counts[C_ACTUATORS]; a++) {
        const int64_t *drive = tables->actuators + ACTUATOR_INT * a;
        if (!is_in(drive[AI_MODE], 0, MODE_SERVO + 1) || !is_in(drive[AI_V], 0, counts[C_V]) ||
            !fits(drive[AI_COMMAND], commands[drive[AI_MODE]], counts[C_COMMANDS]))
            return false;
        if (drive[AI_MODE] == MODE_SERVO && !is_in(drive[AI_Q], 0, counts[C_Q]))
            return false;
        if (!is_in(drive[AI_MOTOR], -1, counts[C_MOTORS]))
            return false;
    }
    return true;
}

/* How many things a sensor of a type may aim at. */
static int64_t targets(const int64_t *counts, int64_t type)
{
    switch (type) {
    case POSITION: return counts[C_Q];
    case RATE:
    case EFFORT: return counts[C_V];
    case REACTION:
    case STRAIN_ENERGY: return counts[C_BODIES] + 1;
    case LOOP_WRENCH:
    case LOOP_FORCE:
    case LOOP_RESIDUAL:
    case LOOP_CLOSED:
    case LOOP_ENERGY_LOSS: return counts[C_LOOPS];
    case MOTOR_CURRENT:
    case MOTOR_POSITION:
    case MOTOR_RATE: return counts[C_MOTORS];
    case THRUST: return counts[C_THRUSTERS];
    default: return counts[C_NODES];
    }
}

static bool check_sensors(const Tables *tables)
{
    static const int8_t outputs[SENSOR_TYPES] = {1, 1, 1, 6, 3, 4, 3, 3, 3, 3, 1, 6, 1, 1, 1, 1, 1, 1, 1, 1, 5, 4};
    const int64_t *counts = tables->counts;
    for (int64_t s = 0; s < counts[C_SENSORS]; s++) {
        const int64_t *sensor = tables->sensors + SENSOR_INT * s, type = sensor[SI_TYPE], target = sensor[SI_TARGET];
        if (!is_in(type, 0, SENSOR_TYPES) ||
            !is_in(target, type == REACTION || type == STRAIN_ENERGY, targets(counts, type)) ||
            !fits(sensor[SI_OUTPUT], outputs[type], counts[C_OUTPUTS]))
            return false;
        if (type == STRAIN_ENERGY && tables->topo[TOPO * (target - 1) + PATH] != PATH_MODAL)
            return false;
    }
    return true;
}

static bool check_parts(const Tables *tables)
{
    for (int64_t i = 0; i < tables->counts[C_PARTS]; i++)
        if (!is_in(tables->part_body[i], 0, tables->counts[C_BODIES]))
            return false;
    return true;
}

static bool check_elements(const Tables *tables)
{
    const int64_t *counts = tables->counts;
    for (int64_t i = 0; i < counts[C_THRUSTERS]; i++) {
        const int64_t *row = tables->thrusters + THRUSTER_INT * i;
        if (!is_in(row[TI_ROW], 0, counts[C_BODIES] + 1) || !is_in(row[TI_COMMAND], 0, counts[C_COMMANDS]) ||
            !is_in(row[TI_VALVE], 0, 2))
            return false;
    }
    for (int64_t i = 0; i < counts[C_ROTORS]; i++)
        if (!is_in(tables->rotors[i], 0, counts[C_BODIES] + 1))
            return false;
    return true;
}

const char *kernels_refuse(const int64_t *ints, uint64_t n)
{
    static const struct {
        bool (*check)(const Tables *tables);
        const char *name;
    } checks[] = {
        {check_groups,      "groups of loops"    }, /* before what points into them */
        {check_modal,       "flexible bodies"    },
        {check_topo,        "topology"           },
        {check_nodes,       "nodes"              },
        {check_dofs,        "velocities"         },
        {check_actuators,   "actuators"          },
        {check_sensors,     "sensors"            },
        {check_parts,       "bodies with mass"   },
        {check_elements,    "force elements"     },
        {check_instruments, "instruments"        },
        {check_drives,      "motors and valves"  },
        {check_terms,       "coupled coordinates"},
        {check_walk,        "paths of loops"     },
        {check_loops,       "loops"              },
        {check_members,     "groups of loops"    }
    };
    Tables tables = {0};
    if (!check_counts(ints, n, &tables))
        return "counts";
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (!checks[i].check(&tables))
            return checks[i].name;
    return NULL;
}
