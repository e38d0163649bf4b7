/* What kernels_check.c (the tree), kernels_check_flexible.c (modal bodies), kernels_check_loops.c (closed loops) and
 * kernels_check_devices.c (instruments and drives) share. */
#ifndef LIMBERJACK_KERNELS_CHECK_H
#define LIMBERJACK_KERNELS_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "layout.h"

/* ints, and where its tables begin. */
typedef struct {
    const int64_t *counts, *topo, *node_row, *dof, *actuators, *sensors, *part_body, *modal, *attached, *loops, *terms,
        *walk, *groups, *listed, *thrusters, *rotors, *instruments, *motors, *valves;
} Tables;

static inline bool is_in(int64_t value, int64_t first, int64_t end)
{
    return value >= first && value < end;
}

/* Do `size` numbers from `start` lie in a vector of `count`? */
static inline bool fits(int64_t start, int64_t size, int64_t count)
{
    return start >= 0 && size >= 0 && size <= count && start <= count - size;
}

/* n rounded up to whole lanes */
static inline int64_t padded(int64_t n)
{
    return (n + LANES - 1) / LANES * LANES;
}

/* Modes, and places of tables and scratch, of modal links and attachment nodes: one behind the other. */
bool check_modal(const Tables *tables);
/* Is the link of a modal body that its path makes it? After check_modal. */
bool check_modal_link(const Tables *tables, int64_t body);
/* Slices, ranges and scratch of the groups; what they list is in range. */
bool check_groups(const Tables *tables);
/* Is the body, or the velocity, in its group's list at the rank that it names? After check_groups. */
bool check_body_group(const Tables *tables, int64_t body);
bool check_dof_group(const Tables *tables, int64_t dof);
bool check_terms(const Tables *tables);
bool check_walk(const Tables *tables);
bool check_loops(const Tables *tables);
/* Outputs and states of instruments, motors and valves; their states follow each other. */
bool check_instruments(const Tables *tables);
bool check_drives(const Tables *tables);
/* Does all that a group lists belong to it? After everything else. */
bool check_members(const Tables *tables);

#endif
