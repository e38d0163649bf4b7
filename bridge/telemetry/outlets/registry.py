"""All outlets of a gateway, and the context that each gets when it is made."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from limberjack.engine.common.errors import ArgumentError, MissingExtraError

if TYPE_CHECKING:
    from limberjack.bridge.telemetry.gateway import Gateway
    from limberjack.bridge.telemetry.sample import Outlet


@dataclass(frozen=True)
class Context:
    """The parts of the gateway that an outlet may use.

    gateway : `session()`, `commander`, `history`, `alarms()`, `tell`, `status()`; safe from any thread
    settings : this outlet's `options` in the gateway's file (docs/how-to/telemetry.md), or empty
    folder : where its relative paths begin
    """

    gateway: Gateway
    settings: Mapping[str, Any] = field(default_factory=dict)
    folder: Path = Path()


@dataclass(frozen=True)
class Kind:
    """One kind of outlet.

    name : option of `limberjack gateway` and key in its file;  metavar, help : for `--help`
    factory : "module:function" below this package; the function takes the option's text and a Context, and returns an
        Outlet, which may have `rate_hz`: samples a second that it wants at most
    extra, package : the extra of pyproject.toml and the package that it needs beyond Limberjack's own
    settings : whether it knows `options` in the gateway's file
    """

    name: str
    metavar: str
    help: str
    factory: str
    extra: str = ""
    package: str = ""
    settings: bool = field(default=False, kw_only=True)

    def make(self, text: str, context: Context) -> Outlet:
        """A new outlet, not yet open. ArgumentError for what it does not understand; MissingExtraError."""
        if context.settings and not self.settings:
            raise ArgumentError(f"outlet '{self.name}' has no options; leave {', '.join(context.settings)} out.")
        module, _, function = self.factory.partition(":")
        try:
            made: Callable[[str, Context], Outlet] = getattr(importlib.import_module(module, __package__), function)
        except ModuleNotFoundError as error:
            if not self.extra or (error.name or "").startswith("limberjack"):
                raise
            raise MissingExtraError(f"outlet '{self.name}'", self.package, self.extra) from None
        return made(text, context)


#: in the order of `limberjack gateway --help`; a new outlet is a line here
KINDS = (
    Kind("print", "IDS", "print quantities by identifier, as 'q.*', one line a sample", ".printing:make"),
    Kind("plotjuggler", "ADDRESS", "publish for PlotJuggler at tcp://127.0.0.1:9872", ".plotjuggler:make"),
    Kind("foxglove", "PORT", "serve Foxglove live at 8765", ".foxglove:make", "telemetry", "foxglove-sdk"),
    Kind("mcap", "FILE", "record to an MCAP file", ".mcap:make", "telemetry", "mcap"),
    Kind(
        "console",
        "PORT",
        "serve the web console at 8080",
        "limberjack.bridge.console.outlet:make",
        "console",
        "aiohttp",
        settings=True,
    ),
    Kind(
        "ccsds",
        "URI",
        "CCSDS packets: udp://127.0.0.1:10015?packets=FILE&commands=10025",
        "..ccsds.telemetry:make",
        settings=True,
    ),
    Kind(
        "fprime", "URI", "packets for fprime-gds that listens at tcp://127.0.0.1:50000", ".fprime:make", settings=True
    ),
    Kind(
        "yamcs", "URI", "JSON parameters for Yamcs: udp://127.0.0.1:11016?quantities=q.*", ".yamcs:make", settings=True
    ),
    Kind("prometheus", "PORT", "health over HTTP at 9464", ".prometheus:make", "telemetry", "prometheus_client"),
)


def kind_of(name: str) -> Kind | None:
    """The kind of this name."""
    return next((kind for kind in KINDS if kind.name == name), None)
