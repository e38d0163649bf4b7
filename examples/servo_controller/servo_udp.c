/* The servo over UDP: big-endian datagrams as servo_layout.yaml describes them. */
#include "servo.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SIGNALS 0x53455256u  /* "SERV" */
#define COMMANDS 0x544F5251u /* "TORQ" */
#define SIGNALS_BYTES (4 * (3 + 2 * JOINTS) + 4)
#define COMMANDS_BYTES (4 * (3 + JOINTS) + 4)

static uint32_t crc32_of(const uint8_t *data, size_t size)
{
    uint32_t crc = 0xFFFFFFFFu;
    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (crc & 1u ? 0xEDB88320u : 0u);
    }
    return ~crc;
}

static uint32_t get32(const uint8_t *place)
{
    return (uint32_t)place[0] << 24 | (uint32_t)place[1] << 16 | (uint32_t)place[2] << 8 | place[3];
}

static void put32(uint8_t *place, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        place[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* Angles, rad, and rates, rad/s, of a valid datagram that is newer than the last; 0 if it is none. */
static int decode(const uint8_t *data, ssize_t size, uint32_t *last, double *angle, double *rate)
{
    if (size != SIGNALS_BYTES || get32(data) != SIGNALS)
        return 0;
    if (get32(data + SIGNALS_BYTES - 4) != crc32_of(data, SIGNALS_BYTES - 4))
        return 0;
    const uint32_t sequence = get32(data + 4);
    if (sequence != 1 && (int32_t)(sequence - *last) <= 0)
        return 0; /* 1: the bench begins a run */
    *last = sequence;
    for (int i = 0; i < JOINTS; i++) {
        angle[i] = 1e-6 * (int32_t)get32(data + 12 + 4 * i);
        rate[i] = 1e-6 * (int32_t)get32(data + 12 + 4 * (JOINTS + i));
    }
    return 1;
}

static void encode(uint8_t *data, uint32_t sequence, uint32_t answer, const double *torque)
{
    put32(data, COMMANDS);
    put32(data + 4, sequence);
    put32(data + 8, answer);
    for (int i = 0; i < JOINTS; i++) {
        const float value = (float)torque[i];
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        put32(data + 12 + 4 * i, bits);
    }
    put32(data + COMMANDS_BYTES - 4, crc32_of(data, COMMANDS_BYTES - 4));
}

static int opened(const char *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    const int made = socket(AF_INET, SOCK_DGRAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (made >= 0 && bind(made, (struct sockaddr *)&address, sizeof address) == 0)
        return made;
    perror("udp");
    if (made >= 0)
        close(made);
    return -1;
}

int serve_udp(struct servo *servo, const char *port, int idle_ms)
{
    uint8_t data[SIGNALS_BYTES + 1], answer[COMMANDS_BYTES];
    double angle[JOINTS], rate[JOINTS], torque[JOINTS];
    uint32_t last = 0, sequence = 0;
    const int link = opened(port);
    if (link < 0)
        return 1;
    servo_ready();
    struct pollfd waiting = {.fd = link, .events = POLLIN};
    while (!servo_ended && poll(&waiting, 1, idle_ms) > 0) {
        struct sockaddr_in bench;
        socklen_t length = sizeof bench;
        const ssize_t size = recvfrom(link, data, sizeof data, 0, (struct sockaddr *)&bench, &length);
        if (!decode(data, size, &last, angle, rate)) {
            servo->refused++;
            continue;
        }
        if (last == 1)
            servo->begun = 0;
        servo_cycle(servo, angle, rate, torque);
        encode(answer, sequence++, last, torque);
        sendto(link, answer, sizeof answer, 0, (struct sockaddr *)&bench, length);
    }
    close(link);
    return 0;
}
