"""JSON of a row decoded as far as it goes: strictly first, then tolerantly, never with an exception.

Rule: SESSION-LOG §2. msgspec refuses lone surrogates, numbers out of range and invalid UTF-8; `json` takes the first
two. What cannot be represented (a lone surrogate, a bad byte) becomes U+FFFD, so that every string can be stored.
Values nested deeper than `MAX_DEPTH` are not taken: whoever walks a value later may recurse.
"""

from __future__ import annotations

import json
import math
from typing import Any, Final

import msgspec

MAX_DEPTH: Final = 100
_NO_BRACKETS: Final = bytes(b for b in range(256) if b not in b"[]{}")


def decode_json(raw: bytes | memoryview | msgspec.Raw) -> tuple[Any, bool]:
    """The value of one JSON text and whether it had to be repaired.

    Raises ValueError when it is not JSON at all or nested too deep.
    """
    data = bytes(raw)
    if data.count(b"[") + data.count(b"{") > MAX_DEPTH and too_deep(data):
        raise ValueError("nested too deep")
    repaired = False
    try:
        value = msgspec.json.decode(data)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        repaired = True
        text = data.decode("utf-8", "replace").removeprefix("\ufeff")
        try:
            value = _storable(json.loads(text, parse_int=_whole))
        except (RecursionError, json.JSONDecodeError) as error:
            raise ValueError("not JSON") from error
    return value, repaired


def too_deep(data: bytes) -> bool:
    """Whether containers of a JSON text nest deeper than `MAX_DEPTH`; for text that is not JSON either answer.

    Strings are dropped (backslashes stand only in them), then innermost pairs of brackets level by level: all of it
    runs in C, which walking the value does not.
    """
    outside = b"".join(data.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2])
    brackets = outside.translate(None, _NO_BRACKETS)
    for _ in range(MAX_DEPTH):
        fewer = brackets.replace(b"[]", b"").replace(b"{}", b"")
        if len(fewer) == len(brackets):
            return False
        brackets = fewer
    return bool(brackets)


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) <= 400 else float(digits)


def _storable(value: Any) -> Any:
    """The same value with lone surrogates as U+FFFD and numbers out of range as None. Depth is bounded by `json`."""
    if isinstance(value, str):
        return fix_surrogates(value)
    if isinstance(value, list):
        return [_storable(v) for v in value]
    if isinstance(value, dict):
        return {fix_surrogates(k): _storable(v) for k, v in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def fix_surrogates(text: str) -> str:
    """`text` with each lone surrogate replaced by U+FFFD (pairs are joined)."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def as_int(value: object) -> int | None:
    """A whole number of at most 63 bits, also when written as 3.0; anything else is None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and -(1 << 63) <= value < 1 << 63:
        return value
    return None


def expand_seqs(value: object, most: int) -> tuple[tuple[int, ...], str]:
    """Seqs of a list that may hold inclusive `[start, end]` pairs (SESSION-LOG §4), and "" or what was wrong.

    At most `most` seqs come out; the rest is cut ("limit_seqs"). Members that are no seq are left out ("bad_seqs").
    """
    if not isinstance(value, list):
        return (), "" if value is None else "bad_seqs"
    out: list[int] = []
    problem = ""
    for item in value:
        pair = item if isinstance(item, list) else [item, item]
        first, last = (as_int(pair[0]), as_int(pair[1])) if len(pair) == 2 else (None, None)
        if first is None or last is None or last < first or first < 0:
            problem = problem or "bad_seqs"
            continue
        room = most - len(out)
        if last - first >= room:
            out.extend(range(first, first + room))
            return tuple(out), "limit_seqs"
        out.extend(range(first, last + 1))
    return tuple(out), problem
