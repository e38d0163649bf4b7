"""A header in C with the messages of a device."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files

from limberjack.hil.code.forms import CHECKS, Form, Forms, Place, comment
from limberjack.hil.devices.message_layout import integer_range

_LARGEST = {"f32": 3.4028234663852886e38, "u64": 18446744073709549568.0, "i64": 9223372036854774784.0}
_ABOUT = {
    "session": "the bench's run; what commands give back",
    "sequence": "number of the message",
    "answer": "number of the signals that they answer",
    "time": "s",
}


def c_header(forms: Forms) -> str:
    """The text of the header: structs, sizes, and functions that pack, unpack and frame the messages."""
    name = forms.name
    parts = [
        _part("messages.h.in", forms),
        _check(forms),
        _struct(forms, forms.signals),
        _struct(forms, forms.commands),
    ]
    parts += [_unpack(forms), _newer(forms), _pack(forms)]
    if forms.carrier != "datagrams":
        kind = "memory" if forms.carrier == "memory" else forms.layout.framing
        parts.append(_part(f"{kind}.h.in", forms))
    return "\n".join(parts) + f"\n#endif /* {name.upper()}_MESSAGES_H */\n"


def _part(file: str, forms: Forms) -> str:
    """A piece of the header that differs by names and sizes only."""
    text = (files("limberjack.hil.code") / file).read_text(encoding="utf-8")
    big = forms.layout.byte_order == "big"
    found = {
        "origin": comment(forms.origin),
        "name": forms.name,
        "NAME": forms.name.upper(),
        "signals_bytes": str(forms.signals.size),
        "commands_bytes": str(forms.commands.size),
        "shift": "8 * (size - 1 - i)" if big else "8 * i",
        "sync_bytes": str(int(forms.signals.places[0].field.type[1:]) // 8),
        "sync_value": _constant(forms.signals.places[0]),
        "memory": forms.memory,
    }
    for key, value in found.items():
        text = text.replace(f"@{key}@", value)
    return text


def _constant(place: Place) -> str:
    """The constant of a field, as its bits."""
    bits = int(place.field.type[1:])
    return f"{(place.field.value or 0) % 2**bits:#x}u" + ("ll" if bits == 64 else "")


def _check(forms: Forms) -> str:
    """The functions that compute the checks of the two messages."""
    kinds = {forms.signals.check, forms.commands.check} - {"none"}
    return "\n".join(_part(f"{kind}.h.in", forms) for kind in sorted(kinds))


def _struct(forms: Forms, form: Form) -> str:
    said = "What the bench sends." if form.part == "signals" else "What the bench takes; begin with {0}."
    lines = [f"/* {said} */", f"struct {forms.name}_{form.part} {{"]
    for place in form.shown:
        kind = "double" if place.field.use in ("value", "time") else _integer(place)
        about = _ABOUT.get(place.field.use) or place.about
        lines.append(f"    {kind} {place.label}; /* {about} */")
    return "\n".join([*lines, "};", ""])


def _integer(place: Place) -> str:
    """The C type of an integer field."""
    return f"{'u' if place.field.type[0] == 'u' else ''}int{place.field.type[1:]}_t"


def _unpack(forms: Forms) -> str:
    """From bytes to a struct."""
    form, name = forms.signals, forms.name
    lines = [
        "/* NULL, or why these bytes are not signals; *signals is then unchanged. */",
        f"static inline const char *{name}_unpack(const uint8_t *data, size_t size, struct {name}_signals *signals)",
        "{",
        f"    struct {name}_signals came;",
        f"    if (size != {name.upper()}_SIGNALS_BYTES)",
        '        return "wrong size";',
    ]
    if form.check != "none":
        check = f"{name}_get(data + {form.body}, {CHECKS[form.check]})"
        lines += [f"    if ({name}_{form.check}(data, {form.body}) != {check})", '        return "wrong check";']
    for place in form.places:
        if place.field.use == "constant":
            lines += [f"    if ({_got(name, place)} != {_constant(place)})", '        return "wrong constant";']
    lines += [f"    came.{place.label} = {_value(name, place)};" for place in form.shown]
    real = [place.label for place in form.shown if place.field.type[0] == "f"]
    lines += [line for label in real for line in (f"    if (!isfinite(came.{label}))", '        return "not finite";')]
    return "\n".join([*lines, "    *signals = came;", "    return NULL;", "}", ""])


def _got(name: str, place: Place) -> str:
    return f"{name}_get(data + {place.offset}, {int(place.field.type[1:]) // 8})"


def _value(name: str, place: Place) -> str:
    """The value of a field in terms of `data`."""
    kind, field = place.field.type, place.field
    if field.use not in ("value", "time"):
        return f"({_integer(place)}){_got(name, place)}"
    size = f"data + {place.offset}"
    raw = {"u": f"(double){_got(name, place)}", "i": f"{name}_signed({size}, {int(kind[1:]) // 8})"}
    raw["f"] = f"{name}_real{kind[1:]}({size})"
    text = raw[kind[0]]
    text = text if field.scale == 1.0 else f"{text} * {field.scale!r}"
    return text if field.offset == 0.0 else f"{text} + {field.offset!r}"


def _newer(forms: Forms) -> str:
    """The function that returns whether signals are newer."""
    form, name = forms.signals, forms.name
    lines = [
        "/* Whether signals are newer than the last ones taken: links duplicate, delay and reorder messages. */",
        f"static inline int {name}_newer(const struct {name}_signals *came, const struct {name}_signals *last)",
        "{",
    ]
    if form.has("session"):
        lines += ["    if (came->session != last->session)", "        return 1; /* the bench begins a run */"]
    if form.has("sequence"):
        kind = next(place.field.type for place in form.places if place.field.use == "sequence")
        if not form.has("session"):
            lines += ["    if (came->sequence == 1)", "        return 1; /* the bench begins a run */"]
        lines.append(f"    return (int{kind[1:]}_t)(came->sequence - last->sequence) > 0;")
    else:
        lines.append("    return (void)came, (void)last, 1;")
    return "\n".join([*lines, "}", ""])


def _pack(forms: Forms) -> str:
    """From a struct to bytes."""
    form, name = forms.commands, forms.name
    lines = [
        "/* Make the message that answers these signals, and count it; what a type cannot hold is cut. */",
        f"static inline void {name}_pack(struct {name}_commands *commands, const struct {name}_signals *signals, "
        "uint8_t *data)",
        "{",
        "    (void)signals;",
    ]
    lines += list(_filled(forms))
    lines += [f"    {_put(name, place)};" for place in form.places]
    if form.has("sequence"):
        lines.append("    commands->sequence++;")
    if form.check != "none":
        lines.append(
            f"    {name}_put(data + {form.body}, {CHECKS[form.check]}, {name}_{form.check}(data, {form.body}));"
        )
    return "\n".join([*lines, "}", ""])


def _filled(forms: Forms) -> Iterator[str]:
    """The fields that commands copy from the signals that they answer."""
    integers: dict[str, str] = {
        place.field.use: _integer(place) for place in forms.commands.shown if place.field.type[0] != "f"
    }
    for use, source in (("session", "session"), ("answer", "sequence"), ("time", "time")):
        if forms.commands.has(use) and forms.signals.has(source):
            cast = f"({integers[use]})" if use != "time" else ""
            yield f"    commands->{use} = {cast}signals->{source};"


def _put(name: str, place: Place) -> str:
    """A statement that writes a field."""
    field, kind = place.field, place.field.type
    size, at = int(kind[1:]) // 8, f"data + {place.offset}"
    if field.use == "constant":
        return f"{name}_put({at}, {size}, {_constant(place)})"
    if field.use == "unused":
        return f"{name}_put({at}, {size}, 0)"
    if field.use not in ("value", "time"):
        return f"{name}_put({at}, {size}, (uint64_t)commands->{place.label})"
    number = f"commands->{place.label}"
    number = number if field.offset == 0.0 else f"({number} - {field.offset!r})"
    number = number if field.scale == 1.0 else f"{number} / {field.scale!r}"
    if kind == "f64":
        return f"{name}_put64({at}, {number})"
    if kind == "f32":
        return f"{name}_put32({at}, {name}_within({number}, {-_LARGEST['f32']!r}, {_LARGEST['f32']!r}))"
    low, high = map(float, integer_range(kind))
    number = f"{name}_within({number}, {low!r}, {_LARGEST.get(kind, high)!r})"
    return f"{name}_put({at}, {size}, {name}_{'whole' if kind[0] == 'u' else 'signed_whole'}({number}))"
