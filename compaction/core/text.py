"""JSON text as Node reads and measures it: UTF-16 lengths, `JSON.parse` and the length of `JSON.stringify`.

Rule: COMPACTION "Notation" and §3. What Python cannot hold like JavaScript is handled here once: lone surrogates stay
as they are (six code units each when stringified), numbers out of range become infinity (stringified as `null`).
`dshweb.text.js` writes the JSON; this module only adds what measuring many megabytes of log needs.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

import msgspec

from dshweb.text.js import stringify, utf16_len

UNITS_PER_TOKEN: Final = 4
_SAFE: Final = 2**53
_INDEX_KEY: Final = re.compile(rb'"[0-9]{1,10}"[ \t\r\n]*:')
_SURROGATE: Final = re.compile(rb"\\u[dD]")
_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode


def tokens(length: int) -> int:
    """Tokens that the fixed heuristic gives to so many code units: one per four, rounded up."""
    return -(-length // UNITS_PER_TOKEN)


def json_units(value: object) -> int:
    """Length of `JSON.stringify(value)` in code units. Raises TypeError for what JSON cannot hold."""
    return utf16_len(stringify(value))


def parse(raw: bytes | memoryview | msgspec.Raw) -> Any:
    """`JSON.parse` of UTF-8 bytes: lone surrogates kept, pairs joined, numbers out of range infinite.

    Raises ValueError when it is not JSON, or nested deeper than Python goes (about 1000 levels).
    """
    data = bytes(raw)
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        pass
    try:
        return json.loads(data.decode("utf-8", "replace"), parse_int=_whole, parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def restringified(raw: bytes) -> str:
    """`JSON.stringify(JSON.parse(raw))`. Raises ValueError as `parse` does.

    Where Python's own encoder writes what JavaScript would (no fractions, no number beyond 2^53, no key like an index,
    no surrogate escapes) it does the work: tool declarations are most of a small log.
    """
    if _INDEX_KEY.search(raw) is None and _SURROGATE.search(raw) is None:
        try:
            return _encode(json.loads(raw, parse_float=_refuse, parse_int=_small, parse_constant=_refuse))
        except (ValueError, RecursionError):
            pass
    return stringify(parse(raw))


def _small(digits: str) -> int:
    if len(digits) > 16:
        raise ValueError("beyond 2^53")
    value = int(digits)
    if not -_SAFE <= value <= _SAFE:
        raise ValueError("beyond 2^53")
    return value


def _whole(digits: str) -> int | float:
    """A whole number; beyond the limit of Python's own conversion it is infinite in JavaScript as well."""
    return int(digits) if len(digits) <= 400 else float(digits)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
