/* Communication steps that would take very long: ended by another thread, or by the importer's callback. */
#include "clock.h"
#include "misuse.h"

#define LONG 4e7 /* communication steps in one: minutes of computing */
#define PATIENCE_S 120.0

/* What the two threads share; `other` ends the step of the first. */
typedef struct {
    Instance *instance;
    double h, reached;
    Status status;
    _Atomic bool over;
} Race;

typedef struct {
    Race *race;
    void (*run)(Race *race);
} Part;

static void run_part(void *part)
{
    ((Part *)part)->run(((Part *)part)->race);
}

static void step(Race *race)
{
    race->status = instance_step(race->instance, 0.0, race->h, &race->reached);
    race->over = true;
}

/* FMI 2: cancels what runs. FMI 3: terminates as soon as the first callback shows that it runs. */
static void end(Race *race)
{
    Instance *instance = race->instance;
    const bool two = instance->fmu->description->version == 2;
    for (const double limit = seconds_now() + PATIENCE_S; !race->over && seconds_now() < limit;)
        if (two ? instance->fmu->two.CancelStep(instance->component) == FMI_OK : instance->log.updates > 0)
            break;
    if (!two)
        instance_terminate(instance);
}

static void count_update(void *environment, double time, bool set_requested, bool get_allowed, bool finished,
                         bool can_return_early, bool *return_early, double *return_time)
{
    (void)time, (void)set_requested, (void)get_allowed, (void)finished, (void)return_time;
    ((Log *)environment)->updates++;
    *return_early = can_return_early;
}

static void open_updated(Test *test, Instance *instance, bool early_return)
{
    Opening opening = opening_usual(test->fmu);
    opening.update = count_update;
    opening.early_return = early_return;
    instance_open(instance, test->fmu, test->kind, &opening);
    if (instance->component == NULL)
        give_up("%s: the FMU cannot be instantiated: %s", test->name, instance->log.last);
    GOOD(test, instance, instance_initialise(instance));
}

static void ended_by_another_thread(Test *test)
{
    Instance instance;
    Trace wanted;
    reference_trace(test, &wanted, 0);
    open_updated(test, &instance, false);
    for (int i = 0; i < 3; i++) {
        Race race = {&instance, LONG * test->fmu->description->step, 0.0, FMI_OK, false};
        Part parts[] = {
            {&race, step},
            {&race, end }
        };
        void *arguments[] = {&parts[0], &parts[1]};
        instance.log.updates = 0;
        run_threads(run_part, arguments, 2);
        expect(test, race.status == FMI_DISCARD, "a step that another thread ends is discarded");
        expect(test, race.reached > 0.0 && race.reached < race.h, "it ends on the way");
        restart(test, &instance);
    }
    expect_trace(test, &instance, &wanted, 0, "a run after steps that were ended");
    done(test, &instance);
    trace_free(&wanted);
}

static void early_return(Test *test)
{
    const double h = LONG * test->fmu->description->step;
    double first = 0.0, second = 0.0;
    Instance instance;
    if (test->fmu->description->version == 2)
        return;
    open_updated(test, &instance, true);
    GOOD(test, &instance, instance_step(&instance, 0.0, h, &first));
    expect(test, first > 0.0 && first < h, "the step ends where the importer asks for it");
    GOOD(test, &instance, instance_step(&instance, first, h, &second));
    expect(test, second > first && second < first + h, "the next one begins there");
    expect(test, instance.log.updates == 2, "a step ends at the first wish");
    done(test, &instance);
}

const Check interruption_checks[] = {
    {"ended_by_another_thread", ended_by_another_thread, true,  false, false},
    {"early_return",            early_return,            true,  false, false},
    {NULL,                      NULL,                    false, false, false},
};
