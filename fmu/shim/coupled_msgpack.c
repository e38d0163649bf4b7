/* https://github.com/msgpack/msgpack/blob/master/spec.md; all numbers of more than one byte are big-endian. */
#include "coupled_msgpack.h"

#include <string.h>

/* clang-format off */
enum {
    NIL = 0xc0, BIN8 = 0xc4, BIN16 = 0xc5, BIN32 = 0xc6, EXT8 = 0xc7, EXT32 = 0xc9, FLOAT32 = 0xca, FLOAT64 = 0xcb,
    UINT8 = 0xcc, UINT64 = 0xcf, INT8 = 0xd0, INT64 = 0xd3, FIXEXT1 = 0xd4, FIXEXT16 = 0xd8, TEXT8 = 0xd9,
    TEXT32 = 0xdb, ARRAY16 = 0xdc, ARRAY32 = 0xdd, MAP16 = 0xde, MAP32 = 0xdf
};
/* clang-format on */

static void put(Packer *packer, const void *data, size_t size)
{
    if (packer->full || size > packer->size - packer->used) {
        packer->full = true;
        return;
    }
    if (size)
        memcpy(packer->bytes + packer->used, data, size);
    packer->used += size;
}

/* A head byte and a number of `width` bytes. */
static void put_head(Packer *packer, unsigned char head, uint64_t value, size_t width)
{
    unsigned char bytes[9] = {head};
    for (size_t i = 0; i < width; i++)
        bytes[1 + i] = (unsigned char)(value >> (8 * (width - 1 - i)));
    put(packer, bytes, 1 + width);
}

void pack_array(Packer *packer, uint32_t count)
{
    if (count < 16)
        put_head(packer, (unsigned char)(0x90 | count), 0, 0);
    else
        put_head(packer, ARRAY32, count, 4);
}

void pack_map(Packer *packer, uint32_t count)
{
    if (count < 16)
        put_head(packer, (unsigned char)(0x80 | count), 0, 0);
    else
        put_head(packer, MAP32, count, 4);
}

void pack_nil(Packer *packer)
{
    put_head(packer, NIL, 0, 0);
}

void pack_unsigned(Packer *packer, uint64_t value)
{
    if (value < 0x80)
        put_head(packer, (unsigned char)value, 0, 0);
    else
        put_head(packer, UINT64, value, 8);
}

void pack_float(Packer *packer, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_head(packer, FLOAT64, bits, 8);
}

void pack_text(Packer *packer, const char *text)
{
    const size_t length = strlen(text);
    if (length < 32)
        put_head(packer, (unsigned char)(0xa0 | length), 0, 0);
    else
        put_head(packer, TEXT32, length, 4);
    put(packer, text, length);
}

void pack_binary(Packer *packer, const void *data, size_t size)
{
    put_head(packer, BIN32, size, 4);
    put(packer, data, size);
}

static const unsigned char *take(Unpacker *unpacker, uint64_t size)
{
    if (unpacker->bad || size > (uint64_t)(unpacker->end - unpacker->at)) {
        unpacker->bad = true;
        return NULL;
    }
    const unsigned char *start = unpacker->at;
    unpacker->at += size;
    return start;
}

static uint64_t take_number(Unpacker *unpacker, size_t width)
{
    const unsigned char *bytes = take(unpacker, width);
    uint64_t value = 0;
    for (size_t i = 0; bytes && i < width; i++)
        value = value << 8 | bytes[i];
    return value;
}

static unsigned char take_head(Unpacker *unpacker)
{
    const unsigned char *head = take(unpacker, 1);
    return head ? *head : (unsigned char)NIL;
}

static uint64_t fail(Unpacker *unpacker)
{
    unpacker->bad = true;
    return 0;
}

/* A count of items, each of which takes at least a byte. */
static uint32_t plausible(Unpacker *unpacker, uint64_t count)
{
    if (unpacker->bad || count > (uint64_t)(unpacker->end - unpacker->at))
        return (uint32_t)fail(unpacker);
    return (uint32_t)count;
}

uint32_t unpack_array(Unpacker *unpacker)
{
    const unsigned char head = take_head(unpacker);
    if (head >> 4 == 0x9)
        return plausible(unpacker, head & 0xf);
    if (head == ARRAY16 || head == ARRAY32)
        return plausible(unpacker, take_number(unpacker, head == ARRAY16 ? 2 : 4));
    return (uint32_t)fail(unpacker);
}

