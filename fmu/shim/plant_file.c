/* Reading resources/plant.bin: nothing of it is used before all of it was checked. */
#include "plant_file.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checksum.h"
#include "files.h"

#define MEND "unpack the FMU again, or export it again"
#define MOST_BYTES (1u << 30)   /* of a file; a model of ten thousand bodies needs a few megabytes */
#define MOST_NUMBERS (1u << 30) /* of a vector that the file only names the length of */
#define MOST_SUBSTEPS 1000u     /* engine/api/simulation.py */

_Static_assert(sizeof(PlantFileHeader) == 272, "the header's layout is the file's");
_Static_assert(sizeof(Variable) == 64, "a variable's layout is the file's");

/* Where a failure is reported. */
typedef struct {
    char *text;
    size_t size;
} Message;

__attribute__((format(printf, 2, 3))) static int refuse(const Message *message, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message->text, message->size, format, arguments);
    va_end(arguments);
    return 0;
}

/* The whole file in memory that the caller frees, or NULL. */
static void *read_file(const char *path, size_t *size, const Message *message)
{
    FILE *stream = file_open(path);
    if (!stream) {
        refuse(message,
               "cannot open '%s': the model's data are missing there or not readable; %s, and check that the "
               "importer passes the path of its resources directory.",
               path, MEND);
        return NULL;
    }
    char *bytes = NULL;
    long length = fseek(stream, 0, SEEK_END) == 0 ? ftell(stream) : -1;
    if (length < (long)sizeof(PlantFileHeader) || length > (long)MOST_BYTES || fseek(stream, 0, SEEK_SET) != 0) {
        refuse(message, "'%s' has %ld bytes and cannot be a model's data; %s.", path, length, MEND);
    } else if (!(bytes = malloc((size_t)length))) {
        refuse(message, "no memory for the %ld bytes of '%s'; close other programs.", length, path);
    } else if (fread(bytes, 1, (size_t)length, stream) != (size_t)length) {
        refuse(message, "'%s' cannot be read to its end; %s.", path, MEND);
        free(bytes);
        bytes = NULL;
    }
    fclose(stream);
    *size = (size_t)length;
    return bytes;
}

static uint32_t file_checksum(const char *bytes, size_t size)
{
    static const char none[sizeof(uint32_t)] = {0};
    const size_t at = offsetof(PlantFileHeader, crc32), after = at + sizeof none;
    uint32_t crc = checksum(0, bytes, at);
    crc = checksum(crc, none, sizeof none);
    return checksum(crc, bytes + after, size - after);
}

/* Is this the file that the exporter wrote? */
static int check_identity(const PlantFileHeader *header, size_t size, const char *path, const Message *message)
{
    if (memcmp(header->magic, PLANT_FILE_MAGIC, sizeof PLANT_FILE_MAGIC) != 0)
        return refuse(message, "'%s' does not start like a model's data; %s.", path, MEND);
    if (header->version != PLANT_FILE_VERSION || header->header_bytes != sizeof(PlantFileHeader))
        return refuse(message,
                      "'%s' has format %u, this binary reads format %d: binary and data come from different "
                      "exports; %s.",
                      path, (unsigned)header->version, PLANT_FILE_VERSION, MEND);
    if (header->file_bytes != size)
        return refuse(message, "'%s' has %llu bytes instead of %llu: it was cut or extended; %s.", path,
                      (unsigned long long)size, (unsigned long long)header->file_bytes, MEND);
    if (header->crc32 != file_checksum((const char *)header, size))
        return refuse(message, "'%s' is damaged: its checksum does not fit its content; %s.", path, MEND);
    return 1;
}

