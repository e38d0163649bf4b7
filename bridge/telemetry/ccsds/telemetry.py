"""The outlet for ground systems: packet sets, events and acknowledgements as CCSDS Space Packets."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from limberjack.bridge.telemetry.ccsds.links import Link, UdpLink
from limberjack.bridge.telemetry.ccsds.options import Options, options_from
from limberjack.bridge.telemetry.ccsds.packets import HOUSEKEEPING, REPORT, Packer
from limberjack.bridge.telemetry.ccsds.reports import Reporter
from limberjack.bridge.telemetry.ccsds.schema import PacketsSpec
from limberjack.bridge.telemetry.ccsds.sets import Schedule, Schedules, plan_of
from limberjack.bridge.telemetry.ccsds.sources import Sources
from limberjack.bridge.telemetry.ccsds.tcp_server import TcpServer
from limberjack.bridge.telemetry.ccsds.telecommand import Telecommands
from limberjack.bridge.telemetry.ccsds.vocabulary import vocabulary_of
from limberjack.bridge.telemetry.dictionary import Dictionary
from limberjack.bridge.telemetry.outlets.registry import Context
from limberjack.bridge.telemetry.sample import Notice, Sample
from limberjack.bridge.telemetry.session import CLOCK

log = logging.getLogger("limberjack.gateway")


class CcsdsOutlet:
    """Sends what its plan says over UDP or TCP, and takes telecommands where its options say so.

    link : `UdpLink` or `TcpServer`;  its `port` is the one it got
    """

    name = "ccsds"

    def __init__(self, options: Options, context: Context) -> None:
        """Raises what a user can fix in the keys of the sources."""
        self._options, self._context = options, context
        self._sources = Sources(options.spec.sources, options.folder)
        self._lock = threading.Lock()
        self._commands: Telecommands | None = None
        take = self._take if options.commands is not None else None
        self.link: Link
        if options.scheme == "tcp":
            self.link = TcpServer(options.address, take, self._notify)
        else:
            self.link = UdpLink(options.address, options.commands, self._take)

    def open(self, dictionary: Dictionary) -> None:
        """Find the quantities of the packets and bind. Raises ArgumentError, EndpointError."""
        gateway, spec = self._context.gateway, self._options.spec
        vocabulary = vocabulary_of(gateway.session().mirror.simulation, dictionary)
        self._plan = plan_of(dictionary, vocabulary, spec)
        self._schedules = [Schedule(packet.rate_hz) for packet in self._plan.packets]
        self._wanted = Schedules(packet.rate_hz for packet in self._plan.packets)
        self._packer = Packer()
        self._reporter = Reporter(self._packer, self._plan.apid)
        self._clock, self._lost = _Clock(spec), 0
        self.link.open()
        if self._options.commands is not None:
            self._commands = Telecommands(self._plan, self._sources, gateway.commander, self._report)

    def wants(self, sample: Sample) -> bool:
        """Whether packets are due. Other samples only move the clock, which answers to telecommands read as well."""
        if self._clock.simulated:
            self._clock.see(sample)
        return self._wanted.due(sample.time)

    def sample(self, sample: Sample) -> None:
        """Send the packets that are due. OSError if no route leads to the address."""
        self._lost += sample.gap
        self._clock.see(sample)
        now = self._clock.of(sample)
        due = [schedule.due(sample.time) for schedule in self._schedules]
        every = not any(due)  # it was not wanted when it came first, and came again, as the engine stands still
        for packet, chosen in zip(self._plan.packets, due, strict=True):
            if chosen or every:
                data = packet.data(sample, self._plan.signature, self._lost)
                with self._lock:
                    self.link.send(self._packer.telemetry(packet.apid, HOUSEKEEPING, REPORT, now, data))

    def notice(self, notice: Notice) -> None:
        """Send an event. OSError if no route leads to the address."""
        self._report(lambda report, now: report.event(notice, now))

    def close(self) -> None:
        """End the telecommands, then the link."""
        if self._commands is not None:
            self._commands.close()
            self._commands = None
        self.link.close()

    def _take(self, packet: bytes, peer: str) -> None:
        if (commands := self._commands) is not None:
            commands.take(packet, peer)

    def _report(self, make: Callable[[Reporter, int], bytes | None]) -> None:
        with self._lock:
            packet = make(self._reporter, self._clock.now())
            if packet is not None:
                self.link.send(packet)

    def _notify(self, text: str) -> None:
        log.warning("outlet ccsds: %s", text)
        self._context.gateway.tell(1, f"outlet ccsds: {text}")


class _Clock:
    """The time that packets bear, ns since 1970."""

    def __init__(self, spec: PacketsSpec) -> None:
        self.simulated, self._epoch_ns = spec.clock == "simulated", spec.epoch_ns
        self._newest, self._seen_ns = self._epoch_ns, 0

    def of(self, sample: Sample) -> int:
        """Of a sample."""
        return self._epoch_ns + round(sample.time * 1e9) if self.simulated else sample.unix_ns

    def see(self, sample: Sample) -> None:
        """Move on to a sample, unless a later one was seen while this one waited."""
        if sample.unix_ns >= self._seen_ns:
            self._seen_ns, self._newest = sample.unix_ns, self.of(sample)

    def now(self) -> int:
        """The time of packets that are not samples."""
        return self._newest if self.simulated else CLOCK.now()


def make(text: str, context: Context) -> CcsdsOutlet:
    """An outlet for "udp://HOST:PORT" or "tcp://HOST:PORT" with its options."""
    return CcsdsOutlet(options_from(text, context.settings, context.folder), context)
