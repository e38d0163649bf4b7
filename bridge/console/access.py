"""Who may open the console, and from where: addresses, tokens, roles, TLS, and protection from other web pages."""

from __future__ import annotations

import hmac
import os
import secrets
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from limberjack.bridge.endpoints import is_local, names_this_machine
from limberjack.bridge.errors import EndpointError, KeyFileError
from limberjack.engine.common.errors import ModelError
from limberjack.engine.files.bounded_file import read_bytes

VIEWER, OPERATOR = "viewer", "operator"
ROLES = (VIEWER, OPERATOR)
COOKIE = "limberjack_token"
_TOKEN_LEAST = 16  # characters
_MOST_TOKEN_BYTES = 1 << 20


@dataclass(frozen=True)
class Visitor:
    """The owner of a token. role : of ROLES;  name : used by rules and the event log, "" if there is none"""

    role: str
    name: str = ""


@dataclass(frozen=True)
class Address:
    """Where the console listens. host : name or IP address;  port : 0 for any free one."""

    host: str = "127.0.0.1"
    port: int = 8080

    @classmethod
    def parse(cls, text: str) -> Address:
        """ "8080", "127.0.0.1:8080" or "[::1]:8080". Raises EndpointError."""
        host, _, port = text.strip().rpartition(":")
        host = host.strip("[]") or cls.host
        if not (port.isascii() and port.isdigit() and int(port) <= 65535):
            raise EndpointError(f"{text!r} is not an address of the console. Use PORT or HOST:PORT, such as 8080.")
        return cls(host, int(port))

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def local(self) -> bool:
        """Whether only this machine can reach it."""
        return is_local(f"tcp://{self}")


@dataclass(frozen=True)
class Access:
    """Checks of visitors. Without tokens everyone who reaches the console is an operator.

    tokens : token → who has it;  certificate, key : PEM files of the TLS server, both or none
    """

    tokens: Mapping[str, Visitor] = field(default_factory=dict, repr=False)
    certificate: Path | None = None
    key: Path | None = None

    @property
    def secure(self) -> bool:
        """Whether the console speaks TLS."""
        return self.certificate is not None

    def check(self, address: Address) -> None:
        """Refuse a setup that others could reach without a token or could eavesdrop on. Raises EndpointError."""
        if (self.certificate is None) != (self.key is None):
            raise EndpointError("TLS needs a certificate and its key. Give both --tls-cert and --tls-key.")
        if address.local or (self.tokens and self.secure):
            return
        missing = " and ".join(
            text
            for text, there in (("tokens (--tokens FILE)", self.tokens), ("TLS (--tls-cert, --tls-key)", self.secure))
            if not there
        )
        raise EndpointError(
            f"{address} can be reached from other machines, and anyone there could watch and "
            f"command the simulation. Add {missing}, or listen on 127.0.0.1 and tunnel over ssh."
        )

    def tls(self) -> ssl.SSLContext | None:
        """Context of the TLS server, None without. Raises KeyFileError."""
        if self.certificate is None or self.key is None:
            return None
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        try:
            context.load_cert_chain(self.certificate, self.key)
        except OSError as error:
            raise KeyFileError(
                f"{self.certificate}, {self.key}: not a certificate and its key ({error}). Give PEM files that belong "
                "together, the key without a password."
            ) from None
        return context

    def visitor(self, token: str | None) -> Visitor | None:
        """The owner of this token; None if the token is unknown."""
        if not self.tokens:
            return Visitor(OPERATOR)
        given, found = (token or "").encode(errors="surrogateescape"), None
        for known, visitor in self.tokens.items():  # compare all, so that the time reveals nothing
            if hmac.compare_digest(known.encode(), given):
                found = visitor
        return found


def token_of(authorization: str, cookie: str | None) -> str | None:
    """The token of a request, from its header "Authorization: Bearer TOKEN" or from the console's cookie."""
    return authorization.removeprefix("Bearer ").strip() or cookie


def cookie_name(host: str) -> str:
    """Name of the cookie for the console at `host`; it contains the port, since cookies do not distinguish ports."""
    port = host.rpartition(":")[2]
    return f"{COOKIE}_{port}" if port.isdigit() else COOKIE


def same_site(host: str, origin: str | None) -> bool:
    """Whether a request to `host` comes from a page of the console itself (or from no page at all).

    Any page in a browser can send requests to loopback addresses; its origin reveals it.
    """
    return origin is None or urlsplit(origin).netloc == host


def host_known(host: str, access: Access) -> bool:
    """Whether the host name in a request is the console's: without tokens, another name is a rebound DNS entry."""
    return bool(access.tokens) or names_this_machine(host)


def read_tokens(path: Path) -> dict[str, Visitor]:
    """Tokens of a file, `role token [name]` a line; the file is made, with one of each role, when it is not there.

    Raises KeyFileError for a file that others can read, or whose lines are not understood.
    """
    if not path.exists():
        _make_tokens(path)
    tokens: dict[str, Visitor] = {}
    try:
        lines = read_bytes(path, _MOST_TOKEN_BYTES).decode().splitlines()
    except ModelError as error:
        raise KeyFileError(f"{path}: {error.what}. Give another path.") from None
    except UnicodeDecodeError:
        raise KeyFileError(f"{path}: not a file of tokens, as it is not text. Give another path.") from None
    if path.stat().st_mode & 0o077:
        raise KeyFileError(f"{path}: others can read these tokens. Run: chmod 600 {path}.")
    for number, line in enumerate(lines, 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        if len(words) not in (2, 3) or words[0] not in ROLES or len(words[1]) < _TOKEN_LEAST:
            raise KeyFileError(
                f"{path}:{number}: not a token. Write a role ({' or '.join(ROLES)}), a token of at least "
                f"{_TOKEN_LEAST} characters and, if you like, a name."
            )
        if words[1] in tokens:
            raise KeyFileError(f"{path}:{number}: this token is listed twice. Give each user their own.")
        tokens[words[1]] = Visitor(words[0], *words[2:])
    if not tokens:
        raise KeyFileError(f"{path}: it holds no token. Remove the file; the console then makes a new one.")
    return tokens


def _make_tokens(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise KeyFileError(f"{path}: cannot make the file of tokens ({error.strerror}). Give another path.") from None
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write("# one line for each user: role, token and, if you like, a name; keep this file to yourself\n")
        file.writelines(f"{role} {secrets.token_urlsafe(24)}\n" for role in ROLES)