/* Does a section of `count` items begin where the one before ends, and lie in the file? Moves *end to its own end. */
static int check_section(const PlantFileHeader *header, uint64_t at, uint64_t count, size_t item, const char *name,
                         uint64_t *end, const Message *message)
{
    if (at != *end || at > header->file_bytes || count > (header->file_bytes - at) / item)
        return refuse(message, "%s: its section '%s' does not lie inside it; %s.", PLANT_FILE_NAME, name, MEND);
    *end = at + (count * item + 7) / 8 * 8;
    return 1;
}

static int check_sections(const PlantFileHeader *h, const Message *message)
{
    if (h->n_q > MOST_NUMBERS || h->n_v > MOST_NUMBERS || h->n_commands > MOST_NUMBERS || h->n_loops > MOST_NUMBERS)
        return refuse(message, "%s: the lengths of its state are impossible; %s.", PLANT_FILE_NAME, MEND);
    const uint64_t motion = 2 + h->n_q + h->n_v + h->n_commands;
    if (h->n_state < motion || h->n_state > MOST_NUMBERS) /* switches, instruments and drives follow the motion */
        return refuse(message, "%s: the lengths of its state do not fit each other; %s.", PLANT_FILE_NAME, MEND);
    if (h->n_work > MOST_NUMBERS || h->n_observed > MOST_NUMBERS || h->n_surveyed > MOST_NUMBERS ||
        h->n_switches > MOST_NUMBERS)
        return refuse(message, "%s: the lengths of its vectors are impossible; %s.", PLANT_FILE_NAME, MEND);
    if (h->n_variables > UINT32_MAX || h->texts_bytes > UINT32_MAX)
        return refuse(message, "%s: it has too many variables or texts; %s.", PLANT_FILE_NAME, MEND);
    uint64_t end = sizeof *h;
    return check_section(h, h->at_ints, h->n_ints, sizeof(int64_t), "ints", &end, message) &&
           check_section(h, h->at_floats, h->n_floats, sizeof(double), "floats", &end, message) &&
           check_section(h, h->at_state, h->n_state, sizeof(double), "state", &end, message) &&
           check_section(h, h->at_variables, h->n_variables, sizeof(Variable), "variables", &end, message) &&
           check_section(h, h->at_labels, h->n_q + h->n_v + h->n_loops, sizeof(uint32_t), "labels", &end, message) &&
           check_section(h, h->at_texts, h->texts_bytes, 1, "texts", &end, message);
}

static int check_settings(const PlantFileHeader *h, const Message *message)
{
    if (!(h->dt > 0.0) || !isfinite(h->dt) || h->integrator > 2 || h->substeps < 1 || h->substeps > MOST_SUBSTEPS)
        return refuse(message, "%s: step, integrator or substeps are impossible; %s.", PLANT_FILE_NAME, MEND);
    if (h->coupling > COUPLING_PROCESS)
        return refuse(message, "%s: coupling %u is unknown; %s.", PLANT_FILE_NAME, (unsigned)h->coupling, MEND);
    if (!memchr(h->token, 0, sizeof h->token))
        return refuse(message, "%s: its token has no end; %s.", PLANT_FILE_NAME, MEND);
    return 1;
}

/* Length of the vector that a region's offsets count in. */
static uint64_t region_length(const PlantFileHeader *h, uint32_t region)
{
    switch (region) {
    case REGION_TIME: return 1;
    case REGION_PARAMETER: return h->n_floats;
    case REGION_Q: return h->n_q;
    case REGION_V: return h->n_v;
    case REGION_COMMAND: return h->n_commands;
    case REGION_OBSERVED: return h->n_observed;
    case REGION_SURVEYED: return h->n_surveyed;
    case REGION_RATE: return h->n_q;
    case REGION_SWITCH: return h->n_switches;
    case REGION_SETTING: return SETTING_TIMEOUT + 1;
    default: return 0;
    }
}

/* Has a state a size that solvers can scale by? */
static int is_scaled(const Variable *variable)
{
    const int state = (variable->region == REGION_Q || variable->region == REGION_V) && variable->flags & FLAG_START;
    return !state || (variable->nominal > 0.0 && isfinite(variable->nominal));
}

