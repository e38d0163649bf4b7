/* Ending a communication step before its end. An instance belongs to one call of these at a time: to the running step,
 * or to another thread's call that ends the instance's life and first ends the step. All other calls are, as both
 * standards want it, for one thread at a time.
 */
#ifndef LIMBERJACK_INTERRUPTION_H
#define LIMBERJACK_INTERRUPTION_H

#include "instance.h"

/* A step begins. False after a log line where the instance belongs to another call; the caller must then touch nothing
 * of it. */
bool instance_enter(Instance *instance, const char *function);
/* For calls that end a life: cancels a running step of another thread and waits until that has returned, at most for
 * one batch of internal steps. False after a log line where the step is this thread's own, which a callback of the
 * importer interrupted. */
bool instance_hold(Instance *instance, const char *function);
/* The end of either. Whoever waits has the instance next: nothing of it may be touched any more. */
void instance_leave(Instance *instance);

/* From any thread, while the instance lives: ends the running step. DISCARD after a log line where none runs. */
Status instance_cancel(Instance *instance, const char *function);
/* Whether the running step has been cancelled. */
bool instance_cancelled(const Instance *instance);
/* Between two internal steps of a communication step, `reached` being where the model stands: whether to go on. If not,
 * *status is how the step ends: OK (an early return that the importer asked for), DISCARD (it was cancelled), ERROR. */
bool instance_goes_on(Instance *instance, double reached, Status *status);

#endif
