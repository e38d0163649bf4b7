/* The process coupling on Linux and macOS. */
#if !defined(_WIN32)
#define _GNU_SOURCE /* pipe2 */
#include "coupled_platform.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__APPLE__)
#include <crt_externs.h> /* a shared library has no `environ` there */
#define ENVIRONMENT (*_NSGetEnviron())
#else
extern char **environ;
#define ENVIRONMENT environ
#endif

enum { SHORT_FOLDER = 60 }; /* longest temporary folder whose local sockets fit the system's 104 bytes */

double platform_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void platform_sleep(double seconds)
{
    const struct timespec span = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&span, NULL);
}

bool platform_random(uint64_t *number)
{
    const int source = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    const bool good = source >= 0 && read(source, number, sizeof *number) == (ssize_t)sizeof *number;
    if (source >= 0)
        close(source);
    return good;
}

void *platform_library(const char *path, char *why, size_t size)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *reason = dlerror();
        snprintf(why, size, "%s", reason ? reason : "unknown reason");
    }
    return library;
}

void *platform_symbol(void *library, const char *name)
{
    return dlsym(library, name);
}

void platform_library_close(void *library)
{
    dlclose(library);
}

bool platform_exposed(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && (status.st_mode & 077) != 0;
}

bool platform_folder(char *path, size_t size, char *why, size_t why_size)
{
    const char *parent = getenv("TMPDIR");
    if (!parent || parent[0] != '/' || strlen(parent) > SHORT_FOLDER)
        parent = "/tmp";
    snprintf(path, size, "%s/ljXXXXXX", parent);
    if (mkdtemp(path))
        return true;
    snprintf(why, why_size, "cannot make a folder in '%s' (%s)", parent, strerror(errno));
    return false;
}

void platform_remove(const char *path)
{
    if (unlink(path) != 0)
        rmdir(path);
}

/* Splits words in place; quotes ' and " hold spaces together. Returns how many, 0 for too many or an open quote. */
static size_t split_words(char *text, char **words, size_t most)
{
    size_t count = 0;
    char *from = text, *to = text;
    while (*from) {
        while (*from == ' ' || *from == '\t')
            from++;
        if (!*from)
            break;
        if (count == most)
            return 0;
        words[count++] = to;
        char quote = 0;
        for (; *from && (quote || (*from != ' ' && *from != '\t')); from++) {
            if (quote ? *from == quote : *from == '\'' || *from == '"')
                quote = quote ? 0 : *from;
            else
                *to++ = *from;
        }
        if (quote)
            return 0;
        from += *from != 0;
        *to++ = 0;
    }
    return count;
}

/* The signals as a program expects them, and a group of its own: Ctrl-C is for the importer. */
static int prepare_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, standard;
    sigemptyset(&none);
    sigemptyset(&standard);
    static const int signals[] = {SIGINT, SIGTERM, SIGPIPE, SIGHUP, SIGCHLD};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaddset(&standard, signals[i]);
    const short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP;
    int failure = posix_spawnattr_setflags(attributes, flags);
    failure = failure ? failure : posix_spawnattr_setsigmask(attributes, &none);
    failure = failure ? failure : posix_spawnattr_setsigdefault(attributes, &standard);
    return failure ? failure : posix_spawnattr_setpgroup(attributes, 0);
}

static int spawn(Child *child, char *const *words, int input, const char *log)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    if (posix_spawn_file_actions_init(&files))
        return ENOMEM;
    if (posix_spawnattr_init(&attributes)) {
        posix_spawn_file_actions_destroy(&files);
        return ENOMEM;
    }
    int failure = prepare_attributes(&attributes);
    failure = failure ? failure : posix_spawn_file_actions_adddup2(&files, input, 0);
    failure = failure ? failure : posix_spawn_file_actions_addopen(&files, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    failure = failure ? failure : posix_spawn_file_actions_adddup2(&files, 1, 2);
    pid_t number = 0;
    failure = failure ? failure : posix_spawnp(&number, words[0], &files, &attributes, words, ENVIRONMENT);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    child->id = number;
    return failure;
}

static int open_pipe(int ends[2])
{
#if defined(__linux__)
    return pipe2(ends, O_CLOEXEC);
#else
    if (pipe(ends) != 0)
        return -1;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return 0;
#endif
}

bool child_start(Child *child, const char *command, const char *const *arguments, const char *log, char *why,
                 size_t size)
{
    char text[PATH_BYTES], *words[MOST_ARGUMENTS + 1];
    snprintf(text, sizeof text, "%s", command);
    size_t count = split_words(text, words, MOST_ARGUMENTS / 2);
    if (count == 0) {
        snprintf(why, size, "it is empty, has too many words or an unclosed quote");
        return false;
    }
    for (; *arguments && count < MOST_ARGUMENTS; arguments++)
        words[count++] = (char *)(uintptr_t)*arguments; /* posix_spawn does not write to them */
    words[count] = NULL;
    int ends[2];
    if (open_pipe(ends) != 0) {
        snprintf(why, size, "no pipe can be made (%s)", strerror(errno));
        return false;
    }
    const int failure = spawn(child, words, ends[0], log);
    close(ends[0]);
    if (failure) {
        close(ends[1]);
        snprintf(why, size, "%s", strerror(failure));
        return false;
    }
    child->stream = ends[1];
    child->running = true;
    return true;
}

bool child_ended(Child *child, int *code)
{
    if (!child->running)
        return true;
    int status = 0;
    const pid_t which = waitpid((pid_t)child->id, &status, WNOHANG);
    if (which == 0 || (which < 0 && errno == EINTR))
        return false;
    child->running = false; /* from now on its number may be another program's */
    *code = which < 0 ? 0 : WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    return true;
}

/* Waits for the end, at most so long. */
static bool await_end(Child *child, double patience)
{
    int code;
    for (const double end = platform_seconds() + patience; !child_ended(child, &code); platform_sleep(0.005))
        if (platform_seconds() > end)
            return false;
    return true;
}

void child_end(Child *child, double patience)
{
    int code;
    if (child->stream > 0)
        close((int)child->stream);
    child->stream = 0;
    if (!child_ended(child, &code))
        kill((pid_t)child->id, SIGTERM);
    if (!await_end(child, patience)) {
        kill(-(pid_t)child->id, SIGKILL); /* its group: it is the leader, not yet waited for */
        await_end(child, 1.0);
    }
}

#else
#include "coupled_platform.h"
#endif
