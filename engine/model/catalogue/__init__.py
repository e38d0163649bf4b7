"""Every number of a model once: name, unit, range, text and place, for FMU, telemetry, bench and consoles."""
