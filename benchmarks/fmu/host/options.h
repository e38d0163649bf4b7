/* Command line options: "--name value". */
#ifndef HOST_OPTIONS_H
#define HOST_OPTIONS_H

/* Value behind "--name", NULL without. */
const char *option(int n_options, char **options, const char *name);
/* The same as a number; ends the program when it is none. */
double option_number(int n_options, char **options, const char *name, double usual);

#endif
