"""Devices by URI: udp://127.0.0.1:9000?layout=servo.yaml."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, urlsplit

from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.common.nearest import nearest
from limberjack.hil.devices import message_links
from limberjack.hil.devices.can_bus import can_link
from limberjack.hil.devices.device import Device, Wiring
from limberjack.hil.devices.options import Made, Options
from limberjack.hil.devices.twin import Law, TwinController
from limberjack.hil.devices.zmq_peer import zmq_link


def device_from(
    uri: str, name: str, options: Mapping[str, Any] | None = None, folder: Path | str | None = None
) -> Device:
    """The device that a URI means; nothing is opened yet.

    options : besides those in the URI's query, each given once;  folder : base of relative paths
    ArgumentError for an unknown scheme, option or value; MissingExtraError when a package is missing.
    """
    return _made(uri, options, folder)[0](name)


def twin_from(
    uri: str, wiring: Wiring, law: Law, options: Mapping[str, Any] | None = None, folder: Path | str | None = None
) -> TwinController:
    """A controller in Python for the other end of `device_from` with the same URI and options; nothing is opened yet.

    wiring : of the device;  law : from simulated time, s, and signals (ns,) to commands (nc,)
    """
    peer = _made(uri, options, folder)[1]
    return TwinController(lambda: peer(wiring), law)


def _made(uri: str, options: Mapping[str, Any] | None, folder: Path | str | None) -> Made:
    try:
        parts = urlsplit(uri)
        query = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError as error:
        where = f"device URI '{uri:.200}' cannot be read"
        raise ArgumentError(f"{where}: {error}; see docs/reference/devices.md.") from None
    if parts.scheme not in SCHEMES:
        near = nearest(parts.scheme, SCHEMES, count=1)
        known = ", ".join(f"{scheme}://" for scheme in SCHEMES)
        hint = (
            f"did you mean {near[0]}://?"
            if near
            else f"there are: {known}; in this process python:MODULE:FUNCTION, arrays:MODULE:FUNCTION and fmu:PATH."
        )
        raise ArgumentError(f"device URI '{uri:.200}': no device has the scheme '{parts.scheme}'; {hint}")
    given = dict(query)
    for key, value in (options or {}).items():
        if key in given:
            raise ArgumentError(f"{uri}: {key} is in the URI and among the options; give it once.")
        given[key] = value
    if len(query) > len({key for key, _ in query}) or parts.fragment:
        raise ArgumentError(f"device URI '{uri:.200}' has an option twice or a '#'; give each option once.")
    chosen = Options(given, uri, Path(folder or "."))
    made = SCHEMES[parts.scheme](parts, chosen)
    chosen.finish()
    return made


#: scheme → function that makes the device of a URI and its options
SCHEMES: dict[str, Callable[[SplitResult, Options], Made]] = {
    "udp": message_links.udp,
    "tcp": message_links.tcp,
    "serial": message_links.serial,
    "shm": message_links.shm,
    "zmq": zmq_link,
    "can": can_link,
}
