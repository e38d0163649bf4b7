"""Which addresses devices may use: loopback freely, others only with a key and a list of allowed hosts."""

from __future__ import annotations

import ipaddress

from limberjack.addresses import Address
from limberjack.engine.common.errors import ArgumentError


def check_addresses(addresses: list[Address], keyed: bool, allow: frozenset[str], where: str) -> None:
    """Refuse to reach beyond this machine without a key and a list of allowed hosts."""
    beyond = [str(item) for item in addresses if not item.local]
    beyond += [host for host in sorted(allow) if not ipaddress.ip_address(host).is_loopback]
    if beyond and not (keyed and allow):
        lacks = "key_file" if not keyed else "allow"
        raise ArgumentError(
            f"{where}: {beyond[0]} is not this machine, and whoever reaches it could command the bench. Stay on "
            f"127.0.0.1, or give {lacks} too: beyond loopback key_file (messages carry an HMAC) and allow (the hosts "
            "that are heard) are needed."
        )
