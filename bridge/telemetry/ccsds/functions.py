"""The functions that a telecommand of service 8 can ask for."""

from __future__ import annotations

from enum import IntEnum

#: bytes of a name that is not given by its number in a list: UTF-8, padded with zeros
NAME_BYTES = 64


class Function(IntEnum):
    """Number of a function in packets.

    names : which list of the vocabulary its argument is from, "" for none;  about : one line for people
    """

    COMMAND = 1, "", "values of commands"
    ATTACH = 2, "loop", "closes a loop"
    RELEASE = 3, "loop", "opens a loop"
    LOCK = 4, "hinge", "holds a hinge where it is"
    UNLOCK = 5, "hinge", "lets a hinge move again"
    RESET = 6, "", "puts the simulation back to its beginning"
    GIVE_UP = 7, "", "gives the command lease up"
    FAULT = 8, "", "begins a fault of the scenario that a test bench runs"
    CLEAR = 9, "", "ends a fault of the scenario that a test bench runs"

    names: str
    about: str

    def __new__(cls, number: int, names: str, about: str) -> Function:
        function = int.__new__(cls, number)
        function._value_ = number
        function.names, function.about = names, about
        return function

    @property
    def takes_fault(self) -> bool:
        """Whether its argument is the name of a fault; only the running bench knows these names."""
        return self in (Function.FAULT, Function.CLEAR)


FUNCTIONS = {int(function): function for function in Function}
