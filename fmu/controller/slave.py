"""A loaded Co-Simulation FMU, with one interface for both versions of FMI; FMPy makes the calls.

Every failure is a FmuError that carries the FMU's own log lines.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from limberjack.fmu.controller.errors import FmuError
from limberjack.fmu.controller.ports import Group

#: log lines kept and reported
_MOST_LINES = 12
_LONGEST_LINE = 400
_STATUS = ("OK", "warning", "discard", "error", "fatal", "pending")
_DISCARD, _FATAL, _PENDING = 2, 4, 5
_FMI2_LAST_TIME, _FMI2_TERMINATED = 2, 3


class Slave:
    """One FMU, loaded; instantiated again with each `instantiate`."""

    def __init__(self, name: str, description: Any, folder: Path) -> None:
        """folder : to which the FMU was unpacked; the caller removes it"""
        self.name = name
        self.log: deque[str] = deque(maxlen=_MOST_LINES)
        self.can_restore = bool(description.coSimulation.canGetAndSetFMUstate)
        self.can_serialize = self.can_restore and bool(description.coSimulation.canSerializeFMUstate)
        self._folder = folder
        self._fmi2 = str(description.fmiVersion) == "2.0"
        self._fmu: Any = None
        self._alive = self._initialised = False
        self._fatal = False
        self._saved: weakref.WeakSet[_Pointer] = weakref.WeakSet()
        self._log_number = 0
        self._load(description)

    def _load(self, description: Any) -> None:
        from fmpy.fmi1 import FMICallException
        from fmpy.fmi2 import FMU2Slave
        from fmpy.fmi3 import FMU3Slave

        self._call_error: type[Exception] = FMICallException
        kind = FMU2Slave if self._fmi2 else FMU3Slave
        here = os.getcwd()
        try:
            self._fmu = kind(
                guid=description.guid,
                unzipDirectory=str(self._folder),
                modelIdentifier=description.coSimulation.modelIdentifier,
                instanceName=self.name,
            )
        except Exception as error:  # fmpy raises plain Exceptions, and AttributeErrors for missing functions
            raise FmuError(self.name, f"its library cannot be loaded: {error}.") from error
        finally:
            os.chdir(here)  # fmpy changes the folder, and leaves it changed where loading fails

    # ---- life

    def instantiate(self) -> None:
        """A fresh instance, in place of any earlier one. It logs in all categories: some FMUs log errors without
        one."""
        self.free()
        self.log.clear()
        try:
            if self._fmi2:
                self._log_number, callbacks = _Fmi2Log.callbacks(self.log)
                self._fmu.instantiate(callbacks=callbacks, loggingOn=True)
            else:
                self._fmu.instantiate(loggingOn=True, logMessage=_logger_of(self.log))
        except Exception as error:  # fmpy raises a plain Exception
            raise FmuError(self.name, "it cannot be instantiated.", list(self.log)) from error
        self._alive = True

    def configure(self, write: Callable[[], None]) -> None:
        """Write structural parameters in configuration mode."""
        self.call("entering configuration mode", self._fmu.enterConfigurationMode)
        write()
        self.call("leaving configuration mode", self._fmu.exitConfigurationMode)

    def enter_initialisation(self, time: float) -> None:
        if self._fmi2:
            self.call("setting up the experiment", self._fmu.setupExperiment, None, time, None)
            self.call("entering initialisation", self._fmu.enterInitializationMode)
        else:
            self.call("entering initialisation", self._fmu.enterInitializationMode, None, time, None)

    def exit_initialisation(self) -> None:
        self.call("leaving initialisation", self._fmu.exitInitializationMode)
        self._initialised = True

    def free(self) -> None:
        """End the instance, if there is one. After a fatal error no call is allowed, so its memory is not freed."""
        if self._alive and not self._fatal:
            for pointer in list(self._saved):
                self.release(pointer)
            if self._initialised:
                with contextlib.suppress(Exception):  # its answer here changes nothing
                    self._fmu.terminate()
            release = self._fmu.fmi2FreeInstance if self._fmi2 else self._fmu.fmi3FreeInstance
            release(self._fmu.component)
        self._alive = self._initialised = False
        _Fmi2Log.forget(self._log_number)

    def close(self) -> None:
        """End the instance, unload the library; may be called twice."""
        self.free()
        if self._fmu is not None and not self._fatal:
            self._fmu.freeLibrary()
        self._fmu = None

    # ---- values and steps

    def write(self, group: Group) -> None:
        """Give the FMU the values in the group's buffer."""
        fmu = self._fmu
        if self._fmi2:
            call = getattr(fmu, f"fmi2Set{group.call}")
            self.call("taking values", call, fmu.component, group.references, len(group.ports), group.buffer)
        else:
            call = getattr(fmu, f"fmi3Set{group.call}")
            count = len(group.ports)
            self.call("taking values", call, fmu.component, group.references, count, group.buffer, group.size)

    def read(self, group: Group) -> None:
        """Fetch the FMU's values into the group's buffer."""
        fmu = self._fmu
        if self._fmi2:
            call = getattr(fmu, f"fmi2Get{group.call}")
            self.call("giving values", call, fmu.component, group.references, len(group.ports), group.buffer)
        else:
            call = getattr(fmu, f"fmi3Get{group.call}")
            count = len(group.ports)
            self.call("giving values", call, fmu.component, group.references, count, group.buffer, group.size)

    def write_text(self, reference: int, text: str) -> None:
        self.call("taking a text", self._fmu.setString, [reference], [text])

    def do_step(self, time: float, step: float) -> None:
        """One communication step from `time` over `step` seconds."""
        doing = f"stepping from t = {time:.9g} s by {step:.9g} s"
        if self._fmi2:
            _Fmi2Log.claim()
            self.call(doing, self._fmu.doStep, time, step, not self.can_restore)
            return
        _, ends, early, last = self.call(doing, self._fmu.doStep, time, step, not self.can_restore)
        if ends:
            raise self.error(f"it asked to end the simulation while {doing}.")
        if early:
            raise self.error(f"it returned early, at t = {last:.9g} s, while {doing}, which it was not allowed to.")

    def call(self, doing: str, function: Callable[..., Any], *values: Any) -> Any:
        """Call the FMU; raises FmuError for a status worse than a warning."""
        if self._fatal:
            raise self.error("it failed fatally before and cannot be used any more in this process.")
        try:
            return function(*values)
        except self._call_error as error:
            function_name, status = error.function, error.status  # type: ignore[attr-defined]
            self._fatal = status == _FATAL
            self._initialised = self._initialised and status == _DISCARD  # after an error only freeing is allowed
            raise self.error(self._blame(doing, function_name, status)) from None

    def error(self, what: str) -> FmuError:
        return FmuError(self.name, what, list(self.log))

    def _blame(self, doing: str, function: str, status: int) -> str:
        word = _STATUS[status] if 0 <= status < len(_STATUS) else f"the unknown status {status}"
        text = f"{function} returned {word} while {doing}"
        if status == _PENDING:
            return f"{text}; FMUs that step asynchronously cannot be used."
        if status == _DISCARD and self._fmi2 and function == "fmi2DoStep":
            with contextlib.suppress(Exception):
                if self._fmu.getBooleanStatus(_FMI2_TERMINATED):
                    return f"it asked to end the simulation while {doing}."
                text += f"; it got to t = {self._fmu.getRealStatus(_FMI2_LAST_TIME):.9g} s"
        if status == _DISCARD:
            return f"{text}; a smaller period may help."
        return f"{text}."

    # ---- state

    def state(self) -> bytes | _Pointer:
        """The FMU's whole state: bytes where it can serialise, else something only this instance understands."""
        pointer = self.call("saving its state", self._fmu.getFMUState)
        if not self.can_serialize:
            kept = _Pointer(self, self._fmu.component, pointer)
            self._saved.add(kept)
            return kept
        try:
            data: bytes = self.call("serialising its state", self._fmu.serializeFMUState, pointer)
        finally:
            self.call("releasing a state", self._fmu.freeFMUState, pointer)
        return data

    def restore(self, state: bytes | _Pointer) -> None:
        """Return to a state."""
        if isinstance(state, _Pointer):
            if state.slave is not self or state.component != self._fmu.component:
                raise self.error("the snapshot was taken before it was started again, and it cannot serialise states.")
            self.call("restoring its state", self._fmu.setFMUState, state.pointer)
            return
        pointer = self.call("reading a serialised state", self._fmu.deserializeFMUState, state)
        try:
            self.call("restoring its state", self._fmu.setFMUState, pointer)
        finally:
            self.call("releasing a state", self._fmu.freeFMUState, pointer)

    def release(self, state: _Pointer) -> None:
        """Free a state, once, while its instance lives."""
        if self._alive and not self._fatal and state.component is not None:
            state.component = None
            with contextlib.suppress(Exception):
                self._fmu.freeFMUState(state.pointer)


