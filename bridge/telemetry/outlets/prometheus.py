"""Health of engine and gateway for Prometheus, over HTTP (package prometheus_client)."""

from __future__ import annotations

import contextlib
import logging
import math
import socket as network
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from http.server import HTTPServer
from socketserver import TCPServer, ThreadingMixIn
from typing import Any

from prometheus_client import CollectorRegistry, MetricsHandler
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from limberjack.bridge.endpoints import names_this_machine
from limberjack.bridge.errors import EndpointError
from limberjack.bridge.telemetry.condition import STATES, Condition
from limberjack.bridge.telemetry.dictionary import OF_BENCH, Dictionary
from limberjack.bridge.telemetry.outlets.ports import loopback_port
from limberjack.bridge.telemetry.outlets.registry import Context
from limberjack.bridge.telemetry.sample import Notice, Sample
from limberjack.bridge.telemetry.session import CLOCK

log = logging.getLogger("limberjack.gateway")

#: longest time that one scrape may take, s, and how many at once
_REQUEST_S, _CONNECTIONS_MAX = 5.0, 16
Status = Mapping[str, Mapping[str, Any]]
_SEVERITIES = ("information", "warning", "critical")
#: quantity → kind of metric, its name, what it means
_METRICS = {
    "time": ("gauge", "limberjack_time_seconds", "simulated time"),
    "engine.running": ("gauge", "limberjack_engine_running", "1 while the engine steps, 0 after a failure"),
    "engine.step": ("gauge", "limberjack_engine_steps", "steps since the start of the simulation"),
    "engine.real_time_factor": ("gauge", "limberjack_engine_real_time_factor", "simulated over real time"),
    "engine.overruns": ("counter", "limberjack_engine_overruns", "cycles that started after their deadline"),
    "engine.late_max": ("gauge", "limberjack_engine_late_max_seconds", "worst delay of a cycle"),
    "engine.late": ("gauge", "limberjack_engine_late_seconds", "worst delay of a cycle in the last seconds"),
    "engine.overrun_share": ("gauge", "limberjack_engine_overrun_ratio", "share of late cycles in the last seconds"),
    "engine.lost": ("counter", "limberjack_engine_lost_seconds", "time given up because the engine was too slow"),
    "engine.received": ("counter", "limberjack_engine_requests", "requests received"),
    "engine.refused": ("counter", "limberjack_engine_requests_refused", "requests refused"),
    "engine.frame_p50": ("gauge", "limberjack_frame_p50_seconds", "work of a frame of the test bench, median"),
    "engine.frame_p99": ("gauge", "limberjack_frame_p99_seconds", "the same, 99 of 100 frames are below"),
    "energy.total": ("gauge", "limberjack_energy_joules", "total energy of the system"),
}
_OUTLET_COUNTS = {
    "sent": "samples taken by an outlet",
    "dropped": "samples lost because an outlet was too slow",
    "notices_dropped": "notices lost because an outlet was too slow",
    "failures": "errors of an outlet",
}


