"""Errors of the bridge: refusals of an engine, failures of a client."""

from __future__ import annotations

from enum import StrEnum

from limberjack.engine.common.errors import ExitCode, LimberjackError


class Code(StrEnum):
    """Why a message was refused: the field ``code`` of an error message (docs/reference/protocol.md, "Errors")."""

    MALFORMED = "malformed"
    OVERSIZE = "oversize"
    VERSION = "version"
    UNKNOWN_TYPE = "unknown_type"
    UNKNOWN_CLIENT = "unknown_client"
    REPLAYED = "replayed"
    STALE = "stale"
    WRONG_LENGTH = "wrong_length"
    NON_FINITE = "non_finite"
    ARGUMENT = "argument"
    LEASE = "lease"
    ROLE = "role"
    BACKLOG = "backlog"
    MODE = "mode"
    SIMULATION = "simulation"
    STOPPING = "stopping"
    INTERNAL = "internal"


class BridgeError(LimberjackError, RuntimeError):
    """Base of all errors between a client and an engine process."""


class EndpointError(BridgeError, ValueError):
    """An endpoint that cannot be used: wrong form, not loopback, already taken, not permitted."""

    exit_code = ExitCode.BAD_INPUT


class KeyFileError(BridgeError, ValueError):
    """A CurveZMQ key file that is missing, unreadable, or readable by others."""

    exit_code = ExitCode.BAD_INPUT


class KeyRefusedError(BridgeError):
    """The engine does not accept this client's key, or one side uses keys and the other does not."""

    exit_code = ExitCode.BAD_INPUT


class EngineTimeoutError(BridgeError, TimeoutError):
    """No reply, or no published state, within the time that the caller allowed."""


class EngineLostError(BridgeError, ConnectionError):
    """The engine process went away: stopped, killed, or unreachable."""


class EngineStartError(BridgeError):
    """An engine process that ended, or did not answer, while it was being started."""


class RefusedError(BridgeError):
    """The engine answered with an error message; ``code`` says which kind."""

    exit_code = ExitCode.FAILED

    def __init__(self, code: str, text: str) -> None:
        self.code = code
        super().__init__(text)

    def __reduce__(self) -> tuple:
        return type(self), (self.code, str(self))


class LeaseError(RefusedError):
    """Another client holds the command lease."""
