/* Starts an engine command in the locale of the environment: arguments are the command and dt. */
#include <locale.h>
#include <stdlib.h>

#include "coupled_process.h"
#include "instance.h"

void instance_log(Instance *instance, Status status, const char *category, const char *format, ...)
{
    (void)instance, (void)status, (void)category, (void)format;
}

int main(int count, char **arguments)
{
    if (count != 3)
        return 2;
    PlantFileHeader header = {.dt = strtod(arguments[2], NULL), .substeps = 1};
    if (!setlocale(LC_ALL, ""))
        return 3;
    const EngineOptions options = {arguments[1], "", "model.ljm", &header};
    engine_stop(engine_start(NULL, &options));
    return 0;
}
