"""Telemetry: what readers cost the engine, how late they see it, how much goes through (docs/how-to/telemetry.md)."""
