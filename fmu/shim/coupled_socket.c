/* The few functions of libzmq that are used, declared here by their documented C interface (api.zeromq.org). */
#include "coupled_socket.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coupled_platform.h"
#include "instance.h"

#define HEALTH_ADDRESS "inproc://health"

/* clang-format off */
enum { /* numbers of the interface */
    ZMQ_PAIR = 0, ZMQ_DEALER = 5,
    ZMQ_LINGER = 17, ZMQ_RECONNECT_IVL = 18, ZMQ_MAXMSGSIZE = 22, ZMQ_SNDHWM = 23, ZMQ_RCVHWM = 24, ZMQ_RCVTIMEO = 27,
    ZMQ_TCP_KEEPALIVE = 34, ZMQ_IPV6 = 42, ZMQ_CURVE_PUBLICKEY = 48, ZMQ_CURVE_SECRETKEY = 49,
    ZMQ_CURVE_SERVERKEY = 50,
    ZMQ_DONTWAIT = 1,
    EVENT_CONNECTED = 0x0001, EVENT_DISCONNECTED = 0x0200, EVENT_FAILED_NO_DETAIL = 0x0800,
    EVENT_SUCCEEDED = 0x1000, EVENT_FAILED_PROTOCOL = 0x2000, EVENT_FAILED_AUTH = 0x4000,
    EVENTS = EVENT_CONNECTED | EVENT_DISCONNECTED | EVENT_FAILED_NO_DETAIL | EVENT_SUCCEEDED | EVENT_FAILED_PROTOCOL |
             EVENT_FAILED_AUTH
};
/* clang-format on */
enum { QUEUE_MESSAGES = 64, RECONNECT_MS = 20, MOST_EVENTS = 256 };
#define MESSAGE_MOST ((int64_t)64 * 1024 * 1024) /* bytes; a larger one closes the connection */

typedef struct {
    void *(*ctx_new)(void);
    int (*ctx_term)(void *context);
    void *(*socket)(void *context, int type);
    int (*close)(void *socket);
    int (*setsockopt)(void *socket, int option, const void *value, size_t size);
    int (*connect)(void *socket, const char *endpoint);
    int (*send)(void *socket, const void *bytes, size_t size, int flags);
    int (*recv)(void *socket, void *bytes, size_t size, int flags);
    int (*socket_monitor)(void *socket, const char *endpoint, int events);
    int (*zmq_errno)(void);
    const char *(*strerror)(int number);
    int (*has)(const char *capability);
} Zmq;

struct Socket {
    void *library, *context, *dealer, *monitor;
    Zmq zmq;
    Health health;
};

