/* Key files as pyzmq writes them: comments after '#', then lines such as `    public-key = "…"`. */
#include "coupled_curve.h"

#include <stdio.h>
#include <string.h>

#include "coupled_platform.h"
#include "files.h"
#include "instance.h"

#define REMEDY "make keys with 'limberjack keygen DIR' and set engine.keys to DIR"

enum { LINE_BYTES = 512, MOST_LINES = 200 };

static const char z85[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

/* The key in a line `name = "key"`; false if the line is another's. *good says whether it is 40 characters of Z85. */
static bool read_line(const char *line, const char *name, char *key, bool *good)
{
    line += strspn(line, " \t");
    const size_t length = strlen(name);
    if (strncmp(line, name, length) != 0)
        return false;
    line += length;
    line += strspn(line, " \t");
    if (*line != '=')
        return false;
    line++;
    line += strspn(line, " \t'\"");
    const size_t size = strspn(line, z85);
    *good = size == KEY_CHARACTERS && (line[size] == '"' || line[size] == '\'');
    if (*good)
        memcpy(key, line, KEY_CHARACTERS);
    key[KEY_CHARACTERS] = 0;
    return true;
}

/* One key of one file. */
static bool read_key(Instance *instance, const char *path, const char *name, char *key)
{
    FILE *file = file_open(path);
    if (!file) {
        instance_log(instance, STATUS_ERROR, NULL, "engine.keys: '%s' cannot be opened; %s.", path, REMEDY);
        return false;
    }
    char line[LINE_BYTES];
    bool found = false, good = false;
    for (int i = 0; !found && i < MOST_LINES && fgets(line, sizeof line, file); i++)
        found = line[strspn(line, " \t")] != '#' && read_line(line, name, key, &good);
    fclose(file);
    memset(line, 0, sizeof line);
    if (!good)
        instance_log(instance, STATUS_ERROR, NULL, "engine.keys: '%s' %s %s of 40 characters of Z85; %s.", path,
                     found ? "is damaged: it has no" : "is not such a key file: it has no", name, REMEDY);
    return good;
}

bool curve_read(Instance *instance, const char *folder, CurveKeys *keys)
{
    char secret[PATH_BYTES], server[PATH_BYTES];
    const int longest = snprintf(secret, sizeof secret, "%s/client.key_secret", folder);
    snprintf(server, sizeof server, "%s/server.key", folder);
    if (longest >= PATH_BYTES) {
        instance_log(instance, STATUS_ERROR, NULL, "engine.keys: the path is longer than %d bytes; %s.", PATH_BYTES,
                     REMEDY);
        return false;
    }
    if (platform_exposed(secret)) {
        instance_log(instance, STATUS_ERROR, NULL, "engine.keys: '%s' can be read by other users; run: chmod 600 %s.",
                     secret, secret);
        return false;
    }
    return read_key(instance, secret, "public-key", keys->own_public) &&
           read_key(instance, secret, "secret-key", keys->own_secret) &&
           read_key(instance, server, "public-key", keys->server);
}
