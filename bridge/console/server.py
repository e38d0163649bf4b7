"""The server of the web console: an outlet of the gateway with an event loop on a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

from limberjack.bridge.console.access import COOKIE, Access, Address, host_known, same_site
from limberjack.bridge.console.assets import OPENMCT, THREE, installed_folder
from limberjack.bridge.console.live import Live
from limberjack.bridge.errors import EndpointError
from limberjack.bridge.telemetry.dictionary import Dictionary
from limberjack.bridge.telemetry.sample import Notice, Sample
from limberjack.engine.system.system import System

STATIC = Path(__file__).parent / "static"
_START_S = 10.0
_BODY_MAX = 65536  # bytes of a request
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:; connect-src 'self'; "
    "frame-ancestors 'self'"
)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
LIVE = web.AppKey("live", Live)
ROLE = "role"


@dataclass(frozen=True)
class Settings:
    """live_hz : messages a second to each browser"""

    address: Address = field(default_factory=Address)
    access: Access = field(default_factory=Access)
    live_hz: float = 20.0


class Console:
    """Outlet: `open` binds, and the pages are there until `close`."""

    name = "console"

    def __init__(self, settings: Settings, system: System) -> None:
        """Raises EndpointError for an address that needs tokens and TLS, AssetError without the browser's libraries."""
        settings.access.check(settings.address)
        self.settings, self.system = settings, system
        self._folders = {"openmct": installed_folder(OPENMCT) / "dist", "three": installed_folder(THREE)}
        self._tls = settings.access.tls()
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._started = threading.Event()
        self._failure: OSError | None = None
        self._thread = threading.Thread(target=self._work, name="console", daemon=True)
        self.port = settings.address.port
        self.live: Live | None = None

    @property
    def url(self) -> str:
        """Address of the first page."""
        host = self.settings.address.host
        return f"{'https' if self.settings.access.secure else 'http'}://{host}:{self.port}/"

    # ---- outlet

    def open(self, dictionary: Dictionary) -> None:
        """Bind and serve. Raises EndpointError when the address cannot be had."""
        self.dictionary = dictionary
        self.live = Live(dictionary, self.settings.live_hz, self._hello)
        self._thread.start()
        if not self._started.wait(_START_S) or self._failure is not None:
            address = self.settings.address
            why = "no answer in time" if self._failure is None else self._failure.strerror or self._failure
            where = f"{address.host}:{address.port}"
            raise EndpointError(f"console: cannot listen on {where} ({why}). Choose another port.")

    def sample(self, sample: Sample) -> None:
        """One sample for all browsers."""
        if self.live is not None:
            self.live.add(sample)

    def notice(self, notice: Notice) -> None:
        """Something that happened, for all browsers."""
        if self.live is not None:
            self.live.notice(notice)

    def close(self) -> None:
        """End all connections and the thread."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(_START_S)

    # ---- event loop

    def _work(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        assert self.live is not None
        runner = web.AppRunner(self._application(), access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        try:
            site = web.TCPSite(runner, self.settings.address.host, self.port, ssl_context=self._tls)
            await site.start()
            self.port = runner.addresses[0][1]
        except OSError as error:
            self._failure = error
            return
        finally:
            self._started.set()
            if self._failure is not None:
                await runner.cleanup()
        sending = asyncio.create_task(self.live.run())
        await self._stop.wait()
        sending.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await sending
        await runner.cleanup()

    def _application(self) -> web.Application:
        assert self.live is not None
        app = web.Application(middlewares=[self._guard], client_max_size=_BODY_MAX)
        app[LIVE] = self.live
        app.router.add_get("/", _page("index.html"))
        app.router.add_get("/view", _page("view.html"))
        app.router.add_get("/api/live", self._serve_live)
        app.router.add_get("/api/hello", self._say_hello)
        app.router.add_static("/static", STATIC)
        for name, folder in self._folders.items():
            app.router.add_static(f"/{name}", folder)
        return app

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
            return self._admit(request)
        bearer = request.headers.get("Authorization", "").removeprefix("Bearer ").strip()
        role = access.role(bearer or request.cookies.get(COOKIE))
        if role is None:
            text = "The console asks for a token. Open it once as /?token=TOKEN, or send it as 'Authorization: Bearer'."
            raise web.HTTPUnauthorized(text=text)
        request[ROLE] = role
        reply = await handler(request)
        if not reply.prepared:
            reply.headers.update({"Content-Security-Policy": _POLICY, "X-Content-Type-Options": "nosniff"})
            reply.headers.setdefault("Cache-Control", "no-cache")
        return reply

    def _admit(self, request: web.Request) -> web.StreamResponse:
        """A token in the address becomes a cookie, so that it does not stay in the address."""
        token = request.query["token"]
        if self.settings.access.role(token) is None:
            raise web.HTTPUnauthorized(text="This token opens nothing here. Copy it whole from the file of tokens.")
        rest = {key: value for key, value in request.query.items() if key != "token"}
        reply = web.HTTPFound(str(request.rel_url.with_query(rest)))
        reply.set_cookie(COOKIE, token, httponly=True, samesite="Strict", secure=self.settings.access.secure)
        return reply

    async def _serve_live(self, request: web.Request) -> web.StreamResponse:
        assert self.live is not None
        return await self.live.serve(request, request[ROLE])

    async def _say_hello(self, request: web.Request) -> web.StreamResponse:
        return web.json_response({"role": request[ROLE], **self._hello()})

    def _hello(self) -> dict[str, Any]:
        """What every browser is told first."""
        return {"model": self.dictionary.model, "model_hash": self.dictionary.model_hash}


def _page(name: str) -> Handler:
    async def reply(_: web.Request) -> web.StreamResponse:
        return web.FileResponse(STATIC / name)

    return reply