/* Fills one function pointer; objects and functions share their representation on every system with dlsym. */
static bool find(void *library, const char *name, void *pointer)
{
    void *symbol = platform_symbol(library, name);
    memcpy(pointer, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool find_all(void *library, Zmq *zmq)
{
    return find(library, "zmq_ctx_new", &zmq->ctx_new) && find(library, "zmq_ctx_term", &zmq->ctx_term) &&
           find(library, "zmq_socket", &zmq->socket) && find(library, "zmq_close", &zmq->close) &&
           find(library, "zmq_setsockopt", &zmq->setsockopt) && find(library, "zmq_connect", &zmq->connect) &&
           find(library, "zmq_send", &zmq->send) && find(library, "zmq_recv", &zmq->recv) &&
           find(library, "zmq_socket_monitor", &zmq->socket_monitor) && find(library, "zmq_errno", &zmq->zmq_errno) &&
           find(library, "zmq_strerror", &zmq->strerror) && find(library, "zmq_has", &zmq->has);
}

static bool load(Instance *instance, Socket *socket, const char *resources)
{
    char path[PATH_BYTES], why[512] = "";
    const int length = snprintf(path, sizeof path, "%s/%s/%s", resources, PLATFORM_TUPLE, ZMQ_LIBRARY_NAME);
    if (length < (int)sizeof path)
        socket->library = platform_library(path, why, sizeof why);
    if (!socket->library) {
        instance_log(instance, STATUS_ERROR, NULL,
                     "libzmq, which this FMU carries, cannot be loaded from '%s': %s. Unpack the FMU again; where it "
                     "has no folder for this platform, export the model on this platform.",
                     path, why);
        return false;
    }
    if (find_all(socket->library, &socket->zmq))
        return true;
    instance_log(instance, STATUS_ERROR, NULL, "'%s' is not libzmq 4.3 or newer; unpack the FMU again.", path);
    return false;
}

static bool set_number(const Socket *socket, int option, int value)
{
    return socket->zmq.setsockopt(socket->dealer, option, &value, sizeof value) == 0;
}

static bool set_key(const Socket *socket, int option, const char *key)
{
    return socket->zmq.setsockopt(socket->dealer, option, key, KEY_CHARACTERS + 1) == 0;
}

static bool encrypt(Instance *instance, const Socket *socket, const CurveKeys *keys)
{
    if (set_key(socket, ZMQ_CURVE_SERVERKEY, keys->server) && set_key(socket, ZMQ_CURVE_PUBLICKEY, keys->own_public) &&
        set_key(socket, ZMQ_CURVE_SECRETKEY, keys->own_secret))
        return true;
    instance_log(instance, STATUS_ERROR, NULL,
                 "engine.keys: the keys cannot be used (%s)%s; make new ones with "
                 "'limberjack keygen DIR'.",
                 socket->zmq.strerror(socket->zmq.zmq_errno()),
                 socket->zmq.has("curve") ? "" : ", because this libzmq knows no encryption");
    return false;
}

/* Nothing may wait longer than its bound, grow beyond its bound, or stay behind at the end. */
static bool set_options(const Socket *socket, const char *endpoint)
{
    const int64_t most = MESSAGE_MOST;
    return set_number(socket, ZMQ_LINGER, 0) && set_number(socket, ZMQ_SNDHWM, QUEUE_MESSAGES) &&
           set_number(socket, ZMQ_RCVHWM, QUEUE_MESSAGES) && set_number(socket, ZMQ_RCVTIMEO, SLICE_MS) &&
           set_number(socket, ZMQ_RECONNECT_IVL, RECONNECT_MS) && set_number(socket, ZMQ_TCP_KEEPALIVE, 1) &&
           (!strchr(endpoint, '[') || set_number(socket, ZMQ_IPV6, 1)) &&
           socket->zmq.setsockopt(socket->dealer, ZMQ_MAXMSGSIZE, &most, sizeof most) == 0;
}

static bool watch(Socket *socket)
{
    const Zmq *zmq = &socket->zmq;
    const int none = 0;
    if (zmq->socket_monitor(socket->dealer, HEALTH_ADDRESS, EVENTS) != 0)
        return false;
    socket->monitor = zmq->socket(socket->context, ZMQ_PAIR);
    return socket->monitor && zmq->setsockopt(socket->monitor, ZMQ_LINGER, &none, sizeof none) == 0 &&
           zmq->connect(socket->monitor, HEALTH_ADDRESS) == 0;
}

static bool make(Instance *instance, Socket *socket, const char *endpoint, const CurveKeys *keys)
{
    const Zmq *zmq = &socket->zmq;
    socket->context = zmq->ctx_new();
    socket->dealer = socket->context ? zmq->socket(socket->context, ZMQ_DEALER) : NULL;
    if (!socket->dealer || !set_options(socket, endpoint) || !watch(socket)) {
        instance_log(instance, STATUS_ERROR, NULL, "no ZeroMQ socket can be made (%s); close other programs.",
                     zmq->strerror(zmq->zmq_errno()));
        return false;
    }
    if (keys && !encrypt(instance, socket, keys))
        return false;
    if (zmq->connect(socket->dealer, endpoint) == 0)
        return true;
    instance_log(instance, STATUS_ERROR, NULL,
                 "engine.endpoint '%s' cannot be used (%s); use tcp://HOST:PORT or "
                 "ipc:///path.",
                 endpoint, zmq->strerror(zmq->zmq_errno()));
    return false;
}

Socket *socket_open(Instance *instance, const char *resources, const char *endpoint, const CurveKeys *keys)
{
    Socket *socket = calloc(1, sizeof *socket);
    if (!socket) {
        instance_log(instance, STATUS_ERROR, NULL, "no memory for a socket; close other programs.");
        return NULL;
    }
    if (load(instance, socket, resources) && make(instance, socket, endpoint, keys))
        return socket;
    socket_close(socket);
    return NULL;
}

void socket_close(Socket *socket)
{
    if (!socket)
        return;
    const Zmq *zmq = &socket->zmq;
    if (socket->dealer) {
        zmq->socket_monitor(socket->dealer, NULL, 0);
        zmq->close(socket->dealer);
    }
    if (socket->monitor)
        zmq->close(socket->monitor);
    if (socket->context)
        while (zmq->ctx_term(socket->context) != 0 && zmq->zmq_errno() == EINTR)
            ; /* only a signal interrupts it; nothing lingers */
    if (socket->library)
        platform_library_close(socket->library);
    free(socket);
}

bool socket_send(Socket *socket, const void *bytes, size_t size)
{
    return socket->zmq.send(socket->dealer, bytes, size, ZMQ_DONTWAIT) >= 0;
}

Reception socket_receive(Socket *socket, void *bytes, size_t room, size_t *size)
{
    const int length = socket->zmq.recv(socket->dealer, bytes, room, 0);
    if (length >= 0) {
        *size = (size_t)length;
        return RECEIVED;
    }
    const int why = socket->zmq.zmq_errno();
    return why == EAGAIN || why == EINTR ? NOTHING_CAME : CANNOT_RECEIVE;
}

static void take_event(Health *health, unsigned event)
{
    health->reached = health->reached || event == EVENT_CONNECTED;
    if (event == EVENT_SUCCEEDED)
        health->connected = true;
    if (event == EVENT_DISCONNECTED) {
        health->dropped += health->connected;
        health->connected = false;
    }
    health->key_refused = health->key_refused || event == EVENT_FAILED_AUTH;
    health->handshake_failed =
        health->handshake_failed || event == EVENT_FAILED_NO_DETAIL || event == EVENT_FAILED_PROTOCOL;
}

/* An event is two frames: number (16 bit) and value (32 bit) in the machine's byte order, then the address. */
const Health *socket_health(Socket *socket)
{
    unsigned char frame[6], address[512];
    for (int i = 0; i < MOST_EVENTS; i++) {
        if (socket->zmq.recv(socket->monitor, frame, sizeof frame, ZMQ_DONTWAIT) < (int)sizeof frame)
            break;
        uint16_t event;
        memcpy(&event, frame, sizeof event);
        take_event(&socket->health, event);
        socket->zmq.recv(socket->monitor, address, sizeof address, ZMQ_DONTWAIT);
    }
    return &socket->health;
}
