"""Digests of prompt text, to compare with what the prompt-audit sidecar recorded; taken BEFORE masking.

The message digests are stored with each message; blocks, tools, variables and sources wait for the prompt audit's page.
Rule: PROMPT-AUDIT §3. All match Node bit for bit: `"sha256:"` plus lower-case hex.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from .js import stringify, utf16_len, well_formed

VARIABLES = ("temperature", "maxTokens", "stop", "purpose", "reasoningEffort")
EMPTY = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@dataclass(frozen=True, slots=True)
class TextDigest:
    """Length in UTF-16 code units and digest of one text."""

    chars: int
    digest: str


def text_digest(text: str) -> str:
    """SHA-256 over the UTF-8 bytes; a lone surrogate counts as U+FFFD."""
    try:
        data = text.encode()
    except UnicodeEncodeError:
        data = well_formed(text).encode()
    return "sha256:" + hashlib.sha256(data).hexdigest()


def of_text(text: str) -> TextDigest:
    """Digest and length together."""
    return TextDigest(utf16_len(text), text_digest(text))


def json_digest(value: object) -> str:
    """Text digest of `JSON.stringify(value)`; of the empty string when the value cannot be represented."""
    try:
        return text_digest(stringify(value))
    except TypeError:
        return EMPTY


def message_text(content: object) -> str:
    """The text of a message: its text blocks joined with nothing; every other block contributes nothing.

    `content` is a message's content list. A plain string (old formats) is its own text; anything else has none.
    """
    return content if isinstance(content, str) else "".join(text_blocks(content))


def text_blocks(content: object) -> list[str]:
    """The texts of the text blocks of a content list, in order."""
    if not isinstance(content, list):
        return []
    texts = (b.get("text") for b in content if isinstance(b, dict) and b.get("type") == "text")
    return [t for t in texts if isinstance(t, str)]


def message_digest(content: object) -> TextDigest:
    """Digest of a message's text."""
    return of_text(message_text(content))


def block_digests(content: object) -> list[TextDigest]:
    """Digest of each text block: a pasted paragraph may be one block of a longer message."""
    return [of_text(text) for text in text_blocks(content)]


def tools_digest(tools: object | None) -> str:
    """JSON digest of the tools array; `[]` when absent."""
    return json_digest([] if tools is None else tools)


def variables_digest(values: Mapping[str, object]) -> str:
    """JSON digest of the known variables in their fixed order; absent members are dropped, null stays null."""
    return json_digest({name: values[name] for name in VARIABLES if name in values})


def describe_source(source: object | None) -> dict[str, str]:
    """What a sidecar says of a message's author: kind, the known names if they are strings, digest of the whole."""
    if source is None:
        return {"kind": "absent"}
    members = source if isinstance(source, dict) else {}
    kind = members.get("kind")
    said = {
        name: members[name] for name in ("plugin", "provider", "model", "callId") if isinstance(members.get(name), str)
    }
    return {"kind": kind if isinstance(kind, str) else "unknown", **said, "fields": json_digest(source)}
