"""Masking inside JSON values: every string, values under keys that say secret, and text split over stream pieces.

Rule: field reports FR-112 (arguments as well as results) and "keys split over rows"; stream records as in SESSION-LOG
"Streams". Walks with a stack of its own: depth of the value does not matter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from . import redact_values as values

Mask = Callable[[str], str]
MaskPieces = Callable[[list[str]], list[str]]
Row = dict[Any, Any]

REPLACEMENT = "[redacted:assignment]"
_PASSWORD = re.compile(
    r"(?:.*[_\-. ])?(?:pass[_-]?word|passwd|passphrase|passcode|pwd)\d{0,2}|.*[a-z]Password|.*(?:密码|口令)", re.I
)
_SECRET = re.compile(
    r"(?:.*[_\-. ])?(?:secret|api[_ -]?key|access[_ -]?key|secret[_ -]?(?:access[_ -]?)?key|"
    r"private[_-]?key|account[_-]?key|"
    r"client[_-]?secret|(?:auth|access|refresh|bearer|bot|session|id|api|csrf)[_ -]?token|credentials?)\d{0,2}|"
    r".*(?:密钥|秘钥|私钥|令牌|授权码|凭证)",
    re.I,
)
_CAMEL = re.compile(r".*[a-z](?:Secret|ApiKey|AccessKey|SecretKey|PrivateKey|AccountKey|Token)\d{0,2}")
_TOKEN = re.compile(r"(?:.*[_\-. ])?token\d{0,2}", re.I)
_WEAK = re.compile(r"(?:.*[_\-. ])?(?:key|auth|authorization|pass|pw)\d{0,2}|.*[a-z]Key", re.I)
_STREAM = {"text-chunks": "texts", "reasoning-chunks": "texts", "tool-call-chunks": "args"}
_DELTA = {"text-delta": "text", "reasoning-delta": "text", "tool-call-delta": "argumentsDelta"}


@lru_cache(maxsize=4096)
def key_kind(key: str) -> values.Kind | None:
    """What a member's name says about its value: password, secret, token, weak (`key`), or None."""
    if len(key) > 100:
        return None
    if _PASSWORD.fullmatch(key):
        return "password"
    if _SECRET.fullmatch(key) or _CAMEL.fullmatch(key):
        return "secret"
    if _TOKEN.fullmatch(key):
        return "token"
    return "weak" if _WEAK.fullmatch(key) else None


def mask_member(key: str, text: str, mask: Mask) -> str:
    """A string under a key: masked whole when the key says secret and the value looks like one, else as text."""
    kind = key_kind(key)
    if kind is not None and values.quoted_secret(text[:512], kind):
        masked = mask(text)
        return masked if re.fullmatch(r"(?:[A-Za-z]+ )?\[redacted:[a-z0-9-]+\]", masked) else REPLACEMENT
    return mask(text)


def worth_a_look(value: object, hit: Callable[[str], bool]) -> bool:
    """Whether a value can hold anything to mask: one look at all its strings joined, and at the names of its members.

    Only for patterns without anchors: what is found in one string is found in the joined text too.
    """
    strings: list[str] = []
    todo: list[object] = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            strings.append(item)
        elif isinstance(item, dict):
            for key, inner in item.items():
                if isinstance(inner, str):
                    strings.append(inner)
                    if inner and isinstance(key, str) and (key == "value" or key_kind(key) is not None):
                        return True
                elif isinstance(inner, dict | list):
                    todo.append(inner)
            strings.extend(k for k in item if isinstance(k, str) and len(k) > 8)
            if isinstance(item.get("dt"), list):
                strings.extend("".join(pieces) for pieces in _joined([item]))
        elif isinstance(item, list):
            todo.extend(item)
            strings.extend("".join(pieces) for pieces in _joined(item))
    return any(s.startswith("--") for s in strings) or hit("\0".join(strings))


def mask_tree(value: object, mask: Mask, mask_pieces: MaskPieces) -> object:
    """A copy of a JSON value with its strings masked. Other types stay as they are; the input is not changed."""
    root: list[object] = [value]
    todo: list[dict[object, object] | list[object]] = [root]
    while todo:
        box = todo.pop()
        fresh = _members(box, mask, mask_pieces) if isinstance(box, dict) else _items(box, mask, mask_pieces)
        todo.extend(fresh)
    return root[0]


Fresh = list[dict[object, object] | list[object]]


