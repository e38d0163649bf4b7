"""The bench's privileges on the machine: each is requested, none is required, and the results are reported."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError

#: from <sys/mman.h> and <sys/prctl.h> of Linux
_MCL_CURRENT, _MCL_FUTURE, _PR_SET_TIMERSLACK, _PR_GET_TIMERSLACK = 1, 2, 29, 30
#: longest that another thread may keep Python's lock once the bench asks for it, s
_SWITCH_INTERVAL_S = 2e-5
MOST_PRIORITY = 99


@dataclass(frozen=True)
class Right:
    """A requested privilege and whether the machine granted it; text: the value granted, or the reason and a remedy."""

    name: str
    granted: bool
    text: str


@dataclass(frozen=True)
class RealtimeRights:
    """Privileges to request while a run lasts.

    priority : SCHED_FIFO priority 1 to 99, None: the usual scheduler. Other threads that run Python get one less
    cpus : processors to stay on, empty: all
    lock_memory : no page of the process leaves memory
    freeze : garbage collector off, what exists now left aside. Reference cycles made in the loop stay until its end.
        Looking through all objects takes up to a second, which runs that keep no pace do without
    """

    priority: int | None = None
    cpus: tuple[int, ...] = ()
    lock_memory: bool = False
    freeze: bool = True

    def __post_init__(self) -> None:
        if self.priority is not None:
            arguments.count("priority", self.priority, 1, MOST_PRIORITY)
        for cpu in self.cpus:
            arguments.count("a processor's number", cpu, 0, 1 << 16)

    @contextlib.contextmanager
    def held(self) -> Iterator[tuple[Right, ...]]:
        """Request all privileges, for the calling thread and the threads it starts; restores everything at the end."""
        asked: list[Callable[[contextlib.ExitStack], Right]] = [_switch_interval, _timer_slack]
        if self.cpus:
            asked.append(self._affinity)
        if self.priority is not None:
            asked.append(self._fifo)
        if self.lock_memory:
            asked.append(_locked_memory)
        if self.freeze:
            asked.append(_frozen)
        with contextlib.ExitStack() as undo:
            yield tuple(ask(undo) for ask in asked)

    def _affinity(self, undo: contextlib.ExitStack) -> Right:
        name, numbers = "affinity", ", ".join(map(str, sorted(self.cpus)))
        if not hasattr(os, "sched_getaffinity"):
            return Right(name, False, "this system binds no thread to a processor.")
        before = os.sched_getaffinity(0)
        try:
            if not set(self.cpus) <= before:
                raise ArgumentError(f"choose from {sorted(before)}")
            os.sched_setaffinity(0, self.cpus)
        except (OSError, ArgumentError) as error:
            return Right(name, False, f"processor {numbers} is not available: {error}.")
        undo.callback(os.sched_setaffinity, 0, before)
        return Right(name, True, f"processor {numbers}")

    def _fifo(self, undo: contextlib.ExitStack) -> Right:
        name, priority = "SCHED_FIFO", self.priority
        if priority is None or not hasattr(os, "sched_setscheduler"):
            return Right(name, False, "this system has no such scheduler.")
        before = os.sched_getscheduler(0), os.sched_getparam(0)
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
        except OSError as error:
            remedy = "raise this user's rtprio limit (/etc/security/limits.conf) or grant CAP_SYS_NICE"
            return Right(name, False, f"priority {priority}: {error.strerror}; {remedy}.")
        undo.callback(os.sched_setscheduler, 0, *before)
        others = _raise_others(max(priority - 1, 1), undo)
        return Right(name, True, f"priority {priority}; other threads of the process that run Python: {others}")


def _raise_others(priority: int, undo: contextlib.ExitStack) -> str:
    """One that holds Python's lock keeps the loop waiting while something else has its processor: put it first."""
    raised = 0
    for thread in threading.enumerate():
        number = thread.native_id
        if number is None or thread is threading.current_thread():
            continue
        with contextlib.suppress(OSError):  # it has ended
            before = os.sched_getscheduler(number), os.sched_getparam(number)
            os.sched_setscheduler(number, os.SCHED_FIFO, os.sched_param(priority))
            undo.callback(_lower, number, *before)
            raised += 1
    return f"{raised} at {priority}" if raised else "none"


def _lower(number: int, policy: int, parameter: os.sched_param) -> None:
    with contextlib.suppress(OSError):  # it has ended
        os.sched_setscheduler(number, policy, parameter)


def _switch_interval(undo: contextlib.ExitStack) -> Right:
    """Threads that read sockets or write records give Python's lock back soon after the bench wakes."""
    undo.callback(sys.setswitchinterval, sys.getswitchinterval())
    sys.setswitchinterval(_SWITCH_INTERVAL_S)
    return Right("thread switch interval", True, f"{1e6 * _SWITCH_INTERVAL_S:g} µs")


def _timer_slack(undo: contextlib.ExitStack) -> Right:
    """Sleeps of this thread end within a nanosecond of their time, instead of within the kernel's 50 µs."""
    name = "timer slack"
    try:
        prctl = ctypes.CDLL(None, use_errno=True).prctl
        before = prctl(_PR_GET_TIMERSLACK, 0, 0, 0, 0)
        if before < 0 or prctl(_PR_SET_TIMERSLACK, ctypes.c_ulong(1), 0, 0, 0) != 0:
            return Right(name, False, f"{os.strerror(ctypes.get_errno())}.")
    except (OSError, AttributeError):
        return Right(name, False, "this system has no such setting.")
    undo.callback(prctl, _PR_SET_TIMERSLACK, ctypes.c_ulong(before), 0, 0, 0)
    return Right(name, True, "1 ns")


def _locked_memory(undo: contextlib.ExitStack) -> Right:
    name = "locked memory"
    try:
        library = ctypes.CDLL(None, use_errno=True)
        refused = library.mlockall(_MCL_CURRENT | _MCL_FUTURE)
    except (OSError, AttributeError):
        return Right(name, False, "this system locks no memory.")
    if refused:
        remedy = "raise this user's memlock limit (/etc/security/limits.conf) or grant CAP_IPC_LOCK"
        return Right(name, False, f"{os.strerror(ctypes.get_errno())}; {remedy}.")
    undo.callback(library.munlockall)
    return Right(name, True, "all pages, present and future")


def _frozen(undo: contextlib.ExitStack) -> Right:
    gc.collect()
    gc.freeze()
    undo.callback(gc.unfreeze)
    if gc.isenabled():
        gc.disable()
        undo.callback(gc.enable)
    return Right("garbage collector", True, f"off, {gc.get_freeze_count()} objects frozen")
