/* A joint servo as flight software would be: fixed memory, fixed cycle, a link that it does not trust.
 *
 *     servo udp PORT PERIOD      datagrams of servo_layout.yaml, on 127.0.0.1
 *     servo can INTERFACE PERIOD frames of servo.dbc on SocketCAN (Linux)
 *     servo slcan TTY PERIOD     the same frames as a serial CAN adapter carries them (Lawicel's ASCII)
 *
 * Each joint: the reference goes to its goal at no more than RATE; torque = kp e - kd rate + integral of ki e, the
 * integral and the torque within a limit.
 */
#include "servo.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDLE_MS 30000

static const double RATE = 0.8; /* rad/s */
static const double GOAL[JOINTS] = {0.6, 0.7, -0.3, -0.8, 0.4, 0.8, -0.5};
static const double KP[JOINTS] = {600.0, 600.0, 400.0, 400.0, 150.0, 150.0, 100.0};
static const double KD[JOINTS] = {60.0, 60.0, 40.0, 40.0, 10.0, 10.0, 6.0};
static const double KI[JOINTS] = {1200.0, 2400.0, 800.0, 1600.0, 300.0, 600.0, 200.0};
static const double LIMIT[JOINTS] = {30.0, 120.0, 30.0, 60.0, 20.0, 25.0, 10.0};

volatile int servo_ended = 0;

static double within(double value, double limit)
{
    return value > limit ? limit : value < -limit ? -limit : value;
}

void servo_cycle(struct servo *servo, const double *angle, const double *rate, double *torque)
{
    const double step = RATE * servo->period;
    for (int i = 0; i < JOINTS; i++) {
        if (!servo->begun) {
            servo->reference[i] = angle[i];
            servo->integral[i] = 0.0;
        }
        servo->reference[i] += within(GOAL[i] - servo->reference[i], step);
        const double error = servo->reference[i] - angle[i];
        servo->integral[i] = within(servo->integral[i] + KI[i] * error * servo->period, LIMIT[i]);
        torque[i] = within(KP[i] * error - KD[i] * rate[i] + servo->integral[i], LIMIT[i]);
    }
    servo->begun = 1;
    servo->cycles++;
}

void servo_ready(void)
{
    puts("ready");
    fflush(stdout);
}

static void end(int number)
{
    (void)number;
    servo_ended = 1;
}

int main(int count, char **words)
{
    struct servo servo = {0};
    struct sigaction action = {.sa_handler = end};
    int result = 2;
    if (count == 4)
        servo.period = strtod(words[3], NULL);
    if (servo.period > 0.0 && servo.period < 1.0) {
        sigaction(SIGTERM, &action, NULL);
        sigaction(SIGINT, &action, NULL);
        if (!strcmp(words[1], "udp"))
            result = serve_udp(&servo, words[2], IDLE_MS);
        if (!strcmp(words[1], "can"))
            result = serve_can(&servo, words[2], IDLE_MS);
        if (!strcmp(words[1], "slcan"))
            result = serve_slcan(&servo, words[2], IDLE_MS);
    }
    if (result == 2)
        fprintf(stderr, "use: servo udp PORT PERIOD | servo can INTERFACE PERIOD | servo slcan TTY PERIOD\n");
    if (result == 0)
        printf("%lu cycles, %lu messages refused\n", servo.cycles, servo.refused);
    return result;
}
