"""What a recorded model stream adds up to, priced: the harness anchors its measurement on the stream, not on the message.

Rule: COMPACTION §5 (`assistantTokens`), STATE-EVENTS §8 (records and reassembly). A block is what `block-end` supplies
(the first one wins), else its pieces joined; blocks stand in the order in which their index appears first; a stream
that ended at the token cap loses its tool calls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dshweb.text.js import utf16_len as units

from .estimate import BLOCK, MESSAGE, block_tokens
from .text import tokens

_PACKED = {"text-chunks": "texts", "reasoning-chunks": "texts", "tool-call-chunks": "args"}
_DELTAS = {"text-delta": "text", "reasoning-delta": "text", "tool-call-delta": "argumentsDelta"}


@dataclass(slots=True)
class _Open:
    """One block as far as it has come: code units of its pieces, and of the name of the tool it calls."""

    call: bool = False
    length: int = 0
    name: int = 0
    price: int | None = None


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream read: price as an assistant message (0 without blocks), last usage sample, kind of finish; or None."""

    tokens: int
    usage: dict[str, Any] | None
    finish: str | None


def read_stream(records: Any) -> Stream | None:
    """Price, usage and finish of a stream; None when there is none (formats before v3). Raises `Unpriced`."""
    if not isinstance(records, list):
        return None
    blocks: dict[Any, _Open] = {}
    usage: dict[str, Any] | None = None
    finish: str | None = None
    for record in records:
        if not isinstance(record, dict):
            continue
        packed = _PACKED.get(record.get("type", ""))
        if packed is not None:
            _add(blocks, record, record.get(packed), call=packed == "args")
            continue
        chunk = record.get("chunk")
        if not isinstance(chunk, dict):
            continue
        kind = chunk.get("type", "")
        if kind in _DELTAS:
            _add(blocks, chunk, [chunk.get(_DELTAS[kind])], call=kind == "tool-call-delta")
        elif kind in ("block-start", "block-end"):
            _whole(blocks, chunk, ends=kind == "block-end")
        elif kind == "usage":
            usage = _dict(chunk.get("usage")) or usage
        elif kind == "finish":
            finish = _kind(chunk.get("reason"))
    kept = [block for block in blocks.values() if not (block.call and finish == "max-tokens")]
    return Stream(sum(map(_price, kept)) + MESSAGE if kept else 0, usage, finish)


def _add(blocks: dict[Any, _Open], record: dict[str, Any], pieces: Any, *, call: bool) -> None:
    block = blocks.setdefault(record.get("index"), _Open())
    block.call = block.call or call
    if call and isinstance(record.get("name"), str):
        block.name = units(record["name"])
    for piece in pieces if isinstance(pieces, list) else ():
        if isinstance(piece, str):
            block.length += units(piece)


def _whole(blocks: dict[Any, _Open], chunk: dict[str, Any], *, ends: bool) -> None:
    block = blocks.setdefault(chunk.get("index"), _Open())
    given = _dict(chunk.get("block"))
    kind = chunk.get("blockType") if given is None else given.get("type")
    block.call = block.call or kind == "tool-call"
    if ends and given is not None and block.price is None:
        block.price = block_tokens(given)


def _price(block: _Open) -> int:
    if block.price is not None:
        return block.price
    return tokens(block.length) + BLOCK + (tokens(block.name) if block.call else 0)


def _kind(reason: Any) -> str | None:
    kind = reason.get("kind") if isinstance(reason, dict) else reason
    return kind if isinstance(kind, str) else None


def _dict(value: Any) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None
