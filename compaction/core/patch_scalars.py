"""YAML scalars as DSH reads and as we write them in `cordis.patch.yml`.

Rule: DSH 0.2.1-rc.2 loads patches with js-yaml 4.3's JSON schema plus `!!js` expressions: `yes` and dates are texts, `0o17`
and `1e3` are numbers, `<<` is an ordinary key. What we write reads back as itself there (tested against the runtime).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dshweb.text import js

_INT = re.compile(r"[-+]?(?:0b[01]+|0x[0-9A-Fa-f]+|0o[0-7]+|[0-9]+)")
_FLOAT = re.compile(r"[-+]?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?|\.[0-9]+(?:[eE][-+]?[0-9]+)?")
_INFINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)")
_BASES = {"0b": 2, "0x": 16, "0o": 8}
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./@-]*")
_MOST_DIGITS = 400  # more than any finite double has before the point


@dataclass(frozen=True, slots=True)
class Expression:
    """A `!!js` scalar: JavaScript that DSH evaluates when it loads the row. Its value is unknown here."""

    source: str


def expressions_in(value: object) -> Iterator[Expression]:
    """The `!!js` expressions that a value is, or holds somewhere inside, in order."""
    if isinstance(value, Expression):
        yield value
    inner: Iterable[object] = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in inner:
        yield from expressions_in(item)


def has_expression(value: object) -> bool:
    """Whether there is such an expression."""
    return any(True for _ in expressions_in(value))


def read_plain(text: str) -> bool | int | float | str | None:
    """The value of an unquoted, untagged scalar."""
    if text in ("", "~", "null", "Null", "NULL"):
        return None
    if text in ("true", "True", "TRUE"):
        return True
    if text in ("false", "False", "FALSE"):
        return False
    if _INT.fullmatch(text):
        return _integer(text)
    if _FLOAT.fullmatch(text):
        value = float(text)
        return value if math.isfinite(value) else text
    if _INFINITE.fullmatch(text):
        return -math.inf if text.startswith("-") else math.inf
    return math.nan if text in (".nan", ".NaN", ".NAN") else text


def _integer(text: str) -> int | str:
    """An integer that a double can hold; a longer one stays text, as it does in DSH."""
    sign, digits = (-1, text[1:]) if text[0] == "-" else (1, text.removeprefix("+"))
    base = _BASES.get(digits[:2], 10)
    digits = digits[2:] if base != 10 else digits
    if len(digits.lstrip("0")) > (_MOST_DIGITS if base == 10 else 4 * _MOST_DIGITS):
        return text
    value = sign * int(digits, base)
    try:
        float(value)
    except OverflowError:
        return text
    return value


def write_scalar(value: object) -> str:
    """A scalar on one line, reading back as the same value in block and in flow context. TypeError for anything else."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        if isinstance(value, float) and not math.isfinite(value):
            raise TypeError("not a finite number")
        return js.number(value)
    if isinstance(value, str):
        return value if _PLAIN.fullmatch(value) and read_plain(value) == value else _quoted(value)
    raise TypeError(f"not a scalar: {type(value).__name__}")


def _quoted(text: str) -> str:
    return '"' + "".join(_escaped(c) for c in text) + '"'


def _escaped(c: str) -> str:
    if c in '"\\':
        return "\\" + c
    if c.isprintable():
        return c
    return f"\\u{ord(c):04x}" if c <= "\uffff" else f"\\U{ord(c):08x}"


def write_flow(value: object) -> str:
    """Any JSON value in flow style on one line: `{auto: true, modelPolicies: [{provider: p}]}`."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{write_scalar(key)}: {write_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(write_flow, value)) + "]"
    return write_scalar(value)


def write_pair(key: str, value: object, indent: int) -> list[str]:
    """A mapping entry in block style: its lines, without line ends. A list of objects gets one dash per object."""
    pad = " " * indent
    if not isinstance(value, list | tuple) or not value or not all(isinstance(item, dict) and item for item in value):
        return [f"{pad}{write_scalar(key)}: {write_flow(value)}"]
    lines = [f"{pad}{write_scalar(key)}:"]
    for item in value:
        lead = "- "
        for name, inner in item.items():
            lines.append(f"{pad}  {lead}{write_scalar(name)}: {write_flow(inner)}")
            lead = "  "
    return lines
