/* An engine process behind model.h: connecting, starting, stepping. One round trip a communication step. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "coupled.h"
#include "interruption.h"

#define STEP_TOLERANCE 1e-9 /* relative: how far a communication step may be from whole internal steps */
#define MOST_STEPS 1e9      /* internal steps of one communication step: hours of computing */
#define MODEL_NAME "model.ljm"
#define PORTION_S 0.1    /* what one request should take, s: between two a long step can be cancelled */
#define FIRST_PORTION 16 /* steps in a request before the engine's pace is known */

/* A snapshot of the engine: 56 bytes, then [t, steps, q, v, command, the engine's own] (docs/reference/protocol.md,
 * "Snapshots"). */
enum { SNAPSHOT_HEAD = 56 };

size_t coupled_snapshot_size(const Model *model)
{
    return SNAPSHOT_HEAD + (size_t)model->file.header->n_state * sizeof(double);
}

void coupled_disconnect(Model *model)
{
    if (model->link && !model->engine)
        link_release(model->link, 0.5);
    link_close(model->link);
    engine_stop(model->engine);
    model->link = NULL;
    model->engine = NULL;
}

static Engine *start_engine(Model *model)
{
    char path[PATH_BYTES + 16];
    snprintf(path, sizeof path, "%s/%s", model->resources, MODEL_NAME);
    const EngineOptions options = {model->settings.texts[SETTING_COMMAND], model->settings.texts[SETTING_KEYS], path,
                                   model->file.header};
    return engine_start(model->instance, &options);
}

/* Connects to the engine of the settings, which it starts where they name none. */
static bool open_link(Model *model, const CurveKeys *keys)
{
    const char *endpoint = model->settings.texts[SETTING_ENDPOINT];
    if (!endpoint[0]) {
        model->engine = start_engine(model);
        if (!model->engine)
            return false;
        endpoint = engine_endpoint(model->engine);
    }
    model->used = model->settings;
    const LinkOptions options = {
        model->resources,    model->engine ? endpoint : model->used.texts[SETTING_ENDPOINT], keys, model->engine,
        model->used.timeout, model->shape.count + (size_t)model->file.header->n_state};
    model->link = link_open(model->instance, &options);
    return model->link && hello(model->instance, model->link, model->file.header, &model->steps_max) == STATUS_OK;
}

/* The connection that these settings ask for stands already. */
static bool is_connected(const Model *model)
{
    for (int i = 0; i < TEXTS; i++)
        if (strcmp(model->settings.texts[i], model->used.texts[i]) != 0)
            return false;
    return model->link && !link_broken(model->link) && model->settings.timeout == model->used.timeout;
}

bool coupled_alive(Model *model)
{
    if (model->link && !link_broken(model->link))
        return true;
    instance_log(model->instance, STATUS_ERROR, NULL,
                 "The engine process of this run is gone, as was said before; "
                 "reset the FMU to start or join another.");
    return false;
}

Status coupled_connect(Model *model)
{
    if (is_connected(model))
        return STATUS_OK;
    coupled_disconnect(model);
    const size_t floats = (size_t)model->file.header->n_floats;
    CurveKeys keys;
    const char *folder = model->settings.texts[SETTING_KEYS];
    const bool good =
        (!folder[0] || curve_read(model->instance, folder, &keys)) && open_link(model, folder[0] ? &keys : NULL);
    if (!good) {
        coupled_disconnect(model);
        return STATUS_ERROR;
    }
    for (size_t i = 0; i < floats; i++) /* an engine that others use may have any */
        model->held[i] = model->engine ? model->file.floats[i] : NAN;
    return STATUS_OK;
}

/* The engine's name of each number of the parameters, in order: the texts of a variable follow each other. */
static Status push_variable(Model *model, const Variable *variable)
{
    const char *name = model->file.texts + variable->start_text;
    const char *const end = model->file.texts + model->file.header->texts_bytes;
    for (uint64_t i = variable->offset; i < variable->offset + variable->count && name < end; i++) {
        if (model->held[i] != model->parameters[i]) {
            Packer *body = link_begin(model->link, "parameter");
            pack_array(body, 2);
            pack_text(body, name);
            pack_float(body, model->parameters[i]);
            Reply reply;
            if (link_finish(model->link, &reply) != STATUS_OK)
                return STATUS_ERROR;
            model->held[i] = model->parameters[i];
        }
        name += strlen(name) + 1;
    }
    return STATUS_OK;
}

