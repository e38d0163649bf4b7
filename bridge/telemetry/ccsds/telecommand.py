"""Telecommands: checked, acknowledged, handed to the commander, and their end acknowledged."""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
from collections.abc import Callable
from typing import Protocol

from limberjack.bridge.telemetry.ccsds.decode import decode
from limberjack.bridge.telemetry.ccsds.packets import (
    ARE_YOU_ALIVE,
    TEST,
    PacketError,
    Telecommand,
    read_telecommand,
)
from limberjack.bridge.telemetry.ccsds.reports import Reporter
from limberjack.bridge.telemetry.ccsds.sets import Plan
from limberjack.bridge.telemetry.ccsds.sources import Admitted, Sources
from limberjack.bridge.telemetry.commander import Commander
from limberjack.bridge.telemetry.orders import Actor, OrderRefused

log = logging.getLogger("limberjack.gateway")

_WAITING = 64  # telecommands; of more, the newest are refused


class Out(Protocol):
    """Packs a report with the present time and sends it."""

    def __call__(self, make: Callable[[Reporter, int], bytes | None]) -> None: ...


class Telecommands:
    """Takes telecommands from links, on any thread, and processes them one after the other on its own thread."""

    def __init__(self, plan: Plan, sources: Sources, commander: Commander, out: Out) -> None:
        self._plan, self._sources = plan, sources
        self._commander, self._out = commander, out
        self._queue: queue.Queue[tuple[bytes, str] | None] = queue.Queue(_WAITING + 1)
        self._thread = threading.Thread(target=self._run, name="telecommands", daemon=True)
        self._thread.start()

    def take(self, packet: bytes, peer: str) -> None:
        """A telecommand and who sent it; never waits."""
        if self._queue.qsize() < _WAITING:
            self._queue.put((packet, peer))
        else:
            text = f"more than {_WAITING} telecommands wait. Send them more slowly."
            self._refuse(packet, peer, OrderRefused("busy", text))

    def close(self) -> None:
        """Finish the one that is worked on and end; others that wait are not begun."""
        with contextlib.suppress(queue.Empty):  # the thread takes from it too
            while True:
                self._queue.get_nowait()
        self._queue.put(None)
        self._thread.join()

    # ---- the thread

    def _run(self) -> None:
        while (item := self._queue.get()) is not None:
            packet, peer = item
            try:
                self._carry_out(read_telecommand(packet), peer)
            except PacketError as error:
                self._refuse(packet, peer, OrderRefused("malformed", str(error)))
            except OSError as error:  # no way for the acknowledgement; the order is done or refused nevertheless
                log.warning("an acknowledgement of a telecommand could not be sent: %s", error)
            except Exception as error:  # a fault in one must not end all that come later
                log.exception("a telecommand could not be worked on")
                with contextlib.suppress(OSError):
                    self._refuse(packet, peer, OrderRefused("internal", f"{type(error).__name__}: {error}"))

    def _carry_out(self, telecommand: Telecommand, peer: str) -> None:
        try:
            admitted = self._admit(telecommand, peer)
            if (telecommand.service, telecommand.subtype) == (TEST, ARE_YOU_ALIVE):
                return self._answer_test(telecommand)
            order = decode((telecommand.service, telecommand.subtype), admitted.data, self._plan)
        except OrderRefused as refusal:
            self._acknowledge_refusal(telecommand, refusal)
            return self._commander.refuse(telecommand.label, Actor("ccsds", peer), refusal)
        try:
            self._commander.check(order, admitted.actor)
        except OrderRefused as refusal:
            return self._acknowledge_refusal(telecommand, refusal)
        self._out(lambda report, now: report.accepted(telecommand, now))
        try:
            self._commander.execute(order, admitted.actor)
        except OrderRefused as refusal:
            return self._acknowledge_failure(telecommand, refusal)
        return self._out(lambda report, now: report.done(telecommand, now))

    def _admit(self, telecommand: Telecommand, peer: str) -> Admitted:
        """Who it is from. Raises OrderRefused."""
        if telecommand.apid != self._plan.apid:
            raise OrderRefused("wrong_apid", f"it is for APID {telecommand.apid}; this gateway is {self._plan.apid}.")
        admitted = self._sources.admit(telecommand, peer)
        if admitted.lost:
            self._commander.warn(f"{admitted.lost} telecommands of {admitted.actor} were lost on the way.")
        return admitted

    def _acknowledge_refusal(self, telecommand: Telecommand, refusal: OrderRefused) -> None:
        self._out(lambda report, now: report.refused(telecommand, now, refusal))

    def _acknowledge_failure(self, telecommand: Telecommand, refusal: OrderRefused) -> None:
        self._out(lambda report, now: report.failed(telecommand, now, refusal))

    def _answer_test(self, telecommand: Telecommand) -> None:
        self._out(lambda report, now: report.accepted(telecommand, now))
        self._out(lambda report, now: report.alive(telecommand, now))
        self._out(lambda report, now: report.done(telecommand, now))

    def _refuse(self, packet: bytes, peer: str, refusal: OrderRefused) -> None:
        """Report a telecommand that was not examined. Bytes that are not one get no acknowledgement: the sender is
        unknown.
        """
        try:
            telecommand = read_telecommand(packet)
        except PacketError:
            label = f"{len(packet)} bytes that are not a telecommand"
        else:
            label = telecommand.label
            self._acknowledge_refusal(telecommand, refusal)
        self._commander.refuse(label, Actor("ccsds", peer), refusal)
