"""A joint servo as flight software would be: a separate program in plain C that talks UDP and CAN."""