/* Has it a type that its place and size go with? */
static int is_typed(const Variable *variable)
{
    if (variable->type == TYPE_BOOLEAN)
        return variable->count == 1 && (variable->region == REGION_COMMAND || variable->region == REGION_OBSERVED);
    return variable->type == TYPE_FLOAT64 || (variable->type == TYPE_TEXT && variable->count == 1);
}

static int check_variables(const PlantFile *file, const Message *message)
{
    const PlantFileHeader *h = file->header;
    uint64_t indicators = 0;
    for (uint64_t i = 0; i < h->n_variables; i++) {
        const Variable *variable = &file->variables[i];
        uint64_t length = region_length(h, variable->region);
        indicators += variable->region == REGION_SWITCH ? variable->count : 0;
        if (variable->count < 1 || variable->count > length || variable->offset > length - variable->count)
            return refuse(message, "%s: the place of variable %llu lies outside the model; %s.", PLANT_FILE_NAME,
                          (unsigned long long)i, MEND);
        if (!is_typed(variable) || variable->causality > CAUSALITY_LOCAL || !(variable->min <= variable->max) ||
            variable->name >= h->texts_bytes || variable->start_text >= h->texts_bytes || !is_scaled(variable) ||
            indicators > h->n_switches)
            return refuse(message, "%s: variable %llu makes no sense; %s.", PLANT_FILE_NAME, (unsigned long long)i,
                          MEND);
    }
    return 1;
}

static int check_texts(const PlantFile *file, const Message *message)
{
    const PlantFileHeader *h = file->header;
    if (h->texts_bytes < 1 || file->texts[h->texts_bytes - 1] != 0)
        return refuse(message, "%s: its texts have no end; %s.", PLANT_FILE_NAME, MEND);
    for (uint64_t i = 0; i < h->n_q + h->n_v + h->n_loops; i++)
        if (file->labels[i] >= h->texts_bytes)
            return refuse(message, "%s: label %llu lies outside its texts; %s.", PLANT_FILE_NAME, (unsigned long long)i,
                          MEND);
    return 1;
}

static void point(PlantFile *file, char *bytes)
{
    const PlantFileHeader *header = (const PlantFileHeader *)(const void *)bytes;
    file->header = header;
    file->ints = (const int64_t *)(const void *)(bytes + header->at_ints);
    file->floats = (const double *)(const void *)(bytes + header->at_floats);
    file->state = (const double *)(const void *)(bytes + header->at_state);
    file->variables = (const Variable *)(const void *)(bytes + header->at_variables);
    file->labels = (const uint32_t *)(const void *)(bytes + header->at_labels);
    file->texts = bytes + header->at_texts;
    file->bytes = bytes;
}

int plant_file_open(const char *resources, PlantFile *file, char *text, size_t text_size)
{
    const Message message = {text, text_size};
    const size_t room = strlen(resources) + sizeof "/" PLANT_FILE_NAME;
    char *path = malloc(room);
    if (!path)
        return refuse(&message, "no memory for the path of %s; close other programs.", PLANT_FILE_NAME);
    snprintf(path, room, "%s/%s", resources, PLANT_FILE_NAME);
    size_t size = 0;
    char *bytes = read_file(path, &size, &message);
    int good = bytes && check_identity((const PlantFileHeader *)(const void *)bytes, size, path, &message) &&
               check_sections((const PlantFileHeader *)(const void *)bytes, &message) &&
               check_settings((const PlantFileHeader *)(const void *)bytes, &message);
    free(path);
    if (good) {
        point(file, bytes);
        good = check_texts(file, &message) && check_variables(file, &message);
    }
    if (!good) {
        free(bytes);
        memset(file, 0, sizeof *file);
    }
    return good;
}

void plant_file_close(PlantFile *file)
{
    free(file->bytes);
    memset(file, 0, sizeof *file);
}
