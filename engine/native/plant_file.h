/* A plant file: a model's data, its variables and its texts. Written by engine/native/plant_file.py;
 * resources/plant.bin of an FMU, and part of a compiled model (.ljm).
 *
 * Little-endian; every section starts at a multiple of 8 bytes. The file is read once and checked: magic, version,
 * length, checksum, and that every section, offset and text lies inside it. The indices in ints are for the entry
 * `trust`.
 */
#ifndef LIMBERJACK_PLANT_FILE_H
#define LIMBERJACK_PLANT_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "message.h"

#define PLANT_FILE_NAME "plant.bin" /* in an FMU's resources */
#define PLANT_FILE_MAGIC "LJPLANT"
#define PLANT_FILE_VERSION 2

/* Where a variable's numbers live; `offset` counts from the start of that vector. */
enum {
    REGION_TIME = 0,      /* the independent variable */
    REGION_PARAMETER = 1, /* Plant floats; `refresh` follows a change */
    REGION_Q = 2,         /* coordinates (nq) */
    REGION_V = 3,         /* velocities (nv) */
    REGION_COMMAND = 4,   /* commands (nu) */
    REGION_OBSERVED = 5,  /* kernels.h observe: tau, vdot, sensor outputs */
    REGION_SURVEYED = 6,  /* kernels.h survey: energy, momentum, nodes */
    REGION_RATE = 7,      /* dq/dt (nq) */
    REGION_SWITCH = 8,    /* kernels.h switches */
    REGION_SETTING = 9,   /* settings of the process coupling, enum below */
    REGION_STATE = 10,    /* the whole state; readable: loops, motors, valves */
};
/* offsets in REGION_SETTING: texts, except the time-out, s */
enum { SETTING_ENDPOINT = 0, SETTING_KEYS = 1, SETTING_COMMAND = 2, SETTING_TIMEOUT = 3 };

/* a Boolean is stored as a number: true if above 0.5 */
enum { TYPE_FLOAT64 = 0, TYPE_TEXT = 1, TYPE_BOOLEAN = 2 };
enum {
    CAUSALITY_INDEPENDENT = 0,
    CAUSALITY_PARAMETER = 1,
    CAUSALITY_INPUT = 2,
    CAUSALITY_OUTPUT = 3,
    CAUSALITY_LOCAL = 4
};
enum {
    FLAG_START = 1,   /* has a start value: may be set until initialisation ends */
    FLAG_TUNABLE = 2, /* may be set between steps as well */
    FLAG_FIXED = 4,   /* a parameter that may be set until initialisation ends only */
    FLAG_ENDLESS = 8, /* its min or max, where infinite, is a value too: there is no such bound */
    FLAG_WHOLE = 16,  /* takes whole numbers only */
};
/* COUPLING_PROCESS: ints is empty; floats holds the start values of the parameters that the FMU has, and their offsets
 * count in it; the start_text of a parameter is the engine's name for it ("hinge.elbow.damping"), followed by those of
 * its other elements where count > 1, each zero-terminated. */
enum { COUPLING_EMBEDDED = 0, COUPLING_PROCESS = 1 };

typedef struct { /* 272 bytes */
    char magic[8];
    uint32_t version;
    uint32_t header_bytes;
    uint64_t file_bytes;
    uint32_t crc32; /* CRC-32 (zlib) of the whole file with this field zero */
    uint32_t coupling;
    char model_hash[32]; /* hexadecimal, without a final zero */
    char token[40];      /* instantiationToken or guid, zero-terminated */
    double dt;
    uint32_t integrator, substeps;
    uint64_t n_ints, n_floats, n_work, n_state; /* lengths of vectors, in numbers */
    uint64_t n_observed, n_surveyed, n_switches;
    uint64_t n_q, n_v, n_commands, n_loops;
    uint64_t n_variables, texts_bytes;
    uint64_t at_ints, at_floats, at_state, at_variables, at_labels, at_texts; /* from the file's start, in bytes */
} PlantFileHeader;

typedef struct { /* 64 bytes; the value reference is the place in the table */
    uint32_t region, count;
    uint64_t offset;
    uint32_t type, causality, flags;
    uint32_t name, start_text; /* offsets into texts; start_text: of TYPE_TEXT, and see COUPLING_PROCESS */
    uint32_t unit;             /* offset into texts; of a compiled model */
    double min, max;           /* -inf and inf where open; elements of a count > 1 share them */
    union {
        double start;   /* of a number among the settings */
        double nominal; /* of a state (REGION_Q or REGION_V with FLAG_START) */
    };
} Variable;

typedef struct {
    const PlantFileHeader *header;
    const int64_t *ints;
    const double *floats;
    const double *state; /* the start state [t, steps, q, v, command, switches]; process coupling: the same */
    const Variable *variables;
    const uint32_t *labels; /* n_q + n_v + n_loops offsets into texts: "coordinate 'elbow' of body 'forearm'", … */
    const char *texts;      /* zero-terminated UTF-8 */
    void *bytes;            /* what was read; freed by plant_file_close */
} PlantFile;

/* Advice in messages about a file. */
typedef struct {
    const char *remedy;  /* for a file that is damaged or of another version, "export it again" */
    const char *missing; /* for a file that does not exist */
} Advice;

/* Reads and checks a plant file, or that in a compiled model; on failure returns 0 with a sentence in `message`. */
int plant_file_open(const char *path, const Advice *advice, PlantFile *file, const Message *message);
void plant_file_close(PlantFile *file);
/* The last part of a path, for messages. */
const char *plant_file_name(const char *path);

#endif
