/* CurveZMQ keys of a client, from a folder that `limberjack keygen` made. */
#ifndef LIMBERJACK_COUPLED_CURVE_H
#define LIMBERJACK_COUPLED_CURVE_H

#include <stdbool.h>

#include "model.h"

enum { KEY_CHARACTERS = 40 }; /* of Z85 for 32 bytes */

typedef struct {
    char own_public[KEY_CHARACTERS + 1], own_secret[KEY_CHARACTERS + 1], server[KEY_CHARACTERS + 1];
} CurveKeys;

/* Reads client.key_secret and server.key; false after a log line. */
bool curve_read(Instance *instance, const char *folder, CurveKeys *keys);

#endif
