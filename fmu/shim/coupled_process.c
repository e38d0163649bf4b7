/* The command of `engine.command`, with arguments for this model, listens on an address that nobody else knows: a
 * local socket in a private folder, or where there are none a free port of the loopback interface. */
#include "coupled_process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coupled_platform.h"
#include "files.h"
#include "instance.h"

#define LISTENS "answers at " /* what `limberjack run` says, and its address, when it is ready */

enum { FOLDER_BYTES = 512, LAST_WORDS = 400, SAID_BYTES = 16384 };

static const double look_s = 0.01, patience_s = 3.0;
static const char *const integrators[] = {"rk4", "semi_implicit", "implicit"}; /* engine/tables/reports.py */

struct Engine {
    Child child;
    char folder[FOLDER_BYTES], log[FOLDER_BYTES + 16], endpoint[FOLDER_BYTES + 16];
};

/* The end of what the engine has written so far. */
static void read_said(const Engine *engine, char *said, size_t size)
{
    said[0] = 0;
    FILE *file = file_open(engine->log);
    if (!file)
        return;
    long length = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : 0;
    length = length > 0 ? length : 0;
    if (fseek(file, length < (long)size ? 0 : length - (long)size + 1, SEEK_SET) == 0)
        said[fread(said, 1, size - 1, file)] = 0;
    fclose(file);
}

/* The last words in one line. */
static void last_words(const Engine *engine, char *words, size_t size)
{
    char said[SAID_BYTES];
    read_said(engine, said, sizeof said);
    size_t length = strlen(said);
    while (length > 0 && (unsigned char)said[length - 1] <= ' ')
        said[--length] = 0;
    const char *start = length > LAST_WORDS ? said + length - LAST_WORDS : said;
    while ((*start & 0xc0) == 0x80) /* not in the middle of a character */
        start++;
    snprintf(words, size, "%s", length ? start : "nothing");
    for (char *at = words; *at; at++)
        if ((unsigned char)*at < ' ')
            *at = ' ';
}

/* The address in the engine's announcement, once it is complete. */
static bool listens(Engine *engine)
{
    char said[SAID_BYTES];
    read_said(engine, said, sizeof said);
    const char *line = strstr(said, LISTENS);
    if (!line || !strchr(line, '\n'))
        return false;
    line += sizeof LISTENS - 1;
    const size_t length = strcspn(line, ", \n");
    if (length == 0 || length >= sizeof engine->endpoint)
        return false;
    memcpy(engine->endpoint, line, length);
    engine->endpoint[length] = 0;
    return true;
}

bool engine_ended(Engine *engine, char *why, size_t size)
{
    int code = 0;
    if (!child_ended(&engine->child, &code))
        return false;
    char words[LAST_WORDS + 8];
    last_words(engine, words, sizeof words);
    snprintf(why, size, "the engine process ended (%s %d); its last output: %s", code < 0 ? "signal" : "exit code",
             code < 0 ? -code : code, words);
    return true;
}

/* A number as the command line takes it, whatever the decimal point of the importer's locale. */
static void write_number(double number, char *text, size_t size)
{
    char *to = text;
    snprintf(text, size, "%.17g", number);
    for (const char *from = text; *from; from++) {
        if (strchr("+-0123456789e", *from))
            *to++ = *from;
        else if (to == text || to[-1] != '.') /* a decimal point may have several bytes */
            *to++ = '.';
    }
    *to = 0;
}

static bool launch(Instance *instance, Engine *engine, const EngineOptions *options)
{
    char address[FOLDER_BYTES + 16], step[32], substeps[16], why[512];
#if defined(_WIN32)
    snprintf(address, sizeof address, "tcp://127.0.0.1:*");
#else
    snprintf(address, sizeof address, "ipc://%s/e", engine->folder);
#endif
    write_number(options->header->dt, step, sizeof step);
    snprintf(substeps, sizeof substeps, "%u", (unsigned)options->header->substeps);
    const char *keys = options->keys[0] ? options->keys : NULL;
    const char *const arguments[] = {options->model,
                                     "--endpoint",
                                     address,
                                     "--dt",
                                     step,
                                     "--integrator",
                                     integrators[options->header->integrator],
                                     "--substeps",
                                     substeps,
                                     "--with-parent",
                                     "--parent-folder", /* if we are killed, the engine removes it */
                                     engine->folder,
                                     keys ? "--keys" : NULL,
                                     keys,
                                     NULL};
    if (child_start(&engine->child, options->command, arguments, engine->log, why, sizeof why))
        return true;
    instance_log(instance, STATUS_ERROR, NULL,
                 "the engine cannot be started with engine.command '%s': %s. Install limberjack on this machine and "
                 "set engine.command to its path, or set engine.endpoint to a running engine.",
                 options->command, why);
    return false;
}

/* Bytes that the engine has written so far. */
static long said_bytes(const Engine *engine)
{
    FILE *file = file_open(engine->log);
    if (!file)
        return 0;
    const long length = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : 0;
    fclose(file);
    return length;
}

static bool wait_for(Instance *instance, Engine *engine, const EngineOptions *options)
{
    char why[LAST_WORDS + 128];
    const double most = platform_seconds() + START_LIMIT_S;
    double limit = 0.0;
    for (long said = -1; !listens(engine); platform_sleep(look_s)) {
        const long before = said;
        said = said_bytes(engine);
        if (said != before)
            limit = platform_seconds() + START_SILENCE_S;
        if (engine_ended(engine, why, sizeof why)) {
            instance_log(instance, STATUS_ERROR, NULL, "engine.command '%s': %s. Run it in a terminal to see more.",
                         options->command, why);
            return false;
        }
        if (platform_seconds() > (limit < most ? limit : most)) {
            last_words(engine, why, sizeof why);
            instance_log(instance, STATUS_ERROR, NULL,
                         "engine.command '%s' does not listen and has said nothing for %g s, or not listened for %g s; "
                         "its last output: %s. Run it in a terminal to see more.",
                         options->command, START_SILENCE_S, START_LIMIT_S, why);
            return false;
        }
    }
    return true;
}

Engine *engine_start(Instance *instance, const EngineOptions *options)
{
    Engine *engine = calloc(1, sizeof *engine);
    char why[512] = "no memory; close other programs";
    if (!engine || !platform_folder(engine->folder, sizeof engine->folder, why, sizeof why)) {
        instance_log(instance, STATUS_ERROR, NULL, "the engine cannot be started: %s. Check the temporary folder.",
                     why);
        free(engine);
        return NULL;
    }
    snprintf(engine->log, sizeof engine->log, "%s/engine.log", engine->folder);
    instance_log(instance, STATUS_OK, CATEGORY_EVENTS,
                 "starting an engine with '%s'; the first start on a machine "
                 "compiles it and may take a minute or two.",
                 options->command);
    if (launch(instance, engine, options) && wait_for(instance, engine, options)) {
        instance_log(instance, STATUS_OK, CATEGORY_EVENTS, "the engine answers at %s.", engine->endpoint);
        return engine;
    }
    engine_stop(engine);
    return NULL;
}

const char *engine_endpoint(const Engine *engine)
{
    return engine->endpoint;
}

void engine_stop(Engine *engine)
{
    if (!engine)
        return;
    child_end(&engine->child, patience_s);
    static const char *const files[] = {"e",        "e.lock",        "e.state",    "e.state.lock",
                                        "e.topics", "e.topics.lock", "engine.log", "owner"};
    char path[FOLDER_BYTES + 16];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", engine->folder, files[i]);
        platform_remove(path);
    }
    platform_remove(engine->folder);
    free(engine);
}
