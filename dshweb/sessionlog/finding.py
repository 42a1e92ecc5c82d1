"""Where something was said: the place in a message that words were found at, cut out for a list of hits.

Only what people and the assistant said is ever quoted, never injected text, reasoning or a tool's (FR-064, FR-067).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import F, Min, QuerySet
from django.db.models.functions import Substr

from dshweb.access.callers import Caller
from dshweb.sessionlog.models import LogFile, Message, Session
from dshweb.sessionlog.services import search
from dshweb.text.cjk import tokens

LOOKED_AT = 20_000  # characters of a message
AROUND = 70
HITS = 30


@dataclass(frozen=True)
class Hit:
    """A message in which the words were said; `before`, `found`, `behind`: masked text around the first of them.

    `found` is "" when the place lies too far behind, or is spelt otherwise than it was asked for.
    """

    log_id: int
    position: int
    seq: int
    human: bool
    before: str
    found: str
    behind: str


def messages_saying(caller: Caller, words: str) -> QuerySet[Message] | None:
    """Messages of the caller's teams in which a person or the assistant used all these words; None without a word.

    Who may see them is a question to their sessions (`may_see_content`).
    """
    found = search.matching(words)
    rows: QuerySet[Message] = Message.objects.for_caller(caller)
    return None if found is None else rows.filter(pk__in=found)


def first_hits(caller: Caller, sessions: Iterable[Session], words: str) -> dict[int, Hit]:
    """By session id: the first message of its current log with all of `words`. Two queries."""
    said = messages_saying(caller, words)
    logs = {row.current_id: row.pk for row in sessions if row.current_id is not None}
    if said is None or not logs:
        return {}
    firsts = said.filter(log__in=logs).order_by().values("log").annotate(one=Min("id"))
    wanted = [row["one"] for row in firsts]  # rows of a log are made in its order
    return {logs[row.log_id]: _hit(row, words) for row in _looked_at(Message.unscoped.filter(pk__in=wanted))}


def hits(log: LogFile, caller: Caller, words: str, *, after: int | None = None) -> tuple[list[Hit], int | None]:
    """Messages of a log with all of `words`, and the position behind which there are more (None: no more)."""
    said = messages_saying(caller, words)
    if said is None:
        return [], None
    rows = said.filter(log=log)
    if after is not None:
        rows = rows.filter(position__gt=after)
    found = list(_looked_at(rows.order_by("position"))[: HITS + 1])
    more = found[HITS - 1].position if len(found) > HITS else None
    return [_hit(row, words) for row in found[:HITS]], more


def _looked_at(rows: QuerySet[Message]) -> QuerySet[Message]:
    return rows.annotate(head=Substr("text", 1, LOOKED_AT), of=F("log_id")).defer("text")


def _hit(row: Message, words: str) -> Hit:
    text = _said(row.head, row.parts)  # type: ignore[attr-defined]
    at, length = _place(text, words)
    if length:
        return _cut(row, text, at, at + length)
    return Hit(row.log_id, row.position, row.seq, row.human, text[: 2 * AROUND].strip(), "", "")


def _said(text: str, parts: Sequence[Sequence]) -> str:
    """The pieces of the text that a person or the assistant said."""
    at, said = 0, []
    for source, length in parts:
        if source in ("human", "assistant"):
            said.append(text[at : at + length])
        at += length + 2
    return "\n".join(said) if parts else text


def _place(text: str, words: str) -> tuple[int, int]:
    """Offset and length of the words as they were typed, else of the longest one of them that is there; length 0: none."""
    low = text.lower()
    if len(low) != len(text):  # a few letters change their length: offsets would be off
        low = text
    typed = words.lower().split()
    for one in [words.lower().strip(), *sorted(typed, key=len, reverse=True), *tokens(words)]:
        at = low.find(one) if one else -1
        if at >= 0:
            return at, len(one)
    return 0, 0


def _cut(row: Message, text: str, start: int, end: int) -> Hit:
    first, last = max(0, start - AROUND), min(len(text), end + 2 * AROUND)
    before = ("…" if first else "") + text[first:start].lstrip()
    behind = text[end:last].rstrip() + ("…" if last < len(text) else "")
    return Hit(row.log_id, row.position, row.seq, row.human, before, text[start:end], behind)
