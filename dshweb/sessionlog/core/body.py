"""JSON of a row decoded as far as it goes: strictly first, then tolerantly, never with an exception.

Rule: SESSION-LOG §2. msgspec refuses lone surrogates, numbers out of range and invalid UTF-8; `json` takes the first
two. What cannot be represented (a lone surrogate, a bad byte) becomes U+FFFD, so that every string can be stored.
Values nested deeper than `MAX_DEPTH` are not taken: whoever walks a value later may recurse.
"""

from __future__ import annotations

import json
import math
from typing import Any, Final, cast

import msgspec

MAX_DEPTH: Final = 100
_CONTAINERS: Final = (dict, list)


def decode_json(raw: bytes | memoryview | msgspec.Raw) -> tuple[Any, bool]:
    """The value of one JSON text and whether it had to be repaired.

    Raises ValueError when it is not JSON at all or nested too deep.
    """
    data = bytes(raw)
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
    if data.count(b"[") + data.count(b"{") > MAX_DEPTH and too_deep(value):
        raise ValueError("nested too deep")
    return value, repaired


def too_deep(value: Any) -> bool:
    """Whether containers of a decoded value nest deeper than `MAX_DEPTH`."""
    level = [value] if type(value) in _CONTAINERS else []
    for _ in range(MAX_DEPTH):
        deeper = []
        for item in level:
            for member in item.values() if type(item) is dict else item:
                kind = type(member)
                if kind is dict or kind is list:
                    deeper.append(member)
        if not deeper:
            return False
        level = deeper
    return True


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


def as_text(value: object) -> str | None:
    """The value if it is a text; anything else is None."""
    return value if isinstance(value, str) else None


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


def plain_seqs(seqs: list[int | list[int]], most: int) -> tuple[int, ...] | None:
    """The same of a list as DSH writes it; None when `expand_seqs` would find something wrong, or it is too long."""
    if list in map(type, seqs):
        expanded, problem = expand_seqs(seqs, most)
        return None if problem else expanded
    return tuple(cast(list[int], seqs)) if len(seqs) <= most else None


def is_utf8(data: bytes) -> bool:
    """Whether the bytes are valid UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
