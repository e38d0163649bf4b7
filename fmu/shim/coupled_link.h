/* Requests and replies with one engine (docs/reference/protocol.md): one at a time, bounded waits, clear failures. */
#ifndef LIMBERJACK_COUPLED_LINK_H
#define LIMBERJACK_COUPLED_LINK_H

#include "coupled_msgpack.h"
#include "coupled_process.h"
#include "coupled_socket.h"

typedef struct Link Link;

typedef struct {
    const char *resources, *endpoint;
    const CurveKeys *keys; /* NULL: not encrypted */
    Engine *engine;        /* NULL: not ours */
    double timeout;        /* of every reply, s */
    size_t vector;         /* float64 numbers in the longest message */
} LinkOptions;

typedef struct {
    bool state;    /* its type is `state`; else that of the request */
    Unpacker body; /* valid until the next request */
} Reply;

/* NULL after a log line. */
Link *link_open(Instance *instance, const LinkOptions *options);
void link_close(Link *link);

/* Begins a request: its body goes into the packer. */
Packer *link_begin(Link *link, const char *kind);
/* Sends it and waits for the reply. DISCARD: a step failed. ERROR: refused, or no reply. Both after a log line. */
Status link_finish(Link *link, Reply *reply);
/* Gives the command lease up, waiting `patience` seconds at most; says nothing when that fails. */
void link_release(Link *link, double patience);
/* No request can succeed any more: the engine is gone, mute, or no engine. */
bool link_broken(const Link *link);
void link_break(Link *link);
const char *link_endpoint(const Link *link);

/* Says hello and compares the engine with the FMU; *steps_max is the largest number of steps in one request. */
Status hello(Instance *instance, Link *link, const PlantFileHeader *header, uint64_t *steps_max);

#endif
