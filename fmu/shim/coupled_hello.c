/* The first request: is this the engine that the FMU was exported for? */
#include <stdio.h>
#include <string.h>

#include "coupled_link.h"
#include "instance.h"

#define REMEDY "point engine.endpoint at an engine with this FMU's model and settings, or leave it empty"

enum { NAME_BYTES = 64, WORD_BYTES = 80 };

/* What an engine says of itself. */
typedef struct {
    char mode[WORD_BYTES], hash[WORD_BYTES], integrator[WORD_BYTES], model[WORD_BYTES];
    double dt;
    uint64_t protocol, substeps, steps_max;
    uint64_t q, v, tau, outputs, command;
} About;

static void read_word(Unpacker *in, char *word)
{
    size_t length;
    const char *text = unpack_text(in, &length);
    snprintf(word, WORD_BYTES, "%.*s", (int)(length < WORD_BYTES ? length : WORD_BYTES - 1), text);
}

static void read_shape(Unpacker *in, About *about)
{
    const uint32_t pairs = unpack_map(in);
    for (uint32_t i = 0; i < pairs && !in->bad; i++) {
        uint64_t *to = unpack_is(in, "q")         ? &about->q
                       : unpack_is(in, "v")       ? &about->v
                       : unpack_is(in, "tau")     ? &about->tau
                       : unpack_is(in, "outputs") ? &about->outputs
                       : unpack_is(in, "command") ? &about->command
                                                  : NULL;
        if (to) {
            *to = unpack_unsigned(in);
        } else {
            unpack_skip(in);
            unpack_skip(in);
        }
    }
}

/* Reads one entry of the map. */
static void read_entry(Unpacker *in, About *about)
{
    if (unpack_is(in, "protocol"))
        about->protocol = unpack_unsigned(in);
    else if (unpack_is(in, "mode"))
        read_word(in, about->mode);
    else if (unpack_is(in, "model"))
        read_word(in, about->model);
    else if (unpack_is(in, "model_hash"))
        read_word(in, about->hash);
    else if (unpack_is(in, "integrator"))
        read_word(in, about->integrator);
    else if (unpack_is(in, "dt"))
        about->dt = unpack_float(in);
    else if (unpack_is(in, "substeps"))
        about->substeps = unpack_unsigned(in);
    else if (unpack_is(in, "steps_max"))
        about->steps_max = unpack_unsigned(in);
    else if (unpack_is(in, "shape"))
        read_shape(in, about);
    else {
        unpack_skip(in);
        unpack_skip(in);
    }
}

static bool differs(Instance *instance, const Link *link, const char *what, const char *there, const char *here)
{
    instance_log(instance, STATUS_ERROR, NULL, "engine at %s has %s %s, this FMU needs %s; %s.", link_endpoint(link),
                 what, there[0] ? there : "unknown", here, REMEDY);
    return false;
}

static bool check_count(Instance *instance, const Link *link, const char *what, uint64_t there, uint64_t here)
{
    char first[24], second[24];
    snprintf(first, sizeof first, "%llu", (unsigned long long)there);
    snprintf(second, sizeof second, "%llu", (unsigned long long)here);
    return there == here || differs(instance, link, what, first, second);
}

static bool check_step(Instance *instance, const Link *link, const About *about, const PlantFileHeader *header)
{
    static const char *const names[] = {"rk4", "semi_implicit", "implicit"};
    char there[32], here[32];
    snprintf(there, sizeof there, "%.17g s", about->dt);
    snprintf(here, sizeof here, "%.17g s", header->dt);
    if (about->dt != header->dt)
        return differs(instance, link, "the step", there, here);
    if (header->integrator >= sizeof names / sizeof *names || strcmp(about->integrator, names[header->integrator]) != 0)
        return differs(instance, link, "the integrator", about->integrator,
                       header->integrator < sizeof names / sizeof *names ? names[header->integrator] : "another");
    return check_count(instance, link, "substeps:", about->substeps, header->substeps);
}

static bool check(Instance *instance, const Link *link, const About *about, const PlantFileHeader *header)
{
    char hash[sizeof header->model_hash + 1];
    snprintf(hash, sizeof hash, "%.*s", (int)sizeof header->model_hash, header->model_hash);
    if (strcmp(about->mode, "lockstep") != 0)
        return differs(instance, link, "the mode", about->mode, "lockstep (an engine without --real-time)");
    if (strcmp(about->hash, hash) != 0)
        return differs(instance, link, "another model, with the hash", about->hash, hash);
    return check_count(instance, link, "protocol", about->protocol, 1) && check_step(instance, link, about, header) &&
           check_count(instance, link, "coordinates:", about->q, header->n_q) &&
           check_count(instance, link, "velocities:", about->v, header->n_v) &&
           check_count(instance, link, "forces:", about->tau, header->n_v) &&
           check_count(instance, link, "sensor outputs:", about->outputs, header->n_observed - 2 * header->n_v) &&
           check_count(instance, link, "commands:", about->command, header->n_commands) &&
           (about->steps_max > 0 || differs(instance, link, "a largest number of steps", "0", "1 or more"));
}

/* The name under which the engine shows who commands it: printable and short. */
static void make_name(const Instance *instance, char name[NAME_BYTES])
{
    snprintf(name, NAME_BYTES, "FMU %s", instance->name ? instance->name : "");
    for (char *at = name; *at; at++)
        if (*at < ' ' || *at > '~')
            *at = '_';
}

Status hello(Instance *instance, Link *link, const PlantFileHeader *header, uint64_t *steps_max)
{
    char name[NAME_BYTES];
    make_name(instance, name);
    Packer *request = link_begin(link, "hello");
    pack_map(request, 1);
    pack_text(request, "name");
    pack_text(request, name);
    Reply reply;
    const Status status = link_finish(link, &reply);
    if (status != STATUS_OK)
        return status;
    About about;
    memset(&about, 0, sizeof about);
    Unpacker *in = &reply.body;
    const uint32_t pairs = reply.state ? 0 : unpack_map(in);
    for (uint32_t i = 0; i < pairs && !in->bad; i++)
        read_entry(in, &about);
    *steps_max = about.steps_max;
    if (!in->bad && check(instance, link, &about, header))
        return STATUS_OK;
    if (in->bad)
        instance_log(instance, STATUS_ERROR, NULL,
                     "engine at %s: its answer to hello cannot be read; use the same "
                     "version of limberjack for the engine and for the export of this FMU.",
                     link_endpoint(link));
    link_break(link);
    return STATUS_ERROR;
}
