"""The addresses that an engine may use, and the guard that prevents two engines on one ipc path."""

from __future__ import annotations

import ipaddress
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from limberjack.bridge.errors import EndpointError
from limberjack.bridge.file_lock import hold

DEFAULT_ENDPOINT = "tcp://127.0.0.1:5555"
#: names under which a program on this machine reaches a loopback address
LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")
_MODELS = (".yaml", ".yml", ".urdf", ".xml", ".ljm")
_FORM = "Use tcp://127.0.0.1:5555 or ipc:///path/to/file"
_IPC_PATH_MAX = 107  # bytes of sun_path on Linux, less the terminating zero


@dataclass(frozen=True)
class Endpoints:
    """Addresses of one engine: ``request`` (ROUTER), ``state`` and ``topics`` (PUB)."""

    request: str
    state: str
    topics: str

    @classmethod
    def derive(cls, request: str, state: str | None = None, topics: str | None = None) -> Endpoints:
        """Stream addresses that were not given follow the request address.

        tcp: the next two ports; ipc: the path with ``.state`` and ``.topics`` appended.
        """
        return cls(request, state or beside(request, 1, ".state"), topics or beside(request, 2, ".topics"))


def beside(endpoint: str, step: int, suffix: str) -> str:
    """An address that follows from another: so many ports further, or the path with a suffix. Raises EndpointError."""
    transport, address = split(endpoint)
    if transport == "ipc":
        return endpoint + suffix
    host, port = _host_port(endpoint, address)
    if port == 0:
        return f"tcp://{host}:*"
    if port + step > 65535:
        below = 65536 - max(step, 2)  # both streams
        raise EndpointError(f"{endpoint}: port {port + step} would be needed too. Choose a port below {below}.")
    return f"tcp://{host}:{port + step}"


def split(endpoint: str) -> tuple[str, str]:
    """Transport ("tcp" or "ipc") and address of an endpoint. Raises EndpointError."""
    transport, separator, address = endpoint.partition("://")
    if not separator and endpoint.lower().endswith(_MODELS):
        raise EndpointError(
            f"{endpoint!r} is a model, not the address of an engine. Serve it with 'limberjack run {endpoint} "
            "--real-time', and give the address that it names."
        )
    if transport not in ("tcp", "ipc") or not separator or not address:
        raise EndpointError(f"{endpoint!r} is not an endpoint that the bridge knows. {_FORM}.")
    if transport == "tcp":
        _host_port(endpoint, address)
    elif len(os.fsencode(address)) > _IPC_PATH_MAX:
        raise EndpointError(
            f"{endpoint}: the path is longer than the {_IPC_PATH_MAX} bytes that the system allows for a "
            "local socket. Choose a shorter one, for example in /tmp."
        )
    return transport, address


def _host_port(endpoint: str, address: str) -> tuple[str, int]:
    """Host and port; port 0 stands for "*", any free port."""
    host, _, port = address.rpartition(":")
    if not host or not (port == "*" or (port.isascii() and port.isdigit() and int(port) <= 65535)):
        raise EndpointError(f"{endpoint}: not of the form tcp://HOST:PORT. {_FORM}.")
    return host, 0 if port == "*" else int(port)


def as_seen_from(endpoint: str, request: str) -> str:
    """A stream's address for a client: if bound to every interface, at the host where it was reached."""
    transport, address = split(endpoint)
    if transport == "tcp" and split(request)[0] == "tcp":
        host, port = _host_port(endpoint, address)
        if host in ("0.0.0.0", "[::]", "*"):
            return f"tcp://{_host_port(request, split(request)[1])[0]}:{port}"
    return endpoint


def is_local(endpoint: str) -> bool:
    """Whether only this machine can reach the endpoint: ipc, or tcp on a loopback address."""
    transport, address = split(endpoint)
    if transport == "ipc":
        return True
    host = _host_port(endpoint, address)[0].strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def names_this_machine(host: str) -> bool:
    """Whether a name with or without a port, as in a request over HTTP, is one of loopback.

    127.0.0.1.example.org is a name that anybody can register, and a browser can be made to send it here.
    """
    name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
    if name in LOCAL_NAMES:
        return True
    try:
        return ipaddress.IPv4Address(name).is_loopback
    except ValueError:
        return False


def check_binding(endpoint: str, keyed: bool) -> None:
    """Refuse an address that other machines can reach unless keys are in use. Raises EndpointError."""
    if not is_local(endpoint) and not keyed:
        raise EndpointError(
            f"{endpoint} can be reached from other machines, and anyone there could command the simulation. "
            "Bind to 127.0.0.1 or ipc://, or make keys with 'limberjack keygen DIR' and give them with "
            "--keys DIR."
        )


class IpcGuard:
    """Holds an ipc path for one engine by a lock file, which the system releases when it dies.

    libzmq removes whatever is at an ipc path before it binds, so without this a second engine would silently
    take the first one's clients, and a mistyped path would cost the user a file.
    """

    def __init__(self, endpoint: str) -> None:
        """Lock the path. Raises EndpointError if it is in use, not a socket, or cannot be made."""
        self.path = Path(split(endpoint)[1])
        self._lock_path = self.path.with_name(self.path.name + ".lock")
        if self.path.exists() and not stat.S_ISSOCK(self.path.stat().st_mode):
            raise EndpointError(f"{endpoint}: {self.path} exists and is not a socket. Choose another path.")
        try:
            self._descriptor = self._take()
        except BlockingIOError:
            raise EndpointError(
                f"{endpoint} is in use by another engine. Stop that one, or choose another endpoint."
            ) from None
        except OSError as error:
            raise EndpointError(
                f"{endpoint}: cannot make {self._lock_path} ({error.strerror}). Choose a path in a folder "
                "that exists and that you may write to."
            ) from None

    def _take(self) -> int:
        """Open and lock the lock file; again if its former owner removed it between the two."""
        for _ in range(100):
            descriptor = hold(self._lock_path)
            try:
                if os.path.exists(self._lock_path) and os.path.samestat(os.fstat(descriptor), os.stat(self._lock_path)):
                    return descriptor
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)
        raise BlockingIOError

    def restrict(self) -> None:
        """Let only this user connect; call after binding."""
        self.path.chmod(0o600)

    def release(self) -> None:
        """Remove the socket and lock files and unlock the path."""
        self.path.unlink(missing_ok=True)
        self._lock_path.unlink(missing_ok=True)
        os.close(self._descriptor)