def _items(box: list[object], mask: Mask, mask_pieces: MaskPieces) -> Fresh:
    """Masks a list in place (it is our copy) and gives the copies of its inner values, still to be walked."""
    fresh: Fresh = []
    box[:] = mask_runs(box, mask_pieces)
    flag = ""
    for i, item in enumerate(box):
        if isinstance(item, str):
            box[i] = mask_member(flag, item, mask) if flag else mask(item)
            flag = item.lstrip("-") if item.startswith("--") and len(item) < 60 else ""
        elif isinstance(item, dict | list):
            inner = item.copy()
            box[i] = inner
            fresh.append(inner)
    return fresh


def _members(box: dict[object, object], mask: Mask, mask_pieces: MaskPieces) -> Fresh:
    """Masks an object in place (it is our copy); `{"name": "API_KEY", "value": …}` is read like a member API_KEY."""
    fresh: Fresh = []
    named = next((box[k] for k in ("name", "key") if isinstance(box.get(k), str)), None)
    streamed = box.get("type") in _STREAM or isinstance(box.get("dt"), list)
    items = list(box.items())
    box.clear()
    for key, item in items:
        name = _free(mask(key) if isinstance(key, str) else key, box)
        if isinstance(item, str):
            label = named if key == "value" and isinstance(named, str) else key
            box[name] = mask_member(label, item, mask) if isinstance(label, str) else mask(item)
        elif isinstance(item, list) and streamed and key in ("texts", "args") and all(isinstance(x, str) for x in item):
            box[name] = mask_pieces(item)
        elif isinstance(item, dict | list):
            inner = item.copy()
            box[name] = inner
            fresh.append(inner)
        else:
            box[name] = item
    return fresh


def _free(name: object, box: dict[object, object]) -> object:
    """Two masked names must not become one member."""
    if name not in box:
        return name
    n = 2
    while f"{name} ({n})" in box:
        n += 1
    return f"{name} ({n})"


def mask_runs(rows: Iterable[object], mask_pieces: MaskPieces) -> list[object]:
    """The rows with text masked that is split over several of them: packed ones (`texts`, `args`) and single deltas.

    `rows` are rows of a v0 log (`assistant/chunk`, packed rows) or records of a v4 `stream`; records of one block
    (same kind, turn, step and index) are joined, whatever stands between them. Changed rows are copies, the others
    are the given objects; everything else in the rows is left to `mask_json`.
    """
    out = list(rows)
    for run in _runs(out):
        pieces = [p for _, texts in run for p in texts]
        masked = mask_pieces(pieces)
        if masked == pieces:
            continue
        at = 0
        for i, texts in run:
            row = out[i]
            if isinstance(row, dict):
                out[i] = _with_pieces(row, masked[at : at + len(texts)])
            at += len(texts)
    return out


def _runs(rows: list[object]) -> Iterable[list[tuple[int, list[str]]]]:
    """The stream records among rows, by block: for each its place in the list and its pieces of text."""
    runs: dict[tuple[object, ...], list[tuple[int, list[str]]]] = {}
    for i, row in enumerate(rows):
        found = _pieces(row) if isinstance(row, dict) else None
        if found is not None:
            runs.setdefault(found[0], []).append((i, found[1]))
    return runs.values()


def _joined(rows: list[object]) -> Iterable[list[str]]:
    return ([p for _, texts in run for p in texts] for run in _runs(rows))


def _pieces(row: Row) -> tuple[tuple[object, ...], list[str]] | None:
    """What block a stream record belongs to, and its pieces of text; None for every other row."""
    data = row.get("data")
    body = data if isinstance(data, dict) else row
    chunk = body.get("chunk")
    inner = chunk if isinstance(chunk, dict) else body
    kind = row.get("type") if inner is body else inner.get("type")
    if not isinstance(kind, str):
        return None
    where = (kind.split("-")[0], _plain(body.get("turn")), _plain(body.get("step")), _plain(inner.get("index")))
    member = _STREAM.get(kind) if inner is body else _DELTA.get(kind)
    if member is None:
        return None
    text = inner.get(member)
    if isinstance(text, str):
        return where, [text]
    if isinstance(text, list) and all(isinstance(t, str) for t in text):
        return where, text
    return None


def _plain(value: object) -> object:
    return value if isinstance(value, int | str) else None


def _with_pieces(row: Row, pieces: list[str]) -> Row:
    """A copy of a stream record with other pieces of text in the same place."""
    new = dict(row)
    body = new
    if isinstance(row.get("data"), dict):
        body = dict(row["data"])
        new["data"] = body
    if isinstance(body.get("chunk"), dict):
        inner = dict(body["chunk"])
        body["chunk"] = inner
        inner[_DELTA[inner["type"]]] = pieces[0]
    else:
        body[_STREAM[row["type"]]] = pieces
    return new
