"""States of a running engine on their way to people: one dictionary, one source, many outlets (docs/telemetry.md)."""
