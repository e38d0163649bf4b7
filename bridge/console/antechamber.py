"""A page at the console's address while its engine is not ready: it says so, then makes way for the console."""

from __future__ import annotations

import contextlib
import html
import threading
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import TracebackType

from limberjack.bridge.console.access import Access, Address, host_known
from limberjack.bridge.errors import EndpointError

_REQUEST_S = 2.0  # for one request; there is one at a time
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Limberjack</title><style>
body { background: #11161d; color: #dde3ea; font: 16px/1.5 system-ui, sans-serif;
  margin: 20vh auto; max-width: 32em; padding: 0 1em; }
progress { width: 100%; }
</style></head><body><h1>Limberjack</h1><p id="text" role="status">TEXT</p><progress></progress>
<p id="long">The first start on a machine compiles the engine, which takes some minutes; later ones take seconds.</p>
<script>
const text = document.getElementById('text');
setInterval(async () => {
  try {
    const reply = await fetch('/api/status');
    if (reply.status === 503) text.textContent = await reply.text();
    else location.reload();
  } catch { text.textContent = 'The console does not answer; look at its terminal.'; }
}, 500);
</script></body></html>"""


class _Server(HTTPServer):
    """One request at a time, each of bounded length."""

    allow_reuse_address = True
    what = ""
    began = 0.0

    def activity(self) -> str:
        """The present activity, and how long it has taken so far, as text."""
        return f"{self.what} … {time.monotonic() - self.began:.0f} s"

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore a browser that went away."""


class _Handler(BaseHTTPRequestHandler):
    timeout = _REQUEST_S
    server: _Server

    def do_GET(self) -> None:
        """Send the page; answer its other requests with 503 and a sentence."""
        if not host_known(self.headers.get("Host", ""), Access()):
            self.send_error(HTTPStatus.FORBIDDEN)
            return
        path = self.path.partition("?")[0]
        activity = self.server.activity()
        page = path == "/" or path == "/view"
        content = (_PAGE.replace("TEXT", html.escape(activity)) if page else activity).encode()
        self.send_response(HTTPStatus.OK if page else HTTPStatus.SERVICE_UNAVAILABLE)
        self.send_header("Content-Type", f"text/{'html' if page else 'plain'}; charset=utf-8")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Requests are not logged."""


class Antechamber:
    """Listens on loopback from construction until `close`; then the console's server takes the address."""

    def __init__(self, address: Address, what: str) -> None:
        """what : the present activity, for people. Raises EndpointError if the address cannot be bound."""
        try:
            self._server = _Server((address.host, address.port), _Handler)
        except OSError as error:
            text = f"console: cannot listen on {address} ({error.strerror or error}). Choose another port."
            raise EndpointError(text) from None
        self._server.what, self._server.began = what, time.monotonic()
        self.address = Address(address.host, self._server.server_address[1])
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name="antechamber", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Free the address; safe to call more than once."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join(2.0 * _REQUEST_S)
        with contextlib.suppress(OSError):
            self._server.server_close()

    def __enter__(self) -> Antechamber:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
