"""Text and JSON as JavaScript sees them: UTF-16 lengths and `JSON.stringify`, byte for byte.

Rule: COMPACTION §3 and PROMPT-AUDIT §3. DSH measures and digests in Node; recomputed values must match exactly.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from json.encoder import encode_basestring

_LONE = re.compile("[\ud800-\udfff]")
_INDEX = re.compile(r"0|[1-9]\d{0,9}")
_SAFE = 2**53


def utf16_len(text: str) -> int:
    """Length in UTF-16 code units: `"…".length` in JavaScript."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def well_formed(text: str) -> str:
    """The text with surrogate pairs joined and each lone surrogate as U+FFFD, as Node encodes it to UTF-8."""
    if text.isascii() or _LONE.search(text) is None:
        return text
    return _LONE.sub("\ufffd", _paired(text))


def stringify(value: object) -> str:
    """`JSON.stringify(value)` of a value that came from JSON: no spaces, non-ASCII raw, key order kept.

    Integer-like keys come first, ascending; numbers in JS form (`1e+21` for 1e21, `0` for -0, integers beyond 2^53
    rounded as JavaScript does); infinity and NaN become null; lone surrogates `\\udxxx`. Depth does not matter.
    Raises TypeError for a value JSON cannot hold.
    """
    out: list[str] = []
    todo: list[Iterator[object] | str | object] = [_Value(value)]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            out.append(item)
        elif isinstance(item, _Value):
            _open(item.value, out, todo)
    return "".join(out)


class _Value:
    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value


def _open(value: object, out: list[str], todo: list[Iterator[object] | str | object]) -> None:
    if isinstance(value, str):
        out.append(quote(value))
    elif value is None:
        out.append("null")
    elif isinstance(value, bool):
        out.append("true" if value else "false")
    elif isinstance(value, int | float):
        out.append(number(value))
    elif isinstance(value, Mapping):
        out.append("{")
        parts: list[object] = []
        for key in _ordered(value):
            parts += ["," if parts else "", quote(key) + ":", _Value(value[key])]
        todo += ["}", *reversed(parts)]
    elif isinstance(value, list | tuple):
        out.append("[")
        parts = []
        for inner in value:
            parts += ["," if parts else "", _Value(inner)]
        todo += ["]", *reversed(parts)]
    else:
        raise TypeError(f"not a JSON value: {type(value).__name__}")


def _ordered(value: Mapping[object, object]) -> list[str]:
    keys = [k for k in value if isinstance(k, str)]
    if len(keys) != len(value):
        raise TypeError("member names must be strings")
    index = [k for k in keys if _INDEX.fullmatch(k) and int(k) < 2**32 - 1]
    if not index:
        return keys
    rest = set(index)
    return sorted(index, key=int) + [k for k in keys if k not in rest]


def quote(text: str) -> str:
    """A JavaScript string literal as `JSON.stringify` writes it."""
    quoted = encode_basestring(text)
    if text.isascii() or _LONE.search(quoted) is None:
        return quoted
    return _LONE.sub(lambda m: f"\\u{ord(m.group()):04x}", _paired(quoted))


def number(value: float) -> str:
    """`String(value)` of a finite number; null for the others (ECMA-262 Number::toString, radix 10)."""
    if isinstance(value, int):
        if -_SAFE <= value <= _SAFE:
            return str(value)
        try:
            value = float(value)
        except OverflowError:
            return "null"
    if not math.isfinite(value):
        return "null"
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = f"{abs(value)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    if fraction == "0":
        fraction = ""
    point = len(whole) + int(exponent or 0)
    raw = whole + fraction
    digits = raw.lstrip("0")
    point -= len(raw) - len(digits)
    digits = digits.rstrip("0")
    return sign + _place(digits, point)


def _place(digits: str, point: int) -> str:
    """Digits with the decimal point after `point` of them, in the form JavaScript chooses."""
    k = len(digits)
    if k <= point <= 21:
        return digits + "0" * (point - k)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    e = point - 1
    head = digits if k == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{head}e{'+' if e > 0 else '-'}{abs(e)}"


def _paired(text: str) -> str:
    """A high and a low surrogate standing together as two code points are one character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
