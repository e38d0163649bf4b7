/* Reading plant files: the whole file is checked before any of it is used. */
#include "plant_file.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checksum.h"
#include "files.h"

#define MOST_BYTES (1u << 30)   /* of a file; a model of ten thousand bodies needs a few megabytes */
#define MOST_NUMBERS (1u << 30) /* of a vector of which the file contains only the length */
#define MOST_SUBSTEPS 1000u     /* engine/api/stepping.py */

_Static_assert(sizeof(PlantFileHeader) == 272, "the header's layout is the file's");
_Static_assert(sizeof(Variable) == 64, "a variable's layout is the file's");

/* The head of a compiled model (engine/model/archive.py), which the plant file follows. */
typedef struct {
    char magic[8];
    uint32_t version, plant_bytes;
    uint64_t bytes; /* of all that follows */
    unsigned char digest[32];
} ModelHead;
_Static_assert(sizeof(ModelHead) == 56, "the head's layout is the file's");
#define MODEL_MAGIC "LJMODEL"

/* The file being read: its name in messages, and their advice. */
typedef struct {
    const char *path, *name;
    const Advice *advice;
    const Message *message;
} Reading;

__attribute__((format(printf, 2, 3))) static int refuse(const Reading *reading, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    message_write_list(reading->message, format, arguments);
    va_end(arguments);
    return 0;
}

const char *plant_file_name(const char *path)
{
    const char *name = path;
    for (; *path; path++)
        if (*path == '/' || *path == '\\')
            name = path + 1;
    return name;
}

/* Reads the whole file into memory, which the caller frees; NULL on failure. */
static char *read_file(const Reading *reading, size_t *size)
{
    FILE *stream = file_open(reading->path);
    if (!stream) {
        refuse(reading, "cannot open '%s': the model's data are missing there or not readable; %s.", reading->path,
               reading->advice->missing);
        return NULL;
    }
    char *bytes = NULL;
    long length = fseek(stream, 0, SEEK_END) == 0 ? ftell(stream) : -1;
    if (length < (long)sizeof(ModelHead) || length > (long)MOST_BYTES || fseek(stream, 0, SEEK_SET) != 0) {
        refuse(reading, "'%s' has %ld bytes and cannot be a model's data; %s.", reading->path, length,
               reading->advice->remedy);
    } else if (!(bytes = malloc((size_t)length))) {
        refuse(reading, "no memory for the %ld bytes of '%s'; close other programs.", length, reading->path);
    } else if (fread(bytes, 1, (size_t)length, stream) != (size_t)length) {
        refuse(reading, "'%s' cannot be read to its end; %s.", reading->path, reading->advice->remedy);
        free(bytes);
        bytes = NULL;
    }
    fclose(stream);
    *size = (size_t)length;
    return bytes;
}

/* The plant file, of *size bytes, in what was read: all of it, or a part of a compiled model; NULL if there is
 * none. */
