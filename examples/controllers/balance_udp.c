/* A controller over UDP that balances a pole on a cart.
 *
 *     cc -O2 balance_udp.c -o balance_udp -lm && ./balance_udp 47202       the port of the device in the scenario
 *
 * cart_messages.h is made by 'limberjack messages balance_udp.yaml -o cart_messages.h'. Datagrams may be lost, doubled,
 * late or not the bench's: the loop counts any message that is not newer and does not answer it. It ends on SIGTERM,
 * Ctrl-C, or after IDLE_MS without a datagram.
 */
#include "cart_messages.h"
#include "balance.h"

#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef IDLE_MS
#define IDLE_MS 60000
#endif

static volatile sig_atomic_t ended = 0;

static void end(int number)
{
    (void)number;
    ended = 1;
}

/* A socket on this machine's port; -1 and a line on the standard error if there is none. */
static int opened(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    const int made = socket(AF_INET, SOCK_DGRAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (made >= 0 && bind(made, (struct sockaddr *)&address, sizeof address) == 0)
        return made;
    perror("balance_udp: cannot take the port");
    return -1;
}

static void serve(int link)
{
    struct cart_signals now, last = {0};
    struct cart_commands commands = {0};
    struct law law = {0};
    struct pollfd waiting = {.fd = link, .events = POLLIN};
    unsigned long answered = 0, refused = 0;
    while (!ended && poll(&waiting, 1, IDLE_MS) > 0) {
        uint8_t data[CART_SIGNALS_BYTES + 1], answer[CART_COMMANDS_BYTES]; /* one more shows a datagram too long */
        struct sockaddr_in bench;
        socklen_t length = sizeof bench;
        const ssize_t size = recvfrom(link, data, sizeof data, 0, (struct sockaddr *)&bench, &length);
        if (size < 0 || cart_unpack(data, (size_t)size, &now) != NULL || !cart_newer(&now, &last)) {
            refused++;
            continue;
        }
        if (now.session != last.session) /* the bench begins a run */
            law = (struct law){0};
        last = now;
        control(&law, &now, &commands);
        cart_pack(&commands, &now, answer);
        sendto(link, answer, sizeof answer, 0, (struct sockaddr *)&bench,
               length); /* lost like any datagram: no matter */
        answered++;
    }
    printf("%lu answered, %lu refused; %s\n", answered, refused, ended ? "ended by a signal" : "no bench any more");
}

int main(int count, char **words)
{
    const struct sigaction action = {.sa_handler = end}; /* without SA_RESTART: poll returns */
    const int link = count == 2 ? opened(atoi(words[1])) : -1;
    if (link < 0) {
        fprintf(stderr, "use: balance_udp PORT\n");
        return 2;
    }
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    puts("ready");
    fflush(stdout);
    serve(link);
    close(link);
    return 0;
}
