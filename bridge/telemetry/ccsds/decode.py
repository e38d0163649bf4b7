"""The data of telecommands as orders, and orders as data."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from limberjack.bridge.telemetry.ccsds.functions import FUNCTIONS, NAME_BYTES, Function
from limberjack.bridge.telemetry.ccsds.packets import FUNCTION, PARAMETERS, PERFORM, SET_VALUES
from limberjack.bridge.telemetry.ccsds.sets import Plan
from limberjack.bridge.telemetry.ccsds.vocabulary import Vocabulary
from limberjack.bridge.telemetry.orders import Order, OrderRefused
from limberjack.engine.common.errors import ArgumentError

_SIGNATURE = struct.Struct(">I")
_COUNT = struct.Struct(">H")
_VALUE = struct.Struct(">Hd")

#: service and message type of the telecommands that carry orders
ORDERS = ((FUNCTION, PERFORM), (PARAMETERS, SET_VALUES))


def decode(kind: tuple[int, int], data: bytes, plan: Plan) -> Order:
    """The order in the data of a telecommand of this service and message type. OrderRefused."""
    if kind not in ORDERS:
        known = ", ".join(f"{service}.{subtype}" for service, subtype in ORDERS)
        raise OrderRefused("unknown_service", f"there is no {kind[0]}.{kind[1]}; there are {known} and 17.1.")
    if len(data) < _SIGNATURE.size:
        raise OrderRefused("malformed", "its data are too short for a signature.")
    (given,) = _SIGNATURE.unpack_from(data)
    if given != plan.signature:
        raise OrderRefused(
            "other_description",
            f"it was made from another description, {given:08X} and not {plan.signature:08X}. Export the XTCE again.",
        )
    rest = data[_SIGNATURE.size :]
    return _perform(rest, plan.vocabulary) if kind == ORDERS[0] else _set_parameter(rest, plan.vocabulary)


def _perform(data: bytes, vocabulary: Vocabulary) -> Order:
    try:
        function = FUNCTIONS[data[0]]
    except (IndexError, KeyError):
        what = f"function {data[0]}" if data else "no function"
        raise OrderRefused("unknown", f"it asks for {what}; there are 1 to {len(FUNCTIONS)}.") from None
    rest = data[1:]
    if function is Function.COMMAND:
        return Order("command", values=_values(rest, [each.id.partition(".")[2] for each in vocabulary.commands]))
    names: Sequence[str] = getattr(vocabulary, f"{function.names}s") if function.names else ()
    wanted = _COUNT.size if function.names else NAME_BYTES if function.takes_fault else 0
    if len(rest) != wanted:
        raise OrderRefused("malformed", f"{function.name} has {len(rest)} bytes of arguments instead of {wanted}.")
    target = _name(names, _COUNT.unpack(rest)[0], function.names) if function.names else _text(rest)
    return Order(function.name.lower(), target)


def _text(data: bytes) -> str:
    try:
        return data.rstrip(b"\0").decode()
    except UnicodeDecodeError:
        raise OrderRefused("malformed", "the name in it is not UTF-8.") from None


def _set_parameter(data: bytes, vocabulary: Vocabulary) -> Order:
    values = _values(data, vocabulary.parameters)
    if len(values) != 1:
        raise OrderRefused("malformed", f"it sets {len(values)} parameters; send a telecommand for each.")
    ((name, value),) = values.items()
    return Order("parameter", name, value)


def _values(data: bytes, names: Sequence[str]) -> dict[str, float]:
    """Count, then place and value of each."""
    if len(data) < _COUNT.size or len(data) != _COUNT.size + _COUNT.unpack_from(data)[0] * _VALUE.size:
        raise OrderRefused("malformed", f"{len(data)} bytes are not a count and that many indices with their values.")
    values: dict[str, float] = {}
    for place, value in _VALUE.iter_unpack(data[_COUNT.size :]):
        name = _name(names, place, "name")
        if name in values:
            raise OrderRefused("malformed", f"{name} appears twice.")
        values[name] = value
    return values


def _name(names: Sequence[str], place: int, what: str) -> str:
    if place >= len(names):
        raise OrderRefused("unknown", f"there is no {what} number {place}; there are {len(names)}, from 0.")
    return names[place]


def encode(order: Order, plan: Plan) -> tuple[tuple[int, int], bytes]:
    """Service and message type, and the data, of the telecommand for an order.

    KeyError for a name that the model does not have, ArgumentError for a fault's name that is too long.
    """
    head, vocabulary = _SIGNATURE.pack(plan.signature), plan.vocabulary
    if order.action == "parameter":
        assert order.value is not None
        return ORDERS[1], head + _pairs({order.target: order.value}, vocabulary.parameters)
    function = Function[order.action.upper()]
    head += bytes([function])
    if function is Function.COMMAND:
        return ORDERS[0], head + _pairs(order.values, [each.id.partition(".")[2] for each in vocabulary.commands])
    if function.takes_fault:
        head += _filled(order.target)
    elif function.names:
        head += _COUNT.pack(_places(getattr(vocabulary, f"{function.names}s"))[order.target])
    return ORDERS[0], head


def _filled(name: str) -> bytes:
    encoded = name.encode()
    if len(encoded) > NAME_BYTES:
        raise ArgumentError(f"{name!r:.80} is longer than the {NAME_BYTES} bytes that a telecommand has for a name.")
    return encoded.ljust(NAME_BYTES, b"\0")


def _pairs(values: Mapping[str, float], names: Sequence[str]) -> bytes:
    places = _places(names)
    return _COUNT.pack(len(values)) + b"".join(_VALUE.pack(places[name], value) for name, value in values.items())


def _places(names: Sequence[str]) -> dict[str, int]:
    return {name: place for place, name in enumerate(names)}
