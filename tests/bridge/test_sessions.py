"""Sequence numbers, the table of clients and the command lease, on a clock of the test's own."""

from __future__ import annotations

import pytest

from limberjack.bridge.errors import Code
from limberjack.bridge.messages import Message, Refusal
from limberjack.bridge.sessions import Sessions


def message(client, sequence):
    return Message(1, "state", sequence, 0.0, client, None)


def met(*clients, lease_s=2.0, capacity=256):
    sessions = Sessions(lease_s, capacity)
    for client in clients:
        sessions.hello(message(client, 1), f"client {client}")
    return sessions


def refused(call):
    with pytest.raises(Refusal) as caught:
        call()
    return caught.value.code


def test_a_sequence_is_taken_once_and_never_backwards():
    sessions = met(7)
    sessions.accept(message(7, 5), 0.0)
    assert refused(lambda: sessions.accept(message(7, 5), 0.0)) == Code.REPLAYED
    assert refused(lambda: sessions.accept(message(7, 4), 0.0)) == Code.STALE
    assert refused(lambda: sessions.hello(message(7, 5), "again")) == Code.REPLAYED
    sessions.accept(message(7, 6), 0.0)


def test_strangers_must_say_hello():
    assert refused(lambda: met().accept(message(7, 5), 0.0)) == Code.UNKNOWN_CLIENT
    assert refused(lambda: met().hello(message(0, 5), "nobody")) == Code.MALFORMED


def test_the_lease_has_one_holder_and_expires_without_a_sign_of_life():
    sessions = met(1, 2)
    first, second = sessions.accept(message(1, 2), 0.0), sessions.accept(message(2, 2), 0.0)
    assert sessions.command(first, 0.0)
    assert not sessions.command(first, 0.5)
    assert refused(lambda: sessions.command(second, 1.9)) == Code.LEASE
    sessions.accept(message(1, 3), 1.9)  # anything the holder says renews it
    assert refused(lambda: sessions.command(second, 3.8)) == Code.LEASE
    sessions.accept(message(2, 3), 3.8)  # what others say does not
    assert sessions.holder(3.95) is None
    assert sessions.command(second, 3.95)
    assert sessions.holder(3.95) == "client 2"
    assert refused(lambda: sessions.command(first, 4.0)) == Code.LEASE


def test_an_expired_lease_is_not_renewed_by_reading():
    sessions = met(1)
    first = sessions.accept(message(1, 2), 0.0)
    sessions.command(first, 0.0)
    sessions.accept(message(1, 3), 2.5)
    assert sessions.holder(2.5) is None


def test_only_the_holder_releases():
    sessions = met(1, 2)
    first, second = sessions.accept(message(1, 2), 0.0), sessions.accept(message(2, 2), 0.0)
    sessions.command(first, 0.0)
    assert not sessions.release(second)
    assert sessions.holder(0.1) == "client 1"
    assert sessions.release(first)
    assert sessions.command(second, 0.1)


def test_a_full_table_forgets_the_silent_but_never_the_holder():
    sessions = met(1, 2, 3, capacity=3)
    sessions.command(sessions.accept(message(1, 2), 0.0), 0.0)
    sessions.accept(message(2, 2), 0.1)
    sessions.accept(message(3, 2), 0.2)
    sessions.hello(message(4, 1), "client 4")
    sessions.accept(message(1, 3), 0.3)
    assert refused(lambda: sessions.accept(message(2, 3), 0.3)) == Code.UNKNOWN_CLIENT
    sessions.accept(message(3, 3), 0.3)