Status coupled_push(Model *model)
{
    for (uint64_t i = 0; i < model->file.header->n_variables; i++)
        if (model->file.variables[i].region == REGION_PARAMETER &&
            push_variable(model, &model->file.variables[i]) != STATUS_OK)
            return STATUS_ERROR;
    return STATUS_OK;
}

static Status not_understood(Model *model, const char *what)
{
    instance_log(model->instance, STATUS_ERROR, NULL,
                 "engine at %s: %s; use the same version of limberjack for the "
                 "engine and for the export of this FMU.",
                 link_endpoint(model->link), what);
    link_break(model->link);
    return STATUS_ERROR;
}

/* Takes a state over from a reply. */
static Status take_state(Model *model, Reply *reply)
{
    size_t size = 0;
    const uint32_t fields = reply->state ? unpack_array(&reply->body) : 0;
    const uint64_t steps = unpack_unsigned(&reply->body);
    const void *vector = unpack_binary(&reply->body, &size);
    if (fields != 2 || reply->body.bad || size != model->shape.count * sizeof(double))
        return not_understood(model, "its state cannot be read");
    if (size)
        memcpy(model->now, vector, size);
    model->steps = steps;
    return STATUS_OK;
}

/* A request whose reply is a state. */
static Status ask_state(Model *model, const char *kind)
{
    Reply reply;
    pack_nil(link_begin(model->link, kind));
    const Status status = link_finish(model->link, &reply);
    return status == STATUS_OK ? take_state(model, &reply) : STATUS_ERROR;
}

Status coupled_snapshot(Model *model)
{
    Reply reply;
    size_t size;
    pack_nil(link_begin(model->link, "snapshot"));
    if (link_finish(model->link, &reply) != STATUS_OK)
        return STATUS_ERROR;
    const void *bytes = unpack_binary(&reply.body, &size);
    if (reply.state || reply.body.bad || size != coupled_snapshot_size(model))
        return not_understood(model, "its snapshot cannot be read");
    memcpy(model->snapshot, bytes, size);
    return STATUS_OK;
}

Status coupled_restore(Model *model)
{
    Reply reply;
    pack_binary(link_begin(model->link, "restore"), model->snapshot, coupled_snapshot_size(model));
    return link_finish(model->link, &reply) == STATUS_OK ? take_state(model, &reply) : STATUS_ERROR;
}

/* Puts time, q, v and commands into the snapshot. */
static void patch(Model *model, uint64_t steps, const double *motion, const double *command)
{
    double *const state = (double *)(void *)(model->snapshot + SNAPSHOT_HEAD);
    state[0] = (double)steps * model->file.header->dt;
    state[1] = (double)steps;
    memcpy(state + 2, motion, model->shape.tau * sizeof(double));
    memcpy(state + 2 + model->shape.tau, command, (size_t)model->file.header->n_commands * sizeof(double));
}

Status coupled_sync(Model *model)
{
    if (coupled_connect(model) != STATUS_OK || ask_state(model, "reset") != STATUS_OK ||
        coupled_push(model) != STATUS_OK || coupled_snapshot(model) != STATUS_OK)
        return STATUS_ERROR;
    patch(model, 0, model->start, model->command);
    model->current = coupled_restore(model) == STATUS_OK;
    return model->current ? STATUS_OK : STATUS_ERROR;
}

Status model_start(Model *model)
{
    const Status status = model->current && is_connected(model) ? STATUS_OK : coupled_sync(model);
    model->started = status == STATUS_OK;
    return status;
}

/* Whole internal steps of a communication step; 0 where it is not a multiple. An importer may have computed h as the
 * difference of two times, which rounds as they do. */
static double divide(Model *model, double time, double h)
{
    const double dt = model->file.header->dt, whole = round(h / dt);
    const double slack = STEP_TOLERANCE * h + 2.0 * DBL_EPSILON * fabs(time);
    if (whole >= 1.0 && whole <= MOST_STEPS && fabs(h - whole * dt) <= slack)
        return whole;
    instance_log(model->instance, STATUS_DISCARD, NULL,
                 "A communication step of %.17g s is not a multiple of the engine's step of %.17g s, or is one of more "
                 "than %g steps; choose a multiple, or export the FMU with another --dt.",
                 h, dt, MOST_STEPS);
    return 0.0;
}

