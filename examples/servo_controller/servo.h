/* A servo of seven joints: the law, and the two links that bring it angles and take its torques. */
#ifndef SERVO_H
#define SERVO_H

#include <stdint.h>

#define JOINTS 7

struct servo {
    double period;            /* s between two cycles */
    double reference[JOINTS]; /* rad, on the way to the goal */
    double integral[JOINTS];  /* N m */
    int begun;
    unsigned long cycles, refused;
};

/* One cycle: torques, N m, from angles, rad, and rates, rad/s. */
void servo_cycle(struct servo *servo, const double *angle, const double *rate, double *torque);

/* Say on the standard output that the link is open. */
void servo_ready(void);

/* Answer until nothing has come for idle_ms, or a signal ends the program. 0, or 1 if the link cannot be used. */
int serve_udp(struct servo *servo, const char *port, int idle_ms);
int serve_can(struct servo *servo, const char *interface, int idle_ms);
int serve_slcan(struct servo *servo, const char *tty, int idle_ms);

/* Set by SIGTERM and SIGINT. */
extern volatile int servo_ended;

#endif
