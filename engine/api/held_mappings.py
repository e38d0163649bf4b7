"""The mappings of a simulation or a batch: their entries are set, the mappings stay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, Never, TypeVar

from limberjack.engine.common.errors import ArgumentError

_Commands = TypeVar("_Commands", bound=Mapping[str, Any])
_Parameters = TypeVar("_Parameters", bound=Mapping[str, Any])
_Outputs = TypeVar("_Outputs", bound=Mapping[str, Any])


class FixedAttributeError(ArgumentError, AttributeError):
    """An attribute that cannot be replaced; an AttributeError too, as of any property without a setter."""


class HeldMappings(Generic[_Commands, _Parameters, _Outputs]):
    """`command`, `parameters` and `output`. Assigning to one raises FixedAttributeError with the remedy."""

    def __init__(self, command: _Commands, parameters: _Parameters, output: _Outputs) -> None:
        self._command, self._parameters, self._output = command, parameters, output

    @property
    def command(self) -> _Commands:
        """Command name → value, SI, held until changed."""
        return self._command

    @command.setter
    def command(self, value: Never) -> None:
        raise _refused("command", self._command)

    @property
    def parameters(self) -> _Parameters:
        """Parameter name → value; not part of a snapshot, and kept by `reset` unless it is asked to restore them."""
        return self._parameters

    @parameters.setter
    def parameters(self, value: Never) -> None:
        raise _refused("parameters", self._parameters)

    @property
    def output(self) -> _Outputs:
        """Output name → value at the present state, SI."""
        return self._output

    @output.setter
    def output(self, value: Never) -> None:
        text = "outputs follow from the state and cannot be set. Set q, v, commands or parameters."
        raise FixedAttributeError(text)


def _refused(name: str, mapping: Mapping[str, Any]) -> FixedAttributeError:
    """The error of an assignment to a mapping."""
    first = next(iter(mapping), "NAME")
    entry = f"{name}['{first}'] = …"
    return FixedAttributeError(f"{name} cannot be replaced. Set its entries: {entry}, or {name}.update(…).")
