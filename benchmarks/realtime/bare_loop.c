// An empty loop at absolute deadlines of the monotonic clock: what the machine does to any frame.
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <time.h>

static int64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1000000000 * (int64_t)time.tv_sec + time.tv_nsec;
}

// Waits for count deadlines, period_ns apart: sleeps until margin_ns before each and spins from there; late[i]: by how
// much wait i ended after its deadline, ns. Returns the waits that were done, fewer than count after a signal.
__attribute__((visibility("default"))) int64_t bare_loop(int64_t period_ns, int64_t count, int64_t margin_ns,
                                                         int64_t *late)
{
    int64_t deadline = now_ns() + period_ns;
    for (int64_t i = 0; i < count; i++, deadline += period_ns) {
        const int64_t wake = deadline - margin_ns;
        const struct timespec until = {.tv_sec = wake / 1000000000, .tv_nsec = wake % 1000000000};
        if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, 0) == EINTR) {
            return i;
        }
        int64_t now = now_ns();
        while (now < deadline) {
            now = now_ns();
        }
        late[i] = now - deadline;
    }
    return count;
}