class _Pointer:
    """A state inside the FMU, freed with this object."""

    def __init__(self, slave: Slave, component: Any, pointer: Any) -> None:
        self.slave, self.component, self.pointer = slave, component, pointer

    def __del__(self) -> None:
        self.slave.release(self)


# ---- log lines


def _line(status: int, category: bytes | None, message: bytes | None) -> str:
    word = _STATUS[status] if 0 <= status < len(_STATUS) else str(status)
    text = " ".join((message or b"").decode(errors="replace").split())[:_LONGEST_LINE]
    return f"[{word}] {(category or b'').decode(errors='replace')}: {text}"


def _logger_of(log: deque[str]) -> Callable[..., None]:
    """FMI 3 callback that keeps lines in `log`."""

    def keep(_environment: Any, status: int, category: bytes | None, message: bytes | None) -> None:
        log.append(_line(status, category, message))

    return keep


class _Fmi2Log:
    """FMI 2 delivers log lines through a variadic callback. FMPy's C proxy formats them, but keeps one receiver for the
    whole process. Ours is therefore one function, which distinguishes instances by their environment number."""

    _numbers: Iterator[int] = itertools.count(1)
    _logs: dict[int, deque[str]] = {}  # noqa: RUF012 (one per process on purpose)
    _receiver: Any = None
    _claim: Any = None
    _proxy: Any = None

    @classmethod
    def callbacks(cls, log: deque[str]) -> tuple[int, Any]:
        """Number and callbacks of a new instance that logs to `log`."""
        from fmpy import calloc, fmi2, free
        from fmpy.logging import addLoggerProxy

        if cls._receiver is None:
            cls._receiver = fmi2.fmi2CallbackLoggerTYPE(cls._receive)
            cls._claim, cls._proxy = fmi2.fmi2CallbackFunctions(), addLoggerProxy
        callbacks = fmi2.fmi2CallbackFunctions()
        callbacks.allocateMemory = fmi2.fmi2CallbackAllocateMemoryTYPE(calloc)
        callbacks.freeMemory = fmi2.fmi2CallbackFreeMemoryTYPE(free)
        number = next(cls._numbers)
        callbacks.componentEnvironment = number
        cls._logs[number] = log
        callbacks.logger = cls.claim()
        return number, callbacks

    @classmethod
    def forget(cls, number: int) -> None:
        cls._logs.pop(number, None)

    @classmethod
    def claim(cls) -> Any:
        """Make this the receiver of FMPy's proxy again, since other FMUs may have replaced it. Returns the proxy."""
        cls._claim.logger = cls._receiver
        cls._proxy(ctypes.byref(cls._claim))
        return cls._claim.logger

    @classmethod
    def _receive(
        cls, environment: int | None, _name: bytes | None, status: int, category: bytes | None, message: bytes | None
    ) -> None:
        log = cls._logs.get(environment or 0)
        if log is not None:
            log.append(_line(status, category, message))
        else:
            print(_line(status, category, message))
