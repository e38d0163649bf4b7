"""The options of `--ccsds URI`: where packets go, which packets, and whether telecommands are accepted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from limberjack.addresses import Address, address
from limberjack.bridge.telemetry.ccsds.schema import DEFAULT, PacketsSpec, SourceSpec, read_packets
from limberjack.engine.common.errors import ArgumentError

FORM = "udp://127.0.0.1:10015 or tcp://127.0.0.1:10015"
_KNOWN = ("packets", "commands")
_WORDS = {"yes": True, "true": True, "no": False, "false": False}


@dataclass(frozen=True)
class Options:
    """One CCSDS outlet.

    scheme : "udp" sends each packet as a datagram to the address, "tcp" listens there and sends to all who connect
    commands : address for telecommands, None: refused. Over TCP they use the same connections, so the same address
    folder : base of paths in the file of packets
    """

    scheme: str
    address: Address
    spec: PacketsSpec
    commands: Address | None
    folder: Path

    def __str__(self) -> str:
        return f"{self.scheme}://{self.address}"


def options_from(text: str, settings: Mapping[str, Any], folder: Path = Path()) -> Options:
    """Options of a URI with ?packets=FILE&commands=PORT (UDP) or &commands=yes (TCP).

    settings : the same keys from the gateway's file;  folder : base of a relative FILE

    ArgumentError or ModelError, with the remedy.
    """
    parts = urlsplit(text)
    where = f"--ccsds {text}"
    if parts.scheme not in ("udp", "tcp") or parts.path not in ("", "/") or parts.fragment or "@" in parts.netloc:
        raise ArgumentError(f"{where}: not understood; give {FORM}.")
    given = {**settings, **dict(parse_qsl(parts.query, keep_blank_values=True))}
    for key in given:
        if key not in _KNOWN:
            raise ArgumentError(f"{where}: there is no option '{key}'; there are {' and '.join(_KNOWN)}.")
    target = address(parts.netloc, where, least_port=0 if parts.scheme == "tcp" else 1)
    packets = given.get("packets")
    file = None if packets is None else folder / str(packets)
    spec = DEFAULT if file is None else read_packets(file)
    commands = _commands(parts.scheme, given.get("commands", False), target, where)
    options = Options(parts.scheme, target, spec, commands, folder if file is None else file.parent)
    _check_reach(options, where)
    return options


def _commands(scheme: str, given: object, target: Address, where: str) -> Address | None:
    """The address for telecommands."""
    text = str(given).lower()
    if text in ("no", "false"):
        return None
    if scheme == "tcp":
        if _WORDS.get(text) is not True:
            raise ArgumentError(
                f"{where}: commands={given}: over TCP telecommands come on the same connections; give yes or no."
            )
        return target
    if text in ("yes", "true"):
        raise ArgumentError(f"{where}: commands={given}: give the port for telecommands, as 10025.")
    return address(text if ":" in text else f"127.0.0.1:{text}", f"{where}: commands", least_port=0)


def _check_reach(options: Options, where: str) -> None:
    """Refuse addresses that other machines can reach without keys."""
    if options.scheme == "tcp" and not options.address.local:
        raise ArgumentError(
            f"{where}: other machines can reach this address, and packets over TCP need no key. Listen on 127.0.0.1 "
            "and go through ssh -L, or send datagrams: udp://HOST:PORT."
        )
    heard, sources = options.commands, options.spec.sources
    if heard is not None and not heard.local and not (sources and all(each.key_file for each in sources)):
        raise ArgumentError(
            f"{where}: telecommands at {heard} could come from other machines, and anyone there could command the "
            "simulation. Listen on 127.0.0.1, or give a file of packets in which all sources have a key_file."
        )


def key_path(source: SourceSpec, folder: Path) -> Path | None:
    """The key file of a source; its path begins at the folder of the file of packets."""
    return None if source.key_file is None else folder / source.key_file
