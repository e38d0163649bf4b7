"""CurveZMQ keys: makes them, loads them, and admits only known clients."""

from __future__ import annotations

import logging
import os
import tempfile
import time
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import zmq
from zmq.auth import create_certificates, load_certificate
from zmq.auth.thread import ThreadAuthenticator

from limberjack.bridge.errors import KeyFileError
from limberjack.bridge.roles import ROLES_FILE, Grant, Role, add_roles, read_roles
from limberjack.doors import ZAP_DOMAIN
from limberjack.engine.files.bounded_file import is_special

log = logging.getLogger("limberjack.bridge")

_NAMES, _NEWS = 16, 16  # names in an event, events that wait
_QUIET_S = 1.0  # between two lines of the log about refused keys; the count is exact


def keygen(directory: Path | str, clients: Iterable[str] = ("client",), role: Role | str = Role.ADMIN) -> list[Path]:
    """Make the engine's key pair (once) and one pair for each client; returns the files written.

    role : of the new keys (`Role`), noted in the file ``roles``; keys made before there was such a file stay ADMIN

    ``server.key_secret`` stays with the engine; ``clients/NAME.key`` lists who may connect. A client needs
    ``server.key`` and its own ``NAME.key_secret``. Secret files have mode 0600. An existing client is not
    overwritten: KeyFileError.
    """
    folder, names = Path(directory), list(clients)
    role = Role.of(role) if isinstance(role, str) else role
    (folder / "clients").mkdir(parents=True, exist_ok=True, mode=0o700)
    written = [] if (folder / "server.key_secret").exists() else _make_pair(folder, folder, "server")
    before = sorted(path.stem for path in (folder / "clients").glob("*.key"))
    for name in names:
        if not name.replace("-", "").replace("_", "").isalnum() or name == "server":
            raise KeyFileError(f"{name!r} cannot be a key's name. Use letters, digits, - and _, but not 'server'.")
        if (folder / "clients" / f"{name}.key").exists() or (folder / f"{name}.key_secret").exists():
            raise KeyFileError(f"{folder}: client '{name}' has a key already. Choose another name or remove its files.")
        written += _make_pair(folder, folder / "clients", name)
    if names:
        add_roles(folder, role, names, before)
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
    if is_special(file):  # a named pipe would be waited for
        raise KeyFileError(f"{file}: this is not a file. Make keys with 'limberjack keygen DIR'.")
    try:
        public, secret = load_certificate(file)
    except (OSError, ValueError) as error:
        raise KeyFileError(f"{file}: no key could be read ({error}). Make keys with 'limberjack keygen DIR'.") from None
    if len(public) != 40 or (secret is not None and len(secret) != 40):
        raise KeyFileError(f"{file}: a key is 40 characters of Z85; this file is damaged. Make new keys.")
    return public, secret


class Gate:
    """The allowed clients of one engine: checks their keys through pyzmq's authenticator, and knows their roles.

    One thread calls `refresh` at intervals. It applies changes in the folder once two calls in a row find the same
    content: an editor that empties a file before it writes must not change anybody's role in between.

    refused : connections with an unknown key;  news : bodies of the events about changes, oldest first
    """

    def __init__(self, folder: Path) -> None:
        """Read ``folder`` as `keygen` made it. Raises KeyFileError."""
        self.public, self.secret = load_pair(folder / "server.key_secret")
        self._folder = folder
        self._seen = self._settling = _fingerprint(folder)
        self._grants = _grants(folder)
        if not self._grants:
            raise KeyFileError(f"{folder / 'clients'} holds no client key, so nobody could connect. Add one.")
        self.refused = 0
        self.news: deque[dict[str, Any]] = deque(maxlen=_NEWS)
        self._logged = -_QUIET_S
        self._authenticator: ThreadAuthenticator | None = None

    def start(self, context: zmq.Context) -> None:
        """Answer key checks in a thread of this context; before any socket is bound."""
        self._authenticator = ThreadAuthenticator(context, log=log)
        self._authenticator.start()
        self._authenticator.configure_curve_callback(domain=ZAP_DOMAIN.decode(), credentials_provider=self)

    def callback(self, domain: str, key: bytes) -> bool:
        """Whether a client's public key may connect; called by the authenticator's thread."""
        if key.decode("ascii", "replace") in self._grants:
            return True
        self.refused += 1
        if (now := time.monotonic()) - self._logged > _QUIET_S:
            self._logged = now
            log.warning("refused a client with the unknown key %s", key.decode("ascii", "replace"))
        return False

    def grant(self, user: str) -> Grant | None:
        """Name and role of a public key; None if it may not connect, or no longer."""
        return self._grants.get(user)

    def refresh(self) -> bool:
        """Apply changes in the folder; returns whether a key was removed. An unreadable file changes nothing."""
        try:
            seen = _fingerprint(self._folder)
            settled, self._settling = seen == self._settling, seen
            if seen == self._seen or not settled:
                return False
            self._seen = seen
            before, self._grants = self._grants, _grants(self._folder)
        except KeyFileError as error:
            log.error("%s The keys stay as they were.", error)
            self.news.append({"event": "keys", "problem": str(error)})
            return False
        change = _change(before, self._grants)
        if any(change.values()):
            log.warning("the keys changed: %s", "; ".join(f"{key} {value}" for key, value in change.items() if value))
            self.news.append({"event": "keys", **change})
        return bool(before.keys() - self._grants.keys())

    def protect(self, socket: zmq.Socket) -> None:
        """Make a socket with a door, before it is bound, take only clients with an allowed key."""
        socket.curve_publickey = self.public
        socket.curve_secretkey = self.secret
        socket.curve_server = True

    def stop(self) -> None:
        """End the authenticator's thread."""
        if self._authenticator is not None:
            self._authenticator.stop()
            self._authenticator = None


def _fingerprint(folder: Path) -> tuple:
    """A value that changes when a key or a role is added, removed or changed. Raises KeyFileError."""
    try:
        files = sorted((folder / "clients").glob("*.key"))
        known = [(path.name, path.stat()) for path in (*files, folder / ROLES_FILE) if path.exists()]
    except OSError as error:
        raise KeyFileError(f"{folder}: the keys cannot be read ({error.strerror}).") from None
    return tuple((name, status.st_mtime_ns, status.st_size, status.st_ino) for name, status in known)


def _grants(folder: Path) -> dict[str, Grant]:
    """Public key → name and role. Raises KeyFileError."""
    place = folder / "clients"
    if not place.is_dir():
        raise KeyFileError(f"{place}: not a folder. Make keys with 'limberjack keygen DIR'.")
    try:
        roles = read_roles(folder)
        files = sorted(place.glob("*.key"))
    except OSError as error:
        raise KeyFileError(f"{folder}: the keys cannot be read ({error.strerror}).") from None
    grants = {}
    for file in files:
        role = Role.ADMIN if roles is None else roles.get(file.stem, Role.READ)
        grants[load_public(file).decode("ascii", "replace")] = Grant(file.stem, role)
    return grants


def _change(before: dict[str, Grant], now: dict[str, Grant]) -> dict[str, Any]:
    """Names of keys added and removed, and name → role of those whose role is another; at most so many of each."""
    added, removed = ([a[key].name for key in a.keys() - b.keys()] for a, b in ((now, before), (before, now)))
    changed = {now[key].name: now[key].role.word for key in now.keys() & before.keys() if now[key] != before[key]}
    return {
        "added": sorted(added)[:_NAMES],
        "removed": sorted(removed)[:_NAMES],
        "changed": dict(sorted(changed.items())[:_NAMES]),
    }
