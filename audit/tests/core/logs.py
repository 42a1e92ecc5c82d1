"""AuditCases from a session log, with the pure reader alone: for tests on recorded and field logs."""

from __future__ import annotations

from pathlib import Path

from audit.core.case import AuditCase
from dshweb.sessionlog.core.ledger import build_ledger, summary_texts
from dshweb.sessionlog.core.reader import read_log
from dshweb.sessionlog.core.scan import Scan

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT / "tests" / "data"
SHARED = ROOT.parent / "shared"


def cases_of_log(path: Path) -> list[AuditCase]:
    """One case for each attempt of the log that has a summary, in log order, unmasked."""
    events = {}
    scan = Scan()
    with path.open("rb") as source:
        reader = read_log(source)
        for batch in reader:
            events.update((event.seq, event) for event in batch.events)
            scan.feed_batch(batch, reader)
    header = reader.header
    attempts = [attempt for attempt in scan.attempts if attempt.summary_seq is not None]
    summaries = {attempt.compaction_id: attempt.summary_seq for attempt in attempts}
    cases = []
    for attempt in attempts:
        summary = events[attempt.summary_seq]
        ledger, leaves = build_ledger(
            summary,
            events.get,
            summaries=summaries,
            span_ok=attempt.span_ok,
            damaged=attempt.damaged_before,
            log_format=reader.format,
            tools=scan.tools,
        )
        cases.append(
            AuditCase(
                session_id=header.id if header and header.id else "",
                compaction_id=attempt.compaction_id,
                summary_seq=attempt.summary_seq,
                checkpoint_seq=attempt.checkpoint_seq,
                at=summary.time,
                mode=None,
                cwd=header.cwd if header else None,
                summary=summary_texts(summary),
                leaves=leaves,
                ledger=ledger,
            )
        )
    return cases
