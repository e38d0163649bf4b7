"""The console as an outlet of the gateway: from its option and settings to a server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from limberjack.bridge.console.access import Access, Address, read_tokens
from limberjack.bridge.console.web_server import Console, Settings
from limberjack.bridge.telemetry.outlets.registry import Context
from limberjack.engine.common.errors import ArgumentError

_FILES = ("tokens", "tls_cert", "tls_key")
_MOST_HZ = 50.0


def make(text: str, context: Context) -> Console:
    """The outlet "console". text : PORT or HOST:PORT. Raises ArgumentError, EndpointError, KeyFileError, AssetError.

    settings : files `tokens`, `tls_cert` and `tls_key`; `live_hz`, messages a second to each browser
    """
    settings = dict(context.settings)
    live_hz = settings.pop("live_hz", Settings.live_hz)
    files = {name: _file(name, settings.pop(name, None), context.folder) for name in _FILES}
    if settings:
        known = ", ".join((*_FILES, "live_hz"))
        raise ArgumentError(f"console: there is no option '{min(settings)}'. Choose from {known}.")
    if not isinstance(live_hz, (int, float)) or not 0.1 <= live_hz <= _MOST_HZ:
        raise ArgumentError(f"console: live_hz is {live_hz!r}; give messages a second from 0.1 to {_MOST_HZ:g}.")
    tokens = {} if files["tokens"] is None else read_tokens(files["tokens"])
    access = Access(tokens, files["tls_cert"], files["tls_key"])
    return Console(Settings(Address.parse(text), access, float(live_hz)), context.gateway)


def _file(name: str, value: Any, folder: Path) -> Path | None:
    if value is None:
        return None
    if not isinstance(value, (str, Path)):
        raise ArgumentError(f"console: {name} is {value!r}; give the path of a file.")
    return folder / value
