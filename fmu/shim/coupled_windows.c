/* The process coupling on Windows. */
#if defined(_WIN32)
#define _CRT_RAND_S
#include "coupled_platform.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <windows.h>

static bool widen(const char *text, wchar_t *wide, size_t size)
{
    return MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, wide, (int)size) > 0;
}

static void explain(char *why, size_t size, const char *what)
{
    snprintf(why, size, "%s (Windows error %lu)", what, (unsigned long)GetLastError());
}

double platform_seconds(void)
{
    LARGE_INTEGER ticks, rate;
    QueryPerformanceCounter(&ticks);
    QueryPerformanceFrequency(&rate);
    return (double)ticks.QuadPart / (double)rate.QuadPart;
}

void platform_sleep(double seconds)
{
    Sleep((DWORD)(1e3 * seconds + 0.5));
}

bool platform_random(uint64_t *number)
{
    unsigned int high, low;
    if (rand_s(&high) != 0 || rand_s(&low) != 0)
        return false;
    *number = (uint64_t)high << 32 | low;
    return true;
}

void *platform_library(const char *path, char *why, size_t size)
{
    wchar_t wide[PATH_BYTES];
    HMODULE library = NULL;
    if (widen(path, wide, PATH_BYTES)) {
        for (wchar_t *at = wide; *at; at++) /* LOAD_WITH_ALTERED_SEARCH_PATH knows only backslashes */
            if (*at == L'/')
                *at = L'\\';
        library = LoadLibraryExW(wide, NULL, LOAD_WITH_ALTERED_SEARCH_PATH); /* its neighbours are found beside it */
    }
    if (!library)
        explain(why, size, "cannot be loaded");
    return (void *)library;
}

void *platform_symbol(void *library, const char *name)
{
    return (void *)(uintptr_t)GetProcAddress((HMODULE)library, name);
}

void platform_library_close(void *library)
{
    FreeLibrary((HMODULE)library);
}

bool platform_exposed(const char *path)
{
    (void)path; /* who may read is a matter of access lists there, which folders of users restrict by default */
    return false;
}

bool platform_folder(char *path, size_t size, char *why, size_t why_size)
{
    wchar_t parent[MAX_PATH + 1], wide[MAX_PATH + 32];
    uint64_t number;
    if (GetTempPathW(MAX_PATH + 1, parent) == 0 || !platform_random(&number)) {
        explain(why, why_size, "no place for a temporary folder");
        return false;
    }
    swprintf(wide, MAX_PATH + 32, L"%lslj%016llx", parent, (unsigned long long)number);
    if (!CreateDirectoryW(wide, NULL) || WideCharToMultiByte(CP_UTF8, 0, wide, -1, path, (int)size, NULL, NULL) == 0) {
        explain(why, why_size, "cannot make a temporary folder");
        return false;
    }
    return true;
}

void platform_remove(const char *path)
{
    wchar_t wide[PATH_BYTES];
    if (widen(path, wide, PATH_BYTES) && !DeleteFileW(wide))
        RemoveDirectoryW(wide);
}

/* Adds one argument in the form that the C run time takes apart again: backslashes before a quote are doubled. */
static size_t quote(wchar_t *line, size_t used, size_t size, const wchar_t *argument)
{
    if (used + 2 * wcslen(argument) + 4 > size)
        return size;
    line[used++] = L' ';
    line[used++] = L'"';
    size_t slashes = 0;
    for (; *argument; argument++) {
        slashes = *argument == L'\\' ? slashes + 1 : 0;
        line[used++] = *argument;
    }
    for (; slashes > 0; slashes--)
        line[used++] = L'\\';
    line[used++] = L'"';
    line[used] = 0;
    return used;
}