class Prometheus:
    """Serves http://127.0.0.1:PORT/metrics.

    port : to bind on loopback; 0 takes a free one, `port` then says which
    status : gives outlet → its counts, as `Gateway.status`;  condition : of the engine, as `Gateway.condition`
    """

    name = "prometheus"

    def __init__(self, port: int, status: Callable[[], Status], condition: Callable[[], Condition]) -> None:
        self.port, self._status, self._condition = port, status, condition
        self._lock = threading.Lock()
        self._server: _Server | None = None
        self._newest: Sample | None = None
        self._samples = self._gaps = 0
        self._notices: Counter[tuple[str, int]] = Counter()

    def open(self, dictionary: Dictionary) -> None:
        """Bind and serve. Raises EndpointError."""
        self._dictionary, self._newest = dictionary, None
        registry = CollectorRegistry()
        registry.register(self)
        try:
            self._server = _Server(self.port, registry)
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or error
            raise EndpointError(f"--prometheus {self.port}: the port cannot be used ({why}). Choose another.") from None
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, args=(0.1,), name="prometheus", daemon=True).start()

    def sample(self, sample: Sample) -> None:
        """Keep the newest and count."""
        with self._lock:
            self._newest = sample
            self._samples += 1
            self._gaps += sample.gap

    def notice(self, notice: Notice) -> None:
        """Count by kind and severity."""
        with self._lock:
            self._notices[notice.kind, notice.severity] += 1

    def close(self) -> None:
        """Stop serving; safe to call more than once."""
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()

    def collect(self) -> Iterator[Any]:
        """What a scrape gets; called on its thread."""
        with self._lock:
            newest, samples, gaps, notices = self._newest, self._samples, self._gaps, dict(self._notices)
        about = GaugeMetricFamily("limberjack_model", "the model that runs", labels=["name", "hash"])
        about.add_metric([self._dictionary.model, self._dictionary.model_hash], 1.0)
        yield about
        yield CounterMetricFamily("limberjack_gateway_samples", "samples received from the engine", value=samples)
        yield CounterMetricFamily("limberjack_gateway_lost", "publications of the engine that were lost", value=gaps)
        counts = CounterMetricFamily("limberjack_notices", "events and alarms", labels=["kind", "severity"])
        for (kind, severity), count in sorted(notices.items()):
            counts.add_metric([kind, _SEVERITIES[severity]], count)
        yield counts
        yield from _of_outlets(self._status())
        condition = self._condition()
        yield from _of_condition(condition)
        if newest is not None:
            age = max(0.0, 1e-9 * (CLOCK.now() - newest.unix_ns))
            yield GaugeMetricFamily("limberjack_sample_age_seconds", "age of the newest sample", value=age)
            yield from self._of(newest, condition.current)

    def _of(self, sample: Sample, current: bool) -> Iterator[Any]:
        """The quantities of a sample that describe health; of an engine that is not heard the counts alone."""
        for id, (kind, name, text) in _METRICS.items():
            value = float(sample.vector[self._dictionary.place(id)])
            if kind == "counter":
                yield CounterMetricFamily(name, text, value=value)
            elif current and not (id in OF_BENCH and math.isnan(value)):
                yield GaugeMetricFamily(name, text, value=value)


def _of_condition(condition: Condition) -> Iterator[Any]:
    """Which of the states is the present one, and for how long nothing was heard."""
    family = GaugeMetricFamily("limberjack_engine_condition", "1 of the engine's present state", labels=["state"])
    for state in STATES:
        family.add_metric([state], float(state == condition.state))
    yield family
    text = "since the newest message of the engine"
    yield GaugeMetricFamily("limberjack_engine_silent_seconds", text, value=condition.age_s)


def _of_outlets(status: Status) -> Iterator[Any]:
    """What became of the samples of every outlet."""
    for key, text in _OUTLET_COUNTS.items():
        family = CounterMetricFamily(f"limberjack_outlet_{key}", text, labels=["outlet"])
        for outlet, counts in status.items():
            family.add_metric([outlet], counts[key])
        yield family


class _Server(ThreadingMixIn, HTTPServer):
    """One thread a connection, of which there are so many at most, each for one scrape and so long at most."""

    daemon_threads = True
    request_queue_size = _CONNECTIONS_MAX

    def __init__(self, port: int, registry: CollectorRegistry) -> None:
        self._open: dict[network.socket, float] = {}
        self._guard = threading.Lock()
        super().__init__(("127.0.0.1", port), _Handler)
        self.registry = registry

    def server_bind(self) -> None:
        """Bind without asking a name server for this machine's name."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = "localhost", self.server_address[1]

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Whether a connection is served: not while there are too many."""
        with self._guard:
            if len(self._open) >= _CONNECTIONS_MAX:
                return False
            self._open[request] = time.monotonic() + _REQUEST_S
            return True

    def shutdown_request(self, request: Any) -> None:
        """A connection ends."""
        with self._guard:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def service_actions(self) -> None:
        """End connections whose time is over; called ten times a second."""
        now = time.monotonic()
        with self._guard:
            for request, deadline in self._open.items():
                if now > deadline:
                    with contextlib.suppress(OSError):
                        request.shutdown(network.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A broken connection is not worth a log entry."""
        log.debug("prometheus: a request was not answered", exc_info=True)


class _Handler(MetricsHandler):
    """Silent; answers to names of this machine only."""

    server: _Server
    timeout = _REQUEST_S

    def do_GET(self) -> None:
        """One scrape."""
        if not names_this_machine(self.headers.get("Host", "")):
            return self.send_error(403, "Metrics are for this machine: ask 127.0.0.1 or localhost, also through ssh -L")
        self.registry = self.server.registry
        super().do_GET()


def make(text: str, context: Context) -> Prometheus:
    """A port."""
    gateway = context.gateway
    return Prometheus(loopback_port("--prometheus", text), gateway.status, gateway.condition)
