#include "options.h"

#include "fmu.h"

#include <stdlib.h>
#include <string.h>

const char *option(int n_options, char **options, const char *name)
{
    for (int i = 0; i + 1 < n_options; i++)
        if (strcmp(options[i], name) == 0)
            return options[i + 1];
    return NULL;
}

double option_number(int n_options, char **options, const char *name, double usual)
{
    const char *text = option(n_options, options, name);
    char *end = NULL;
    double value = text != NULL ? strtod(text, &end) : usual;
    if (text != NULL && (end == text || *end != '\0'))
        give_up("%s %s: not a number", name, text);
    return value;
}
