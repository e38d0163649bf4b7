/* Opening files whose paths are UTF-8. */
#ifndef LIMBERJACK_FILES_H
#define LIMBERJACK_FILES_H

#include <stdio.h>

/* A file to read, binary. NULL where there is none, and for anything but a file, such as a pipe, which could block. */
FILE *file_open(const char *path);

#endif
