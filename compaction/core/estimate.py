"""The harness's fixed token heuristic: four UTF-16 code units a token, four tokens a block, four a message.

Rule: COMPACTION §3, every row of its table; formats v0 to v3 wrap a tool's result in one more block, which costs four
tokens more. It is an estimate by definition: it is compared with recorded counts, never with a tokenizer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dshweb.text.js import utf16_len as units

from .text import json_units, tokens

BLOCK: Final = 4
MESSAGE: Final = 4
FRAMING: Final = 98
"""Tokens of the native framing around a summary (COMPACTION §9): spans under it cannot be compacted."""


class Unpriced(ValueError):
    """A block that the harness could not price either, e.g. a text block without text; the message says what."""


def block_tokens(block: Any, *, wrapped: bool = False) -> int:
    """Price of one content block. `wrapped`: the log is of format v0 to v3, where `tool-result` is a block of its own.

    Raises `Unpriced` when a member that is measured is no string.
    """
    kind = block.get("type") if isinstance(block, dict) else None
    if kind in ("text", "reasoning"):
        return tokens(_length(block, "text")) + BLOCK
    if kind == "tool-call":
        return tokens(_length(block, "name")) + tokens(_length(block, "arguments")) + BLOCK
    if kind == "tool-result" and wrapped:
        return blocks_tokens(block.get("content"), wrapped=True) + BLOCK
    if kind == "image":
        block = {key: value for key, value in block.items() if key != "offloaded"}
    return tokens(json_units(block)) + BLOCK


def blocks_tokens(content: Any, *, wrapped: bool = False) -> int:
    """Price of a message's blocks without its own four tokens; a plain string counts as one text block."""
    if isinstance(content, str):
        return tokens(units(content)) + BLOCK
    if not isinstance(content, list):
        raise Unpriced("content is no list of blocks")
    return sum([block_tokens(block, wrapped=wrapped) for block in content])


def message_tokens(content: Any, *, wrapped: bool = False) -> int:
    """Price of a message of any role but `system`; one without blocks still costs four."""
    return blocks_tokens(content, wrapped=wrapped) + MESSAGE


def system_tokens(content: Any) -> int:
    """Price of a system message: nothing when empty, else one rounding over all its blocks, and four."""
    if isinstance(content, str):
        content = [{"type": "text", "text": content}] if content else []
    if not isinstance(content, list):
        raise Unpriced("content is no list of blocks")
    if not content:
        return 0
    return tokens(sum([_system_units(block) for block in content])) + MESSAGE


def tools_tokens(tools: Any) -> int:
    """Price of the tool declarations of a request header: nothing when there are none."""
    if not tools:
        return 0
    return tokens(json_units(tools)) + BLOCK


def event_tokens(kind: str, body: Mapping[str, Any], *, wrapped: bool = False) -> int:
    """Price of the surface node that an event of type `kind` with data `body` makes.

    System, developer and assistant messages without content are no message at all: 0. Raises `Unpriced`.
    """
    if kind == "user/message":
        return message_tokens(body.get("content"), wrapped=wrapped)
    message = body.get("message")
    if not isinstance(message, dict):
        raise Unpriced("no message")
    content = message.get("content")
    if kind == "system/message":
        return system_tokens(content)
    if not content and kind != "tool/result":
        return 0
    return message_tokens(content, wrapped=wrapped)


def _system_units(block: Any) -> int:
    if isinstance(block, dict) and block.get("type") == "text":
        return _length(block, "text")
    return json_units(block)


def _length(block: Mapping[str, Any], member: str) -> int:
    value = block.get(member)
    if not isinstance(value, str):
        raise Unpriced(f"{block.get('type')} block without {member}")
    return units(value)
