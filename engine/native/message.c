#include "message.h"

#include <stdio.h>

/* If a text was cut within a character, ends it before that character. */
static void end_at_character(char *text, size_t length)
{
    while (length > 0 && ((unsigned char)text[length - 1] & 0xC0u) == 0x80u)
        length--;
    if (length > 0 && ((unsigned char)text[length - 1] & 0xC0u) == 0xC0u)
        length--;
    text[length] = 0;
}

void message_write_list(const Message *message, const char *format, va_list arguments)
{
    if (vsnprintf(message->text, message->size, format, arguments) >= (int)message->size)
        end_at_character(message->text, message->size - 1);
}

void message_write(const Message *message, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    message_write_list(message, format, arguments);
    va_end(arguments);
}
