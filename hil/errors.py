"""Errors of the test bench."""

from __future__ import annotations

from limberjack.engine.errors import LimberjackError


class HilError(LimberjackError):
    """Something outside of the model failed: a device, the clock's rights, a record."""


class ControllerError(HilError):
    """A controller in Python raised; the text names it, its line and what it raised."""
