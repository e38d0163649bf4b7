"""What each key may do, and keys that come, go and change while the engine runs."""

from __future__ import annotations

import os
import time

import pytest
import zmq

from limberjack.bridge import Client
from limberjack.bridge.errors import BridgeError, KeyFileError, LeaseError, RefusedError
from limberjack.bridge.keys import keygen
from limberjack.bridge.link import ClientKeys
from limberjack.bridge.messages import encode
from limberjack.bridge.roles import Role, read_roles
from tests.bridge.bridge_helpers import WAIT_S, until


@pytest.fixture
def keys(folder):
    """A folder with one key of each role."""
    for role in Role:
        keygen(folder / "keys", [f"{role.word}er"], role)
    return folder / "keys"


def client(endpoint, keys, name):
    return Client(endpoint, keys=keys, key_name=name, name=name, timeout_s=WAIT_S)


def await_event(reader, wanted):
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        kind, body = reader.next_event()
        if kind == "event" and body["event"] == wanted:
            return body
    raise AssertionError(f"no event '{wanted}'")


def refused(call):
    with pytest.raises(RefusedError) as caught:
        call()
    assert caught.value.code == "role"
    return str(caught.value)


def again_and_again(call):
    for _ in range(1000):
        call()


LOOK = (
    lambda c: c.state(),
    lambda c: c.snapshot(),
    lambda c: c.model(),
    lambda c: c.status(),
    lambda c: c.parameter("gravity.z"),
    lambda c: c.release(),
    lambda c: c.latest(),
)
COMMAND = (lambda c: c.acquire(), lambda c: c.command({"j1": 0.5}), lambda c: c.step(), lambda c: c.release())
TOPOLOGY = (lambda c: c.attach("x"), lambda c: c.release("x"), lambda c: c.lock("x"), lambda c: c.unlock("x"))
ADMIN = (
    lambda c: c.parameter("gravity.z", -9.0),
    lambda c: c.restore(c.snapshot()),
    lambda c: c.reset(),
    lambda c: c.release(),
    lambda c: c.shutdown(),
)


def test_each_role_may_do_its_own_and_no_more(engine, endpoint, keys):
    server = engine(keys=keys)
    with client(endpoint, keys, "commander") as one, client(endpoint, keys, "reader") as other:
        one.step()
        for each in LOOK[:-1]:
            each(other)
        for each in (*COMMAND[:-1], *TOPOLOGY):
            assert "needs the role command; this client's key has read" in refused(lambda each=each: each(other))
        for each in (ADMIN[0], ADMIN[1], ADMIN[2], ADMIN[4]):
            refused(lambda each=each: each(other))
            assert "needs the role admin" in refused(lambda each=each: each(one))
        for each in COMMAND:
            each(one)
        with client(endpoint, keys, "adminer") as chief:
            for each in ADMIN[:-1]:
                each(chief)
        assert one._link.hello("commander")["role"] == "command"
    assert server.service.status()["refused"]["role"] == 3 + len(TOPOLOGY) + 2 * 4
    assert not server.service.stopping


def test_a_fault_needs_admin_to_act_and_nothing_to_look(engine, endpoint, keys):
    engine(keys=keys)
    with client(endpoint, keys, "reader") as one:
        refused(lambda: one.fault("x", True))
        with pytest.raises(Exception, match="there is no fault"):
            one.fault("x")


def test_a_folder_without_roles_gives_all_rights_as_before(engine, endpoint, folder):
    keygen(folder / "keys", ["old"])
    (folder / "keys/roles").unlink()
    engine(keys=folder / "keys")
    with client(endpoint, folder / "keys", "old") as one:
        one.reset()
    keygen(folder / "keys", ["new"], "read")
    assert read_roles(folder / "keys") == {"old": Role.ADMIN, "new": Role.READ}


def test_keygen_writes_one_role_for_each_key(folder):
    keygen(folder, ["a", "b"], "command")
    (folder / "clients/a.key").unlink()
    (folder / "a.key_secret").unlink()
    keygen(folder, ["a"], Role.READ)
    assert read_roles(folder) == {"a": Role.READ, "b": Role.COMMAND}
    with pytest.raises(KeyFileError, match=r"not a role\. Give read, command, admin"):
        keygen(folder, ["c"], "king")


