"""Errors of imported FMUs."""

from __future__ import annotations

from collections.abc import Sequence

from limberjack.engine.common.errors import ExitCode, LimberjackError


class FmuError(LimberjackError, RuntimeError):
    """An FMU that cannot be used, or that failed.

    Attributes
    ----------
    fmu : the FMU's name
    log_lines : what the FMU logged last, oldest first; the message ends with them
    """

    exit_code = ExitCode.FAILED

    def __init__(self, fmu: str, what: str, log_lines: Sequence[str] = ()) -> None:
        self.fmu, self.what, self.log_lines = fmu, what, tuple(log_lines)
        said = "".join(f"\n  {line}" for line in self.log_lines)
        super().__init__(f"FMU '{fmu}': {what}" + (f"\nIts last log lines:{said}" if said else ""))

    def __reduce__(self) -> tuple:
        return type(self), (self.fmu, self.what, self.log_lines)


class FmuWarning(UserWarning):
    """An FMU that breaks the standard in a way that may not matter."""
