"""Functions for MATLAB and Octave with the messages of a device, in one file."""

from __future__ import annotations

from importlib.resources import files

from limberjack.engine.common.errors import ArgumentError
from limberjack.hil.code.forms import CHECKS, Form, Forms, Place
from limberjack.hil.devices.message_layout import integer_range

_KINDS = {"u": "uint", "i": "int"}
_LARGEST = {"u64": 18446744073709549568.0, "i64": 9223372036854774784.0}


def matlab_functions(forms: Forms) -> str:
    """The text of the file `<device>_messages.m`. ArgumentError for shared memory, which neither can map."""
    if forms.carrier == "memory":
        raise ArgumentError(
            f"device '{forms.name}' talks over shared memory, which MATLAB and Octave cannot keep in order; "
            "give it tcp://…?listen=true, or take C (-o FILE.h)."
        )
    parts = [_part("messages.m.in", forms), _unpack(forms), _newer(forms), _pack(forms)]
    checks = sorted({forms.signals.check, forms.commands.check} - {"none"})
    parts += [_part(f"{kind}.m.in", forms) for kind in (*checks, *(["summed"] if checks else []))]
    kind = forms.layout.framing if forms.carrier == "stream" else "datagrams"
    return "\n".join([*parts, _part(f"{kind}.m.in", forms)])


