"""Samples and notices live for Foxglove, over its WebSocket protocol (package foxglove-sdk)."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

import foxglove
from foxglove.websocket import ChannelView, Client, ServerListener, WebSocketServer

from limberjack.bridge.errors import EndpointError
from limberjack.bridge.telemetry.condition import Condition
from limberjack.bridge.telemetry.dictionary import Dictionary
from limberjack.bridge.telemetry.outlets import rows
from limberjack.bridge.telemetry.outlets.foxglove_stage import SCENE_TOPIC, Stage
from limberjack.bridge.telemetry.outlets.port_guard import PortGuard
from limberjack.bridge.telemetry.outlets.ports import loopback_port
from limberjack.bridge.telemetry.outlets.registry import Context
from limberjack.bridge.telemetry.sample import Notice, Sample
from limberjack.bridge.telemetry.session import Session

#: messages that wait for one slow client; the oldest is dropped for a newer one
_BACKLOG = 1024
_CLIENTS_MAX, _CLIENT_BYTES = 32, 4 << 20
#: identifier of the status with the engine's condition
_CONDITION = "condition"
log = logging.getLogger("limberjack.gateway")


class Foxglove:
    """Serves Foxglove on loopback: /signals with every sample, /events with every notice, /tf and /scene in 3-D.

    The first two have the form of the records (`limberjack hil`, ``--mcap``), so that one layout shows live data and
    records. The time of a message is when the gateway received it; ``time`` in it is simulated. A status of Foxglove
    shows warnings and alarms, and the engine's condition while it is not live.

    port : to bind at 127.0.0.1; 0 takes a free one, `port` then says which
    session : gives the newest connection to the engine;  condition : how things stand with it
    """

    name = "foxglove"

    def __init__(self, port: int, session: Callable[[], Session], condition: Callable[[], Condition]) -> None:
        self.port, self._session, self._condition = port, session, condition
        self._server: WebSocketServer | None = None

    def open(self, dictionary: Dictionary) -> None:
        """Bind and announce the topics. Raises EndpointError."""
        context = self._context = foxglove.Context()  # nothing is served once it is collected
        self._signals = _channel(context, rows.SIGNALS_TOPIC, rows.SIGNALS_SCHEMA, rows.signals_schema(dictionary))
        self._events = _channel(context, rows.EVENTS_TOPIC, rows.EVENTS_SCHEMA, rows.events_schema())
        self._text = rows.RowText(dictionary)
        self._state = "live"
        self._stage = Stage(self._session(), context)
        try:
            self._server = foxglove.start_server(
                name=f"Limberjack: {dictionary.model}",
                host="127.0.0.1",
                port=self.port,
                context=context,
                server_listener=_Welcome(self._stage, self._send_condition),
                message_backlog_size=_BACKLOG,
            )
        except Exception as error:  # the SDK has its own error types and RuntimeError
            text = f"--foxglove {self.port}: the port cannot be used ({error}). Choose another."
            raise EndpointError(text) from None
        self.port = self._server.port
        self._guard = PortGuard(self.port, _CLIENTS_MAX, log.warning, _CLIENT_BYTES)
        self._guard.start()

    def sample(self, sample: Sample) -> None:
        """Send one sample to the clients that subscribed."""
        if self._signals.has_sinks():
            self._signals.log(self._text(sample.vector), log_time=sample.unix_ns)
        self._stage.show(sample)
        self._look()

    def notice(self, notice: Notice) -> None:
        """Send one notice; warnings and alarms also as a status, which Foxglove shows under problems."""
        self._events.log(rows.event(notice, notice.unix_ns), log_time=notice.unix_ns)
        if notice.severity and self._server is not None:
            level = foxglove.StatusLevel.Warning if notice.severity == 1 else foxglove.StatusLevel.Error
            self._server.publish_status(notice.text, level)
        self._look()

    def _look(self) -> None:
        """Report a changed condition; there is a notice when an engine becomes silent or is lost."""
        if self._condition().state != self._state:
            self._send_condition()

    def _send_condition(self) -> None:
        """Show a status while the engine is not live; it replaces the one before."""
        condition, server = self._condition(), self._server
        before, self._state = self._state, condition.state
        if server is None or before == condition.state == "live":
            return
        if condition.state == "live":
            server.remove_status([_CONDITION])
        else:
            level = foxglove.StatusLevel.Warning if condition.current else foxglove.StatusLevel.Error
            server.publish_status(condition.text, level, _CONDITION)

    def close(self) -> None:
        """Stop serving; safe to call more than once."""
        if self._server is not None:
            self._guard.stop()
            self._server.stop()
            self._server = None


class _Welcome(ServerListener):
    """Sends the whole scene and the engine's condition to each new viewer."""

    def __init__(self, stage: Stage, send_condition: Callable[[], None]) -> None:
        self._stage, self._send_condition = stage, send_condition

    def on_subscribe(self, client: Client, channel: ChannelView) -> None:
        """A client subscribed to a topic."""
        if channel.topic == SCENE_TOPIC:
            self._stage.greet()
        self._send_condition()


def _channel(context: foxglove.Context, topic: str, name: str, schema: dict[str, Any]) -> foxglove.Channel:
    described = foxglove.Schema(name=name, encoding="jsonschema", data=json.dumps(schema).encode())
    return foxglove.Channel(topic, message_encoding="json", schema=described, context=context)


def make(text: str, context: Context) -> Foxglove:
    """A port."""
    gateway = context.gateway
    return Foxglove(loopback_port("--foxglove", text), gateway.session, gateway.condition)
