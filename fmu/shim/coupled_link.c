/* The envelope of every message: [version, type, sequence, time, client, body]. */
#include "coupled_link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coupled_platform.h"
#include "interruption.h"

#define PROTOCOL_VERSION 1

#define CANCELLED_WAIT_S 5.0 /* longest wait for the reply to a step after it was cancelled */

enum { REST_BYTES = 65536, KIND_BYTES = 16, TEXT_BYTES = 600, MOST_STRAY = 1000 };

struct Link {
    Instance *instance;
    Socket *socket;
    Engine *engine;
    const char *endpoint;
    double timeout, limit; /* for every reply; for the reply that is waited for */
    uint64_t client, sequence;
    double seen; /* simulated time of the newest reply */
    char kind[KIND_BYTES];
    Packer request;
    unsigned char *reply;
    size_t room;
    unsigned dropped; /* connections that were lost before this request */
    bool broken, quiet;
};

Link *link_open(Instance *instance, const LinkOptions *options)
{
    Link *link = calloc(1, sizeof *link);
    const size_t room = REST_BYTES + options->vector * sizeof(double);
    unsigned char *request = malloc(room), *reply = malloc(room);
    uint64_t number = 0;
    if (link && request && reply && platform_random(&number))
        link->socket = socket_open(instance, options->resources, options->endpoint, options->keys);
    else
        instance_log(instance, STATUS_ERROR, NULL,
                     "no memory or no random number for a connection; close other programs.");
    if (!link || !link->socket) {
        free(request);
        free(reply);
        free(link);
        return NULL;
    }
    link->instance = instance;
    link->engine = options->engine;
    link->endpoint = options->endpoint;
    link->timeout = link->limit = options->timeout;
    link->client = number | 1;
    link->request = (Packer){request, room, 0, false};
    link->reply = reply;
    link->room = room;
    return link;
}

void link_close(Link *link)
{
    if (!link)
        return;
    socket_close(link->socket);
    free(link->request.bytes);
    free(link->reply);
    free(link);
}

bool link_broken(const Link *link)
{
    return link->broken;
}

void link_break(Link *link)
{
    link->broken = true;
}

const char *link_endpoint(const Link *link)
{
    return link->endpoint;
}

Packer *link_begin(Link *link, const char *kind)
{
    Packer *packer = &link->request;
    snprintf(link->kind, sizeof link->kind, "%s", kind);
    packer->used = 0;
    packer->full = false;
    pack_array(packer, 6);
    pack_unsigned(packer, PROTOCOL_VERSION);
    pack_text(packer, kind);
    pack_unsigned(packer, ++link->sequence);
    pack_float(packer, link->seen);
    pack_unsigned(packer, link->client);
    return packer;
}

/* Logs "engine at …: what" unless nobody should hear; the connection is of no use any more. */
static Status lost(Link *link, const char *what)
{
    link->broken = true;
    if (!link->quiet)
        instance_log(link->instance, STATUS_ERROR, NULL, "engine at %s: %s", link->endpoint, what);
    return STATUS_ERROR;
}

static const char encryption[] =
    "no connection was made: what listens there is not a Limberjack engine, or the encrypted connection failed because "
    "one side has keys and the other has none, or server.key is another engine's; correct engine.endpoint, or set "
    "engine.keys to a folder with the engine's server.key, or leave it empty where the engine runs without --keys.";

/* Why no reply came, as far as can be known. */
static Status explain(Link *link, const Health *health, double waited)
{
    char what[TEXT_BYTES];
    if (health->connected)
        snprintf(what, sizeof what,
                 "no reply to '%s' within %.3g s: it is busy or stuck; set a longer engine.timeout, "
                 "take shorter communication steps, or look at the engine.",
                 link->kind, waited);
    else if (health->reached && !health->dropped)
        snprintf(what, sizeof what, "no reply to '%s' within %.3g s: %s", link->kind, waited, encryption);
    else if (health->dropped)
        snprintf(what, sizeof what,
                 "no reply to '%s' within %.3g s: the connection was lost; start the engine again and "
                 "reset the FMU.",
                 link->kind, waited);
    else
        snprintf(what, sizeof what,
                 "no reply to '%s' within %.3g s: nothing listens there; start an engine with "
                 "'limberjack run MODEL --endpoint %s', or leave engine.endpoint empty.",
                 link->kind, waited, link->endpoint);
    return lost(link, what);
}

/* Whether this FMU's own engine has ended, and why. One that is killed closes its connection a moment before its
   parent can see how it ended; dropped: wait for that. */
static bool own_engine_ended(Link *link, bool dropped, char *why, size_t size)
{
    if (!link->engine)
        return false;
    const double end = platform_seconds() + (dropped ? 1.0 : 0.0);
    bool ended = engine_ended(link->engine, why, size);
    for (; !ended && platform_seconds() < end; ended = engine_ended(link->engine, why, size))
        platform_sleep(0.005);
    return ended;
}

/* Nothing has come yet: ERROR when nothing can come any more. */
static Status look(Link *link)
{
    char what[TEXT_BYTES], why[TEXT_BYTES - 64];
    const Health *health = socket_health(link->socket);
    const bool dropped = health->dropped > link->dropped && !health->connected;
    if (own_engine_ended(link, dropped, why, sizeof why)) {
        snprintf(what, sizeof what, "%s. Reset the FMU to start another.", why);
        return lost(link, what);
    }
    if (health->key_refused)
        return lost(link, "it refuses the key of this FMU; put client.key into the engine's folder of allowed clients "
                          "and start the engine again.");
    if (health->handshake_failed)
        return lost(link, encryption);
    if (dropped) {
        snprintf(what, sizeof what,
                 "it closed the connection before it answered '%s': it was stopped or killed; start "
                 "it again and reset the FMU.",
                 link->kind);
        return lost(link, what);
    }
    link->dropped = health->dropped;
    return STATUS_OK;
}

