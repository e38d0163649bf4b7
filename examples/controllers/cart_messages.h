/* Messages of device 'cart' of balance_udp.yaml.
 *
 * Made by 'limberjack messages'; make it again when the device's wiring or layout changes.
 * How to use it: docs/reference/devices.md
 */
/* clang-format off */
#ifndef CART_MESSAGES_H
#define CART_MESSAGES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CART_SIGNALS_BYTES 60
#define CART_COMMANDS_BYTES 32

static inline uint64_t cart_get(const uint8_t *data, int size)
{
    uint64_t value = 0;
    for (int i = 0; i < size; i++)
        value |= (uint64_t)data[i] << (8 * i);
    return value;
}

static inline void cart_put(uint8_t *data, int size, uint64_t value)
{
    for (int i = 0; i < size; i++)
        data[i] = (uint8_t)(value >> (8 * i));
}

static inline double cart_signed(const uint8_t *data, int size)
{
    const uint64_t sign = (uint64_t)1 << (8 * size - 1);
    return (double)(int64_t)((cart_get(data, size) ^ sign) - sign);
}

static inline double cart_real32(const uint8_t *data)
{
    const uint32_t bits = (uint32_t)cart_get(data, 4);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline double cart_real64(const uint8_t *data)
{
    const uint64_t bits = cart_get(data, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline void cart_put32(uint8_t *data, double number)
{
    const float value = (float)number;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    cart_put(data, 4, bits);
}

static inline void cart_put64(uint8_t *data, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    cart_put(data, 8, bits);
}

static inline double cart_within(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

static inline uint64_t cart_whole(double value)
{
    return value == value ? (uint64_t)nearbyint(value) : 0;
}

static inline uint64_t cart_signed_whole(double value)
{
    return value == value ? (uint64_t)(int64_t)nearbyint(value) : 0;
}

/* Of Ethernet: reflected polynomial 0xEDB88320, from and to 0xFFFFFFFF. */
static inline uint32_t cart_crc32(const uint8_t *data, size_t size)
{
    uint32_t crc = 0xFFFFFFFFu;
    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (crc & 1u ? 0xEDB88320u : 0u);
    }
    return ~crc;
}

/* What the bench sends. */
struct cart_signals {
    uint64_t session; /* the bench's run; what commands give back */
    uint32_t sequence; /* number of the message */
    double time; /* s */
    double q_cart; /* q.cart, m */
    double q_pole; /* q.pole, rad */
    double v_cart; /* v.cart, m/s */
    double v_pole; /* v.pole, rad/s */
};

/* What the bench takes; begin with {0}. */
struct cart_commands {
    uint64_t session; /* the bench's run; what commands give back */
    uint32_t sequence; /* number of the message */
    uint32_t answer; /* number of the signals that they answer */
    double drive; /* drive, N */
};

/* NULL, or why these bytes are not signals; *signals is then unchanged. */
static inline const char *cart_unpack(const uint8_t *data, size_t size, struct cart_signals *signals)
{
    struct cart_signals came;
    if (size != CART_SIGNALS_BYTES)
        return "wrong size";
    if (cart_crc32(data, 56) != cart_get(data + 56, 4))
        return "wrong check";
    if (cart_get(data + 0, 4) != 0x4c4a0001u)
        return "wrong constant";
    came.session = (uint64_t)cart_get(data + 4, 8);
    came.sequence = (uint32_t)cart_get(data + 12, 4);
    came.time = cart_real64(data + 16);
    came.q_cart = cart_real64(data + 24);
    came.q_pole = cart_real64(data + 32);
    came.v_cart = cart_real64(data + 40);
    came.v_pole = cart_real64(data + 48);
    if (!isfinite(came.time))
        return "not finite";
    if (!isfinite(came.q_cart))
        return "not finite";
    if (!isfinite(came.q_pole))
        return "not finite";
    if (!isfinite(came.v_cart))
        return "not finite";
    if (!isfinite(came.v_pole))
        return "not finite";
    *signals = came;
    return NULL;
}

/* Whether signals are newer than the last ones taken: links duplicate, delay and reorder messages. */
static inline int cart_newer(const struct cart_signals *came, const struct cart_signals *last)
{
    if (came->session != last->session)
        return 1; /* the bench begins a run */
    return (int32_t)(came->sequence - last->sequence) > 0;
}

/* Make the message that answers these signals, and count it; what a type cannot hold is cut. */
static inline void cart_pack(struct cart_commands *commands, const struct cart_signals *signals, uint8_t *data)
{
    (void)signals;
    commands->session = (uint64_t)signals->session;
    commands->answer = (uint32_t)signals->sequence;
    cart_put(data + 0, 4, 0x4c4a0002u);
    cart_put(data + 4, 8, (uint64_t)commands->session);
    cart_put(data + 12, 4, (uint64_t)commands->sequence);
    cart_put(data + 16, 4, (uint64_t)commands->answer);
    cart_put64(data + 20, commands->drive);
    commands->sequence++;
    cart_put(data + 28, 4, cart_crc32(data, 28));
}

#endif /* CART_MESSAGES_H */
