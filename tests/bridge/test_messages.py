"""The wire format: what is accepted, what is refused and why, the fixed layout of state messages."""

from __future__ import annotations

import struct

import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from limberjack.bridge.errors import Code
from limberjack.bridge.messages import Message, Refusal, StateFrame, decode, encode, read_vector

NUMBERS = st.integers(0, 2**64 - 1)
TIMES = st.floats(allow_nan=False, allow_infinity=False)


@given(st.text(max_size=20), NUMBERS, TIMES, NUMBERS, st.binary(max_size=50))
def test_encoded_messages_come_back(kind, sequence, time, client, body):
    assert decode(encode(kind, sequence, time, client, body)) == Message(1, kind, sequence, time, client, body)


@given(st.binary(max_size=200))
def test_random_bytes_are_refused_and_nothing_else(data):
    with pytest.raises(Refusal):
        decode(data)


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.binary(max_size=9)
    | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=7) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@given(PLAIN)
def test_any_msgpack_value_is_decoded_or_refused(value):
    try:
        message = decode(msgpack.packb(value))
    except Refusal as refusal:
        answer = (refusal.sequence, refusal.client)
    else:
        answer = (message.sequence, message.client)
    assert all(0 <= number < 2**64 for number in answer)


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ([2, "step", 7, 0.0, 9, None], Code.VERSION),
        ([2, "step", 7, 0.0, 9, None, "more"], Code.VERSION),
        ([True, "step", 7, 0.0, 9, None], Code.VERSION),
        ([1, "step", 7, 0.0, 9], Code.MALFORMED),
        ([1, b"step", 7, 0.0, 9, None], Code.MALFORMED),
        ([1, "step", 7.0, 0.0, 9, None], Code.MALFORMED),
        ([1, "step", True, 0.0, 9, None], Code.MALFORMED),
        ([1, "step", -1, 0.0, 9, None], Code.MALFORMED),
        ([1, "step", 7, 0, 9, None], Code.MALFORMED),
        ([1, "step", 7, float("nan"), 9, None], Code.NON_FINITE),
        ([1, "step", 7, float("inf"), 9, None], Code.NON_FINITE),
        ([], Code.MALFORMED),
        ({"version": 1}, Code.MALFORMED),
    ],
)
def test_wrong_envelopes_are_distinguished(value, code):
    with pytest.raises(Refusal) as caught:
        decode(msgpack.packb(value))
    assert caught.value.code == code
    if isinstance(value, list) and len(value) >= 5 and value[2] == 7 and type(value[2]) is int:
        assert (caught.value.sequence, caught.value.client) == (7, 9)


@pytest.mark.parametrize(
    "data",
    [
        b"\xdd\xff\xff\xff\xff",  # an array of 4 billion values that are not there
        b"\x91" * 100_000,  # 100,000 nested arrays
        b"\xc6\xff\xff\xff\xff",  # 4 GB of binary
        b"\xc7\x04\x05abcd",  # an extension type
        b"\xd6\xff\x00\x00\x00\x00",  # a timestamp
        b"\x96\x01\xa1\xff\x01\xcb" + b"\0" * 8 + b"\x01\xc0",  # text that is not UTF-8
        encode("state", 1, 0.0, 1, None) + b"\xc0",  # a second value behind the first
    ],
    ids=["giant array", "deep", "giant binary", "extension", "timestamp", "text", "tail"],
)
def test_hostile_msgpack_is_refused(data):
    with pytest.raises(Refusal) as caught:
        decode(data)
    assert caught.value.code == Code.MALFORMED


def test_vectors_are_checked_for_type_length_and_values():
    good = struct.pack("<2d", 1.5, -2.0)
    assert read_vector(good, 2, "command").tolist() == [1.5, -2.0]
    for data, count, code in (
        ([1.5, -2.0], 2, Code.MALFORMED),
        (good, 3, Code.WRONG_LENGTH),
        (good[:-1], 2, Code.WRONG_LENGTH),
        (struct.pack("<2d", 1.0, float("nan")), 2, Code.NON_FINITE),
        (struct.pack("<2d", float("-inf"), 1.0), 2, Code.NON_FINITE),
    ):
        with pytest.raises(Refusal) as caught:
            read_vector(data, count, "command")
        assert caught.value.code == code


def test_state_messages_have_fixed_offsets_and_are_plain_msgpack():
    frame = StateFrame({"q": 2, "v": 2, "tau": 2, "outputs": 1, "command": 3})
    frame.vector[:] = np.arange(10.0)
    message = bytes(frame.stamp(2**64 - 1, 0.125, 77, 2**40))
    assert decode(message) == Message(1, "state", 2**64 - 1, 0.125, 77, [2**40, struct.pack("<10d", *range(10))])
    assert struct.unpack_from(">Q", message, 9)[0] == 2**64 - 1
    assert struct.unpack_from(">d", message, 18)[0] == 0.125
    assert struct.unpack_from(">Q", message, 27)[0] == 77
    assert struct.unpack_from(">Q", message, 37)[0] == 2**40
    assert struct.unpack_from(">I", message, 46)[0] == 80
    assert struct.unpack_from("<10d", message, 50) == tuple(range(10))
    assert frame.parts["command"].tolist() == [7.0, 8.0, 9.0]
