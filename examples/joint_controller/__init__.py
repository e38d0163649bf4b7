"""A joint controller as a partner would deliver it: an FMU in plain C that knows nothing of Limberjack."""
