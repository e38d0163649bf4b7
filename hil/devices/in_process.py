"""A controller in Python that runs in the bench's own process: python:MODULE:FUNCTION."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.common.nearest import nearest
from limberjack.hil.devices.device import Link, Wiring
from limberjack.hil.errors import ControllerError

SCHEME = "python:"
#: from simulated time, s, and signals (ns,) to commands (nc,); None: no answer this time
Law = Callable[[float, np.ndarray], Sequence[float] | np.ndarray | None]
#: makes the law of a run: factory(wiring, **options)
Factory = Callable[..., Law]


class Controller:
    """The law that a factory makes for a run; its errors name the controller and the line.

    factory : called with the Wiring and the options
    """

    def __init__(self, name: str, factory: Factory) -> None:
        self.name, self._factory = name, factory
        self._law: Law | None = None

    def make(self, wiring: Wiring, options: Mapping[str, Any]) -> None:
        """Make the law. ControllerError with its place if it raises."""
        try:
            self._law = self._factory(wiring, **options)
        except (Exception, SystemExit) as error:
            raise ControllerError(f"controller '{self.name}' could not be made: {self._cause(error)}") from error
        if not callable(self._law):
            raise ControllerError(
                f"controller '{self.name}': its function returned {type(self._law).__name__}; return a function of "
                "time and signals that returns commands."
            )

    def __call__(self, time: float, signals: np.ndarray) -> Sequence[float] | np.ndarray | None:
        """The law's answer to signals, an array that it may keep. Raises ControllerError if the law raises."""
        assert self._law is not None
        try:
            return self._law(time, signals)
        except (Exception, SystemExit) as error:
            raise ControllerError(
                f"controller '{self.name}' raised at t = {time:.6g} s: {self._cause(error)}"
            ) from error

    def forget(self) -> None:
        """Release the law, and close it if it has a method `close`."""
        law, self._law = self._law, None
        if callable(close := getattr(law, "close", None)):
            close()

    def _cause(self, error: BaseException) -> str:
        return _cause(error, getattr(getattr(self._factory, "__code__", None), "co_filename", ""))


class InProcessDevice:
    """Calls a law with every message; its commands are received in the frame after.

    factory : called with the Wiring and the options when the device is opened
    """

    def __init__(self, name: str, factory: Factory, options: Mapping[str, Any] | None = None) -> None:
        self.name, self.link = name, Link()
        self._controller, self._options = Controller(name, factory), dict(options or {})
        self._size, self._answer = 0, np.zeros(0)
        self._fresh = False

    def open(self, wiring: Wiring) -> None:
        """Make the law. ControllerError with its place if it raises."""
        self.link, self._fresh = Link(), False
        self._size = len(wiring.commands)
        self._answer = np.zeros(self._size)
        self._controller.make(wiring, self._options)

    def send(self, frame: int, time: float, signals: np.ndarray) -> None:
        """Call the law."""
        self.link.sent += 1
        found = self._controller(time, signals.copy())
        if found is None:
            return
        try:
            self._answer = arguments.vector(f"commands of controller '{self.name}'", found, (self._size,))
        except ArgumentError as error:
            self.link.reject(str(error))
            return
        self.link.received += 1
        self._fresh = True

    def receive(self, time: float, commands: np.ndarray) -> bool:
        """The answer to the last message."""
        if not self._fresh:
            return False
        commands[:] = self._answer
        self._fresh, self.link.last_time = False, time
        return True

    def answer(self, time: float, commands: np.ndarray, limit_s: float) -> bool:
        """As `receive`: the law has already answered, or it never will."""
        return self.receive(time, commands)

    def close(self) -> None:
        """Forget the law."""
        self._controller.forget()


def in_process(uri: str, name: str, options: Mapping[str, Any], folder: Path) -> InProcessDevice:
    """The device of a URI python:MODULE:FUNCTION. Raises as `factory_of`."""
    return InProcessDevice(name, factory_of(SCHEME, uri, options, folder), options)


def factory_of(scheme: str, uri: str, options: Mapping[str, Any], folder: Path) -> Factory:
    """The function of a URI scheme + MODULE:FUNCTION.

    MODULE is a file beside the scenario, with or without .py, or a module that can be imported.
    ArgumentError if there is no such module or function, or it does not take the options.
    """
    module_name, _, function = uri.removeprefix(scheme).partition(":")
    if not module_name or not function:
        raise ArgumentError(f"'{uri:.200}' names no function; write {scheme}MODULE:FUNCTION.")
    module = _module(module_name, folder)
    factory = getattr(module, function, None)
    if not callable(factory):
        known = [word for word in vars(module) if not word.startswith("_") and callable(getattr(module, word))]
        arguments.index_of(f"function of {module_name}", function, known)
        raise ArgumentError(f"'{function}' of {module_name} is not a function.")
    _check_options(factory, function, options)
    found: Factory = factory
    return found


def _check_options(factory: Factory, function: str, options: Mapping[str, Any]) -> None:
    """Raise ArgumentError if the function does not take these options besides the wiring."""
    try:
        signature = inspect.signature(factory)
    except (TypeError, ValueError):  # not a Python function: the call will show it
        return
    try:
        signature.bind(None, **options)
    except TypeError as error:
        _refuse_unknown(signature, function, options)
        raise ArgumentError(
            f"{function}{signature} is called with the wiring and the options, and {error}; correct the options."
        ) from None


def _refuse_unknown(signature: inspect.Signature, function: str, options: Mapping[str, Any]) -> None:
    """Raise ArgumentError for the first option that is no parameter after the wiring."""
    known = [each.name for each in list(signature.parameters.values())[1:]]
    unknown = next((name for name in options if name not in known), None)
    if unknown is None:
        return
    near = nearest(unknown, known)
    takes = f"it takes {arguments.shorten(known)}" if known else "it takes none; leave them out"
    hint = f"did you mean '{near[0]}'?" if near else f"{takes}."
    raise ArgumentError(f"options of function '{function}': unknown '{unknown:.100}', {hint}")


def _module(name: str, folder: Path) -> ModuleType:
    """A file beside the scenario, else an importable module."""
    path = folder / (name if name.endswith(".py") else f"{name}.py")
    try:
        if not path.is_file():
            return importlib.import_module(name)
        spec = importlib.util.spec_from_file_location(f"_limberjack_controller_{path.stem}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module  # dataclasses look their module up
        with _beside(path.parent):
            spec.loader.exec_module(module)
        return module
    except ImportError as error:
        if path.is_file():
            raise ArgumentError(f"controller module {path} cannot be imported: {_cause(error, str(path))}") from error
        raise ArgumentError(
            f"controller module '{name}' cannot be imported ({error}), and there is no {path}."
        ) from None
    except (Exception, SystemExit) as error:
        raise ArgumentError(f"controller module '{name}' cannot be imported: {_cause(error, str(path))}") from error


@contextlib.contextmanager
def _beside(folder: Path) -> Iterator[None]:
    """Within this context, the imported file of a controller finds the modules beside it."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def _cause(error: BaseException, file: str) -> str:
    """The last line of an error's traceback, and the innermost line of a controller's file that led to it."""
    last = traceback.format_exception_only(error)[-1].strip()
    places = traceback.extract_tb(error.__traceback__)
    place = ([place for place in places if place.filename == file] or places)[-1]
    return f"{last} ({Path(place.filename).name}:{place.lineno}: {place.line})"
