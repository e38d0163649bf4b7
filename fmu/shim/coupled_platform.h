/* What the process coupling needs of the operating system: coupled_posix.c or coupled_windows.c. Texts are UTF-8. */
#ifndef LIMBERJACK_COUPLED_PLATFORM_H
#define LIMBERJACK_COUPLED_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { PATH_BYTES = 4096 }; /* longest path, final zero included */

/* Folder of resources/ with this platform's libraries, and the name of libzmq there. */
#if defined(_WIN32)
#define PLATFORM_SYSTEM "windows"
#define ZMQ_LIBRARY_NAME "libzmq.dll"
#elif defined(__APPLE__)
#define PLATFORM_SYSTEM "darwin"
#define ZMQ_LIBRARY_NAME "libzmq.dylib"
#else
#define PLATFORM_SYSTEM "linux"
#define ZMQ_LIBRARY_NAME "libzmq.so"
#endif
#if defined(__aarch64__) || defined(_M_ARM64)
#define PLATFORM_TUPLE "aarch64-" PLATFORM_SYSTEM
#else
#define PLATFORM_TUPLE "x86_64-" PLATFORM_SYSTEM
#endif

double platform_seconds(void); /* monotonic clock */
void platform_sleep(double seconds);
bool platform_random(uint64_t *number); /* unpredictable; false: the system gives none */

void *platform_library(const char *path, char *why, size_t size); /* NULL: see why */
void *platform_symbol(void *library, const char *name);
void platform_library_close(void *library);

/* Whether other users may read the file. */
bool platform_exposed(const char *path);
/* Makes a new folder that only this user may enter; false: see why. */
bool platform_folder(char *path, size_t size, char *why, size_t why_size);
/* Removes an empty folder or a file; what is not there is no matter. */
void platform_remove(const char *path);

/* A program that this process started; all zero before and after. */
typedef struct {
    intptr_t id;     /* process number, or handle */
    intptr_t stream; /* our end of its standard input: closed, it knows that we are gone */
    bool running;
} Child;

enum { MOST_ARGUMENTS = 64 };

/* Starts `command` (words, quoted where they hold spaces) with more arguments; both outputs go to the file at `log`.
 * False: see why. */
bool child_start(Child *child, const char *command, const char *const *arguments, const char *log, char *why,
                 size_t size);
/* Whether it has ended; *code is then its exit code, or minus the signal. */
bool child_ended(Child *child, int *code);
/* Closes its input, waits up to `patience` seconds, then ends it by force. Never waits longer than a second more. */
void child_end(Child *child, double patience);

#endif