/* The whole command line; false when it is too long. Arguments hold no quotes: they are paths and numbers. */
static bool make_line(wchar_t *line, size_t size, const char *command, const char *const *arguments)
{
    wchar_t wide[PATH_BYTES];
    if (!widen(command, line, size))
        return false;
    size_t used = wcslen(line);
    for (; *arguments; arguments++) {
        if (!widen(*arguments, wide, PATH_BYTES) || wcschr(wide, L'"'))
            return false;
        used = quote(line, used, size, wide);
        if (used >= size)
            return false;
    }
    return true;
}

static bool create(Child *child, wchar_t *line, HANDLE input, HANDLE output)
{
    STARTUPINFOEXW start;
    PROCESS_INFORMATION process;
    memset(&start, 0, sizeof start);
    start.StartupInfo.cb = sizeof start;
    start.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
    start.StartupInfo.hStdInput = input;
    start.StartupInfo.hStdOutput = start.StartupInfo.hStdError = output;
    HANDLE inherited[2] = {input, output}; /* these and no others: no engine holds another's input open */
    char room[256];
    SIZE_T size = sizeof room;
    start.lpAttributeList = (LPPROC_THREAD_ATTRIBUTE_LIST)(void *)room;
    if (!InitializeProcThreadAttributeList(start.lpAttributeList, 1, 0, &size))
        return false;
    const bool good = UpdateProcThreadAttribute(start.lpAttributeList, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, inherited,
                                                sizeof inherited, NULL, NULL) &&
                      CreateProcessW(NULL, line, NULL, NULL, TRUE,
                                     CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP | EXTENDED_STARTUPINFO_PRESENT, NULL,
                                     NULL, &start.StartupInfo, &process);
    DeleteProcThreadAttributeList(start.lpAttributeList);
    if (good) {
        CloseHandle(process.hThread);
        child->id = (intptr_t)process.hProcess;
    }
    return good;
}

bool child_start(Child *child, const char *command, const char *const *arguments, const char *log, char *why,
                 size_t size)
{
    wchar_t line[8192], wide[PATH_BYTES];
    if (!command[0] || !make_line(line, 8192, command, arguments) || !widen(log, wide, PATH_BYTES)) {
        snprintf(why, size, "it is empty, too long or not UTF-8");
        return false;
    }
    SECURITY_ATTRIBUTES inherit = {sizeof inherit, NULL, TRUE};
    HANDLE input, ours;
    if (!CreatePipe(&input, &ours, &inherit, 0)) {
        explain(why, size, "no pipe can be made");
        return false;
    }
    SetHandleInformation(ours, HANDLE_FLAG_INHERIT, 0);
    HANDLE output = CreateFileW(wide, FILE_APPEND_DATA, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                &inherit, OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, NULL);
    child->running = output != INVALID_HANDLE_VALUE && create(child, line, input, output);
    if (!child->running)
        explain(why, size, "it cannot be started");
    CloseHandle(input);
    if (output != INVALID_HANDLE_VALUE)
        CloseHandle(output);
    if (child->running)
        child->stream = (intptr_t)ours;
    else
        CloseHandle(ours);
    return child->running;
}

bool child_ended(Child *child, int *code)
{
    if (!child->running)
        return true;
    if (WaitForSingleObject((HANDLE)child->id, 0) == WAIT_TIMEOUT)
        return false;
    DWORD number = 0;
    GetExitCodeProcess((HANDLE)child->id, &number);
    CloseHandle((HANDLE)child->id);
    child->running = false;
    *code = (int)number;
    return true;
}

void child_end(Child *child, double patience)
{
    int code;
    if (child->stream)
        CloseHandle((HANDLE)child->stream);
    child->stream = 0;
    if (!child->running)
        return;
    if (WaitForSingleObject((HANDLE)child->id, (DWORD)(1e3 * patience)) == WAIT_TIMEOUT) {
        TerminateProcess((HANDLE)child->id, 1);
        WaitForSingleObject((HANDLE)child->id, 1000);
    }
    child_ended(child, &code);
}

#else
#include "coupled_platform.h"
#endif