/* A text of the engine as a zero-terminated line. */
static void copy_text(Unpacker *from, char *to, size_t size)
{
    size_t length;
    const char *text = unpack_text(from, &length);
    length = length < size ? length : size - 1;
    memcpy(to, text, length);
    to[length] = 0;
    for (; *to; to++)
        if ((unsigned char)*to < ' ')
            *to = ' ';
}

/* Reads the body of an error reply and says it. */
static Status refused(Link *link, Unpacker *body)
{
    char code[32] = "unknown", text[TEXT_BYTES] = "the engine gave no reason.";
    const uint32_t pairs = unpack_map(body);
    for (uint32_t i = 0; i < pairs && !body->bad; i++) {
        if (unpack_is(body, "code")) {
            copy_text(body, code, sizeof code);
        } else if (unpack_is(body, "text")) {
            copy_text(body, text, sizeof text);
        } else {
            unpack_skip(body);
            unpack_skip(body);
        }
    }
    const bool failed_step = strcmp(code, "simulation") == 0;
    const bool useless = !failed_step && strcmp(code, "argument") != 0 && strcmp(code, "non_finite") != 0;
    link->broken = link->broken || useless;
    const Status status = failed_step ? STATUS_DISCARD : STATUS_ERROR;
    if (!link->quiet)
        instance_log(link->instance, status, NULL, "engine at %s refuses '%s' (%s): %s%s", link->endpoint, link->kind,
                     code, text,
                     strcmp(code, "version") == 0
                         ? " Use the same version of limberjack for the engine and for the export of this FMU."
                         : "");
    return status;
}

static Status other_version(Link *link, uint64_t version)
{
    char what[TEXT_BYTES];
    snprintf(what, sizeof what,
             "it speaks protocol version %llu, this FMU speaks %d; use the same version of "
             "limberjack for the engine and for the export of this FMU.",
             (unsigned long long)version, PROTOCOL_VERSION);
    return lost(link, what);
}

/* Reads one message: OK with *mine false if it belongs to an earlier request. */
static Status read_reply(Link *link, size_t size, Reply *reply, bool *mine)
{
    static const char foreign[] = "its answer is not a message of a Limberjack engine; check engine.endpoint.";
    if (size > link->room)
        return lost(link, "its answer is too long for this model; check engine.endpoint.");
    Unpacker in = {link->reply, link->reply + size, false};
    const uint32_t fields = unpack_array(&in);
    const uint64_t version = unpack_unsigned(&in);
    if (in.bad || fields == 0)
        return lost(link, foreign);
    if (version != PROTOCOL_VERSION)
        return other_version(link, version);
    const bool error = unpack_is(&in, "error"), state = !error && unpack_is(&in, "state");
    const bool same = !error && !state && unpack_is(&in, link->kind);
    if (!error && !state && !same)
        unpack_skip(&in);
    const uint64_t sequence = unpack_unsigned(&in);
    const double time = unpack_float(&in);
    const uint64_t client = unpack_unsigned(&in);
    if (in.bad || fields != 6)
        return lost(link, foreign);
    *mine = (sequence == link->sequence && client == link->client) || (error && sequence == 0);
    if (!*mine)
        return STATUS_OK;
    if (!error && !state && !same)
        return lost(link, foreign);
    link->seen = time;
    *reply = (Reply){state, in};
    return error ? refused(link, &in) : STATUS_OK;
}

Status link_finish(Link *link, Reply *reply)
{
    if (link->broken)
        return lost(link, "it was lost before; reset the FMU to connect again.");
    if (link->request.full)
        return lost(link, "a request is too long; this is a fault of the FMU, please report it.");
    const double began = platform_seconds();
    double limit = began + link->limit;
    if (!socket_send(link->socket, link->request.bytes, link->request.used))
        return explain(link, socket_health(link->socket), link->limit);
    for (int stray = 0; stray < MOST_STRAY;) {
        size_t size = 0;
        bool mine = false;
        const Reception reception = socket_receive(link->socket, link->reply, link->room, &size);
        if (reception == CANNOT_RECEIVE)
            return lost(link, "the socket cannot receive; reset the FMU.");
        const Status status = reception == RECEIVED ? read_reply(link, size, reply, &mine) : look(link);
        if (status != STATUS_OK || mine)
            return status;
        stray += reception == RECEIVED;
        const double now = platform_seconds();
        if (instance_cancelled(link->instance) && limit > now + CANCELLED_WAIT_S)
            limit = now + CANCELLED_WAIT_S;
        if (now > limit)
            return explain(link, socket_health(link->socket), limit - began);
    }
    return lost(link, "it sends unrequested messages; check engine.endpoint.");
}

void link_release(Link *link, double patience)
{
    Reply reply;
    if (link->broken)
        return;
    link->quiet = true;
    link->limit = patience < link->timeout ? patience : link->timeout;
    pack_nil(link_begin(link, "release"));
    link_finish(link, &reply);
    link->limit = link->timeout;
    link->quiet = false;
}
