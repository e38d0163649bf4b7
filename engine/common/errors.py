"""Every error that a user, a file, a client or an importer can cause.

Each message says what is wrong, where (file, line or field path, name), why, and how to fix it.
"""

from __future__ import annotations

import errno
from enum import IntEnum


class ExitCode(IntEnum):
    """How a command ended (README, "Exit codes")."""

    DONE = 0
    FAILED = 1
    BAD_INPUT = 2
    MACHINE = 3
    STOPPED = 130


class LimberjackError(Exception):
    """Base of all errors that Limberjack raises on purpose.

    exit_code : of a command that ends with it; a class that says nothing else is about a failure of the machine
    """

    exit_code = ExitCode.MACHINE


class ModelError(LimberjackError, ValueError):
    """A model file, or a System built by hand, that cannot be simulated.

    Parameters
    ----------
    what : what is wrong, one sentence without a full stop
    where : file, line or field path, as a user would look for it ("arm.yaml:12, bodies[2].mass")
    remedy : how to put it right, one imperative sentence without a full stop
    """

    exit_code = ExitCode.BAD_INPUT

    def __init__(self, what: str, *, where: str = "", remedy: str = "") -> None:
        self.what, self.where, self.remedy = what, where, remedy
        message = f"{where}: {what}" if where else what
        super().__init__(" ".join(_sentence(part) for part in (message, remedy) if part))

    def __reduce__(self) -> tuple:
        return _rebuild_model_error, (type(self), self.what, self.where, self.remedy)


def _sentence(text: str) -> str:
    return text if text.endswith("?") else f"{text}."


def _rebuild_model_error(kind: type[ModelError], what: str, where: str, remedy: str) -> ModelError:
    return kind(what, where=where, remedy=remedy)


class ModelWarning(UserWarning):
    """A model that is kept as given although it breaks a physical rule (public URDFs often do)."""


class ArgumentError(LimberjackError, ValueError):
    """An argument of the wrong name, shape, type or value."""

    exit_code = ExitCode.BAD_INPUT


class UnknownNameError(ArgumentError, KeyError):
    """A name that the model does not have; a KeyError too, so that mappings keep their contract."""

    def __str__(self) -> str:
        return str(self.args[0])


class SimulationError(LimberjackError, RuntimeError):
    """A step that could not be completed; names the body or hinge and the time.

    The simulation stays at its last good state.
    """

    exit_code = ExitCode.FAILED


class MissingExtraError(LimberjackError, ImportError):
    """An optional dependency that this feature needs is not installed."""

    exit_code = ExitCode.BAD_INPUT

    def __init__(self, feature: str, package: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs the package '{package}', which is not installed. "
            f'Install it with: pip install "limberjack[{extra}]".'
        )


#: what the system refuses because of the path that it was given; all else is the machine's state
_OF_THE_PATH = frozenset(
    getattr(errno, name)
    for name in ("ENOENT", "EEXIST", "ENOTDIR", "EISDIR", "EACCES", "EPERM", "EROFS", "ENAMETOOLONG", "ELOOP", "EINVAL")
)
#: links followed from an error to its first cause
_MOST_CAUSES = 20


def exit_code_of(error: BaseException) -> ExitCode:
    """Exit code of a command that ends with this error.

    An error raised from one of the machine, as a full disk, is the machine's, whatever its class.
    """
    if isinstance(error, KeyboardInterrupt):
        return ExitCode.STOPPED
    cause: BaseException | None = error
    for _ in range(_MOST_CAUSES):  # one may be its own cause
        if cause is None:
            break
        if _is_of_the_machine(cause):
            return ExitCode.MACHINE
        cause = cause.__cause__
    if isinstance(error, LimberjackError):
        return error.exit_code
    return ExitCode.BAD_INPUT if isinstance(error, OSError) else ExitCode.FAILED


def _is_of_the_machine(error: BaseException) -> bool:
    """Whether memory, a disk or another resource was at its end."""
    if isinstance(error, LimberjackError):
        return False
    return isinstance(error, MemoryError) or (
        isinstance(error, OSError) and error.errno is not None and error.errno not in _OF_THE_PATH
    )
