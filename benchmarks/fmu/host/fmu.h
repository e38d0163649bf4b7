/* An unpacked FMU as the host knows it: what Python wrote of its description, and the loaded binary. */
#ifndef HOST_FMU_H
#define HOST_FMU_H

#include "fmi.h"

enum { NAME_SIZE = 256, PATH_SIZE = 2048, MOST_CATEGORIES = 16 };
typedef enum { CO_SIMULATION, MODEL_EXCHANGE } Kind;

typedef struct {
    Reference reference;
    size_t count;        /* numbers it has */
    bool real, started;  /* Float64 or Real; and with a start value */
    bool tunable, fixed; /* of a parameter */
    char causality[24];
    double minimum, maximum;
    char name[NAME_SIZE];
} Variable;

/* A start value that the host sets before initialisation. */
typedef struct {
    Reference reference;
    bool real;
    double value;
    char text[PATH_SIZE];
} Start;

/* References of one group of variables and how many numbers they have together. */
typedef struct {
    Reference *references;
    size_t count, numbers;
} Group;

typedef struct {
    int version;
    char library[PATH_SIZE], resources[PATH_SIZE], token[NAME_SIZE];
    bool kinds[2], states, serializes, directional, adjoint, any_step;
    double step;
    size_t n_continuous, n_indicators, n_variables, n_categories;
    char categories[MOST_CATEGORIES][64];
    Variable *variables;
    Group inputs, outputs, parameters; /* parameters: tunable ones */
    Group cycle_set, cycle_get;        /* of mode `time` */
    Start *starts;
    size_t n_starts;
} Description;

typedef struct {
    const Description *description;
    void *library;
    Fmi2 two;
    Fmi3 three;
} Fmu;

/* Reads the text file; ends the program with a message when it cannot. */
void description_read(const char *path, Description *description);
void description_free(Description *description);
const Variable *description_first(const Description *description, const char *causality);
/* Largest value reference of the FMU. */
Reference description_last_reference(const Description *description);

/* Loads the binary and the functions that its standard names; with `all`, ends the program when one is missing. */
void fmu_load(Fmu *fmu, const Description *description, bool all);
void fmu_unload(Fmu *fmu);

/* Prints and ends the program with exit code 2: the host's own trouble, not the FMU's. */
void give_up(const char *format, ...);
void *allocate(size_t count, size_t size);

#endif
