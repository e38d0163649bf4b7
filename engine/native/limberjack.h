/* Limberjack's C interface: run a compiled model from C or C++.
 *
 *     limberjack compile arm.yaml -o arm.ljm          a model and the settings of its steps, in one file
 *     limberjack embed PREFIX                          this header, the library, files for CMake and pkg-config
 *
 * docs/reference/c-interface.md is the guide. In short:
 *
 * - Every quantity of a model has a name, that of Python's catalogue ("q.elbow", "command.elbow", "output.load.nx",
 *   "energy.total"; "parameter." and the name of a parameter). lj_find turns it into an index once.
 * - Functions that can fail return LJ_OK or another lj_status; lj_error then gives the cause, the place and a remedy. A
 *   call that fails changes nothing, unless it says otherwise here.
 * - There is no global state. Only one thread at a time may use a model; several models share nothing.
 * - After lj_open nothing allocates, locks or calls the system: any function but lj_open and lj_close may be called in
 *   a real-time loop.
 * - Numbers are SI, quaternions (w, x, y, z). The bits are those of Python's `Simulation`.
 */
#ifndef LIMBERJACK_H
#define LIMBERJACK_H

#include <stddef.h>
#include <stdint.h>

#if !defined(_WIN32)
#define LJ_API __attribute__((visibility("default")))
#elif defined(LJ_BUILD)
#define LJ_API __declspec(dllexport)
#else
#define LJ_API __declspec(dllimport)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. It grows when a function or a struct changes, not with new functions. */
#define LJ_ABI 1

typedef enum {
    LJ_OK = 0,
    LJ_BAD_ARGUMENT = 1, /* NULL, an unknown name, an index, count or value that cannot be; values that do not go
                            together, as crossed stops */
    LJ_CANNOT_OPEN = 2,  /* no file, a damaged one, one of another version; no memory; an old processor */
    LJ_NOT_FINITE = 3,   /* a requested value is NaN or infinite */
    LJ_DIVERGED = 4,     /* a step failed; the model is at the last good one */
    LJ_OUT_OF_REACH = 5  /* the frames of a loop are too far apart to attach it */
} lj_status;

typedef struct lj_model lj_model;

/* The LJ_ABI of the library. */
LJ_API int lj_abi(void);
/* The version of models' tables that the library reads; lj_open refuses files with another one. */
LJ_API int lj_format(void);
/* The level of code that runs on this processor: "x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64"; NULL if none does.
 */
LJ_API const char *lj_level(void);

/* Opens a file that `limberjack compile` wrote, at its start state. *model is a handle in any case, for lj_error and
 * lj_close at least; NULL if there is no memory for one. Whatever the status, call lj_close in the end. */
#define lj_open(path, model) lj_open_abi((path), LJ_ABI, (model))
LJ_API int lj_open_abi(const char *path, int abi, lj_model **model);
LJ_API void lj_close(lj_model *model); /* NULL: nothing */
/* The message of the last call that failed, valid until the next call that fails. */
LJ_API const char *lj_error(const lj_model *model);

/* Quantities: indices go from 0 to lj_count - 1, in the order of Python's catalogue, parameters last. */
typedef struct {
    const char *name, *unit; /* valid while the model is open; unit "" if angles and distances are mixed */
    double low, high;        /* the range of values that can be set */
    int settable;            /* coordinates, velocities, commands, and parameters that have an effect */
} lj_quantity;
LJ_API size_t lj_count(const lj_model *model); /* 0 for NULL and for a model that is not open */
LJ_API int lj_find(lj_model *model, const char *name, uint32_t *index);
LJ_API int lj_describe(lj_model *model, uint32_t index, lj_quantity *quantity);

/* The numbers of n quantities. lj_set sets all or none. The first lj_get after a change computes what it needs. */
LJ_API int lj_get(lj_model *model, const uint32_t *indices, size_t n, double *values);
LJ_API int lj_set(lj_model *model, const uint32_t *indices, size_t n, const double *values);

/* n steps of lj_dt; commands are held. Driven loops reach their commands at the end of the n steps. */
LJ_API int lj_step(lj_model *model, int64_t n);
LJ_API double lj_time(const lj_model *model); /* s; 0 for NULL and for a model that is not open, as lj_dt */
LJ_API double lj_dt(const lj_model *model);
/* Resets to time 0, the start state and the start commands; parameters too, if `parameters` is not 0. */
LJ_API int lj_reset(lj_model *model, int parameters);

/* The state, without parameters, in `size` = lj_snapshot_size bytes: those of Python's `Simulation.snapshot`. C and
 * Python can restore each other's snapshots. */
LJ_API size_t lj_snapshot_size(const lj_model *model);
LJ_API int lj_snapshot(lj_model *model, void *bytes, size_t size);
LJ_API int lj_restore(lj_model *model, const void *bytes, size_t size);

/* Closes or opens a switchable loop now, and sets its command to match. `impact` may be NULL. */
typedef struct {
    double energy_loss; /* kinetic energy that the impact took, J; 0 at a release */
    double distance;    /* of the loop's two frames before, m; 0 for loops that join no frames */
    /* The loop's impulse, N*m*s and N*s; 0 at a release. For a loop that joins frames n_impulse is 6: [moment;
     * force] on the second frame's body at that frame's origin, in the axes of the first. Else a number for each
     * velocity that it holds, as Python's `Impact.impulse`. */
    double impulse[6];
    int n_impulse;
} lj_impact;
LJ_API int lj_attach(lj_model *model, const char *loop, lj_impact *impact);
LJ_API int lj_release(lj_model *model, const char *loop, lj_impact *impact);

#ifdef __cplusplus
}
#endif

#endif
