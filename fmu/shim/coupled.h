/* An engine process behind model.h: what the files coupled.c, coupled_run.c and coupled_values.c share. */
#ifndef LIMBERJACK_COUPLED_H
#define LIMBERJACK_COUPLED_H

#include "coupled_link.h"
#include "coupled_platform.h"
#include "instance.h"

enum { TEXTS = 3 }; /* settings that are texts: SETTING_ENDPOINT, SETTING_KEYS, SETTING_COMMAND */

typedef struct {
    char texts[TEXTS][PATH_BYTES];
    double timeout;
} Settings;

/* The engine's state as it is sent: [q | v | tau | outputs | command]. */
typedef struct {
    size_t v, tau, outputs, command, count; /* where each begins; of all */
} Shape;

struct Model {
    Instance *instance;
    char resources[PATH_BYTES];
    PlantFile file;
    Shape shape;
    Settings settings, used; /* as set; as the link was opened with */

    void *memory;       /* the vectors below */
    double *parameters; /* as set, and as the engine has them (NaN: not known) */
    double *held;
    double *command;                         /* as set; those of the newest state are in `now` */
    double *start;                           /* q and v at the start */
    double *now;                             /* newest state of the engine */
    double *before;                          /* the one before the last step */
    char *snapshot;                          /* bytes of a snapshot of the engine, to put other numbers in */
    uint64_t steps, steps_before, steps_max; /* of now, of before; largest number in one request */
    double pace;                             /* of the last request, s a step; 0: none yet */

    bool started; /* initialisation is over */
    bool current; /* before that: `now` is the state at these start values and commands */
    Link *link;
    Engine *engine;
};

/* coupled_run.c */
/* An engine with these settings, parameters and start values. ERROR after a log line. */
Status coupled_sync(Model *model);
Status coupled_connect(Model *model);
/* Sends the parameters that the engine does not have yet. */
Status coupled_push(Model *model);
/* Whether the engine that was connected to is still there; if not: false after a log line. */
bool coupled_alive(Model *model);
/* Takes a snapshot into model->snapshot; brings a snapshot back and reads the state. */
Status coupled_snapshot(Model *model);
Status coupled_restore(Model *model);
/* Bytes of the engine's snapshots. */
size_t coupled_snapshot_size(const Model *model);
/* Lets go of the engine: ends it if it is ours. */
void coupled_disconnect(Model *model);

#endif
