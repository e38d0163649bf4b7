/* A controller over shared memory that balances a pole on a cart.
 *
 *     cc -O2 balance_shm.c -o balance_shm -lm && ./balance_shm
 *
 * cart_memory.h is made by 'limberjack messages balance_shm.yaml -o cart_memory.h'. There is one slot for each
 * direction, so that only the newest message counts. It waits for the bench, also for its next run, and ends on
 * SIGTERM, Ctrl-C, or after IDLE_MS without one.
 */
#include "cart_memory.h"
#include "balance.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>

#ifndef IDLE_MS
#define IDLE_MS 60000
#endif
#define LOOK_MS 10   /* how often it looks for a bench */
#define NAP_NS 20000 /* how often it looks for signals */

static volatile sig_atomic_t ended = 0;
static unsigned long answered = 0, refused = 0;

static void end(int number)
{
    (void)number;
    ended = 1;
}

static void sleep_ns(long duration)
{
    const struct timespec time = {.tv_nsec = duration};
    nanosleep(&time, NULL);
}

/* Answer until the bench has ended its run, which takes its memory away. */
static void serve(struct cart_memory *memory)
{
    struct cart_signals now, last = {0};
    struct cart_commands commands = {0};
    struct law law = {0};
    uint8_t data[CART_SIGNALS_BYTES], answer[CART_COMMANDS_BYTES];
    while (!ended) {
        if (!cart_read(memory, data)) {
            if (cart_gone(memory))
                return;
            sleep_ns(NAP_NS);
            continue;
        }
        if (cart_unpack(data, sizeof data, &now) != NULL || !cart_newer(&now, &last)) {
            refused++;
            continue;
        }
        last = now;
        control(&law, &now, &commands);
        cart_pack(&commands, &now, answer);
        cart_write(memory, answer);
        answered++;
    }
}

int main(void)
{
    const struct sigaction action = {.sa_handler = end};
    struct cart_memory memory;
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    puts("ready");
    fflush(stdout);
    for (int idle = 0; !ended && idle < IDLE_MS; idle += LOOK_MS) {
        if (cart_open(&memory) == NULL) {
            serve(&memory);
            cart_close(&memory);
            idle = 0;
        }
        sleep_ns(LOOK_MS * 1000000L);
    }
    printf("%lu answered, %lu refused; %s\n", answered, refused, ended ? "ended by a signal" : "no bench any more");
    return 0;
}
