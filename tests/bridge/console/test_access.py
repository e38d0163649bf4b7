"""Who may open the console: addresses that need tokens and TLS, files of tokens, names and origins of requests."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import pytest
import trustme
from websockets.asyncio.client import connect

from limberjack.bridge.console.access import Access, Address, Visitor, host_known, read_tokens, same_site, token_of
from limberjack.bridge.console.outlet import make
from limberjack.bridge.errors import EndpointError, KeyFileError
from limberjack.bridge.telemetry.outlets.registry import Context
from limberjack.engine.common.errors import ArgumentError
from tests.bridge.console.conftest import OPERATOR, TOKENS


@pytest.mark.parametrize(
    ("text", "host", "port", "local", "shown"),
    [
        ("8080", "127.0.0.1", 8080, True, "127.0.0.1:8080"),
        ("0.0.0.0:8443", "0.0.0.0", 8443, False, "0.0.0.0:8443"),
        ("[::1]:80", "::1", 80, True, "[::1]:80"),
        ("localhost:0", "localhost", 0, True, "localhost:0"),
    ],
)
def test_addresses(text, host, port, local, shown):
    address = Address.parse(text)
    assert (address.host, address.port, address.local, str(address)) == (host, port, local, shown)


@pytest.mark.parametrize("text", ["", "x", "host:", "127.0.0.1:70000", "127.0.0.1:-1", "1.5", "127.0.0.1:²"])
def test_what_is_no_address(text):
    with pytest.raises(EndpointError, match="not an address of the console"):
        Address.parse(text)


def test_other_machines_need_tokens_and_tls(tmp_path):
    beyond, pem = Address("0.0.0.0"), tmp_path / "x.pem"
    for access, missing in (
        (Access(), "Add tokens .* and TLS"),
        (Access(TOKENS), "Add TLS"),
        (Access({}, pem, pem), "Add tokens"),
    ):
        with pytest.raises(EndpointError, match=missing):
            access.check(beyond)
        access.check(Address())
    Access(TOKENS, pem, pem).check(beyond)
    with pytest.raises(EndpointError, match="Give both"):
        Access({}, pem, None).check(Address())


def test_a_file_of_tokens_is_made_and_kept_private(tmp_path):
    path = tmp_path / "tokens"
    tokens = read_tokens(path)
    assert sorted(visitor.role for visitor in tokens.values()) == ["operator", "viewer"]
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_tokens(path) == tokens
    path.write_text("operator 0123456789abcdef alice # on shift\n\n# nobody else\n")
    assert read_tokens(path) == {"0123456789abcdef": Visitor("operator", "alice")}
    path.chmod(0o644)
    with pytest.raises(KeyFileError, match="chmod 600"):
        read_tokens(path)


@pytest.mark.parametrize("line", ["operator", "operator short", "king 0123456789abcdef", "viewer 0123456789abcdef a b"])
def test_files_of_tokens_that_are_wrong(tmp_path, line):
    path = tmp_path / "tokens"
    path.touch(0o600)
    with pytest.raises(KeyFileError, match="holds no token"):
        read_tokens(path)
    path.write_text(f"# tokens\n{line}\n")
    with pytest.raises(KeyFileError, match=r"tokens:2: not a token"):
        read_tokens(path)
    path.write_text("viewer 0123456789abcdef\noperator 0123456789abcdef\n")
    with pytest.raises(KeyFileError, match=r"tokens:2: this token is listed twice"):
        read_tokens(path)
    path.write_bytes(b"operator \xff\xfe23456789abcdef\n")
    with pytest.raises(KeyFileError, match="it is not text"):
        read_tokens(path)
    with pytest.raises(KeyFileError, match="cannot make"):
        read_tokens(tmp_path / "no" / "tokens")


def test_tokens_open_what_they_should():
    access = Access(TOKENS)
    assert access.visitor(OPERATOR) == Visitor("operator", "alice")
    assert [access.visitor(wrong) for wrong in (None, "", OPERATOR[:-1], OPERATOR + "x", "é", "\udcff")] == [None] * 6
    assert Access().visitor(None) == Visitor("operator")
    assert token_of("Bearer abc", "cookie") == "abc"
    assert token_of("", "cookie") == "cookie"


def test_names_and_origins():
    assert all(
        host_known(name, Access()) for name in ("localhost", "127.0.0.1:80", "[::1]:8080", "[::1]", "127.1.2.3:5")
    )
    assert not any(host_known(name, Access()) for name in ("evil.example", "evil.example:8080", "localhost.evil:1"))
    assert not any(host_known(name, Access()) for name in ("127.evil.example", "127.0.0.1.evil.example:8080", "127.x"))
    assert host_known("bench.example:8443", Access(TOKENS))
    assert same_site("a:1", None)
    assert same_site("a:1", "http://a:1")
    assert not any(same_site("a:1", origin) for origin in ("http://b:1", "http://a:2", "null", "file://", ""))


async def _first_message(url: str, context: ssl.SSLContext, headers: dict[str, str]) -> str:
    """On one thread: a blocking client reads and writes on two, and TLS can fail then before CPython 3.13."""
    async with asyncio.timeout(20.0), connect(url, ssl=context, additional_headers=headers) as socket:
        return str(await socket.recv())


@pytest.mark.usefixtures("pretended")
def test_tls(serve, dock, tmp_path):
    """A certificate made here: who trusts it is served, who speaks without TLS is not."""
    authority, certificate, key = tmp_path / "authority.pem", tmp_path / "cert.pem", tmp_path / "key.pem"
    trusted = trustme.CA()
    trusted.cert_pem.write_to_path(str(authority))
    issued = trusted.issue_cert("127.0.0.1")
    issued.cert_chain_pems[0].write_to_path(str(certificate))
    issued.private_key_pem.write_to_path(str(key))
    with serve(dock, Access(TOKENS, certificate, key)) as bench:
        context = ssl.create_default_context(cafile=authority)
        sent = {"Authorization": f"Bearer {OPERATOR}"}
        url = f"wss://127.0.0.1:{bench.console.port}/api/live"
        assert '"role":"operator"' in asyncio.run(_first_message(url, context, sent))
        assert bench.console.url.startswith("https://")
        with pytest.raises((ConnectionError, OSError)):
            bench.ask("/api/panel")
    with pytest.raises(KeyFileError, match="not a certificate and its key"):
        Access({}, key, certificate).tls()


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"colour": "red"}, "no option 'colour'"),
        ({"live_hz": 1e6}, "live_hz is 1000000.0"),
        ({"live_hz": "fast"}, "live_hz is 'fast'"),
        ({"tokens": 5}, "tokens is 5"),
    ],
)
def test_settings_of_the_outlet_that_are_wrong(settings, text):
    with pytest.raises(ArgumentError, match=text):
        make("8080", Context(None, settings, Path()))
