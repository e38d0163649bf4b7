"""The server of the web console: an outlet of the gateway with an event loop on its own thread."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import ssl
import sys
import threading
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from aiohttp import web
from yarl import URL

from limberjack.bridge.console.access import Access, Address, cookie_name, host_known, same_site
from limberjack.bridge.console.assets import OPENMCT, THREE, installed_folder
from limberjack.bridge.console.connections import CONNECTIONS_MAX, REQUEST_S, Crowd, http_log
from limberjack.bridge.console.live import Live
from limberjack.bridge.console.replay import Replay
from limberjack.bridge.console.routes import Routes, visitor_of
from limberjack.bridge.console.switches import Switches
from limberjack.bridge.console.view import View
from limberjack.bridge.errors import EndpointError
from limberjack.bridge.telemetry.dictionary import Dictionary
from limberjack.bridge.telemetry.outlets.port_guard import PortGuard
from limberjack.bridge.telemetry.sample import Notice, Sample
from limberjack.bridge.telemetry.session import CLOCK

if TYPE_CHECKING:
    from limberjack.bridge.telemetry.gateway import Gateway

STATIC = Path(__file__).parent / "static"
_START_S = 10.0
_HANDSHAKES_MAX = 64  # connections that have not come as far as to be counted, as those of TLS that has not begun
_BODY_MAX = 65536  # bytes of a request
# Open MCT compiles its templates in the page, hence eval and styles in place; nothing comes from elsewhere.
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:; connect-src 'self'; "
    "frame-ancestors 'self'"
)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True)
class Settings:
    """live_hz : messages a second to each browser"""

    address: Address = field(default_factory=Address)
    access: Access = field(default_factory=Access)
    live_hz: float = 10.0


class Console:
    """Outlet: `open` binds, and the pages are there until `close`; it may be opened again, also for another model."""

    name = "console"
    prompt = True

    def __init__(self, settings: Settings, gateway: Gateway) -> None:
        """Raises EndpointError for an address that needs tokens and TLS, AssetError without the browser's libraries."""
        settings.access.check(settings.address)
        self.settings, self.gateway = settings, gateway
        self._folders = {"openmct": installed_folder(OPENMCT) / "dist", "three": installed_folder(THREE)}
        self._tls = settings.access.tls()
        self.port = settings.address.port
        self.running: Running | None = None
        _ = gateway.history  # the past begins now, not with the first who asks for it

    @property
    def url(self) -> str:
        """Address of the first page."""
        address = Address(self.settings.address.host, self.port)
        return f"{'https' if self.settings.access.secure else 'http'}://{address}/"

    # ---- outlet

    def open(self, dictionary: Dictionary) -> None:
        """Bind and serve. Raises EndpointError when the address cannot be had."""
        hello = functools.partial(self._hello, dictionary)
        at, alarms = self.gateway, self.gateway.commander.desk.entries
        live = Live(dictionary, self.settings.live_hz, hello, alarms, at.condition, at.progress)
        routes = Routes(self.gateway, live, self.settings.access)
        crowd = Crowd()
        running = Running(self._application(live, routes, crowd), live, routes, crowd)
        self.port = running.start(self.settings.address.host, self.port, self._tls)
        if self.running is None:
            asked = " (asks for a token)" if self.settings.access.tokens else ""
            print(f"console at {self.url}{asked}", file=sys.stderr, flush=True)
        self.running = running

    def sample(self, sample: Sample) -> None:
        """One sample for all browsers."""
        if self.running is not None:
            self.running.live.add(sample)

    def notice(self, notice: Notice) -> None:
        """Something that happened, for all browsers."""
        if self.running is not None:
            self.running.live.notice(notice)

    def close(self) -> None:
        """End all connections and the thread."""
        running, self.running = self.running, None
        if running is not None:
            running.stop()

    def _application(self, live: Live, routes: Routes, crowd: Crowd) -> web.Application:
        @web.middleware
        async def counted(request: web.Request, handler: Handler) -> web.StreamResponse:
            crowd.begin(request)
            try:
                return await handler(request)
            finally:
                crowd.finish(request)

        app = web.Application(middlewares=[counted, self._guard], client_max_size=_BODY_MAX)
        app.router.add_get("/", _page("index.html"))
        app.router.add_get("/view", _page("view.html"))
        routes.add_to(app)
        View(self.gateway.session()).add_to(app, live)
        Replay(self.gateway, live).add_to(app)
        live.streams["switches"] = Switches(self.gateway).message
        app.router.add_static("/static", STATIC)
        for name, folder in self._folders.items():
            app.router.add_static(f"/{name}", folder)
        return app

    def _hello(self, dictionary: Dictionary) -> dict[str, Any]:
        """The first message to every browser. signature : of all names, units and limits that its page was made of

        kept : whether the history outlives the gateway
        """
        about = {"model": dictionary.model, "model_hash": dictionary.model_hash, "utc": 1e-6 * CLOCK.now()}
        about |= {"kept": self.gateway.keeps_history}
        return about | {"signature": zlib.crc32(repr(dictionary.quantities).encode())}

    # ---- requests

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Nobody passes without a role; no page but the console's own sends commands or listens."""
        access = self.settings.access
        if not host_known(request.host, access):
            raise web.HTTPForbidden(text=f"The console does not answer to the name {request.host}. Open {self.url}.")
        if not same_site(request.host, request.headers.get("Origin")):
            raise web.HTTPForbidden(text="Pages of other sites may not use the console.")
        if "token" in request.query:
            self._admit(request)
        if visitor_of(request, access) is None:
            text = "The console asks for a token. Open it once as /?token=TOKEN, or send it as 'Authorization: Bearer'."
            raise web.HTTPUnauthorized(text=text)
        reply = await handler(request)
        if not reply.prepared:
            reply.headers.update({"Content-Security-Policy": _POLICY, "X-Content-Type-Options": "nosniff"})
            reply.headers.setdefault("Cache-Control", "no-cache")
        return reply

    def _admit(self, request: web.Request) -> NoReturn:
        """A token in the address becomes a cookie, so that it does not stay in the address."""
        token = request.query["token"]
        if self.settings.access.visitor(token) is None:
            raise web.HTTPUnauthorized(
                text="The console does not know this token. Copy it whole from the file of tokens."
            )
        rest = {key: value for key, value in request.query.items() if key != "token"}
        # a path that begins with two slashes would be the address of another machine
        reply = web.HTTPFound(URL.build(path="/" + request.path.lstrip("/"), query=rest))
        name, secure = cookie_name(request.host), self.settings.access.secure
        reply.set_cookie(name, token, httponly=True, samesite="Strict", secure=secure)
        raise reply


