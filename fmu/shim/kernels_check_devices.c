/* Is every index in the tables of instruments, motors and valves inside the vector that it leads into?
 * engine/instruments/layout.py, engine/drives/layout.py */
#include "kernels_check.h"

#define MOST_RING ((int64_t)1 << 20) /* samples or commands on their way: no size below can overflow */
enum { READINGS = 2, SMALLEST_RING = 2 };

/* Outputs and numbers with errors are those of a kind. */
static bool check_shape(const int64_t *row)
{
    const int64_t size = row[NI_SIZE], outputs = row[NI_OUTPUTS];
    switch (row[NI_KIND]) {
    case PLAIN: return is_in(size, 1, MOST_NUMBERS + 1) && outputs == size;
    case RESOLVER: return size == 1 && outputs == 1;
    case ATTITUDE: return size == 3 && outputs == 5;
    case DIRECTION: return size == 3 && outputs == 4;
    default: return false;
    }
}

bool check_instruments(const Tables *tables)
{
    const int64_t *counts = tables->counts;
    int64_t state = 0;
    for (int64_t i = 0; i < counts[C_INSTRUMENTS]; i++) {
        const int64_t *row = tables->instruments + INSTRUMENT_INT * i;
        if (!check_shape(row) || !fits(row[NI_OUTPUT], row[NI_OUTPUTS], counts[C_OUTPUTS]) || row[NI_STATE] != state ||
            !is_in(row[NI_RING], 0, MOST_RING))
            return false;
        state += READINGS + row[NI_OUTPUTS] + row[NI_SIZE] + row[NI_RING] * (1 + row[NI_OUTPUTS]);
    }
    return state == counts[C_INSTRUMENT_STATE];
}

static bool check_motors(const Tables *tables, int64_t *state)
{
    const int64_t *counts = tables->counts;
    for (int64_t m = 0; m < counts[C_MOTORS]; m++) {
        const int64_t *row = tables->motors + MOTOR_INT * m;
        if (!is_in(row[MO_V], 0, counts[C_V]) || !is_in(row[MO_Q], 0, counts[C_Q]) || row[MO_STATE] != *state ||
            !is_in(row[MO_ELASTIC], 0, 2))
            return false;
        *state += MOTOR_STATE;
    }
    return true;
}

static bool check_valves(const Tables *tables, int64_t *state)
{
    const int64_t *counts = tables->counts;
    for (int64_t i = 0; i < counts[C_VALVES]; i++) {
        const int64_t *row = tables->valves + VALVE_INT * i;
        if (!is_in(row[VA_THRUSTER], 0, counts[C_THRUSTERS]) || row[VA_STATE] != *state ||
            !is_in(row[VA_RING], SMALLEST_RING, MOST_RING))
            return false;
        *state += U_RING + row[VA_RING];
    }
    return true;
}

bool check_drives(const Tables *tables)
{
    int64_t state = 0;
    return check_motors(tables, &state) && check_valves(tables, &state) && state == tables->counts[C_DRIVE_STATE];
}
