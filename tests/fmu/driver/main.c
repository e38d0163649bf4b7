/* The host side by which an FMU is judged: driver COMMAND DESCRIPTION [OPTIONS].
 *
 * run       Co-Simulation: --steps N --h H --inputs FILE --out FILE (doubles, row by row)
 * exchange  Model Exchange with RK4, same options
 * state     --save FILE or --restore FILE, same options
 * refuse    RESOURCES…: every one must be refused with a log line
 * misuse    [--only NAME] [--skip NAME,NAME…] [--list x]
 *
 * Exit code 0: as it must be; 1: the FMU failed, standard error says how; 2: the host's own trouble.
 */
#include "runs.h"

#include <string.h>

static int work(const char *command, const Fmu *fmu, int n_options, char **options)
{
    if (strcmp(command, "run") == 0)
        return command_run(fmu, CO_SIMULATION, n_options, options);
    if (strcmp(command, "exchange") == 0)
        return command_run(fmu, MODEL_EXCHANGE, n_options, options);
    if (strcmp(command, "state") == 0)
        return command_state(fmu, n_options, options);
    if (strcmp(command, "refuse") == 0)
        return command_refuse(fmu, n_options, options);
    if (strcmp(command, "misuse") == 0)
        return command_misuse(fmu, n_options, options);
    give_up("no command '%s'", command);
    return 2;
}

int main(int n_arguments, char **arguments)
{
    Description description;
    Fmu fmu;
    if (n_arguments < 3)
        give_up("driver COMMAND DESCRIPTION [OPTIONS]");
    description_read(arguments[2], &description);
    fmu_load(&fmu, &description, true);
    int code = work(arguments[1], &fmu, n_arguments - 3, arguments + 3);
    fmu_unload(&fmu);
    description_free(&description);
    return code;
}
