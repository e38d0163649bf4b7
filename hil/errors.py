"""Errors of the test bench."""

from __future__ import annotations

from limberjack.engine.errors import LimberjackError


class HilError(LimberjackError):
    """Something outside of the model failed: a device, the clock's rights, a record."""
