"""Who may send telecommands, and that none of theirs is taken twice."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from limberjack.addresses import read_key
from limberjack.bridge.telemetry.ccsds.authentic import Seal
from limberjack.bridge.telemetry.ccsds.options import key_path
from limberjack.bridge.telemetry.ccsds.packets import COUNTS, Telecommand
from limberjack.bridge.telemetry.ccsds.schema import SourceSpec
from limberjack.bridge.telemetry.orders import Actor, OrderRefused
from limberjack.engine.common.errors import ArgumentError

_MOST_PEERS = 64
_FORGET_S = 60.0  # a sender that was silent so long may count again


@dataclass(frozen=True)
class Admitted:
    """A telecommand that may be looked into. lost: telecommands of the same sender that seem to be missing before it"""

    actor: Actor
    data: bytes
    lost: int


class Sources:
    """The list of sources; without a list everybody who reaches the gateway, as an operator."""

    def __init__(self, listed: list[SourceSpec] | None, folder: Path) -> None:
        """Reads the keys. ArgumentError if a file is not a key or a source is listed twice."""
        self._listed = None if listed is None else {each.source: each for each in listed}
        if listed is not None and self._listed is not None and len(self._listed) < len(listed):
            raise ArgumentError("sources: a source ID is listed twice; give each its own.")
        self._seals: dict[int, Seal] = {}
        for each in listed or ():
            path = key_path(each, folder)
            if path is not None:
                self._seals[each.source] = Seal(read_key(path), time.time_ns())
        self._counts: OrderedDict[tuple[int, str], tuple[int, float]] = OrderedDict()

    def admit(self, order: Telecommand, peer: str) -> Admitted:
        """Who it is from, authentic and new. OrderRefused."""
        name, role = f"source {order.source} at {peer}", "operator"
        if self._listed is not None:
            source = self._listed.get(order.source)
            if source is None:
                raise OrderRefused("unknown_source", f"source {order.source} is not in the list of sources.")
            name, role = source.name, source.role
        actor = Actor("ccsds", name, role)
        seal = self._seals.get(order.source)
        if seal is not None:
            return Admitted(actor, seal.open(order.head, order.data), 0)
        return Admitted(actor, order.data, self._count(order, peer))

    def _count(self, order: Telecommand, peer: str) -> int:
        """Compare the sequence count with the newest of the same sender: how many are missing between them."""
        now, key = time.monotonic(), (order.source, peer)
        last, heard = self._counts.pop(key, (-1, -_FORGET_S))
        ahead = (order.sequence - last) % COUNTS
        known = last >= 0 and now - heard < _FORGET_S
        old = known and not 0 < ahead < COUNTS // 2
        self._counts[key] = (last if old else order.sequence, heard if old else now)
        if len(self._counts) > _MOST_PEERS:
            self._counts.popitem(last=False)
        if old:
            raise OrderRefused(
                "replayed", f"its sequence count {order.sequence} is not ahead of {last}, the newest of this sender."
            )
        return ahead - 1 if known else 0
