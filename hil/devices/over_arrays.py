"""Which devices are controllers over arrays, so that they can serve all worlds of a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from limberjack.hil.devices import arrays, fmu_law
from limberjack.hil.devices.in_process import Factory, factory_of

#: scheme of a URI → function of (URI, options, folder of the scenario) that returns the factory of a law
FACTORIES: dict[str, Callable[[str, Mapping[str, Any], Path], Factory]] = {
    arrays.SCHEME: partial(factory_of, arrays.SCHEME),
    fmu_law.SCHEME: fmu_law.fmu_factory,
}


def scheme_of(uri: str) -> str:
    """The scheme of a URI, with its colon."""
    return f"{uri.partition(':')[0]}:"


def array_factory(uri: str, options: Mapping[str, Any], folder: Path) -> Factory:
    """The factory of the law of a URI. Raises as `factory_of` and `fmu_factory`."""
    return FACTORIES[scheme_of(uri)](uri, options, folder)


def array_device(uri: str, name: str, options: Mapping[str, Any], folder: Path) -> arrays.ArrayDevice:
    """The device of a URI, for a run by itself. Raises as `array_factory`."""
    return arrays.ArrayDevice(name, array_factory(uri, options, folder), options)
