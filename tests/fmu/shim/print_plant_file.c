/* Prints what the shim's own reader finds in a plant.bin, a line a thing; texts last on their lines. */
#include <stdio.h>

#include "plant_file.h"

static void print_header(const PlantFileHeader *h)
{
    printf("coupling %u\nhash %.32s\ntoken %s\ndt %.17g\n", (unsigned)h->coupling, h->model_hash, h->token, h->dt);
    printf("integrator %u\nsubsteps %u\n", (unsigned)h->integrator, (unsigned)h->substeps);
    const uint64_t counts[] = {h->n_ints,     h->n_floats,   h->n_work, h->n_state, h->n_observed,
                               h->n_surveyed, h->n_switches, h->n_q,    h->n_v,     h->n_commands};
    printf("counts");
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        printf(" %llu", (unsigned long long)counts[i]);
    printf("\n");
}

static void print_vectors(const PlantFile *file)
{
    for (uint64_t i = 0; i < file->header->n_ints; i++)
        printf("int %lld\n", (long long)file->ints[i]);
    for (uint64_t i = 0; i < file->header->n_floats; i++)
        printf("float %.17g\n", file->floats[i]);
    for (uint64_t i = 0; i < file->header->n_state; i++)
        printf("state %.17g\n", file->state[i]);
}

int main(int count, char **arguments)
{
    PlantFile file;
    char text[1000], path[1000];
    const Advice advice = {"write it again", "give another path"};
    snprintf(path, sizeof path, "%s/%s", count == 2 ? arguments[1] : "", PLANT_FILE_NAME);
    if (!plant_file_open(path, &advice, &file, &(Message){text, sizeof text})) {
        printf("refused\n");
        return 1;
    }
    print_header(file.header);
    print_vectors(&file);
    for (uint64_t i = 0; i < file.header->n_variables; i++) {
        const Variable *v = &file.variables[i];
        printf("variable %u %u %llu %u %u %u %.17g %.17g %.17g %s|%s\n", (unsigned)v->region, (unsigned)v->count,
               (unsigned long long)v->offset, (unsigned)v->type, (unsigned)v->causality, (unsigned)v->flags, v->min,
               v->max, v->start, file.texts + v->name, file.texts + v->start_text);
    }
    for (uint64_t i = 0; i < file.header->n_q + file.header->n_v; i++)
        printf("label %s\n", file.texts + file.labels[i]);
    plant_file_close(&file);
    return 0;
}
