/* The servo over UDP: big-endian datagrams as servo_layout.yaml describes them. servo_messages.h is made from it:
 * limberjack messages ../scenarios/servo_in_c.yaml -o servo_messages.h
 */
#include "servo.h"
#include "servo_messages.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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

/* One cycle on the numbers of the messages. */
static void answer_to(struct servo *servo, const struct servo_signals *now, struct servo_commands *commands)
{
    const double angle[JOINTS] = {now->q_joint1, now->q_joint2, now->q_joint3, now->q_joint4,
                                  now->q_joint5, now->q_joint6, now->q_joint7};
    const double rate[JOINTS] = {now->v_joint1, now->v_joint2, now->v_joint3, now->v_joint4,
                                 now->v_joint5, now->v_joint6, now->v_joint7};
    double torque[JOINTS];
    servo_cycle(servo, angle, rate, torque);
    commands->joint1 = torque[0];
    commands->joint2 = torque[1];
    commands->joint3 = torque[2];
    commands->joint4 = torque[3];
    commands->joint5 = torque[4];
    commands->joint6 = torque[5];
    commands->joint7 = torque[6];
}

int serve_udp(struct servo *servo, const char *port, int idle_ms)
{
    uint8_t data[SERVO_SIGNALS_BYTES + 1], answer[SERVO_COMMANDS_BYTES];
    struct servo_signals now, last = {0};
    struct servo_commands commands = {0};
    const int link = opened(port);
    if (link < 0)
        return 1;
    servo_ready();
    struct pollfd waiting = {.fd = link, .events = POLLIN};
    while (!servo_ended && poll(&waiting, 1, idle_ms) > 0) {
        struct sockaddr_in bench;
        socklen_t length = sizeof bench;
        const ssize_t size = recvfrom(link, data, sizeof data, 0, (struct sockaddr *)&bench, &length);
        if (size < 0 || servo_unpack(data, (size_t)size, &now) != NULL || !servo_newer(&now, &last)) {
            servo->refused++;
            continue;
        }
        last = now;
        if (now.sequence == 1) /* the bench begins a run */
            servo->begun = 0;
        answer_to(servo, &now, &commands);
        servo_pack(&commands, &now, answer);
        sendto(link, answer, sizeof answer, 0, (struct sockaddr *)&bench, length);
    }
    close(link);
    return 0;
}
