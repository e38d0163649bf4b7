"""Which variables an FMU has: their names, units, places in the running model, and what depends on what."""
