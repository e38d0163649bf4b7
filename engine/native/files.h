/* Opening files whose paths are UTF-8. */
#ifndef LIMBERJACK_FILES_H
#define LIMBERJACK_FILES_H

#include <stdio.h>

/* Opens a file for binary reading. NULL if there is none, and for anything but a file: a pipe could block. */
FILE *file_open(const char *path);

#endif
