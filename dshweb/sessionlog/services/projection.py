"""From events to rows: what of a log goes to the database, masked."""

from __future__ import annotations

from typing import Any

import msgspec
from django.conf import settings

from dshweb.sessionlog.core.events import Event
from dshweb.sessionlog.core.index import FrameInfo
from dshweb.sessionlog.core.messages import Message
from dshweb.sessionlog.services.fit import BIG, SMALL, number, short
from dshweb.sessionlog.services.rows import FRAME_COLUMNS, column_time
from dshweb.text.digest import message_text, text_digest
from dshweb.text.redact import Masker

SAID = {"human", "assistant"}


def said(found: Message) -> str:
    """What people and the assistant said in a message: the part that search looks at."""
    return "\n".join(block.text for block in found.blocks if block.source in SAID)


def masked(event: Event, masker: Masker) -> Event:
    """The event with every string of its message masked; the same object when there is nothing to mask.

    Masking sees the whole message with its keys (a tool's arguments say which value is the key), not the extracted text.
    """
    if event.surface_op is None or masker.passes_json(event.data):
        return event
    body = event.body
    inner = body if event.type == "user/message" else body.get("message")
    clean = masker.mask_json(inner)
    if clean is inner:
        return event
    return msgspec.structs.replace(event, cached=clean if event.type == "user/message" else {**body, "message": clean})


class Projector:
    """Makes the rows of one log."""

    def __init__(self, *, team_id: int, log_id: int) -> None:
        self._team, self._log = team_id, log_id

    def frame(self, info: FrameInfo) -> tuple[Any, ...]:
        return (self._team, self._log, *(getattr(info, name) for name in FRAME_COLUMNS))

    def message(self, event: Event, found: Message) -> tuple[Any, ...]:
        """The row of a surface event: `event` as it stands in the log (for the digest), `found` its masked message."""
        body = event.body
        inner = body if event.type == "user/message" else body.get("message")
        digest = text_digest(message_text(inner.get("content") if isinstance(inner, dict) else None))
        text = "\n\n".join(block.text for block in found.blocks)
        kept = short(text, settings.MAX_STORED_TEXT)
        # JSON as `json.dumps` writes it; the sources are plain words of ours
        parts = "[" + ", ".join([f'["{block.source}", {len(block.text)}]' for block in found.blocks]) + "]"
        author = found.author.kind if found.author.stated == "plugin" else found.author.stated
        return (
            self._team, self._log, event.row, min(event.seq, BIG), short(event.type, 80), short(author, 120),
            found.is_human, number(found.turn, SMALL), number(found.step, SMALL), column_time(event.time),
            short(found.call_id, 200), short(found.tool, 200), found.is_error,
            found.placeholder is not None, event.inherited, found.opaque_blocks, text.count("[redacted:"), len(text),
            digest, parts, kept,
        )  # fmt: skip
