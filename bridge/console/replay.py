"""The past at given times, for replays in the browser: values, alarms and poses of each moment."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from aiohttp import web

from limberjack.bridge.console.live import number, to_json
from limberjack.bridge.telemetry.alarms import Alarms
from limberjack.bridge.telemetry.history.frames import frames
from limberjack.engine.common.errors import LimberjackError

if TYPE_CHECKING:
    from limberjack.bridge.console.live import Live
    from limberjack.bridge.telemetry.gateway import Gateway
    from limberjack.bridge.telemetry.sample import Notice, Sample

_MOMENTS_MAX = 50  # of one question
_QUESTIONS_MAX = 4  # at a time, of all browsers
_LOOK_BACK_NS, _NOTICES = 24 * 3600 * 1_000_000_000, 5000  # where alarms that last may have begun


class Replay:
    """Handler of /api/frames."""

    def __init__(self, gateway: Gateway, live: Live) -> None:
        self._gateway, self._live = gateway, live
        self._room = asyncio.Semaphore(_QUESTIONS_MAX)

    def add_to(self, app: web.Application) -> None:
        """Register the handler."""
        app.router.add_get("/api/frames", self._serve)

    async def _serve(self, request: web.Request) -> web.Response:
        """?at=ms&at=ms… → {"frames": […], "start": ms, "end": ms}: the newest state at or before each time; bounds."""
        try:
            moments = sorted(round(1e6 * float(each)) for each in request.query.getall("at", []))
        except (ValueError, OverflowError):
            raise web.HTTPBadRequest(text="at must be times in ms since 1970.") from None
        if len(moments) > _MOMENTS_MAX or any(abs(each) > 2**62 for each in moments):
            raise web.HTTPBadRequest(text=f"at: give up to {_MOMENTS_MAX} times in ms since 1970.")
        async with self._room:
            try:
                content = await asyncio.to_thread(self._answer, moments)
            except LimberjackError as error:
                raise web.HTTPServiceUnavailable(text=str(error)) from None
        return web.Response(text=to_json(content), content_type="application/json")

    def _answer(self, moments: list[int]) -> dict[str, Any]:
        history, dictionary = self._gateway.history, self._gateway.session().dictionary
        start, end = history.bounds()
        found = frames(history, dictionary, moments)
        notices = history.notices(found[-1].unix_ns - _LOOK_BACK_NS, found[-1].unix_ns + 1, _NOTICES) if found else []
        return {"frames": [self._frame(each, notices) for each in found], "start": 1e-6 * start, "end": 1e-6 * end}

    def _frame(self, sample: Sample, notices: list[Notice]) -> dict[str, Any]:
        """One moment as the page shows it."""
        dictionary = self._gateway.session().dictionary
        alarms = Alarms(dictionary)
        alarms.look(sample)
        begun = {each.data.get("id"): each for each in notices if each.unix_ns <= sample.unix_ns}
        listed = []
        for id, alarm in alarms.active().items():
            notice = begun.get(id)
            since = sample.unix_ns if notice is None or notice.kind != "alarm" else notice.unix_ns
            listed.append({"id": id, "severity": alarm.severity, "value": number(alarm.value), "utc": 1e-6 * since})
        return {
            "utc": 1e-6 * sample.unix_ns,
            "time": sample.time,
            "values": {each.id: number(float(sample.vector[k])) for k, each in enumerate(dictionary)},
            "alarms": listed,
            "view": self._live.streams["poses"](sample) if "poses" in self._live.streams else None,
        }
