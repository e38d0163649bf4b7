"""Instruments: what stands between an ideal sensor and the number that flight software reads."""
