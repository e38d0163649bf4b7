/* Time of the cycle set inputs, doStep, get outputs, and of what is not the engine's step in it. */
#include "clock.h"
#include "instance.h"
#include "options.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_CYCLES = 2000000, MOST_BLOCKS = 100000 };

static int ascending(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

/* Linear interpolation between sorted samples. */
static double quantile(const double *sorted, size_t n, double share)
{
    double place = share * (double)(n - 1);
    size_t below = (size_t)place;
    size_t above = below + 1 < n ? below + 1 : below;
    return sorted[below] + (place - (double)below) * (sorted[above] - sorted[below]);
}

static void print_spread(const char *name, double *us, size_t n)
{
    qsort(us, n, sizeof *us, ascending);
    printf("\"%s\": {\"least\": %.4f, \"q1\": %.4f, \"p50\": %.4f, \"q3\": %.4f, \"p99\": %.4f, \"most\": %.4f}", name,
           us[0], quantile(us, n, 0.25), quantile(us, n, 0.5), quantile(us, n, 0.75), quantile(us, n, 0.99), us[n - 1]);
}

typedef struct {
    Instance *instance;
    const Group *set, *get;
    double *inputs, *outputs;
    double h;
    size_t count; /* cycles since the last restart */
} Cycle;

static Status cycle(Cycle *loop)
{
    double reached;
    Status status = instance_set_group(loop->instance, loop->set, loop->inputs);
    if (status <= FMI_WARNING)
        status = instance_step(loop->instance, (double)loop->count * loop->h, loop->h, &reached);
    if (status <= FMI_WARNING)
        status = instance_get_group(loop->instance, loop->get, loop->outputs);
    loop->count++;
    return status;
}

static Status restart(Cycle *loop)
{
    loop->count = 0;
    Status status = instance_terminate(loop->instance);
    if (status <= FMI_WARNING)
        status = instance_reset(loop->instance);
    return status > FMI_WARNING ? status : instance_initialise(loop->instance);
}

static void print_clock(void)
{
    enum { READS = 1001 };
    static double us[READS];
    for (int i = 0; i < READS; i++) {
        double begin = seconds_now();
        us[i] = 1e6 * (seconds_now() - begin);
    }
    print_spread("clock", us, READS);
}

/* Room for the times of a measurement. */
typedef struct {
    size_t cycles, warm, every, pairs;
    double *each;
} Plan;

/* One time a cycle, in microseconds. */
static Status measure(Cycle *loop, const Plan *plan)
{
    Status status = FMI_OK;
    for (size_t i = 0; status <= FMI_WARNING && i < plan->cycles; i++) {
        if (plan->every > 0 && loop->count >= plan->every)
            status = restart(loop);
        for (size_t j = 0; j < loop->set->numbers; j++)
            loop->inputs[j] = 1e-3 * (double)((i + j) % 7);
        double begin = seconds_now();
        if (status <= FMI_WARNING)
            status = cycle(loop);
        plan->each[i] = 1e6 * (seconds_now() - begin);
    }
    return status;
}

static Plan plan_by_options(int n_options, char **options)
{
    Plan plan = {0};
    plan.cycles = (size_t)option_number(n_options, options, "--cycles", 20000.0);
    plan.warm = (size_t)option_number(n_options, options, "--warm", 1000.0);
    plan.every = (size_t)option_number(n_options, options, "--every", 0.0);
    plan.pairs = (size_t)option_number(n_options, options, "--pairs", 0.0);
    if (plan.cycles < 1 || plan.cycles > MOST_CYCLES)
        give_up("--cycles %zu is not in 1 to %d", plan.cycles, MOST_CYCLES);
    if (plan.pairs > MOST_BLOCKS || (plan.pairs > 0 && plan.every < 1))
        give_up("--pairs %zu is more than %d, or there is no --every", plan.pairs, MOST_BLOCKS);
    plan.each = allocate(plan.cycles, sizeof(double));
    return plan;
}

/* The inputs of a block, held while it lasts. */
static void set_inputs(Cycle *loop, size_t block)
{
    for (size_t j = 0; j < loop->set->numbers; j++)
        loop->inputs[j] = 1e-3 * (double)((block + j) % 7);
}

/* Microseconds of processor time a step, of `every` cycles from the start. */
static Status time_calls(Cycle *loop, size_t every, double *us)
{
    Status status = restart(loop);
    const double begin = processor_seconds();
    while (status <= FMI_WARNING && loop->count < every)
        status = cycle(loop);
    *us = 1e6 * (processor_seconds() - begin) / (double)every;
    return status;
}

/* The same motion in one doStep: the same steps of the engine under the same inputs, without the calls. Ends where the
 * outputs are not those that the cycles gave, to the last bit. */
static Status time_engine(Cycle *loop, size_t every, double *us, double *outputs)
{
    double reached;
    Status status = restart(loop);
    if (status <= FMI_WARNING)
        status = instance_set_group(loop->instance, loop->set, loop->inputs);
    const double begin = processor_seconds();
    if (status <= FMI_WARNING)
        status = instance_step(loop->instance, 0.0, (double)every * loop->h, &reached);
    *us = 1e6 * (processor_seconds() - begin) / (double)every;
    if (status <= FMI_WARNING)
        status = instance_get_group(loop->instance, loop->get, outputs);
    return status;
}

/* One pair, in the order that `engine_first` says, so that what comes first has no advantage in the mean. */
static Status time_pair(Cycle *loop, size_t every, bool engine_first, double *calls, double *engine, double *outputs)
{
    Status status = FMI_OK;
    for (int part = 0; part < 2 && status <= FMI_WARNING; part++)
        status =
            (part == 0) == engine_first ? time_engine(loop, every, engine, outputs) : time_calls(loop, every, calls);
    for (size_t j = 0; j < loop->get->numbers && status <= FMI_WARNING; j++)
        if (outputs[j] != loop->outputs[j])
            give_up("the cycles and the one step end in different states: %.17g, %.17g", loop->outputs[j], outputs[j]);
    return status;
}

/* Pairs of blocks: cycles, and the engine's steps in them alone. Differences within a pair, since both halves meet the
 * same pace of the machine. */
static Status time_pairs(Cycle *loop, size_t blocks, size_t every)
{
    double *over = allocate(2 * blocks, sizeof(double)), *engine = over + blocks, calls = 0.0;
    double *outputs = allocate(loop->get->numbers, sizeof(double));
    Status status = FMI_OK;
    for (size_t i = 0; i <= blocks && status <= FMI_WARNING; i++) { /* the first one warms up */
        const size_t at = i > 0 ? i - 1 : 0;
        set_inputs(loop, i);
        status = time_pair(loop, every, i % 2 == 0, &calls, &engine[at], outputs);
        over[at] = calls - engine[at];
    }
    if (status <= FMI_WARNING) {
        printf("{\"pairs\": %zu, ", blocks);
        print_spread("engine", engine, blocks);
        printf(", ");
        print_spread("over", over, blocks);
        printf("}\n");
    }
    free(over);
    free(outputs);
    return status;
}

static void print_times(const Plan *plan, const Cycle *loop)
{
    printf("{\"cycles\": %zu, \"set\": %zu, \"get\": %zu, ", plan->cycles, loop->set->numbers, loop->get->numbers);
    print_spread("cycle", plan->each, plan->cycles);
    printf(", ");
    print_clock();
    printf("}\n");
}

static Status time_cycles(Instance *instance, const Plan *plan, double h)
{
    const Description *description = instance->fmu->description;
    Cycle loop = {instance, &description->cycle_set, &description->cycle_get, NULL, NULL, h, 0};
    loop.inputs = allocate(loop.set->numbers, sizeof(double));
    loop.outputs = allocate(loop.get->numbers, sizeof(double));
    Status status = instance_initialise(instance);
    if (plan->pairs > 0) {
        status = status <= FMI_WARNING ? time_pairs(&loop, plan->pairs, plan->every) : status;
    } else {
        for (size_t i = 0; status <= FMI_WARNING && i < plan->warm; i++)
            status = plan->every > 0 && loop.count >= plan->every ? restart(&loop) : cycle(&loop);
        if (status <= FMI_WARNING)
            status = measure(&loop, plan);
        if (status <= FMI_WARNING)
            print_times(plan, &loop);
    }
    free(loop.inputs);
    free(loop.outputs);
    return status;
}

/* cycle DESCRIPTION --cycles N --warm N --every N --h H --pairs N
 * Times of the cycle set, doStep, get, as JSON. --every: restart the FMU after so many
 * cycles (0: never). --pairs: instead, so many pairs of a block of `every` cycles and the engine's steps in it alone.
 * The inputs and outputs are the description's lines cycle_set and cycle_get. */
int main(int n_arguments, char **arguments)
{
    Description description;
    Fmu fmu;
    Instance instance;
    if (n_arguments < 2)
        give_up("cycle DESCRIPTION [OPTIONS]");
    description_read(arguments[1], &description);
    fmu_load(&fmu, &description, false);
    Plan plan = plan_by_options(n_arguments - 2, arguments + 2);
    Opening opening = opening_usual(&fmu);
    opening.logging = false;
    instance_open(&instance, &fmu, CO_SIMULATION, &opening);
    if (instance.component == NULL)
        give_up("the FMU cannot be instantiated: %s", instance.log.last);
    double h = option_number(n_arguments - 2, arguments + 2, "--h", description.step);
    Status status = time_cycles(&instance, &plan, h);
    if (status > FMI_WARNING)
        fprintf(stderr, "cycle: status %d; last log line: %s\n", (int)status, instance.log.last);
    instance_free(&instance);
    free(plan.each);
    fmu_unload(&fmu);
    description_free(&description);
    return status > FMI_WARNING;
}
