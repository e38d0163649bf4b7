/* Messages of device 'servo' of servo_in_c.yaml.
 *
 * Made by 'limberjack messages'; make it again when the device's wiring or layout changes.
 * How to use it: docs/reference/devices.md
 */
/* clang-format off */
#ifndef SERVO_MESSAGES_H
#define SERVO_MESSAGES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SERVO_SIGNALS_BYTES 72
#define SERVO_COMMANDS_BYTES 44

static inline uint64_t servo_get(const uint8_t *data, int size)
{
    uint64_t value = 0;
    for (int i = 0; i < size; i++)
        value |= (uint64_t)data[i] << (8 * (size - 1 - i));
    return value;
}

static inline void servo_put(uint8_t *data, int size, uint64_t value)
{
    for (int i = 0; i < size; i++)
        data[i] = (uint8_t)(value >> (8 * (size - 1 - i)));
}

static inline double servo_signed(const uint8_t *data, int size)
{
    const uint64_t sign = (uint64_t)1 << (8 * size - 1);
    return (double)(int64_t)((servo_get(data, size) ^ sign) - sign);
}

static inline double servo_real32(const uint8_t *data)
{
    const uint32_t bits = (uint32_t)servo_get(data, 4);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline double servo_real64(const uint8_t *data)
{
    const uint64_t bits = servo_get(data, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline void servo_put32(uint8_t *data, double number)
{
    const float value = (float)number;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    servo_put(data, 4, bits);
}

static inline void servo_put64(uint8_t *data, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    servo_put(data, 8, bits);
}

static inline double servo_within(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

static inline uint64_t servo_whole(double value)
{
    return value == value ? (uint64_t)nearbyint(value) : 0;
}

static inline uint64_t servo_signed_whole(double value)
{
    return value == value ? (uint64_t)(int64_t)nearbyint(value) : 0;
}

/* Of Ethernet: reflected polynomial 0xEDB88320, from and to 0xFFFFFFFF. */
static inline uint32_t servo_crc32(const uint8_t *data, size_t size)
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
struct servo_signals {
    uint32_t sequence; /* number of the message */
    double time; /* s */
    double q_joint1; /* q.joint1, rad */
    double q_joint2; /* q.joint2, rad */
    double q_joint3; /* q.joint3, rad */
    double q_joint4; /* q.joint4, rad */
    double q_joint5; /* q.joint5, rad */
    double q_joint6; /* q.joint6, rad */
    double q_joint7; /* q.joint7, rad */
    double v_joint1; /* v.joint1, rad/s */
    double v_joint2; /* v.joint2, rad/s */
    double v_joint3; /* v.joint3, rad/s */
    double v_joint4; /* v.joint4, rad/s */
    double v_joint5; /* v.joint5, rad/s */
    double v_joint6; /* v.joint6, rad/s */
    double v_joint7; /* v.joint7, rad/s */
};

/* What the bench takes; begin with {0}. */
struct servo_commands {
    uint32_t sequence; /* number of the message */
    uint32_t answer; /* number of the signals that they answer */
    double joint1; /* joint1, N·m */
    double joint2; /* joint2, N·m */
    double joint3; /* joint3, N·m */
    double joint4; /* joint4, N·m */
    double joint5; /* joint5, N·m */
    double joint6; /* joint6, N·m */
    double joint7; /* joint7, N·m */
};

/* NULL, or why these bytes are not signals; *signals is then unchanged. */
static inline const char *servo_unpack(const uint8_t *data, size_t size, struct servo_signals *signals)
{
    struct servo_signals came;
    if (size != SERVO_SIGNALS_BYTES)
        return "wrong size";
    if (servo_crc32(data, 68) != servo_get(data + 68, 4))
        return "wrong check";
    if (servo_get(data + 0, 4) != 0x53455256u)
        return "wrong constant";
    came.sequence = (uint32_t)servo_get(data + 4, 4);
    came.time = (double)servo_get(data + 8, 4) * 1e-06;
    came.q_joint1 = servo_signed(data + 12, 4) * 1e-06;
    came.q_joint2 = servo_signed(data + 16, 4) * 1e-06;
    came.q_joint3 = servo_signed(data + 20, 4) * 1e-06;
    came.q_joint4 = servo_signed(data + 24, 4) * 1e-06;
    came.q_joint5 = servo_signed(data + 28, 4) * 1e-06;
    came.q_joint6 = servo_signed(data + 32, 4) * 1e-06;
    came.q_joint7 = servo_signed(data + 36, 4) * 1e-06;
    came.v_joint1 = servo_signed(data + 40, 4) * 1e-06;
    came.v_joint2 = servo_signed(data + 44, 4) * 1e-06;
    came.v_joint3 = servo_signed(data + 48, 4) * 1e-06;
    came.v_joint4 = servo_signed(data + 52, 4) * 1e-06;
    came.v_joint5 = servo_signed(data + 56, 4) * 1e-06;
    came.v_joint6 = servo_signed(data + 60, 4) * 1e-06;
    came.v_joint7 = servo_signed(data + 64, 4) * 1e-06;
    *signals = came;
    return NULL;
}

/* Whether signals are newer than the last ones taken: links duplicate, delay and reorder messages. */
static inline int servo_newer(const struct servo_signals *came, const struct servo_signals *last)
{
    if (came->sequence == 1)
        return 1; /* the bench begins a run */
    return (int32_t)(came->sequence - last->sequence) > 0;
}

/* Make the message that answers these signals, and count it; what a type cannot hold is cut. */
static inline void servo_pack(struct servo_commands *commands, const struct servo_signals *signals, uint8_t *data)
{
    (void)signals;
    commands->answer = (uint32_t)signals->sequence;
    servo_put(data + 0, 4, 0x544f5251u);
    servo_put(data + 4, 4, (uint64_t)commands->sequence);
    servo_put(data + 8, 4, (uint64_t)commands->answer);
    servo_put32(data + 12, servo_within(commands->joint1, -3.4028234663852886e+38, 3.4028234663852886e+38));
    servo_put32(data + 16, servo_within(commands->joint2, -3.4028234663852886e+38, 3.4028234663852886e+38));
    servo_put32(data + 20, servo_within(commands->joint3, -3.4028234663852886e+38, 3.4028234663852886e+38));
    servo_put32(data + 24, servo_within(commands->joint4, -3.4028234663852886e+38, 3.4028234663852886e+38));
    servo_put32(data + 28, servo_within(commands->joint5, -3.4028234663852886e+38, 3.4028234663852886e+38));
    servo_put32(data + 32, servo_within(commands->joint6, -3.4028234663852886e+38, 3.4028234663852886e+38));
    servo_put32(data + 36, servo_within(commands->joint7, -3.4028234663852886e+38, 3.4028234663852886e+38));
    commands->sequence++;
    servo_put(data + 40, 4, servo_crc32(data, 40));
}

#endif /* SERVO_MESSAGES_H */
