"""Compaction attempts as rows: made when they start, changed until they are settled, never doubled."""

from __future__ import annotations

from typing import Any

from dshweb.sessionlog.core.compactions import Attempt
from dshweb.sessionlog.core.events import Event
from dshweb.sessionlog.core.ledger import summary_texts
from dshweb.sessionlog.core.scan import Scan
from dshweb.sessionlog.models import Compaction, LogFile, Outcome, Trigger
from dshweb.sessionlog.services.fit import BIG, SMALL, number, plain, short
from dshweb.sessionlog.services.rows import moment
from dshweb.text.lines import storable
from dshweb.text.redact import Masker

ERROR_CHARS = 4000


def save(*, log: LogFile, scan: Scan, summaries: dict[int, Event], masker: Masker, final: bool) -> None:
    """Writes the attempts touched in this run, inside the caller's transaction. `final` numbers the rounds."""
    for attempt in scan.compactions.attempts:
        values = _values(attempt, masker)
        event = summaries.get(attempt.summary_seq) if attempt.summary_seq is not None else None
        if event is not None:
            values["summary"] = [storable(masker.mask_text(text)).text for text in summary_texts(event)]
        Compaction.unscoped.update_or_create(
            log=log, position=attempt.row, defaults=values | {"team_id": log.team_id, "session_id": log.session_id}
        )
    if final:  # also when this run met no attempt: the one that did may have been killed
        number_rounds(log)


def number_rounds(log: LogFile) -> None:
    done = Compaction.unscoped.filter(log=log, outcome=Outcome.COMPLETED).order_by("position")
    for nth, (pk, known) in enumerate(done.values_list("pk", "round"), start=1):
        if known != nth:
            Compaction.unscoped.filter(pk=pk).update(round=nth)


def _values(attempt: Attempt, masker: Masker) -> dict[str, Any]:
    return {
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
        "provider": short(attempt.provider, 120),
        "model": short(attempt.model, 200),
        "max_tokens": number(attempt.max_tokens),
        "usage": plain(masker.mask_json(attempt.usage)),
        "command_id": short(attempt.source_command_id, 200),
        "inherited": attempt.inherited,
        "context": {
            "spanOk": attempt.span_ok,
            "damagedBefore": attempt.damaged_before,
            "stateSeqs": list(attempt.state_seqs),
            "systemSeqs": list(attempt.system_seqs),
        },
    }


def _first_known(*times: int | None) -> int | None:
    return next((time for time in times if time is not None), None)


def _took(attempt: Attempt) -> int | None:
    if attempt.start_time is None or attempt.end_time is None:
        return None
    return attempt.end_time - attempt.start_time
