"""Hides in old records what later masking patterns hide. Rule: docs/decisions/0002 – masking outranks "records never change".

A fact in a record stands apart from its line, so a pattern that needs the words around it cannot see it there. Hence
two looks: at each text of the record by itself, and at the log's original rows: what stands in a row's text before
masking and no longer after it is hidden in the record too. Only texts change; numbers, places and order stay, and the
record names the list in `masked`. The facts beside it go: their places are those of the text as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.db import transaction

from audit.models import Audit, Signal
from audit.services.facts import forget_facts
from dshweb.sessionlog.core.events import Event
from dshweb.sessionlog.core.index import read_events
from dshweb.sessionlog.core.ledger import summary_texts
from dshweb.sessionlog.core.messages import parse_message
from dshweb.sessionlog.models import Compaction, LogFile, Message
from dshweb.sessionlog.services import store
from dshweb.sessionlog.services.evidence import FrameIndex
from dshweb.sessionlog.services.masking import masker_for
from dshweb.sessionlog.services.projection import masked
from dshweb.sessionlog.services.steps import limits
from dshweb.text.redact import Masker

HIDDEN = "[redacted:later-pattern]"
Mask = Callable[[str], str]


def mask_records(team_id: int, *, on_progress: Callable[[int, int], None] | None = None) -> int:
    """Masks the team's records made under other pattern lists; the number of records looked at.

    To be called when the team's logs are masked anew. Stopped in between, the next call does the rest.
    """
    masker = masker_for(team_id)
    logs = list(_stale(masker).filter(team=team_id).order_by().values_list("compaction__log", flat=True).distinct())
    count = 0
    for done, log in enumerate(LogFile.unscoped.filter(pk__in=logs).order_by("id")):
        if on_progress:
            on_progress(done, len(logs))
        count += mask_records_of(log, masker)
    return count


def mask_records_of(log: LogFile, masker: Masker) -> int:
    """The same for the records of one log. When its bytes are gone, only the first look is possible."""
    audits = _stale(masker).filter(compaction__log=log).order_by("id")
    forget_facts(audits)
    texts: set[str] = set()
    for record in audits.values_list("record", flat=True).iterator(chunk_size=8):
        texts.update(_texts(record))
    if not texts:
        audits.update(masked=masker.version)
        return 0
    try:
        gone = _hidden(log, masker, texts)
    except FileNotFoundError:
        gone = set()

    def mask(text: str) -> str:
        return HIDDEN if text in gone else masker.mask_text(text)

    count = 0
    for audit in audits.iterator(chunk_size=8):
        _rewrite(audit, mask, masker.version)
        count += 1
    return count


def _stale(masker: Masker) -> Any:
    return Audit.unscoped.exclude(masking=masker.version).exclude(masked=masker.version)


def _rewrite(audit: Audit, mask: Mask, version: str) -> None:
    record = audit.record
    for holder, name in _places(record):
        value = holder[name]
        if isinstance(value, list):
            holder[name] = [mask(one) for one in value]
        elif name == "text" and mask(value) != value:
            holder["text"] = holder["canon"] = mask(value)  # the normal form tells as much
        else:
            holder[name] = mask(value)
    record["masked"] = version
    rows = [*(record["fidelity"] or {}).get("unverified", []), *(record["coverage"] or {}).get("lost", [])]
    with transaction.atomic():
        Audit.unscoped.filter(pk=audit.pk).update(record=record, masked=version)
        for signal in audit.signals.order_by("rank"):
            row = rows[signal.rank]
            Signal.unscoped.filter(pk=signal.pk).update(text=row["text"], canon=row["canon"], data=row)


def _places(record: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Where a record holds text of the log: (holder, member); the member is a text or a list of texts.

    Terms of the vocabulary are the team's own words and stay.
    """
    faith, cover = record.get("fidelity") or {}, record.get("coverage") or {}
    for row in (*faith.get("unverified", ()), *faith.get("assistantOnly", ()), *cover.get("lost", ())):
        yield from ((row, name) for name in ("text", "canon", "also"))
        if row["near"]:
            yield row["near"], "canon"
        if row["family"]:
            yield from ((row["family"], name) for name in ("key", "members"))
    yield from ((error, "message") for error in record.get("errors", ()))


def _texts(record: dict[str, Any]) -> Iterator[str]:
    for holder, name in _places(record):
        value = holder[name]
        yield from value if isinstance(value, list) else (value,)


def _hidden(log: LogFile, masker: Masker, texts: Iterable[str]) -> set[str]:
    """Those of `texts` that stand in a row of the log before masking and not after it, whatever the case of letters.

    Raises FileNotFoundError when the stored bytes are gone.
    """
    wanted = {text: text.casefold() for text in texts if text}
    seqs = _seqs_to_look_at(log, masker)
    index, gone, seen = FrameIndex(log), set[str](), set[int]()
    with store.opened(log.stored) as source:
        for seq in sorted(seqs):
            for info in index.holding(seq):
                if info.offset in seen:
                    continue
                seen.add(info.offset)
                for event in read_events(source, info, limits()):
                    if event.seq in seqs:
                        gone.update(_lost_by_masking(event, masker, wanted))
    return gone


def _seqs_to_look_at(log: LogFile, masker: Masker) -> set[int]:
    """Rows in which something is masked; all of them while the log's own text is not masked by this list yet."""
    messages = Message.unscoped.filter(log=log)
    if log.masking == masker.version:
        messages = messages.filter(redactions__gt=0)
    summaries = Compaction.unscoped.filter(log=log).values_list("summary_seq", flat=True)
    return {*messages.values_list("seq", flat=True), *(seq for seq in summaries if seq is not None)}


def _lost_by_masking(event: Event, masker: Masker, wanted: dict[str, str]) -> list[str]:
    before, after = _said(event), _said(masked(event, masker))
    if event.type == "compaction/summary":
        after = masker.mask_text(before)
    before, after = before.casefold(), after.casefold()
    return [] if before == after else [text for text, low in wanted.items() if low in before and low not in after]


def _said(event: Event) -> str:
    """What an audit reads of a row: the blocks of a message, the text of a summary."""
    if event.type == "compaction/summary":
        return "\n".join(summary_texts(event))
    message = parse_message(event)
    return "\n".join(block.text for block in message.blocks) if message else ""
