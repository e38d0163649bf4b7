"""CurveZMQ: who gets in, who does not, and that both sides say so."""

from __future__ import annotations

import stat
import time

import pytest
import zmq

from limberjack.bridge import Client
from limberjack.bridge.errors import EndpointError, KeyFileError, KeyRefusedError
from limberjack.bridge.keys import keygen
from tests.bridge.bridge_helpers import WAIT_S, until


def test_secret_files_are_for_the_owner_only(folder):
    written = keygen(folder / "keys", ["alice", "bob"])
    assert {path.name for path in written} == {
        *("server.key", "server.key_secret", "alice.key", "alice.key_secret", "bob.key", "bob.key_secret")
    }
    for path in written:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o600 if path.suffix == ".key_secret" else 0o644)


def test_keygen_adds_clients_but_never_overwrites(folder):
    keygen(folder / "keys", ["alice"])
    secret = (folder / "keys/server.key_secret").read_bytes()
    assert [path.name for path in keygen(folder / "keys", ["bob"])] == ["bob.key", "bob.key_secret"]
    assert (folder / "keys/server.key_secret").read_bytes() == secret
    with pytest.raises(KeyFileError, match="'alice' has a key already"):
        keygen(folder / "keys", ["alice"])
    for name in ("../x", "", "server", "a/b"):
        with pytest.raises(KeyFileError, match="cannot be a key's name"):
            keygen(folder / "keys", [name])


def test_a_client_with_an_allowed_key_steps_and_reads_both_streams(engine, endpoint, folder):
    keygen(folder / "keys")
    engine(keys=folder / "keys", mode="free-running")
    with Client(endpoint, keys=folder / "keys") as client:
        client.command({"j1": 0.5})
        assert client.latest().step >= 0
        assert client.next_event()[0] in ("state", "heartbeat", "event")
        assert client.describe().raw["encrypted"] is True


def test_a_refused_key_is_reported_on_both_sides(engine, endpoint, folder, caplog):
    keygen(folder / "keys")
    keygen(folder / "strange")
    (folder / "strange/server.key").write_bytes((folder / "keys/server.key").read_bytes())
    server = engine(keys=folder / "keys")
    start = time.monotonic()
    with pytest.raises(KeyRefusedError, match="refused this client's key"):
        Client(endpoint, keys=folder / "strange", timeout_s=WAIT_S)
    assert time.monotonic() - start < WAIT_S
    assert server.service.status()["keys_refused"] >= 1
    assert "refused a client with the unknown key" in caplog.text
    with Client(endpoint, keys=folder / "keys") as client:
        assert client.step().step == 1


def test_a_client_without_keys_is_refused_and_counted(engine, endpoint, folder):
    keygen(folder / "keys")
    server = engine(keys=folder / "keys")
    with pytest.raises(KeyRefusedError, match="wants an encrypted connection"):
        Client(endpoint, timeout_s=2.0)
    until(lambda: server.service.status()["handshakes_failed"] >= 1, "failed handshakes are not counted")


def test_a_client_with_the_wrong_engine_key_gets_a_clear_error(engine, endpoint, folder):
    keygen(folder / "keys")
    keygen(folder / "other")
    (folder / "keys/server.key").write_bytes((folder / "other/server.key").read_bytes())
    engine(keys=folder / "keys")
    with pytest.raises(KeyRefusedError, match="server.key is another engine's"):
        Client(endpoint, keys=folder / "keys", timeout_s=2.0)


def test_a_client_with_keys_and_an_engine_without(engine, endpoint, folder):
    keygen(folder / "keys")
    engine()
    with pytest.raises(KeyRefusedError, match="runs without keys"):
        Client(endpoint, keys=folder / "keys", timeout_s=2.0)


def test_streams_too_are_closed_to_unknown_keys(engine, folder, endpoint):
    keygen(folder / "keys")
    engine(keys=folder / "keys", mode="free-running")
    context = zmq.Context()
    reader = context.socket(zmq.SUB)
    reader.subscribe(b"")
    reader.connect(endpoint + ".state")
    assert not reader.poll(500)
    reader.close(0)
    context.term()


@pytest.mark.parametrize("address", ["tcp://0.0.0.0:*", "tcp://*:*", "tcp://[::]:*", "tcp://192.0.2.1:5555"])
def test_other_addresses_than_loopback_need_keys(engine, address):
    with pytest.raises(EndpointError, match="limberjack keygen"):
        engine(endpoint=address)


def test_stream_addresses_are_checked_as_well(engine):
    with pytest.raises(EndpointError, match="limberjack keygen"):
        engine(endpoint="tcp://127.0.0.1:*", state_endpoint="tcp://0.0.0.0:*")


def test_any_address_with_keys_and_streams_are_found_there(engine, folder):
    keygen(folder / "keys")
    server = engine(endpoint="tcp://0.0.0.0:*", keys=folder / "keys", mode="free-running")
    port = server.endpoints.request.rpartition(":")[2]
    with Client(f"tcp://127.0.0.1:{port}", keys=folder / "keys") as client:
        assert client.latest().step >= 0


def test_bad_key_files_are_named(engine, folder):
    keygen(folder / "keys")
    secret = folder / "keys/server.key_secret"
    secret.chmod(0o644)
    with pytest.raises(KeyFileError, match="chmod 600"):
        engine(keys=folder / "keys")
    secret.write_text("rubbish")
    with pytest.raises(KeyFileError, match=r"server\.key_secret: no key could be read"):
        engine(keys=folder / "keys")
    with pytest.raises(KeyFileError, match=r"server\.key_secret: no key could be read"):
        engine(keys=folder / "nowhere")


def test_no_allowed_client_is_an_error_at_start(engine, folder):
    keygen(folder / "keys", [])
    with pytest.raises(KeyFileError, match="holds no client key"):
        engine(keys=folder / "keys")
