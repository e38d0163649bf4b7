#define _POSIX_C_SOURCE 200809L
#include "clock.h"

#include "fmu.h"

typedef struct {
    void (*work)(void *);
    void *argument;
} Task;

enum { MOST_THREADS = 16 };

#ifdef _WIN32
#include <windows.h>

double seconds_now(void)
{
    LARGE_INTEGER count, frequency;
    QueryPerformanceCounter(&count);
    QueryPerformanceFrequency(&frequency);
    return (double)count.QuadPart / (double)frequency.QuadPart;
}

double processor_seconds(void)
{
    return seconds_now();
}

static DWORD WINAPI begin(void *task)
{
    ((Task *)task)->work(((Task *)task)->argument);
    return 0;
}

void run_threads(void (*work)(void *), void **arguments, size_t count)
{
    HANDLE threads[MOST_THREADS];
    Task tasks[MOST_THREADS];
    for (size_t i = 0; i < count && i < MOST_THREADS; i++) {
        tasks[i] = (Task){work, arguments[i]};
        threads[i] = CreateThread(NULL, 0, begin, &tasks[i], 0, NULL);
        if (threads[i] == NULL)
            give_up("cannot start a thread");
    }
    for (size_t i = 0; i < count && i < MOST_THREADS; i++) {
        WaitForSingleObject(threads[i], INFINITE);
        CloseHandle(threads[i]);
    }
}
#else
#include <pthread.h>
#include <time.h>

double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double processor_seconds(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

static void *begin(void *task)
{
    ((Task *)task)->work(((Task *)task)->argument);
    return NULL;
}

void run_threads(void (*work)(void *), void **arguments, size_t count)
{
    pthread_t threads[MOST_THREADS];
    Task tasks[MOST_THREADS];
    for (size_t i = 0; i < count && i < MOST_THREADS; i++) {
        tasks[i] = (Task){work, arguments[i]};
        if (pthread_create(&threads[i], NULL, begin, &tasks[i]) != 0)
            give_up("cannot start a thread");
    }
    for (size_t i = 0; i < count && i < MOST_THREADS; i++)
        pthread_join(threads[i], NULL);
}
#endif
