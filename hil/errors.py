"""Errors of the test bench."""

from __future__ import annotations

from limberjack.engine.common.errors import ExitCode, LimberjackError


class HilError(LimberjackError):
    """Something outside of the model failed: a device, the clock's rights, a record."""


class ControllerError(HilError):
    """A controller raised, or its program did not start as it should; the text names it, and what it raised or said."""

    exit_code = ExitCode.FAILED


class ActionError(HilError):
    """What the timeline or a fault was to do, and the model or another fault refuses."""

    exit_code = ExitCode.FAILED
