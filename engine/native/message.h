/* Sentences for people: what is wrong, where, and what helps. */
#ifndef LIMBERJACK_MESSAGE_H
#define LIMBERJACK_MESSAGE_H

#include <stdarg.h>
#include <stddef.h>

#define MESSAGE_BYTES 1024 /* longest message, final zero included; longer ones are cut */

/* The buffer for a message. */
typedef struct {
    char *text;
    size_t size;
} Message;

/* Replaces the text; one that is too long is cut between two characters (UTF-8). */
__attribute__((format(printf, 2, 3))) void message_write(const Message *message, const char *format, ...);
__attribute__((format(printf, 2, 0))) void message_write_list(const Message *message, const char *format,
                                                              va_list arguments);

#endif
