"""Errors of the test bench."""

from __future__ import annotations

from limberjack.engine.common.errors import ExitCode, LimberjackError


class HilError(LimberjackError):
    """Something outside the model failed: a device, a privilege of the clock, a record."""


class ControllerError(HilError):
    """A controller raised, or its program did not start properly; the text names it, and its exception or output."""

    exit_code = ExitCode.FAILED


class ActionError(HilError):
    """The model or another fault refuses an action of the timeline or of a fault."""

    exit_code = ExitCode.FAILED
