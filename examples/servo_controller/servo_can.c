/* The servo over CAN: frames of servo.dbc, on SocketCAN or through a serial adapter (Lawicel's ASCII).
 *
 * 0x100 + i: angle i32 1e-6 rad, rate i24 1e-5 rad/s, count u8;  0x200 + i: torque i32 1e-5 N m, count u8;
 * little-endian. A cycle begins when the states of all joints with the same count have come.
 */
#include "servo.h"

#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/can.h>
#include <linux/can/raw.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#endif

#define STATE 0x100u
#define COMMAND 0x200u
#define STATE_BYTES 8
#define COMMAND_BYTES 5

struct bus {
    struct servo *servo;
    int link;
    void (*send)(int link, unsigned identifier, const uint8_t *data, int size);
    double angle[JOINTS], rate[JOINTS];
    unsigned come; /* bit i: the state of joint i has come in this cycle */
    uint8_t count, sent;
};

static void answer(struct bus *bus)
{
    double torque[JOINTS];
    servo_cycle(bus->servo, bus->angle, bus->rate, torque);
    for (unsigned i = 0; i < JOINTS; i++) {
        const uint32_t raw = (uint32_t)(int32_t)lrint(torque[i] * 1e5);
        const uint8_t data[COMMAND_BYTES] = {(uint8_t)raw, (uint8_t)(raw >> 8), (uint8_t)(raw >> 16),
                                             (uint8_t)(raw >> 24), bus->sent};
        bus->send(bus->link, COMMAND + i + 1, data, COMMAND_BYTES);
    }
    bus->sent++;
    bus->come = 0;
}

static void take(struct bus *bus, unsigned identifier, const uint8_t *data, int size)
{
    const unsigned joint = identifier - STATE - 1;
    if (identifier <= STATE || joint >= JOINTS || size != STATE_BYTES) {
        bus->servo->refused++;
        return;
    }
    if (bus->come && data[7] != bus->count) { /* a cycle of which a frame was lost */
        bus->servo->refused++;
        bus->come = 0;
    }
    bus->count = data[7];
    const uint32_t angle = data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
    const uint32_t rate = (uint32_t)data[4] << 8 | (uint32_t)data[5] << 16 | (uint32_t)data[6] << 24;
    bus->angle[joint] = 1e-6 * (int32_t)angle;
    bus->rate[joint] = 1e-5 * ((int32_t)rate / 256);
    bus->come |= 1u << joint;
    if (bus->come == (1u << JOINTS) - 1u)
        answer(bus);
}

#ifdef __linux__
static void send_frame(int link, unsigned identifier, const uint8_t *data, int size)
{
    struct can_frame frame = {.can_id = identifier, .can_dlc = (uint8_t)size};
    memcpy(frame.data, data, (size_t)size);
    if (write(link, &frame, sizeof frame) != sizeof frame)
        perror("can");
}

int serve_can(struct servo *servo, const char *interface, int idle_ms)
{
    struct bus bus = {.servo = servo, .send = send_frame, .link = socket(PF_CAN, SOCK_RAW, CAN_RAW)};
    const struct can_filter states = {.can_id = STATE, .can_mask = CAN_EFF_FLAG | CAN_RTR_FLAG | 0x7F8u};
    struct ifreq request = {0};
    struct sockaddr_can address = {.can_family = AF_CAN};
    struct can_frame frame;
    strncpy(request.ifr_name, interface, IFNAMSIZ - 1);
    if (bus.link < 0 || ioctl(bus.link, SIOCGIFINDEX, &request) < 0) {
        perror(interface);
        return 1;
    }
    address.can_ifindex = request.ifr_ifindex;
    setsockopt(bus.link, SOL_CAN_RAW, CAN_RAW_FILTER, &states, sizeof states);
    if (bind(bus.link, (struct sockaddr *)&address, sizeof address) < 0) {
        perror(interface);
        return 1;
    }
    servo_ready();
    struct pollfd waiting = {.fd = bus.link, .events = POLLIN};
    while (!servo_ended && poll(&waiting, 1, idle_ms) > 0)
        if (read(bus.link, &frame, sizeof frame) == sizeof frame)
            take(&bus, frame.can_id & CAN_SFF_MASK, frame.data, frame.can_dlc);
    close(bus.link);
    return 0;
}
#else
int serve_can(struct servo *servo, const char *interface, int idle_ms)
{
    (void)servo, (void)idle_ms;
    fprintf(stderr, "%s: SocketCAN is of Linux; use slcan\n", interface);
    return 1;
}
#endif

static void send_line(int link, unsigned identifier, const uint8_t *data, int size)
{
    char line[32];
    int length = snprintf(line, sizeof line, "t%03X%d", identifier, size);
    for (int i = 0; i < size; i++)
        length += snprintf(line + length, sizeof line - (size_t)length, "%02X", data[i]);
    line[length++] = '\r';
    if (write(link, line, (size_t)length) != length)
        perror("slcan");
}

static int digit(char letter)
{
    if (letter >= '0' && letter <= '9')
        return letter - '0';
    if (letter >= 'A' && letter <= 'F')
        return letter - 'A' + 10;
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/* A line "tIIILDD…": standard frame, length, data. Others (set-up of the adapter, other frames) are not ours. */
static void take_line(struct bus *bus, const char *line, int length)
{
    uint8_t data[8];
    if (length == 0 || line[0] != 't')
        return;
    const int size = length >= 5 ? digit(line[4]) : -1;
    if (size < 0 || size > 8 || length != 5 + 2 * size) {
        bus->servo->refused++;
        return;
    }
    for (int i = 1; i < length; i++)
        if (digit(line[i]) < 0) {
            bus->servo->refused++;
            return;
        }
    for (int i = 0; i < size; i++)
        data[i] = (uint8_t)(digit(line[5 + 2 * i]) << 4 | digit(line[6 + 2 * i]));
    take(bus, (unsigned)(digit(line[1]) << 8 | digit(line[2]) << 4 | digit(line[3])), data, size);
}

int serve_slcan(struct servo *servo, const char *tty, int idle_ms)
{
    struct bus bus = {.servo = servo, .send = send_line, .link = open(tty, O_RDWR | O_NOCTTY)};
    struct termios settings;
    char line[32], chunk[256];
    int length = 0;
    if (bus.link < 0 || tcgetattr(bus.link, &settings) < 0) {
        perror(tty);
        return 1;
    }
    settings.c_iflag = settings.c_oflag = settings.c_lflag = 0;
    settings.c_cflag = CS8 | CREAD | CLOCAL;
    tcsetattr(bus.link, TCSANOW, &settings);
    if (write(bus.link, "S6\rO\r", 5) != 5)
        perror("slcan"); /* 500 kbit/s, open */
    servo_ready();
    struct pollfd waiting = {.fd = bus.link, .events = POLLIN};
    while (!servo_ended && poll(&waiting, 1, idle_ms) > 0) {
        const ssize_t size = read(bus.link, chunk, sizeof chunk);
        if (size <= 0)
            break;
        for (ssize_t i = 0; i < size; i++) {
            if (chunk[i] == '\r') {
                if (length <= (int)sizeof line)
                    take_line(&bus, line, length);
                else
                    servo->refused++;
                length = 0;
            } else {
                if (length < (int)sizeof line)
                    line[length] = chunk[i];
                length = length <= (int)sizeof line ? length + 1 : length;
            }
        }
    }
    close(bus.link);
    return 0;
}
