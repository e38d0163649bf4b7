/* One word says to which thread's call an instance belongs, and whether that call is to end: twice the thread's number,
 * plus one. */
#if !defined(_WIN32)
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#endif
#include "interruption.h"

#if defined(_WIN32)
#include <windows.h>
#else
#include <pthread.h>
#include <time.h>
#endif

enum { FREE = 0, CANCELLED = 1 };

static uint64_t this_thread(void)
{
#if defined(_WIN32)
    return (uint64_t)GetCurrentThreadId() << 1;
#else
    return (uint64_t)(uintptr_t)pthread_self() << 1;
#endif
}

static void wait_a_millisecond(void)
{
#if defined(_WIN32)
    Sleep(1);
#else
    nanosleep(&(struct timespec){0, 1000000}, NULL);
#endif
}

bool instance_enter(Instance *instance, const char *function)
{
    uint64_t owner = FREE;
    if (atomic_compare_exchange_strong_explicit(&instance->owner, &owner, this_thread(), memory_order_acquire,
                                                memory_order_relaxed))
        return true;
    instance_log(instance, STATUS_ERROR, NULL,
                 "%s: a step of this instance is still running, or another thread ends it; wait until that call has "
                 "returned.",
                 function);
    return false;
}

bool instance_hold(Instance *instance, const char *function)
{
    const uint64_t self = this_thread();
    uint64_t owner = FREE;
    while (!atomic_compare_exchange_strong_explicit(&instance->owner, &owner, self, memory_order_acquire,
                                                    memory_order_relaxed)) {
        if ((owner & ~(uint64_t)CANCELLED) == self) {
            instance_log(instance, STATUS_ERROR, NULL,
                         "%s: not allowed in a callback of the running step; ask for an early return there, or call it "
                         "from another thread or after the step.",
                         function);
            return false;
        }
        /* no other bits change: where the owner is another by now, nothing is cancelled */
        atomic_compare_exchange_strong_explicit(&instance->owner, &owner, owner | CANCELLED, memory_order_relaxed,
                                                memory_order_relaxed);
        wait_a_millisecond();
        owner = FREE;
    }
    return true;
}

void instance_leave(Instance *instance)
{
    atomic_store_explicit(&instance->owner, FREE, memory_order_release);
}

Status instance_cancel(Instance *instance, const char *function)
{
    uint64_t owner = atomic_load_explicit(&instance->owner, memory_order_relaxed);
    while (owner != FREE)
        if (atomic_compare_exchange_weak_explicit(&instance->owner, &owner, owner | CANCELLED, memory_order_relaxed,
                                                  memory_order_relaxed))
            return STATUS_OK;
    instance_log(instance, STATUS_DISCARD, NULL,
                 "%s: no step is running that could be cancelled; call it from another thread while one is.", function);
    return STATUS_DISCARD;
}

bool instance_cancelled(const Instance *instance)
{
    return atomic_load_explicit(&instance->owner, memory_order_relaxed) & CANCELLED;
}

/* Asks the importer whether to return early. */
static bool update(Instance *instance, double reached)
{
    instance->phase = PHASE_INTERMEDIATE;
    instance->early_return = instance->updates(instance, reached);
    const bool good = instance->phase == PHASE_INTERMEDIATE;
    if (good)
        instance->phase = PHASE_STEP;
    return good;
}

bool instance_goes_on(Instance *instance, double reached, Status *status)
{
    *status = STATUS_OK;
    if (instance->updates && !update(instance, reached)) {
        *status = STATUS_ERROR; /* a call in the callback was refused, after a log line */
        return false;
    }
    if (instance_cancelled(instance)) {
        instance_log(instance, STATUS_DISCARD, NULL, "The communication step was cancelled at %.9g s.", reached);
        *status = STATUS_DISCARD;
        return false;
    }
    return !instance->early_return;
}
