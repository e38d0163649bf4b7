/* The path of the resources directory as importers give it. */
#ifndef LIMBERJACK_RESOURCES_H
#define LIMBERJACK_RESOURCES_H

#include <stdbool.h>
#include <stddef.h>

#include "plant_file.h"

#define RESOURCE_BYTES 4096 /* longest path, final zero included */
/* what messages about the file there advise */
#define RESOURCES_REMEDY "unpack the FMU again, or export it again"
#define RESOURCES_MISSING RESOURCES_REMEDY ", and check that the importer passes the path of its resources directory"

/* Directory path without final slash from an FMI 2 URI (RFC 3986: file:///…, file:/…, file://localhost/…; a plain
 * path is taken as it is) or from an FMI 3 path. Both return NULL, or what is wrong with `given`. */
const char *resources_from_uri(const char *given, char path[RESOURCE_BYTES]);
const char *resources_from_path(const char *given, char path[RESOURCE_BYTES]);

#define PLANT_PATH_BYTES (RESOURCE_BYTES + sizeof "/" PLANT_FILE_NAME)
/* The path of the plant file in such a directory. */
void resources_plant_file(const char *resources, char path[PLANT_PATH_BYTES]);

#endif
