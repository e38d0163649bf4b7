"""What the pages ask the server for over HTTP: objects, the past, events, orders."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from aiohttp import web

from limberjack.bridge.console.access import Access, Visitor, cookie_name, token_of
from limberjack.bridge.console.connections import REQUEST_S
from limberjack.bridge.console.displays import objects_of
from limberjack.bridge.console.live import Live, notice_fields, number, plain, to_json
from limberjack.bridge.console.order_history import csv_of, row_of
from limberjack.bridge.console.panel import panel_of
from limberjack.bridge.console.past import curve
from limberjack.bridge.telemetry.commander import ANSWER_S
from limberjack.bridge.telemetry.orders import Actor, Order, OrderRefused
from limberjack.bridge.telemetry.sample import Notice
from limberjack.bridge.telemetry.session import CLOCK
from limberjack.engine.common.errors import ArgumentError, LimberjackError

if TYPE_CHECKING:
    from limberjack.bridge.telemetry.gateway import Gateway
    from limberjack.bridge.telemetry.history.history import History

_POINTS_MAX, _NOTICES_MAX, _IDS_MAX = 10_000, 5_000, 64
_ROWS_MAX = 100_000  # of a file of orders
_MOMENT_MAX = 1e14  # ms since 1970
CONFIRM_S = 30.0  # after so long what a dialog shows is old, and its order is not carried out any more
Answer = TypeVar("Answer")
_ORDERS_MAX = 8  # that wait for the engine, of all browsers
_QUESTIONS_MAX = 512  # that wait for the history, of all browsers


class Routes:
    """Handlers of the requests below /api. What may wait (engine, disk) runs on other threads."""

    def __init__(self, gateway: Gateway, live: Live, access: Access) -> None:
        self._gateway, self._live, self._access = gateway, live, access
        self._readers = ThreadPoolExecutor(4, thread_name_prefix="console past")
        self._hands = ThreadPoolExecutor(2, thread_name_prefix="console orders")  # no order waits for a question
        self._orders = self._questions = 0

    def add_to(self, app: web.Application) -> None:
        """Register all handlers."""
        app.router.add_get("/api/live", self._serve_live)
        app.router.add_get("/api/objects", self._objects)
        app.router.add_get("/api/panel", self._panel)
        app.router.add_get("/api/history", self._history)
        app.router.add_get("/api/events", self._events)
        app.router.add_get("/api/parameter", self._parameter)
        app.router.add_get("/api/status", self._status)
        app.router.add_get("/api/orders", self._order_list)
        app.router.add_get("/api/orders.csv", self._orders_csv)
        app.router.add_get("/api/alarms", self._alarm_list)
        app.router.add_post("/api/order", self._order)
        app.router.add_post("/api/preview", self._preview)

    def close(self) -> None:
        """End the threads; what they are at is finished without anybody waiting."""
        for each in (self._readers, self._hands):
            each.shutdown(wait=False, cancel_futures=True)

    async def _ask(self, question: Callable[[History], Any]) -> Any:
        """What the history answers; 503 in words when it cannot: it opens again, or its disk is full."""
        if self._questions >= _QUESTIONS_MAX:
            raise web.HTTPServiceUnavailable(text=f"{_QUESTIONS_MAX} requests for history are waiting. Try again.")
        self._questions += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._readers, lambda: question(self._gateway.history))
        except LimberjackError as error:
            raise web.HTTPServiceUnavailable(text=str(error)) from None
        finally:
            self._questions -= 1

    def _visitor(self, request: web.Request) -> Visitor:
        visitor = visitor_of(request, self._access)
        assert visitor is not None, "the server admits nobody else"
        return visitor

    async def _serve_live(self, request: web.Request) -> web.StreamResponse:
        return await self._live.serve(request, self._visitor(request).role)

    async def _objects(self, _: web.Request) -> web.Response:
        session = self._gateway.session()
        bench = "bench" in session.description.raw
        return reply({"objects": objects_of(session.dictionary, session.system, bench=bench)})

    async def _panel(self, _: web.Request) -> web.Response:
        return reply(panel_of(self._gateway.session()))

    async def _status(self, _: web.Request) -> web.Response:
        return reply({"outlets": self._gateway.status()})

    async def _parameter(self, request: web.Request) -> web.Response:
        name = request.query.get("name", "")
        try:
            value = self._gateway.session().mirror.simulation.parameters[name]
        except ArgumentError as error:
            raise web.HTTPNotFound(text=str(error)) from None
        return reply({"name": name, "value": number(float(value))})

    async def _history(self, request: web.Request) -> web.Response:
        """?ids=a&ids=b&start=ms&end=ms&points=n → {"values": {id: [[ms, value], …]}}; null marks what is missing."""
        ids = request.query.getall("ids", [])
        dictionary = self._gateway.session().dictionary
        unknown = [id for id in ids if id not in dictionary.places]
        if not ids or unknown or len(ids) > _IDS_MAX:
            what = f"unknown: {', '.join(unknown[:5])}" if unknown else f"give 1 to {_IDS_MAX} of them"
            raise web.HTTPBadRequest(text=f"ids: {what}. /api/objects lists all.")
        start, end, points = _span(request, "points", _POINTS_MAX)
        found = await self._ask(lambda history: history.query(ids, start, end, points))
        return reply({"values": {id: curve(series) for id, series in found.items()}})

    async def _events(self, request: web.Request) -> web.Response:
        """?start=ms&end=ms&most=n → {"notices": […]}, the newest of that span in order of time."""
        start, end, most = _span(request, "most", _NOTICES_MAX)
        notices = await self._ask(lambda history: history.notices(start, end, most))
        return reply({"notices": [notice_fields(notice) for notice in notices]})

    async def _notices(self, request: web.Request, what: str, most: int) -> list[Notice]:
        """Notices about orders or alarms: ?start=ms&end=ms&most=n&search=words."""
        start, end, most = _span(request, "most", most)
        search = request.query.get("search", "")
        found: list[Notice] = await self._ask(lambda past: past.notices(start, end, most, what=what, search=search))
        return found

    async def _order_list(self, request: web.Request) -> web.Response:
        """Orders carried out and refused → {"orders": […]}, the newest of that span in order of time."""
        notices = await self._notices(request, "orders", _NOTICES_MAX)
        return reply({"orders": [{**(row := row_of(each)), "time": number(row["time"])} for each in notices]})

    async def _orders_csv(self, request: web.Request) -> web.Response:
        """The same as a file, all of that span."""
        text = csv_of(await self._notices(request, "orders", _ROWS_MAX))
        headers = {"Content-Disposition": 'attachment; filename="orders.csv"'}
        return web.Response(text=text, content_type="text/csv", charset="utf-8", headers=headers)

    async def _alarm_list(self, request: web.Request) -> web.Response:
        """Alarms, acknowledgements and shelving → {"notices": […]}, likewise."""
        notices = await self._notices(request, "alarms", _NOTICES_MAX)
        return reply({"notices": [notice_fields(notice) for notice in notices]})

    async def _preview(self, request: web.Request) -> web.Response:
        """An order → {"lines", "note", "before", "answer_s"}: what it would change; 403 and 409 as for the order."""
        shown = await self._carry(request, self._gateway.commander.preview)
        lines = [
            {"name": each.name, "unit": each.unit, "now": plain(each.now), "then": plain(each.then)}
            | {"low": number(each.low), "high": number(each.high), "change": plain(each.change)}
            for each in shown[1].lines
        ]
        limit = {"before": 1e-6 * CLOCK.now() + 1e3 * CONFIRM_S, "confirm_s": CONFIRM_S, "answer_s": ANSWER_S}
        return reply({"lines": lines, "note": shown[1].note, **limit})

    async def _order(self, request: web.Request) -> web.Response:
        """An order, {"action", "target", "value", "values", "reason", "before"} → {"text", "answer"}.

        before : ms since 1970, after which it is not carried out. 403 and 409 with the reason when it is refused
        """
        order, answer = await self._carry(request, self._gateway.commander.execute)
        return reply({"text": f"Done: {order}.", "answer": answer})

    async def _carry(self, request: web.Request, act: Callable[[Order, Actor], Answer]) -> tuple[Order, Answer]:
        """The order of a request, and what the commander makes of it, on another thread."""
        order = _order_of(await _json(request))
        visitor = self._visitor(request)
        actor = Actor("console", visitor.name or request.remote or "?", visitor.role)
        if self._orders >= _ORDERS_MAX:
            raise web.HTTPServiceUnavailable(text=f"{_ORDERS_MAX} orders are waiting for the engine. Try again.")
        self._orders += 1
        try:
            carry_out = functools.partial(act, order, actor)
            return order, await asyncio.get_running_loop().run_in_executor(self._hands, carry_out)
        except OrderRefused as refusal:
            kind = web.HTTPForbidden if refusal.code in ("role", "not_allowed") else web.HTTPConflict
            raise kind(text=str(refusal)) from None
        finally:
            self._orders -= 1


def visitor_of(request: web.Request, access: Access) -> Visitor | None:
    """Who sent a request; None for one without a token that opens something."""
    cookie = request.cookies.get(cookie_name(request.host))
    return access.visitor(token_of(request.headers.get("Authorization", ""), cookie))


def reply(content: Any) -> web.Response:
    """Strict JSON."""
    return web.Response(text=to_json(content), content_type="application/json")


def _span(request: web.Request, key: str, most: int) -> tuple[int, int, int]:
    """start and end in ns since 1970, and how many at most. Raises HTTPBadRequest."""
    try:
        start, end = (float(request.query[name]) for name in ("start", "end"))
        count = int(request.query.get(key, "1000"))
    except (KeyError, ValueError):
        raise web.HTTPBadRequest(text=f"start, end (ms since 1970) and {key} must be numbers.") from None
    if not (_is_moment(start) and _is_moment(end)) or count < 1:
        raise web.HTTPBadRequest(text=f"start, end (ms since 1970) and {key} must be finite, {key} at least 1.")
    return round(1e6 * start), round(1e6 * end), min(count, most)


async def _json(request: web.Request) -> dict[str, Any]:
    """The body of a request, a JSON object. A form of another site cannot have this content type unasked."""
    if request.content_type != "application/json":
        raise web.HTTPUnsupportedMediaType(text="An order is JSON: set Content-Type to application/json.")
    try:
        async with asyncio.timeout(REQUEST_S):
            content = await request.json()
    except TimeoutError:
        raise web.HTTPRequestTimeout(text=f"The order did not arrive completely within {REQUEST_S:g} s.") from None
    except (ValueError, RecursionError):
        raise web.HTTPBadRequest(text="The order is not JSON.") from None
    if not isinstance(content, dict):
        raise web.HTTPBadRequest(text="The order is not a JSON object.")
    return content


def _order_of(content: dict[str, Any]) -> Order:
    """An order with the parts that were sent; what they hold is for the commander to judge."""
    known = {"action", "target", "value", "values", "reason", "before"}
    more = sorted(set(content) - known)
    action, target, values = content.get("action", ""), content.get("target", ""), content.get("values", {})
    reason, before = content.get("reason", ""), content.get("before")
    texts = all(isinstance(each, str) for each in (action, target, reason))
    if more or not isinstance(values, dict) or not texts or not (before is None or _is_moment(before)):
        kinds = "action, target and reason are texts, values is an object, before is a time in ms"
        what = f"unknown: {', '.join(more[:5])}" if more else kinds
        raise web.HTTPBadRequest(text=f"The order is not understood ({what}). It has {', '.join(sorted(known))}.")
    before_ns = None if before is None else round(1e6 * before)
    return Order(action, target, content.get("value"), values, reason, before_ns)


def _is_moment(value: Any) -> bool:
    """Whether it is a time in ms since 1970."""
    return type(value) in (int, float) and abs(value) < _MOMENT_MAX
