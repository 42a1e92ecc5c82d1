"""The conversation of a log as people read it: a window of messages in pieces, tool calls together with their results.

A row of the database holds a message's text whole; `parts` says which stretch of it is whose. Which result answers which
call is told by the call's id; a message's row does not hold the ids of its calls, so they are inferred from the order and
names of the results where that is certain, and read from the stored log where it is not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db.models import Count
from django.db.models.functions import Length, Substr

from dshweb.sessionlog.core.messages import parse_message
from dshweb.sessionlog.models import Compaction, LogFile, Message
from dshweb.sessionlog.services import events

WINDOW = 40
TRAILING = 24  # results behind the last message of a window that still go with it
SHOWN_CHARS = 2400
WHOLE_CHARS = 60_000  # a message of several pieces up to this size is read whole, so that each piece shows its head
LINES = 24
PIECES = 100  # of one message that a page shows
CALL_BYTES = 6 << 20  # decoded bytes of the log that may be read to tell calls apart

RESULT = "tool/result"
ASSISTANT = "assistant/message"


@dataclass
class Piece:
    """A stretch of a message: whose it is, the head of its text, how many characters it has, whether there is more than the head.

    Of a tool call: its name, its id where known, and the results in the window that answer it.
    """

    source: str
    text: str
    chars: int
    more: bool
    name: str = ""
    call_id: str = ""
    results: list[Item] = field(default_factory=list)


@dataclass
class Item:
    """A message on the page. `doubled`: a result whose call has others in the log."""

    row: Message
    pieces: list[Piece]
    doubled: bool = False

    @property
    def injected(self) -> bool:
        """What no human, assistant or tool wrote: it starts folded (FR-065)."""
        return not self.row.human and self.row.type not in (ASSISTANT, RESULT)

    @property
    def is_result(self) -> bool:
        return self.row.type == RESULT

    @property
    def more(self) -> bool:
        return any(piece.more for piece in self.pieces)


@dataclass(frozen=True)
class Window:
    """Messages and compactions of a log from one position on, in its order.

    `back`, `on`: positions of the neighbouring windows, None at an end. `last`: from where a page that follows the log
    asks again: the last message, whose results may still come.
    """

    flow: Sequence[Item | Compaction]
    back: int | None = None
    on: int | None = None
    last: int = 0


def window(
    log: LogFile,
    attempts: Sequence[Compaction],
    *,
    start: int = 0,
    seq: int | None = None,
    end: bool = False,
    size: int = WINDOW,
) -> Window:
    """`size` messages from position `start` (or from the first one with that `seq` or a later one; or, at the `end` or with
    none so late, the last ones), and results that go with the last of them. At most eight queries."""
    rows = log.messages.order_by("position")
    if seq is not None:
        first = rows.filter(seq__gte=seq).order_by("seq", "position").values_list("position", flat=True).first()
        start, end = first or 0, first is None
    if end:
        start = list(log.messages.order_by("-position").values_list("position", flat=True)[:size] or [0])[-1]
    found = list(
        rows.filter(position__gte=start)
        .defer("text")
        .annotate(shown=Substr("text", 1, SHOWN_CHARS), stored=Length("text"))[: size + TRAILING + 1]
    )
    stop = min(size, len(found))
    while 0 < stop < min(size + TRAILING, len(found)) and found[stop].type == RESULT:
        stop += 1
    on = found[stop].position if stop < len(found) else None
    found = found[:stop]
    before = list(
        log.messages.filter(position__lt=start).order_by("-position").values_list("position", flat=True)[:size]
    )
    items = _items(log, found)
    since = before[0] if before else -1
    flow = _with_compactions(items, attempts, since=since, until=on)
    heads = [item.row.position for item in items]
    return Window(flow, before[-1] if before else None, on, heads[-1] if heads else max(since + 1, 0))


def around(log: LogFile, row: Message) -> Item:
    """One message alone, uncut."""
    row.shown, row.stored = row.text, len(row.text)  # type: ignore[attr-defined]
    return Item(row, pieces_of(row, row.text, lines=None), row.call_id in _doubled(log, [row]))


def _items(log: LogFile, rows: Sequence[Message]) -> list[Item]:
    whole = _whole_texts(rows)
    doubled = _doubled(log, rows)
    items = [
        Item(
            row,
            pieces_of(row, whole.get(row.pk) or row.shown or ""),  # type: ignore[attr-defined]
            row.type == RESULT and row.call_id in doubled,
        )
        for row in rows
    ]
    return _joined(log, items)


def _whole_texts(rows: Iterable[Message]) -> dict[int, str]:
    wanted = [
        row.pk
        for row in rows
        if len(row.parts) > 1 and SHOWN_CHARS < row.stored <= WHOLE_CHARS  # type: ignore[attr-defined]
    ]
    return dict(Message.unscoped.filter(pk__in=wanted).values_list("pk", "text")) if wanted else {}


def pieces_of(row: Message, text: str, *, lines: int | None = LINES) -> list[Piece]:
    """The stretches of a message. `text` is its beginning or the whole; with `lines`, each piece shows so many at most."""
    kinds = {RESULT: "tool_result", ASSISTANT: "assistant"}
    parts = row.parts or [[kinds.get(row.type, "human" if row.human else "injected"), row.chars]]
    found, at = [], 0
    for source, length in parts:
        body = text[at : at + length]
        at += length + 2  # pieces are joined by a blank line
        name = ""
        if source == "tool_args":
            name, _line, body = body.partition("\n")
            length -= len(name) + (1 if _line else 0)
        head = body if lines is None else "\n".join(body[:SHOWN_CHARS].split("\n")[:lines])
        found.append(Piece(source, head, length, more=len(head) < length, name=name))
    return found


def _doubled(log: LogFile, rows: Sequence[Message]) -> frozenset[str]:
    """Call ids that have more than one result in the log."""
    calls = {row.call_id for row in rows if row.call_id and row.type == RESULT}
    if not calls:
        return frozenset()
    counted = log.messages.filter(call_id__in=calls, type=RESULT).order_by().values("call_id").annotate(n=Count("id"))
    return frozenset(row["call_id"] for row in counted if row["n"] > 1)


def _joined(log: LogFile, items: list[Item]) -> list[Item]:
    """Results moved under the calls they answer. What answers no call of the window stays where it stands."""
    calls: dict[str, Piece] = {}
    _name_calls(log, items)
    left = []
    for item in items:
        for piece in item.pieces[:PIECES]:
            if piece.call_id:
                calls.setdefault(piece.call_id, piece)
        call = calls.get(item.row.call_id) if item.is_result and item.row.call_id else None
        if call is None:
            left.append(item)
        else:
            call.results.append(item)
    return left


def _name_calls(log: LogFile, items: list[Item]) -> None:
    """Gives the calls of each assistant message their ids."""
    unsure: list[Item] = []
    for at, item in enumerate(items):
        calls = [piece for piece in item.pieces if piece.source == "tool_args"]
        if not calls or item.row.type != ASSISTANT:
            continue
        answers = _answers(items[at + 1 :])
        names = Counter(piece.name for piece in calls)
        tools = Counter(result.row.tool for result in answers.values())
        if any(n > 1 for n in names.values()) or any(n > names[tool] for tool, n in tools.items()):
            unsure.append(item)
            continue
        by_tool = {result.row.tool: call_id for call_id, result in answers.items()}
        for piece in calls:
            piece.call_id = by_tool.get(piece.name, "")
    if unsure:
        _read_ids(log, unsure)


def _answers(following: Iterable[Item]) -> dict[str, Item]:
    """First results by call id, up to the next message of the assistant."""
    found: dict[str, Item] = {}
    for item in following:
        if item.row.type == ASSISTANT:
            break
        if item.is_result and item.row.call_id:
            found.setdefault(item.row.call_id, item)
    return found


def _read_ids(log: LogFile, items: list[Item]) -> None:
    """Ids as they stand in the log, where its bytes are still there and not too many have to be read."""
    rows = events.at_rows(log, [item.row.position for item in items], most_bytes=CALL_BYTES)
    for item in items:
        event = rows.get(item.row.position)
        parsed = parse_message(event) if event is not None else None
        calls = [piece for piece in item.pieces if piece.source == "tool_args"]
        if parsed is not None and len(parsed.calls) == len(calls):
            for piece, (call_id, _name) in zip(calls, parsed.calls, strict=True):
                piece.call_id = call_id[:200]


def _with_compactions(
    items: Sequence[Item], attempts: Sequence[Compaction], *, since: int, until: int | None
) -> list[Item | Compaction]:
    """The items, and between them the attempts that begin behind position `since` and before `until`, where they happened."""
    here = [row for row in attempts if since < row.position and (until is None or row.position < until)]
    flow: list[Item | Compaction] = []
    for item in items:
        while here and here[0].position < item.row.position:
            flow.append(here.pop(0))
        flow.append(item)
    return flow + here
