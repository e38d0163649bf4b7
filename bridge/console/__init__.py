"""The web console: Open MCT with live and past telemetry, commands and a 3-D view (docs/how-to/telemetry.md)."""
