/* The path of the resources directory as importers give it. */
#ifndef LIMBERJACK_RESOURCES_H
#define LIMBERJACK_RESOURCES_H

#include <stdbool.h>
#include <stddef.h>

#define RESOURCE_BYTES 4096 /* longest path, final zero included */

/* Directory path without final slash from an FMI 2 URI (RFC 3986: file:///…, file:/…, file://localhost/…; a plain
 * path is taken as it is) or from an FMI 3 path. Both return NULL, or what is wrong with `given`. */
const char *resources_from_uri(const char *given, char path[RESOURCE_BYTES]);
const char *resources_from_path(const char *given, char path[RESOURCE_BYTES]);

#endif
