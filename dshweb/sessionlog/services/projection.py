"""From events to rows: what of a log goes to the database, masked.

The state is small and holds ids only: the open turn, and the tool of each call that has no result yet.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec
from django.conf import settings

from dshweb.sessionlog.core.body import as_int
from dshweb.sessionlog.core.events import Event
from dshweb.sessionlog.core.index import FrameInfo
from dshweb.sessionlog.core.messages import Message, parse_message
from dshweb.sessionlog.services.rows import column_time
from dshweb.text.digest import message_digest
from dshweb.text.lines import storable
from dshweb.text.redact import Masker

OPEN_CALLS = 1024
SAID = {"human", "assistant"}


def masked(event: Event, masker: Masker) -> Event:
    """The event with every string of its message masked; the same object when there is nothing to mask.

    Masking sees the whole message with its keys (a tool's arguments say which value is the key), not the extracted text.
    """
    body = event.body
    inner = body if event.type == "user/message" else body.get("message")
    clean = masker.mask_json(inner)
    if clean is inner:
        return event
    return msgspec.structs.replace(event, cached=clean if event.type == "user/message" else {**body, "message": clean})


class Projector:
    """Makes the rows of one log, event by event."""

    def __init__(self, *, team_id: int, log_id: int, masker: Masker, state: dict[str, Any] | None = None) -> None:
        self._team, self._log, self._masker = team_id, log_id, masker
        self.turn: int | None = (state or {}).get("turn")
        self._tools: dict[str, str] = dict((state or {}).get("tools", {}))

    def to_json(self) -> dict[str, Any]:
        return {"turn": self.turn, "tools": dict(self._tools)}

    def frame(self, info: FrameInfo) -> tuple[Any, ...]:
        return (
            self._team, self._log, info.offset, info.length, info.kind, info.first_seq, info.last_seq, info.rows,
            info.events, info.decoded_bytes, info.first_row, info.next_seq, info.carry_offset, info.carry_skip,
            info.has_header, info.provisional, info.code,
        )  # fmt: skip

    def message(self, event: Event) -> tuple[tuple[Any, ...], str] | None:
        """The row of a surface event and the text of it that goes to the search index; None for other events."""
        if event.type == "turn/start":
            self.turn = as_int(event.body.get("turn"))
        elif event.type == "tool/call":
            self._note_call(event.body.get("callId"), event.body.get("name"))
        found = parse_message(masked(event, self._masker), turn=self.turn, tools=self._tools)
        if found is None:
            return None
        for call_id, name in found.calls:
            self._note_call(call_id, name)
        return self._row(event, found), "\n".join(block.text for block in found.blocks if block.source in SAID)

    def _note_call(self, call_id: object, name: object) -> None:
        if isinstance(call_id, str) and isinstance(name, str):
            self._tools.pop(call_id, None)
            self._tools[call_id] = name
            while len(self._tools) > OPEN_CALLS:
                del self._tools[next(iter(self._tools))]

    def _row(self, event: Event, found: Message) -> tuple[Any, ...]:
        body = event.body
        content = body.get("content") if event.type == "user/message" else (body.get("message") or {}).get("content")
        digest = message_digest(content)
        text = "\n\n".join(block.text for block in found.blocks)
        kept = storable(text[: settings.MAX_STORED_TEXT]).text
        author = found.author.kind if found.author.stated == "plugin" else found.author.stated
        return (
            self._team, self._log, event.row, event.seq, event.type[:80], author[:120], found.is_human, found.turn,
            found.step, column_time(event.time), found.call_id[:200], found.tool[:200], found.is_error,
            found.placeholder is not None, event.inherited, found.opaque_blocks, text.count("[redacted:"), len(text),
            digest.digest, json.dumps([[block.source, len(block.text)] for block in found.blocks]), kept,
        )  # fmt: skip
