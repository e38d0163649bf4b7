#if !defined(_WIN32)
#define _POSIX_C_SOURCE 200809L /* fdopen, O_CLOEXEC */
#endif
#include "files.h"

#if defined(_WIN32)
#include <windows.h>

enum { WIDE_BYTES = 4096 };

FILE *file_open(const char *path)
{
    wchar_t wide[WIDE_BYTES];
    return MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, WIDE_BYTES) ? _wfopen(wide, L"rb") : NULL;
}

#else
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

FILE *file_open(const char *path)
{
    const int number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    if (number < 0)
        return NULL;
    FILE *file = fstat(number, &status) == 0 && S_ISREG(status.st_mode) ? fdopen(number, "rb") : NULL;
    if (!file)
        close(number);
    return file;
}

#endif
