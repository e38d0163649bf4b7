"""Packing the engine as an FMU for co-simulation tools (not part of this release)."""
