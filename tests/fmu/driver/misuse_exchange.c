/* Model Exchange: arrays that do not fit, numbers that are none, derivatives of nothing. */
#include "misuse.h"

#include <math.h>
#include <stdlib.h>

static void arrays(Test *test)
{
    Instance instance;
    size_t n = test->fmu->description->n_continuous, n_indicators = test->fmu->description->n_indicators;
    double *x = allocate(n + n_indicators + 1, sizeof(double));
    ready(test, &instance);
    GOOD(test, &instance, instance_get_states(&instance, x, n));
    GOOD(test, &instance, instance_set_states(&instance, x, n));
    REFUSED_RESTART(test, &instance, instance_get_states(&instance, x, n + 1));
    REFUSED_RESTART(test, &instance, instance_get_states(&instance, x, n - 1));
    REFUSED_RESTART(test, &instance, instance_get_states(&instance, NULL, n));
    REFUSED_RESTART(test, &instance, instance_set_states(&instance, x, n + 1));
    REFUSED_RESTART(test, &instance, instance_set_states(&instance, NULL, n));
    REFUSED_RESTART(test, &instance, instance_get_derivatives(&instance, x, n + 1));
    REFUSED_RESTART(test, &instance, instance_get_derivatives(&instance, NULL, n));
    REFUSED_RESTART(test, &instance, instance_get_nominals(&instance, x, n + 1));
    REFUSED_RESTART(test, &instance, instance_get_nominals(&instance, NULL, n));
    REFUSED_RESTART(test, &instance, instance_get_indicators(&instance, x, n_indicators + 1));
    GOOD(test, &instance, instance_get_nominals(&instance, x, n));
    for (size_t i = 0; i < n; i++)
        expect(test, x[i] > 0.0, "nominal values are positive");
    done(test, &instance);
    free(x);
}

static void not_finite_states(Test *test)
{
    const double wrong[] = {NAN, INFINITY, -INFINITY};
    Instance instance;
    size_t n = test->fmu->description->n_continuous;
    double *x = allocate(n, sizeof(double));
    Trace wanted;
    reference_trace(test, &wanted, 0);
    ready(test, &instance);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        GOOD(test, &instance, instance_get_states(&instance, x, n));
        x[n - 1] = wrong[i];
        REFUSED_RESTART(test, &instance, instance_set_states(&instance, x, n));
        REFUSED_RESTART(test, &instance, instance_set_time(&instance, wrong[i]));
    }
    expect_trace(test, &instance, &wanted, 0, "a run after states that are no numbers");
    done(test, &instance);
    trace_free(&wanted);
    free(x);
}

static void event_mode(Test *test)
{
    Instance instance;
    bool flag, other, again = true;
    size_t n = test->fmu->description->n_continuous;
    double *x = allocate(n, sizeof(double));
    ready(test, &instance);
    GOOD(test, &instance, instance_get_states(&instance, x, n));
    GOOD(test, &instance, instance_enter_event(&instance));
    REFUSED_RESTART(test, &instance, instance_completed(&instance, &flag, &other));
    GOOD(test, &instance, instance_enter_event(&instance));
    REFUSED_RESTART(test, &instance, instance_set_states(&instance, x, n));
    GOOD(test, &instance, instance_enter_event(&instance));
    for (int i = 0; again && i < 100; i++)
        GOOD(test, &instance, instance_iterate_events(&instance, &again));
    expect(test, !again, "the event iteration ends");
    GOOD(test, &instance, instance_enter_continuous(&instance));
    REFUSED_RESTART(test, &instance, instance_iterate_events(&instance, &again));
    done(test, &instance);
    free(x);
}

/* Both interface types: derivatives of outputs in inputs. */
static void directions(Test *test)
{
    const Description *description = test->fmu->description;
    const Variable *output = description_first(description, "output"), *input = description_first(description, "input");
    const Reference nowhere = 0xFFFFFFFFu;
    Instance instance;
    if (!description->directional || output == NULL || input == NULL)
        return;
    const Reference *u = &output->reference, *k = &input->reference;
    size_t nu = output->count, nk = input->count;
    double *seed = allocate(nk + 1, sizeof(double)), *found = allocate(nu + 1, sizeof(double));
    for (size_t i = 0; i < nk; i++)
        seed[i] = 1.0;
    ready(test, &instance);
    GOOD(test, &instance, instance_directional(&instance, u, 1, k, 1, seed, nk, found, nu));
    for (size_t i = 0; i < nu; i++)
        expect(test, isfinite(found[i]), "a derivative is a number");
    REFUSED_RESTART(test, &instance, instance_directional(&instance, NULL, 1, k, 1, seed, nk, found, nu));
    REFUSED_RESTART(test, &instance, instance_directional(&instance, u, 1, NULL, 1, seed, nk, found, nu));
    REFUSED_RESTART(test, &instance, instance_directional(&instance, u, 1, k, 1, NULL, nk, found, nu));
    REFUSED_RESTART(test, &instance, instance_directional(&instance, u, 1, k, 1, seed, nk, NULL, nu));
    REFUSED_RESTART(test, &instance, instance_directional(&instance, &nowhere, 1, k, 1, seed, nk, found, nu));
    REFUSED_RESTART(test, &instance, instance_directional(&instance, u, 1, &nowhere, 1, seed, nk, found, nu));
    seed[0] = NAN;
    REFUSED_RESTART(test, &instance, instance_directional(&instance, u, 1, k, 1, seed, nk, found, nu));
    seed[0] = 1.0;
    if (description->version == 3) {
        REFUSED_RESTART(test, &instance, instance_directional(&instance, u, 1, k, 1, seed, nk + 1, found, nu));
        REFUSED_RESTART(test, &instance, instance_directional(&instance, u, 1, k, 1, seed, nk, found, nu + 1));
    }
    done(test, &instance);
    free(seed);
    free(found);
}

const Check exchange_checks[] = {
    {"arrays",            arrays,            false, true,  false},
    {"not_finite_states", not_finite_states, false, true,  false},
    {"event_mode",        event_mode,        false, true,  false},
    {"directions",        directions,        true,  true,  false},
    {NULL,                NULL,              false, false, false},
};
