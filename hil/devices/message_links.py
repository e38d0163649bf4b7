"""Devices that speak binary messages: UDP, TCP, serial lines, shared memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import SplitResult

from limberjack.addresses import Address, address, host_number, read_key
from limberjack.engine.common.errors import ArgumentError
from limberjack.hil.devices.allowed_addresses import check_addresses
from limberjack.hil.devices.channel import Channel, Codec, MessageDevice, MessagePeer
from limberjack.hil.devices.message_layout import read_layout
from limberjack.hil.devices.options import LONGEST_WAIT_S, Made, Options
from limberjack.hil.devices.serial_port import PtyChannel, PtyEnd, SerialChannel, pyserial
from limberjack.hil.devices.shared_memory import ShmChannel, path_of
from limberjack.hil.devices.tcp import TcpClient, TcpServer
from limberjack.hil.devices.udp import UdpChannel


def udp(parts: SplitResult, options: Options) -> Made:
    """udp://HOST:PORT: the controller's address; bind: the bench's own."""
    peer = address(parts.netloc, options.where)
    family = "[::1]:0" if ":" in peer.host else "127.0.0.1:0"
    bind = address(options.text("bind", family), f"{options.where}: bind", 0)
    codec, allow = _codec(options, [peer, bind])
    return _over(UdpChannel(bind, peer, allow | {peer.host}), UdpChannel(peer, None, allow | {bind.host}), codec)


def tcp(parts: SplitResult, options: Options) -> Made:
    """tcp://HOST:PORT: where the controller listens; with listen=true, where the bench does."""
    place = address(parts.netloc, options.where)
    listen, wait_s = options.flag("listen"), options.number("wait_s", 5.0, 0.0, LONGEST_WAIT_S)
    codec, allow = _codec(options, [place])
    server = TcpServer(place, codec.framing, allow | {place.host}, wait_s if listen else 0.0)
    client = TcpClient(place, codec.framing, 0.0 if listen else wait_s)
    return _over(server, client, codec) if listen else _over(client, server, codec)


def serial(parts: SplitResult, options: Options) -> Made:
    """serial:///dev/ttyUSB0?baud=115200; serial://pty?link=PATH: a pseudo-terminal whose other end is at PATH."""
    codec, _ = _codec(options, [])
    settings = {
        "baudrate": options.whole("baud", 115200, 50, 20_000_000),
        "parity": options.text("parity", "none", ("none", "even", "odd"))[0].upper(),
        "stopbits": options.whole("stop", 1, 1, 2),
        "rtscts": options.flag("rtscts"),
        "exclusive": True,
    }
    link = options.path("link")
    if parts.netloc == "pty" and not parts.path and link is not None:
        return _over(PtyChannel(link, codec.framing), PtyEnd(link, codec.framing), codec)
    if parts.netloc or not parts.path or link is not None:
        raise ArgumentError(f"{options.where}: give serial:///dev/ttyUSB0 (three slashes) or serial://pty?link=PATH.")
    pyserial()
    port = SerialChannel(parts.path, codec.framing, settings)
    return _over(port, port, codec)


def shm(parts: SplitResult, options: Options) -> Made:
    """shm://NAME."""
    path = path_of(parts.netloc + parts.path, options.where)
    codec, _ = _codec(options, [])
    return _over(ShmChannel(path, True), ShmChannel(path, False), codec)


def _codec(options: Options, addresses: list[Address]) -> tuple[Codec, frozenset[str]]:
    """Layout and key, and the hosts that are heard; refused when addresses reach beyond this machine without."""
    where, key_file = options.where, options.path("key_file")
    given, layout = options.get("layout"), None
    if given is not None:
        layout = read_layout(given if isinstance(given, Mapping) else options.path("layout") or Path())
    allow = (
        frozenset(host_number(host, f"{where}: allow") for host in options.texts("allow")) if addresses else frozenset()
    )
    check_addresses(addresses, key_file is not None, allow, where)
    return Codec(layout, read_key(key_file) if key_file is not None else b""), allow


def _over(ours: Channel, theirs: Channel, codec: Codec) -> Made:
    return (
        lambda name: MessageDevice(name, ours, codec),
        lambda wiring: MessagePeer(theirs, codec, wiring),
    )