uint32_t unpack_map(Unpacker *unpacker)
{
    const unsigned char head = take_head(unpacker);
    if (head >> 4 == 0x8)
        return plausible(unpacker, head & 0xf);
    if (head == MAP16 || head == MAP32)
        return plausible(unpacker, take_number(unpacker, head == MAP16 ? 2 : 4));
    return (uint32_t)fail(unpacker);
}

uint64_t unpack_unsigned(Unpacker *unpacker)
{
    const unsigned char head = take_head(unpacker);
    if (head < 0x80)
        return head;
    if (head >= UINT8 && head <= UINT64)
        return take_number(unpacker, (size_t)1 << (head - UINT8));
    return fail(unpacker);
}

double unpack_float(Unpacker *unpacker)
{
    const unsigned char head = take_head(unpacker);
    const uint64_t bits = head == FLOAT64 ? take_number(unpacker, 8) : fail(unpacker);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

const char *unpack_text(Unpacker *unpacker, size_t *length)
{
    const unsigned char head = take_head(unpacker);
    uint64_t size = 0;
    if (head >> 5 == 0x5)
        size = head & 0x1f;
    else if (head >= TEXT8 && head <= TEXT32)
        size = take_number(unpacker, (size_t)1 << (head - TEXT8));
    else
        fail(unpacker);
    const unsigned char *text = take(unpacker, size);
    *length = text ? (size_t)size : 0;
    return text ? (const char *)text : "";
}

const void *unpack_binary(Unpacker *unpacker, size_t *length)
{
    const unsigned char head = take_head(unpacker);
    const uint64_t size =
        head >= BIN8 && head <= BIN32 ? take_number(unpacker, (size_t)1 << (head - BIN8)) : fail(unpacker);
    const unsigned char *data = take(unpacker, size);
    *length = data ? (size_t)size : 0;
    return data;
}

/* Leaves the own bytes of one value out; returns how many values follow inside it. */
static uint64_t skip_one(Unpacker *unpacker)
{
    const unsigned char head = take_head(unpacker);
    if (head < 0x80 || head >= 0xe0 || head == NIL || head == 0xc2 || head == 0xc3)
        return 0;
    if (head < 0x90 || head == MAP16 || head == MAP32)
        return 2 * (head < 0x90 ? (uint64_t)(head & 0xf) : take_number(unpacker, head == MAP16 ? 2 : 4));
    if (head < 0xa0 || head == ARRAY16 || head == ARRAY32)
        return head < 0xa0 ? (uint64_t)(head & 0xf) : take_number(unpacker, head == ARRAY16 ? 2 : 4);
    if (head < 0xc0)
        take(unpacker, head & 0x1f);
    else if (head >= BIN8 && head <= BIN32)
        take(unpacker, take_number(unpacker, (size_t)1 << (head - BIN8)));
    else if (head >= EXT8 && head <= EXT32)
        take(unpacker, 1 + take_number(unpacker, (size_t)1 << (head - EXT8)));
    else if (head >= TEXT8 && head <= TEXT32)
        take(unpacker, take_number(unpacker, (size_t)1 << (head - TEXT8)));
    else if (head == FLOAT32 || head == FLOAT64)
        take(unpacker, head == FLOAT32 ? 4 : 8);
    else if (head >= UINT8 && head <= UINT64)
        take(unpacker, (uint64_t)1 << (head - UINT8));
    else if (head >= INT8 && head <= INT64)
        take(unpacker, (uint64_t)1 << (head - INT8));
    else if (head >= FIXEXT1 && head <= FIXEXT16)
        take(unpacker, 1 + ((uint64_t)1 << (head - FIXEXT1)));
    else
        fail(unpacker);
    return 0;
}

void unpack_skip(Unpacker *unpacker)
{
    for (uint64_t left = 1; left > 0 && !unpacker->bad; left--) {
        left += skip_one(unpacker);
        if (left - 1 > (uint64_t)(unpacker->end - unpacker->at)) /* each takes at least a byte */
            fail(unpacker);
    }
}

bool unpack_is(Unpacker *unpacker, const char *text)
{
    Unpacker ahead = *unpacker;
    size_t length;
    const char *found = unpack_text(&ahead, &length);
    if (ahead.bad || length != strlen(text) || memcmp(found, text, length) != 0)
        return false;
    *unpacker = ahead;
    return true;
}
