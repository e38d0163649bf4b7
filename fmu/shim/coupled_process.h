/* An engine process of the FMU's own: started, waited for, ended. */
#ifndef LIMBERJACK_COUPLED_PROCESS_H
#define LIMBERJACK_COUPLED_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "model.h"

/* Longest silence of an engine that starts, and longest start, s. The first start on a machine compiles the engine,
 * which takes minutes where the machine is slow; while it computes it says so (bridge/parent.py). */
#if !defined(START_SILENCE_S)
#define START_SILENCE_S 300.0
#endif
#define START_LIMIT_S 7200.0

typedef struct {
    const char *command; /* setting engine.command */
    const char *keys;    /* setting engine.keys, "" for none */
    const char *model;   /* path of the model in resources */
    const PlantFileHeader *header;
} EngineOptions;

typedef struct Engine Engine;

/* Starts an engine and waits until it listens. NULL after a log line. */
Engine *engine_start(Instance *instance, const EngineOptions *options);
/* Where it answers. */
const char *engine_endpoint(const Engine *engine);
/* Whether it has ended by itself; `why` then says how, with its last words. */
bool engine_ended(Engine *engine, char *why, size_t size);
/* Ends it and removes its files. NULL is no matter. */
void engine_stop(Engine *engine);

#endif
