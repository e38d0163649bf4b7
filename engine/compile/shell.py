"""Shells around entries: functions that C and Python can call without numba's calling convention.

numba passes an array as seven values (memory information, parent, items, item size, data, lengths, strides), after two
addresses for a result and an exception, which kernels do not have. Callers pass what `Compiled.arguments` says.
"""

from __future__ import annotations

from typing import Any

from limberjack.engine.compile.compiled import FLAG, FLOATS, INTS, MATRIX, REAL, VECTOR, WHOLE, Compiled

#: for each type: what the caller passes, and what the shell passes on
_TAKEN = {
    INTS: ("ptr %{0}", "{1}, i64 0, i64 8"),
    FLOATS: ("ptr %{0}", "{1}, i64 0, i64 8"),
    VECTOR: ("ptr %{0}, i64 %{0}.n", "{1}, i64 %{0}.n, i64 8"),
    MATRIX: ("ptr %{0}, i64 %{0}.n, i64 %{0}.m", "{1}, i64 %{0}.n, i64 %{0}.m, i64 %{0}.stride, i64 8"),
    WHOLE: ("i64 %{0}", "i64 %{0}"),
    REAL: ("double %{0}", "double %{0}"),
    FLAG: ("i64 %{0}", "i8 %{0}.flag"),
}
_ARRAY = "ptr null, ptr null, i64 {items}, i64 8, ptr %{name}"
_ITEMS = {VECTOR: "%{0}.n", MATRIX: "%{0}.items"}
#: for each type: what the shell computes first
_BEFORE = {
    MATRIX: ["%{0}.items = mul i64 %{0}.n, %{0}.m", "%{0}.stride = mul i64 %{0}.m, 8"],
    FLAG: ["%{0}.flag = trunc i64 %{0} to i8"],
}


def shell(known: Compiled, function: Any) -> str:
    """LLVM's text of a function with the entry's symbol, which calls the function that numba made."""
    taken, handed, lines = [], ["ptr %result", "ptr %exception"], []
    for i, kind in enumerate(known.arguments):
        name = f"a{i}"
        array = _ARRAY.format(items=_ITEMS.get(kind, "0").format(name), name=name)
        given, made = (text.format(name, array) for text in _TAKEN[kind])
        taken.append(given)
        handed.append(made)
        lines += [line.format(name) for line in _BEFORE.get(kind, ())]
    kinds = ", ".join(str(argument.type) for argument in function.arguments)
    return "\n".join(
        [
            f'declare i32 @"{function.name}"({kinds})',
            f"define void @{known.symbol}({', '.join(taken)}) {{",
            "%result = alloca ptr",
            "%exception = alloca ptr",
            *lines,
            f'%status = call i32 @"{function.name}"({", ".join(handed)})',
            "ret void",
            "}",
        ]
    )
