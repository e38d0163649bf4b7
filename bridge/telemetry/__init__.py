"""From a running engine to people: one dictionary, one source, many outlets (docs/how-to/telemetry.md)."""