static char *find_plant(const Reading *reading, char *bytes, size_t *size)
{
    const ModelHead *head = (const ModelHead *)(const void *)bytes;
    if (memcmp(head->magic, MODEL_MAGIC, sizeof MODEL_MAGIC) == 0) {
        if (head->plant_bytes == 0 || head->bytes != *size - sizeof *head || head->plant_bytes > head->bytes) {
            refuse(reading, "'%s' is a model that %s; %s.", reading->path,
                   head->plant_bytes == 0 ? "is not compiled" : "was cut or damaged", reading->advice->remedy);
            return NULL;
        }
        *size = head->plant_bytes;
        bytes += sizeof *head;
    }
    if (*size >= sizeof(PlantFileHeader))
        return bytes;
    refuse(reading, "'%s' is too short for a model's data; %s.", reading->path, reading->advice->remedy);
    return NULL;
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
static int check_identity(const PlantFileHeader *header, size_t size, const Reading *reading)
{
    if (memcmp(header->magic, PLANT_FILE_MAGIC, sizeof PLANT_FILE_MAGIC) != 0)
        return refuse(reading, "'%s' does not start like a model's data; %s.", reading->path, reading->advice->remedy);
    if (header->version != PLANT_FILE_VERSION || header->header_bytes != sizeof(PlantFileHeader))
        return refuse(reading, "'%s' has format %u, this binary reads format %d: they do not belong together; %s.",
                      reading->path, (unsigned)header->version, PLANT_FILE_VERSION, reading->advice->remedy);
    if (header->file_bytes != size)
        return refuse(reading, "'%s' has %llu bytes instead of %llu: it was cut or extended; %s.", reading->path,
                      (unsigned long long)size, (unsigned long long)header->file_bytes, reading->advice->remedy);
    if (header->crc32 != file_checksum((const char *)header, size))
        return refuse(reading, "'%s' is damaged: its checksum does not match its content; %s.", reading->path,
                      reading->advice->remedy);
    return 1;
}

/* Does a section of `count` items begin where the one before ends, and lie in the file? Sets *end to the section's end.
 */
static int check_section(const PlantFileHeader *header, uint64_t at, uint64_t count, size_t item, const char *name,
                         uint64_t *end, const Reading *reading)
{
    if (at != *end || at > header->file_bytes || count > (header->file_bytes - at) / item)
        return refuse(reading, "%s: its section '%s' is not inside it; %s.", reading->name, name,
                      reading->advice->remedy);
    *end = at + (count * item + 7) / 8 * 8;
    return 1;
}

static int check_sections(const PlantFileHeader *h, const Reading *reading)
{
    if (h->n_q > MOST_NUMBERS || h->n_v > MOST_NUMBERS || h->n_commands > MOST_NUMBERS || h->n_loops > MOST_NUMBERS)
        return refuse(reading, "%s: the lengths of its state are impossible; %s.", reading->name,
                      reading->advice->remedy);
    const uint64_t motion = 2 + h->n_q + h->n_v + h->n_commands;
    if (h->n_state < motion || h->n_state > MOST_NUMBERS) /* switches, instruments and drives follow the motion */
        return refuse(reading, "%s: the lengths of its state do not fit each other; %s.", reading->name,
                      reading->advice->remedy);
    if (h->n_work > MOST_NUMBERS || h->n_observed > MOST_NUMBERS || h->n_surveyed > MOST_NUMBERS ||
        h->n_switches > MOST_NUMBERS)
        return refuse(reading, "%s: the lengths of its vectors are impossible; %s.", reading->name,
                      reading->advice->remedy);
    if (h->n_variables > UINT32_MAX || h->texts_bytes > UINT32_MAX)
        return refuse(reading, "%s: it has too many variables or texts; %s.", reading->name, reading->advice->remedy);
    uint64_t end = sizeof *h;
    return check_section(h, h->at_ints, h->n_ints, sizeof(int64_t), "ints", &end, reading) &&
           check_section(h, h->at_floats, h->n_floats, sizeof(double), "floats", &end, reading) &&
           check_section(h, h->at_state, h->n_state, sizeof(double), "state", &end, reading) &&
           check_section(h, h->at_variables, h->n_variables, sizeof(Variable), "variables", &end, reading) &&
           check_section(h, h->at_labels, h->n_q + h->n_v + h->n_loops, sizeof(uint32_t), "labels", &end, reading) &&
           check_section(h, h->at_texts, h->texts_bytes, 1, "texts", &end, reading);
}

static int check_settings(const PlantFileHeader *h, const Reading *reading)
{
    if (!(h->dt > 0.0) || !isfinite(h->dt) || h->integrator > 2 || h->substeps < 1 || h->substeps > MOST_SUBSTEPS)
        return refuse(reading, "%s: step, integrator or substeps are impossible; %s.", reading->name,
                      reading->advice->remedy);
    if (h->coupling > COUPLING_PROCESS)
        return refuse(reading, "%s: coupling %u is unknown; %s.", reading->name, (unsigned)h->coupling,
                      reading->advice->remedy);
    if (!memchr(h->token, 0, sizeof h->token))
        return refuse(reading, "%s: its token is not terminated; %s.", reading->name, reading->advice->remedy);
    return 1;
}

/* Length of the vector to which a region's offsets refer. */
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
    case REGION_STATE: return h->n_state;
    default: return 0;
    }
}

