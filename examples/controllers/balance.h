/* The control law that both controllers in C share: a pole on a cart is balanced, the cart goes to its goal.
 * Include the messages of the device before it.
 */
#ifndef BALANCE_H
#define BALANCE_H

#define GOAL 0.5   /* m */
#define RATE 0.2   /* m/s, of the target on its way to the goal */
#define LIMIT 20.0 /* N */

/* What the law remembers; {0} at the start of a run. */
struct law {
    double target, last;
};

static inline double within(double value, double limit)
{
    return value > limit ? limit : value < -limit ? -limit : value;
}

/* Commands from signals. Time is the bench's: messages may have been lost on the way. */
static inline void control(struct law *law, const struct cart_signals *now, struct cart_commands *commands)
{
    const double step = RATE * (now->time - law->last);
    law->last = now->time;
    law->target += within(GOAL - law->target, step);
    commands->drive = within(
        10.0 * (now->q_cart - law->target) + 63.5 * now->q_pole + 10.8 * now->v_cart + 14.6 * now->v_pole, LIMIT);
}

#endif