static bool commands_changed(const Model *model)
{
    const size_t size = (size_t)model->file.header->n_commands * sizeof(double);
    return memcmp(model->command, model->now + model->shape.command, size) != 0;
}

/* Has the engine's state numbers that only a snapshot holds, and that a step must not lose which is taken back? */
static bool needs_snapshot(const Model *model)
{
    const PlantFileHeader *h = model->file.header;
    return model->instance->version == 3 && h->n_state > 2 + h->n_q + h->n_v + h->n_commands;
}

/* Internal steps for the next request: all that are left, unless they take long. */
static uint64_t portion_of(const Model *model, uint64_t left)
{
    const double asked = model->pace > 0.0 ? PORTION_S / model->pace : FIRST_PORTION;
    const uint64_t most = asked < (double)model->steps_max ? (uint64_t)asked : model->steps_max;
    const uint64_t some = most > 0 ? most : 1;
    return left < some ? left : some;
}

/* Asks for steps in one request; the commands go along where they have changed. */
static Status step(Model *model, uint64_t count)
{
    Packer *body = link_begin(model->link, "step");
    pack_array(body, 3);
    pack_unsigned(body, count);
    pack_nil(body);
    if (commands_changed(model))
        pack_binary(body, model->command, (size_t)model->file.header->n_commands * sizeof(double));
    else
        pack_nil(body);
    Reply reply;
    const uint64_t expected = model->steps + count;
    const double began = platform_seconds();
    const Status status = link_finish(model->link, &reply);
    if (status != STATUS_OK)
        return status;
    model->pace = (platform_seconds() - began) / (double)count;
    if (take_state(model, &reply) != STATUS_OK)
        return STATUS_ERROR;
    if (model->steps == expected)
        return STATUS_OK;
    instance_log(model->instance, STATUS_ERROR, NULL,
                 "engine at %s: it stands at step %llu instead of %llu: another "
                 "client has moved it; give every FMU an engine of its own.",
                 link_endpoint(model->link), (unsigned long long)model->steps, (unsigned long long)expected);
    link_break(model->link);
    return STATUS_ERROR;
}

static double reached_time(const Model *model, double time)
{
    return time + (double)(model->steps - model->steps_before) * model->file.header->dt;
}

/* To step number `end`, in requests between which the step may be ended. */
static Status advance(Model *model, double time, uint64_t end)
{
    Status status = STATUS_OK;
    for (bool on = true; on && model->steps < end;) {
        status = step(model, portion_of(model, end - model->steps));
        if (status == STATUS_DISCARD) /* it diverged on the way */
            return ask_state(model, "state") == STATUS_OK ? STATUS_DISCARD : STATUS_ERROR;
        on = status == STATUS_OK &&
             (model->steps == end || instance_goes_on(model->instance, reached_time(model, time), &status));
    }
    return status;
}

Status model_step(Model *model, double time, double h, double *reached)
{
    *reached = time;
    if (!coupled_alive(model))
        return STATUS_ERROR;
    memcpy(model->before, model->now, model->shape.count * sizeof(double));
    model->steps_before = model->steps;
    const double count = divide(model, time, h);
    if (count == 0.0)
        return STATUS_DISCARD;
    if (needs_snapshot(model) && coupled_snapshot(model) != STATUS_OK)
        return STATUS_ERROR;
    const uint64_t end = model->steps_before + (uint64_t)count;
    const Status status = advance(model, time, end);
    *reached = model->steps == end ? time + h : reached_time(model, time);
    return status;
}

Status model_undo_step(Model *model)
{
    const size_t size = model->shape.count * sizeof(double);
    if (!needs_snapshot(model) && model->steps == model->steps_before && memcmp(model->now, model->before, size) == 0)
        return STATUS_OK;
    patch(model, model->steps_before, model->before, model->before + model->shape.command);
    return coupled_restore(model);
}

void model_terminate(Model *model)
{
    coupled_disconnect(model);
}