/* Has a state a size that solvers can scale by? */
static int is_scaled(const Variable *variable)
{
    const int state = (variable->region == REGION_Q || variable->region == REGION_V) && variable->flags & FLAG_START;
    return !state || (variable->nominal > 0.0 && isfinite(variable->nominal));
}

/* Does the type fit the place and size? */
static int is_typed(const Variable *variable)
{
    if (variable->type == TYPE_BOOLEAN)
        return variable->count == 1 && (variable->region == REGION_COMMAND || variable->region == REGION_OBSERVED);
    return variable->type == TYPE_FLOAT64 || (variable->type == TYPE_TEXT && variable->count == 1);
}

static int check_variables(const PlantFile *file, const Reading *reading)
{
    const PlantFileHeader *h = file->header;
    uint64_t indicators = 0;
    for (uint64_t i = 0; i < h->n_variables; i++) {
        const Variable *variable = &file->variables[i];
        uint64_t length = region_length(h, variable->region);
        indicators += variable->region == REGION_SWITCH ? variable->count : 0;
        if (variable->count < 1 || variable->count > length || variable->offset > length - variable->count)
            return refuse(reading, "%s: the place of variable %llu lies outside the model; %s.", reading->name,
                          (unsigned long long)i, reading->advice->remedy);
        if (!is_typed(variable) || variable->causality > CAUSALITY_LOCAL || !(variable->min <= variable->max) ||
            variable->name >= h->texts_bytes || variable->start_text >= h->texts_bytes ||
            variable->unit >= h->texts_bytes || !is_scaled(variable) || indicators > h->n_switches)
            return refuse(reading, "%s: variable %llu makes no sense; %s.", reading->name, (unsigned long long)i,
                          reading->advice->remedy);
    }
    return 1;
}

static int check_texts(const PlantFile *file, const Reading *reading)
{
    const PlantFileHeader *h = file->header;
    if (h->texts_bytes < 1 || file->texts[h->texts_bytes - 1] != 0)
        return refuse(reading, "%s: its texts are not terminated; %s.", reading->name, reading->advice->remedy);
    for (uint64_t i = 0; i < h->n_q + h->n_v + h->n_loops; i++)
        if (file->labels[i] >= h->texts_bytes)
            return refuse(reading, "%s: label %llu lies outside its texts; %s.", reading->name, (unsigned long long)i,
                          reading->advice->remedy);
    return 1;
}

static void point(PlantFile *file, const char *plant)
{
    const PlantFileHeader *header = (const PlantFileHeader *)(const void *)plant;
    file->header = header;
    file->ints = (const int64_t *)(const void *)(plant + header->at_ints);
    file->floats = (const double *)(const void *)(plant + header->at_floats);
    file->state = (const double *)(const void *)(plant + header->at_state);
    file->variables = (const Variable *)(const void *)(plant + header->at_variables);
    file->labels = (const uint32_t *)(const void *)(plant + header->at_labels);
    file->texts = plant + header->at_texts;
}

int plant_file_open(const char *path, const Advice *advice, PlantFile *file, const Message *message)
{
    const Reading reading = {path, plant_file_name(path), advice, message};
    size_t size = 0;
    memset(file, 0, sizeof *file);
    file->bytes = read_file(&reading, &size);
    const char *plant = file->bytes ? find_plant(&reading, file->bytes, &size) : NULL;
    const PlantFileHeader *header = (const PlantFileHeader *)(const void *)plant;
    int good = plant && check_identity(header, size, &reading) && check_sections(header, &reading) &&
               check_settings(header, &reading);
    if (good) {
        point(file, plant);
        good = check_texts(file, &reading) && check_variables(file, &reading);
    }
    if (!good)
        plant_file_close(file);
    return good;
}

void plant_file_close(PlantFile *file)
{
    free(file->bytes);
    memset(file, 0, sizeof *file);
}
