/* The part of msgpack that docs/reference/protocol.md needs, written and read within given bounds. No allocation. */
#ifndef LIMBERJACK_COUPLED_MSGPACK_H
#define LIMBERJACK_COUPLED_MSGPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes into bytes[0..size); what does not fit sets `full` and is left out. */
typedef struct {
    unsigned char *bytes;
    size_t size, used;
    bool full;
} Packer;

void pack_array(Packer *packer, uint32_t count);
void pack_map(Packer *packer, uint32_t count);
void pack_nil(Packer *packer);
void pack_unsigned(Packer *packer, uint64_t value);
void pack_float(Packer *packer, double value);
void pack_text(Packer *packer, const char *text);
void pack_binary(Packer *packer, const void *data, size_t size);

/* Reads from at to end. A value of another type, or one that does not end in time, sets `bad`; from then on
 * everything reads as nothing. */
typedef struct {
    const unsigned char *at, *end;
    bool bad;
} Unpacker;

uint32_t unpack_array(Unpacker *unpacker);
uint32_t unpack_map(Unpacker *unpacker);
uint64_t unpack_unsigned(Unpacker *unpacker);
double unpack_float(Unpacker *unpacker);
/* Not zero-terminated; *length 0 when bad. */
const char *unpack_text(Unpacker *unpacker, size_t *length);
const void *unpack_binary(Unpacker *unpacker, size_t *length);
/* Leaves one value out, whatever it is. */
void unpack_skip(Unpacker *unpacker);
/* Whether the next value is this text; reads it if so, and leaves it if not. */
bool unpack_is(Unpacker *unpacker, const char *text);

#endif
