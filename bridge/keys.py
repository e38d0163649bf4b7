"""CurveZMQ keys: making, loading, and letting only known clients in."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

import zmq
from zmq.auth import create_certificates, load_certificate, load_certificates
from zmq.auth.thread import ThreadAuthenticator

from limberjack.bridge.errors import KeyFileError

log = logging.getLogger("limberjack.bridge")

#: ZAP domain of all sockets of an engine; the authenticator answers for this one only.
ZAP_DOMAIN = "limberjack"


def keygen(directory: Path | str, clients: Iterable[str] = ("client",)) -> list[Path]:
    """Make the engine's key pair (once) and one pair for each client; returns the files written.

    ``server.key_secret`` stays with the engine; ``clients/NAME.key`` lists who may connect. A client needs
    ``server.key`` and its own ``NAME.key_secret``. Secret files have mode 0600. An existing client is not
    overwritten: KeyFileError.
    """
    folder = Path(directory)
    (folder / "clients").mkdir(parents=True, exist_ok=True, mode=0o700)
    written = [] if (folder / "server.key_secret").exists() else _make_pair(folder, folder, "server")
    for name in clients:
        if not name.replace("-", "").replace("_", "").isalnum() or name == "server":
            raise KeyFileError(f"{name!r} cannot be a key's name. Use letters, digits, - and _, but not 'server'.")
        if (folder / "clients" / f"{name}.key").exists() or (folder / f"{name}.key_secret").exists():
            raise KeyFileError(f"{folder}: client '{name}' has a key already. Choose another name or remove its files.")
        written += _make_pair(folder, folder / "clients", name)
    return written


def _make_pair(secret_folder: Path, public_folder: Path, name: str) -> list[Path]:
    """Write a key pair; the secret is never readable by others, not even for a moment."""
    with tempfile.TemporaryDirectory(dir=secret_folder) as private:  # mode 0700
        public, secret = (Path(file) for file in create_certificates(private, name))
        secret.chmod(0o600)
        public.chmod(0o644)
        targets = [public_folder / public.name, secret_folder / secret.name]
        for source, target in zip((public, secret), targets):
            os.replace(source, target)
    return targets


def load_public(file: Path) -> bytes:
    """The public key (Z85) in a key file. Raises KeyFileError."""
    return _load(file)[0]


def load_pair(file: Path) -> tuple[bytes, bytes]:
    """Public and secret key (Z85) in a secret key file. Raises KeyFileError."""
    public, secret = _load(file)
    if secret is None:
        raise KeyFileError(f"{file} holds no secret key. Give the .key_secret file that 'limberjack keygen' wrote.")
    if file.stat().st_mode & 0o077:
        raise KeyFileError(f"{file} can be read by other users. Run: chmod 600 {file}")
    return public, secret


def _load(file: Path) -> tuple[bytes, bytes | None]:
    try:
        public, secret = load_certificate(file)
    except (OSError, ValueError) as error:
        raise KeyFileError(f"{file}: no key could be read ({error}). Make keys with 'limberjack keygen DIR'.") from None
    if len(public) != 40 or (secret is not None and len(secret) != 40):
        raise KeyFileError(f"{file}: a key is 40 characters of Z85; this file is damaged. Make new keys.")
    return public, secret


class Gate:
    """The allowed clients of one engine: checks keys through pyzmq's authenticator and counts the refused."""

    def __init__(self, folder: Path) -> None:
        """Read ``folder`` as `keygen` made it. Raises KeyFileError."""
        self.public, self.secret = load_pair(folder / "server.key_secret")
        try:
            self._allowed = frozenset(load_certificates(folder / "clients"))
        except (OSError, ValueError) as error:
            raise KeyFileError(f"{folder / 'clients'}: {error}. Make keys with 'limberjack keygen DIR'.") from None
        if not self._allowed:
            raise KeyFileError(f"{folder / 'clients'} holds no client key, so nobody could connect. Add one.")
        self.refused = 0
        self._authenticator: ThreadAuthenticator | None = None

    def start(self, context: zmq.Context) -> None:
        """Answer key checks in a thread of this context; before any socket is bound."""
        self._authenticator = ThreadAuthenticator(context, log=log)
        self._authenticator.start()
        # The domain must equal the sockets' ZAP_DOMAIN, or every client is refused.
        self._authenticator.configure_curve_callback(domain=ZAP_DOMAIN, credentials_provider=self)

    def callback(self, domain: str, key: bytes) -> bool:
        """Whether a client's public key may connect; called by the authenticator's thread."""
        if key in self._allowed:
            return True
        self.refused += 1
        log.warning("refused a client with the unknown key %s", key.decode("ascii", "replace"))
        return False

    def protect(self, socket: zmq.Socket) -> None:
        """Make a socket, before it is bound, take only clients with an allowed key."""
        socket.curve_publickey = self.public
        socket.curve_secretkey = self.secret
        socket.curve_server = True
        socket.zap_domain = ZAP_DOMAIN.encode()

    def stop(self) -> None:
        """End the authenticator's thread."""
        if self._authenticator is not None:
            self._authenticator.stop()
            self._authenticator = None
