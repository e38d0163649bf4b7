/* Clock and threads, on POSIX and on Windows. */
#ifndef HOST_CLOCK_H
#define HOST_CLOCK_H

#include <stddef.h>

double seconds_now(void);
/* Processor time of this thread, which other programs do not lengthen; on Windows, where it is coarse, seconds_now. */
double processor_seconds(void);
/* Runs work(arguments[i]) on its own thread for each i and waits for all. */
void run_threads(void (*work)(void *), void **arguments, size_t count);

#endif
