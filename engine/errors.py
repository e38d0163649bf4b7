"""Every error that a user, a file, a client or an importer can cause.

Each message says what is wrong, where (file, line or field path, name), why, and how to mend it.
"""

from __future__ import annotations


class LimberjackError(Exception):
    """Base of all errors that Limberjack raises on purpose."""


class ModelError(LimberjackError, ValueError):
    """A model file, or a System built by hand, that cannot be simulated.

    Parameters
    ----------
    what : what is wrong, one sentence without a full stop
    where : file, line or field path, as a user would look for it ("arm.yaml:12, bodies[2].mass")
    mend : how to put it right, one imperative sentence without a full stop
    """

    def __init__(self, what: str, *, where: str = "", mend: str = "") -> None:
        self.what, self.where, self.mend = what, where, mend
        message = f"{where}: {what}" if where else what
        super().__init__(" ".join(_sentence(part) for part in (message, mend) if part))

    def __reduce__(self) -> tuple:
        return _rebuild_model_error, (type(self), self.what, self.where, self.mend)


def _sentence(text: str) -> str:
    return text if text.endswith("?") else f"{text}."


def _rebuild_model_error(kind: type[ModelError], what: str, where: str, mend: str) -> ModelError:
    return kind(what, where=where, mend=mend)


class ModelWarning(UserWarning):
    """A model that is kept as given although it breaks a physical rule (public URDFs often do)."""


class ArgumentError(LimberjackError, ValueError):
    """An argument of the wrong name, shape, type or value."""


class UnknownNameError(ArgumentError, KeyError):
    """A name that the model does not have; a KeyError too, so that mappings keep their contract."""

    def __str__(self) -> str:
        return str(self.args[0])


class SimulationError(LimberjackError, RuntimeError):
    """A step that could not be completed; names the body or hinge and the time.

    The simulation stays at its last good state.
    """


class MissingExtraError(LimberjackError, ImportError):
    """An optional dependency that this feature needs is not installed."""

    def __init__(self, feature: str, package: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs the package '{package}', which is not installed. "
            f'Install it with: pip install "limberjack[{extra}]".'
        )
