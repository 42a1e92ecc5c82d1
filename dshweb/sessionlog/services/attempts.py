"""Compaction attempts as rows: made when they start, changed until they are settled, never doubled."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from dshweb.sessionlog.core.compactions import Attempt
from dshweb.sessionlog.core.events import Event
from dshweb.sessionlog.core.ledger import summary_texts
from dshweb.sessionlog.core.scan import Scan
from dshweb.sessionlog.models import Compaction, LogFile, Outcome, Trigger
from dshweb.sessionlog.services.fit import BIG, SMALL, number, plain, short
from dshweb.sessionlog.services.rows import moment
from dshweb.sessionlog.signals import compactions_changed
from dshweb.text.lines import storable
from dshweb.text.redact import Masker

ERROR_CHARS = 4000


@dataclass(frozen=True)
class SummaryRow:
    """A summary's row as it was read, and the working directory in force there, masked."""

    event: Event
    cwd: str


def save(*, log: LogFile, scan: Scan, summaries: dict[int, SummaryRow], masker: Masker, final: bool) -> None:
    """Writes the attempts touched in this run, inside the caller's transaction. `final` numbers the rounds.

    `summaries` by row: those read since the last call. Says `compactions_changed` of attempts that an audit may have seen
    otherwise: their summary came before their checkpoint, or stood in a tail that was written anew.
    """
    touched = scan.compactions.attempts
    known = _known(log, touched[0].row) if touched else {}
    changed: list[int] = []
    for attempt in touched:
        old = known.get(attempt.row)
        read = summaries.get(attempt.summary_row) if attempt.summary_row is not None else None
        values = _values(attempt, read, old, masker)
        if old is None:
            Compaction.unscoped.create(
                log=log, position=attempt.row, team_id=log.team_id, session_id=log.session_id, **values
            )
            continue
        Compaction.unscoped.filter(pk=old.pk).update(**values)
        if _differs(old.basis, values["basis"]):
            changed.append(old.pk)
    if changed:
        compactions_changed.send(Compaction, compactions=changed)
    if final:  # also when this run met no attempt: the one that did may have been killed
        number_rounds(log)


def _known(log: LogFile, first: int) -> dict[int, Compaction]:
    rows = Compaction.unscoped.select_for_update().filter(log=log, position__gte=first)
    return {row.position: row for row in rows.only("position", "context", "basis")}


def number_rounds(log: LogFile) -> None:
    """From 1 in the order of the log; an attempt whose error came after its checkpoint loses the number it had."""
    attempts = Compaction.unscoped.filter(log=log)
    attempts.exclude(outcome=Outcome.COMPLETED).filter(round__isnull=False).update(round=None)
    done = attempts.filter(outcome=Outcome.COMPLETED).order_by("position")
    for nth, (pk, known) in enumerate(done.values_list("pk", "round"), start=1):
        if known != nth:
            Compaction.unscoped.filter(pk=pk).update(round=nth)


def _values(attempt: Attempt, read: SummaryRow | None, old: Compaction | None, masker: Masker) -> dict[str, Any]:
    """Columns of an attempt. What its summary's row said is kept from `old` while that row is not read again."""
    texts: dict[str, Any] = {}
    cwd = read.cwd if read else (old.context.get("cwd") if old else None)
    if read is not None:
        texts["summary"] = [storable(masker.mask_text(text)).text for text in summary_texts(read.event)]
    elif attempt.summary_row is None:
        texts["summary"] = None
    basis = "" if attempt.summary_row is None else _basis(attempt, read, texts, old, masker)
    return texts | {
        "basis": basis,
        "compaction_id": short(attempt.compaction_id, 200),
        "outcome": Outcome(attempt.outcome),
        "error": short(masker.mask_text(attempt.error or ""), ERROR_CHARS),
        "trigger": "" if attempt.trigger == "unknown" else Trigger(attempt.trigger),
        "turn": number(attempt.turn, SMALL),
        "start_seq": number(attempt.start_seq),
        "summary_seq": number(attempt.summary_seq),
        "checkpoint_seq": number(attempt.checkpoint_seq),
        "end_seq": number(attempt.end_seq),
        "at": moment(_first_known(attempt.summary_time, attempt.end_time, attempt.start_time)),
        "took_ms": number(_took(attempt)),
        "shadowed_seqs": [seq for seq in attempt.shadowed_seqs if seq <= BIG],
        "shadowed_tokens": number(attempt.shadowed_tokens),
        "provider": short(masker.mask_text(attempt.provider or ""), 120),
        "model": short(masker.mask_text(attempt.model or ""), 200),
        "max_tokens": number(attempt.max_tokens),
        "usage": plain(masker.mask_json(attempt.usage)),
        "command_id": short(attempt.source_command_id, 200),
        "inherited": attempt.inherited,
        "context": {
            "spanOk": attempt.span_ok,
            "damagedBefore": attempt.damaged_before,
            "stateSeqs": list(attempt.state_seqs),
            "systemSeqs": list(attempt.system_seqs),
            **({} if cwd is None else {"cwd": cwd}),
        },
    }


def _basis(
    attempt: Attempt, read: SummaryRow | None, texts: dict[str, Any], old: Compaction | None, masker: Masker
) -> str:
    """Of what an audit is made, as three parts: positions, the list of masking patterns, masked texts."""
    facts = _digest(
        attempt.compaction_id, attempt.summary_row, attempt.summary_seq, attempt.checkpoint_seq, attempt.span_ok,
        attempt.damaged_before, attempt.state_seqs, attempt.system_seqs, attempt.shadowed_seqs,
    )  # fmt: skip
    if read is not None:
        return f"{facts}:{masker.version}:{_digest(texts['summary'], read.cwd, read.event.time)}"
    return ":".join([facts, *(old.basis if old else "").split(":")[1:]])


def _differs(before: str, now: str) -> bool:
    """Whether records made of `before` are none of `now`. Texts masked by two lists cannot be compared."""
    if not before:
        return False  # it had no summary, so there is no record; or dshweb kept no basis yet
    facts, *texts = before.split(":")
    new_facts, *new_texts = now.split(":")
    return facts != new_facts or (texts[:1] == new_texts[:1] and texts != new_texts)


def _digest(*values: Any) -> str:
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:16]


def _first_known(*times: int | None) -> int | None:
    return next((time for time in times if time is not None), None)


def _took(attempt: Attempt) -> int | None:
    if attempt.start_time is None or attempt.end_time is None:
        return None
    return attempt.end_time - attempt.start_time