def _part(file: str, forms: Forms) -> str:
    text = (files("limberjack.hil.code") / file).read_text(encoding="utf-8")
    first = forms.signals.places[0]
    found = {
        "origin": forms.origin,
        "name": forms.name,
        "signals": _listed(forms.signals),
        "commands": _listed(forms.commands),
        "zeros": ", ".join(f"'{place.label}', 0" for place in _own(forms.commands)),
        "signals_bytes": str(forms.signals.size),
        "frame_bytes": str(forms.signals.size + forms.signals.size // 254 + 2),
        "flip": "fliplr" if forms.layout.byte_order == "big" else "",
        "sync": f"put({_constant(first)})" if first.field.use == "constant" else "",
    }
    for key, value in found.items():
        text = text.replace(f"@{key}@", value)
    return text


def _own(form: Form) -> tuple[Place, ...]:
    """The fields that a controller sets: its values and its count."""
    return tuple(place for place in form.shown if place.field.use in ("value", "sequence"))


def _listed(form: Form) -> str:
    """Lines of help on the fields of a message."""
    values = [place for place in form.shown if place.field.use in ("value", "time")]
    lines = [f"%     .{place.label:20} {place.field.name or 'simulated time'}, {place.unit or '-'}" for place in values]
    return "\n".join(lines)


def _class(place: Place) -> str:
    """The MATLAB class of the value of a field."""
    kind = place.field.type
    return {"f32": "single", "f64": "double"}.get(kind) or f"{_KINDS[kind[0]]}{kind[1:]}"


def _constant(place: Place) -> str:
    """The constant of a field; one of 64 bits must not pass through a double."""
    low, high = (place.field.value or 0) % 2**32, (place.field.value or 0) % 2**64 >> 32
    if int(place.field.type[1:]) < 64:
        return f"{_class(place)}({place.field.value or 0})"
    return f"typecast(uint32([{low}, {high}]), '{_class(place)}')"


def _bytes(place: Place) -> str:
    """The bytes of a field of `data`, counted from 1."""
    return f"data({place.offset + 1}:{place.offset + int(place.field.type[1:]) // 8})"


def _unpack(forms: Forms) -> str:
    form = forms.signals
    lines = [
        "function [signals, why] = unpack(data)",
        "% Signals of a message, or why it is not one.",
        "signals = [];",
        "data = uint8(data(:)');",
        f"if numel(data) ~= {form.size}",
        "    why = 'wrong size';",
        "    return",
        "end",
    ]
    if form.check != "none":
        kind = f"uint{8 * CHECKS[form.check]}"
        lines += [
            f"if {form.check}(data(1:{form.body})) ~= get(data({form.body + 1}:{form.size}), '{kind}')",
            *("    why = 'wrong check';", "    return", "end"),
        ]
    for place in form.places:
        if place.field.use == "constant":
            lines += [
                f"if get({_bytes(place)}, '{_class(place)}') ~= {_constant(place)}",
                "    why = 'wrong constant';",
            ]
            lines += ["    return", "end"]
    lines += [f"came.{place.label} = {_value(place)};" for place in form.shown]
    real = [f"came.{place.label}" for place in form.shown if place.field.type[0] == "f"]
    if real:
        lines += [f"if ~all(isfinite([{', '.join(real)}]))", "    why = 'not finite';", "    return", "end"]
    return "\n".join([*lines, "signals = came;", "why = '';", "end", ""])


def _value(place: Place) -> str:
    got = f"get({_bytes(place)}, '{_class(place)}')"
    if place.field.use == "session":
        return got
    text = f"double({got})"
    text = text if place.field.scale == 1.0 else f"{text} * {place.field.scale!r}"
    return text if place.field.offset == 0.0 else f"{text} + {place.field.offset!r}"


def _newer(forms: Forms) -> str:
    form = forms.signals
    lines = [
        "function yes = newer(came, last)",
        "% Whether signals are newer than the last ones taken ([]: none): links duplicate, delay and reorder messages.",
        "yes = true;",
    ]
    if form.has("sequence"):
        wraps = 2 ** int(next(place.field.type for place in form.places if place.field.use == "sequence")[1:])
        again = "came.session ~= last.session" if form.has("session") else "came.sequence == 1"
        lines += [
            f"if isempty(last) || {again} % the bench begins a run",
            "    return",
            "end",
            f"ahead = mod(came.sequence - last.sequence, {wraps});",
            f"yes = ahead > 0 && ahead < {wraps // 2};",
        ]
    return "\n".join([*lines, "end", ""])


def _pack(forms: Forms) -> str:
    form = forms.commands
    lines = [
        "function [data, commands] = pack(commands, signals)",
        "% The message that answers these signals; commands come back with their count one higher.",
        "data = [ ...",
    ]
    lines += [f"    {_put(forms, place)}, ..." for place in form.places]
    lines.append("    ];")
    if form.has("sequence"):
        wraps = 2 ** int(next(place.field.type for place in form.places if place.field.use == "sequence")[1:])
        lines.append(f"commands.sequence = mod(commands.sequence + 1, {wraps});")
    if form.check != "none":
        lines.append(f"data = [data, put({form.check}(data))];")
    return "\n".join([*lines, "data = frame(data);", "end", ""])


def _put(forms: Forms, place: Place) -> str:
    """The bytes of a field."""
    field, kind = place.field, _class(place)
    if field.use in ("constant", "unused"):
        return f"put({_constant(place)})" if kind[0] in "ui" else f"put({kind}(0))"
    if field.use == "session":
        return "put(signals.session)" if forms.signals.has("session") else "put(uint64(0))"
    if field.use in ("sequence", "answer"):
        source = "commands.sequence" if field.use == "sequence" else "signals.sequence"
        known = field.use == "sequence" or forms.signals.has("sequence")
        return f"put({kind}(mod({source}, {2 ** int(field.type[1:])})))" if known else f"put({kind}(0))"
    number = f"commands.{place.label}" if field.use == "value" else ("signals.time" if _timed(forms) else "0")
    number = number if field.offset == 0.0 else f"({number} - {field.offset!r})"
    number = number if field.scale == 1.0 else f"{number} / {field.scale!r}"
    if field.type == "f64":
        return f"put(double({number}))"
    if field.type == "f32":
        return f"put(single(within({number}, -realmax('single'), realmax('single'))))"
    low, high = map(float, integer_range(field.type))
    return f"put({kind}(whole({number}, {low!r}, {_LARGEST.get(field.type, high)!r})))"


def _timed(forms: Forms) -> bool:
    return forms.signals.has("time")
