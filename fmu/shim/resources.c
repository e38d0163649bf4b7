/* URIs and paths of the resources directory. */
#include "resources.h"

#include <stdio.h>
#include <string.h>

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool has_drive(const char *path)
{
    return is_letter(path[0]) && (path[1] == ':' || path[1] == '|');
}

static bool is_separator(char c)
{
#ifdef _WIN32
    return c == '/' || c == '\\';
#else
    return c == '/';
#endif
}

/* Final separators say nothing; that of a root does. */
static void strip(char *path)
{
    size_t length = strlen(path);
    while (length > 1 && is_separator(path[length - 1]) && !(length == 3 && has_drive(path)))
        path[--length] = 0;
}

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Copies with %XX decoded; a % that no two hexadecimal digits follow is kept, since some importers encode nothing. */
static const char *decode(const char *from, char *to, size_t size)
{
    size_t length = 0;
    for (; *from; length++) {
        if (length + 1 >= size)
            return "it is longer than 4095 bytes";
        int high = *from == '%' ? hex(from[1]) : -1, low = high >= 0 ? hex(from[2]) : -1;
        if (low >= 0 && high * 16 + low == 0)
            return "it has a zero character (%00)";
        to[length] = low >= 0 ? (char)(high * 16 + low) : *from;
        from += low >= 0 ? 3 : 1;
    }
    to[length] = 0;
    return NULL;
}

static bool starts_with(const char *text, const char *start)
{
    for (; *start; text++, start++)
        if ((*text | 32) != (*start | 32)) /* schemes and hosts know no case */
            return false;
    return true;
}

/* What follows file: and its host, or NULL for a host that is not this machine. */
static const char *after_host(const char *rest)
{
    if (rest[0] != '/' || rest[1] != '/')
        return rest;
    const char *host = rest + 2;
    if (starts_with(host, "localhost/"))
        return host + sizeof "localhost" - 1;
    if (*host == '/' || has_drive(host)) /* file://C:/… is wrong but common */
        return host;
#ifdef _WIN32
    return rest; /* //host/share/… is a path there */
#else
    return NULL;
#endif
}

const char *resources_from_path(const char *given, char path[RESOURCE_BYTES])
{
    size_t length = strlen(given);
    if (length == 0)
        return "it is empty";
    if (length >= RESOURCE_BYTES)
        return "it is longer than 4095 bytes";
    memcpy(path, given, length + 1);
    strip(path);
    return NULL;
}

const char *resources_from_uri(const char *given, char path[RESOURCE_BYTES])
{
    if (!starts_with(given, "file:")) {
        const char *scheme = strstr(given, "://");
        return scheme ? "only file: URIs are supported" : resources_from_path(given, path);
    }
    const char *rest = after_host(given + sizeof "file:" - 1);
    if (!rest)
        return "it names another machine";
    const char *wrong = decode(rest, path, RESOURCE_BYTES);
    if (wrong)
        return wrong;
    if (!*path)
        return "it has no path";
    if (*path == '/' && has_drive(path + 1)) /* file:///C:/… */
        memmove(path, path + 1, strlen(path));
    if (has_drive(path))
        path[1] = ':';
    strip(path);
    return NULL;
}

void resources_plant_file(const char *resources, char path[PLANT_PATH_BYTES])
{
    snprintf(path, PLANT_PATH_BYTES, "%s/%s", resources, PLANT_FILE_NAME);
}
