/* One ZeroMQ DEALER socket with bounded waits. libzmq is carried in the FMU and loaded at run time. */
#ifndef LIMBERJACK_COUPLED_SOCKET_H
#define LIMBERJACK_COUPLED_SOCKET_H

#include <stdbool.h>
#include <stddef.h>

#include "coupled_curve.h"
#include "model.h"

typedef struct Socket Socket;

/* What became of the connection so far. */
typedef struct {
    bool reached;          /* somebody listens there */
    bool connected;        /* the handshake is done and the connection stands */
    unsigned dropped;      /* working connections that were lost */
    bool key_refused;      /* the engine does not know our key */
    bool handshake_failed; /* encryption on one side only, or the wrong server key */
} Health;

enum { SLICE_MS = 50 }; /* longest wait of one receive */

/* Loads libzmq from the FMU's resources and connects; keys may be NULL. NULL after a log line. */
Socket *socket_open(Instance *instance, const char *resources, const char *endpoint, const CurveKeys *keys);
void socket_close(Socket *socket);

/* False: the queue is full. */
bool socket_send(Socket *socket, const void *bytes, size_t size);
typedef enum { RECEIVED, NOTHING_CAME, CANNOT_RECEIVE } Reception;
/* Waits up to SLICE_MS for a message; *size is its length, also where only `room` bytes of it were kept. */
Reception socket_receive(Socket *socket, void *bytes, size_t room, size_t *size);
const Health *socket_health(Socket *socket);

#endif