class Running:
    """An application on its own event loop and thread, from `start` to `stop`."""

    def __init__(self, app: web.Application, live: Live, routes: Routes, crowd: Crowd) -> None:
        self.live, self.crowd = live, crowd
        self._app, self._routes = app, routes
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._started = threading.Event()
        self._failure: OSError | None = None
        self._port = 0

    def start(self, host: str, port: int, tls: ssl.SSLContext | None) -> int:
        """Bind, and return the port. Raises EndpointError when the address cannot be had."""
        self._thread = threading.Thread(target=self._work, args=(host, port, tls), name="console", daemon=True)
        self._thread.start()
        if not self._started.wait(_START_S) or self._failure is not None:
            why = "no answer in time" if self._failure is None else self._failure.strerror or self._failure
            raise EndpointError(f"console: cannot listen on {host}:{port} ({why}). Choose another port.")
        return self._port

    def stop(self) -> None:
        """End all connections and the thread."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(_START_S)
        self._routes.close()

    def _work(self, host: str, port: int, tls: ssl.SSLContext | None) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve(host, port, tls))
        finally:
            self._started.set()
            self._loop.close()

    async def _serve(self, host: str, port: int, tls: ssl.SSLContext | None) -> None:
        runner = web.AppRunner(self._app, access_log=None, logger=http_log(), shutdown_timeout=1.0)
        await runner.setup()
        assert runner.server is not None
        doors = self.crowd.factory(runner.server)
        handshake_s = REQUEST_S if tls is not None else None
        try:
            listener = await self._loop.create_server(doors, host, port, ssl=tls, ssl_handshake_timeout=handshake_s)
        except OSError as error:
            self._failure = error
            await runner.cleanup()
            return
        self._port = listener.sockets[0].getsockname()[1]
        guard = PortGuard(self._port, CONNECTIONS_MAX + _HANDSHAKES_MAX, http_log().warning)
        guard.start()
        self._started.set()
        tasks = [asyncio.create_task(each) for each in (self.live.run(), self.live.watch(), self.crowd.sweep())]
        await self._stop.wait()
        listener.close()
        for task in tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        await self.live.close()
        await runner.cleanup()
        guard.stop()


def _page(name: str) -> Handler:
    async def reply(_: web.Request) -> web.StreamResponse:
        return web.FileResponse(STATIC / name)

    return reply