@pytest.mark.parametrize(
    ("line", "message"), [("boss a", "'boss' is not a role"), ("read", "no key's name"), ("read a\nadmin a", "twice")]
)
def test_a_bad_file_of_roles_is_named_with_its_line(engine, folder, line, message):
    keygen(folder / "keys", ["a"])
    (folder / "keys/roles").write_text("# roles\n" + line + "\n")
    with pytest.raises(KeyFileError, match=rf"roles:[23]: .*{message}"):
        engine(keys=folder / "keys")


def test_a_key_that_is_added_may_connect_without_a_restart(engine, endpoint, keys):
    engine(keys=keys)
    with client(endpoint, keys, "reader") as watcher:
        watcher.status()
        watcher.next_event()
        keygen(keys, ["late"], "command")
        reported = await_event(watcher, "keys")
        assert (reported["added"], reported["removed"]) == (["late"], [])
        with client(endpoint, keys, "late") as late:
            assert late.step().step == 1


def test_a_key_that_is_removed_loses_connection_lease_and_streams(engine, endpoint, keys):
    server = engine(keys=keys, mode="free-running", lease_s=60.0)
    watcher = client(endpoint, keys, "reader")
    one = client(endpoint, keys, "commander")
    one.acquire()
    assert one.latest().step >= 0
    watcher.next_event()
    with pytest.raises(LeaseError), client(endpoint, keys, "adminer") as chief:
        chief.acquire()
    (keys / "clients/commander.key").unlink()
    assert await_event(watcher, "keys")["removed"] == ["commander"]
    with pytest.raises(BridgeError):
        again_and_again(lambda: one.status(timeout_s=1.0))
    assert server.service.status()["turned_away"]["key"] >= 2  # requests, and the stream of states
    until(lambda: server.service.status()["lease"] is None, "the lease stays with a key that is gone")
    with pytest.raises(BridgeError):  # what was under way comes; then nothing more
        again_and_again(lambda: one.latest(timeout_s=0.5))
    with client(endpoint, keys, "adminer") as chief:
        chief.acquire()
    assert watcher.state().step > 0
    one.close()
    watcher.close()


def test_a_role_that_changes_counts_from_the_next_request(engine, endpoint, keys):
    engine(keys=keys, lease_s=60.0)
    with client(endpoint, keys, "commander") as one, client(endpoint, keys, "reader") as watcher:
        one.step()
        watcher.next_event()
        text = (keys / "roles").read_text()
        (keys / "roles").write_text(text.replace("command commander", "read commander  # on leave"))
        assert await_event(watcher, "keys")["changed"] == {"commander": "read"}
        refused(one.step)
        assert one.state().step == 1
        until(lambda: one.status()["lease"] is None, "it holds the lease still")


def test_a_folder_that_cannot_be_read_changes_nothing(engine, endpoint, keys):
    engine(keys=keys)
    with client(endpoint, keys, "commander") as one:
        one.step()
        one.next_event()
        (keys / "roles").write_text("read\n")
        assert "no key's name" in await_event(one, "keys")["problem"]
        assert one.step().step == 2


@pytest.mark.parametrize("name", ["roles", "clients/a.key", "server.key_secret"])
def test_a_named_pipe_in_the_folder_of_keys_is_not_waited_for(engine, folder, name):
    keygen(folder / "keys", ["a"])
    (folder / "keys" / name).unlink()
    os.mkfifo(folder / "keys" / name, 0o600)
    with pytest.raises(KeyFileError, match="this is not a file"):
        engine(keys=folder / "keys")


def test_a_client_number_is_of_the_key_that_said_hello_with_it(engine, endpoint, keys):
    engine(keys=keys)
    context = zmq.Context()
    thief = context.socket(zmq.DEALER)
    thief.linger, thief.rcvtimeo = 0, int(1000 * WAIT_S)
    ClientKeys(keys, "adminer").apply(thief)
    thief.connect(endpoint)
    with client(endpoint, keys, "commander") as one:
        one.step()
        thief.send(encode("step", 10_000, 0.0, one._link.client, [1, None, None]))
        assert b"belongs to another key" in thief.recv()
        assert one.step().step == 2
    thief.close()
    context.term()
