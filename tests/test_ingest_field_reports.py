"""Faults that people met in software of this kind, each brought in whole: store, rows, report, audit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.apps import apps
from django.db import connection

from audit.models import Audit, Signal
from dshweb.access.callers import caller_for_user
from dshweb.sessionlog.finding import messages_saying
from dshweb.sessionlog.models import Compaction, Message, Session
from dshweb.sessionlog.services import search
from dshweb.sessionlog.services.ingest import Import, ingest_path
from dshweb.sessionlog.services.report import Totals

FIELD = Path(__file__).parent / "data" / "field"


def bring_in(people, *paths: Path):
    reports, totals = [], Totals()
    for path in paths:
        run = Import.by(people.team, people.bob, inline=True)
        ingest_path(path, run=run, totals=totals, on_report=reports.append)
    return {Path(report.path).name: report for report in reports}, totals


def everything_stored() -> str:
    """All text of all rows of all tables, the search index too."""
    texts = []
    for model in apps.get_models():
        for row in model._base_manager.values_list():
            texts.append(" ".join(str(value) for value in row))
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {search.TABLE}")
        texts += [" ".join(map(str, row)) for row in cursor.fetchall()]
    return "\n".join(texts)


def test_fr_034_to_058_every_odd_log_is_read_and_named(people, data_dir):
    reports, totals = bring_in(people, FIELD / "parse")
    status = {name: report.status for name, report in reports.items()}
    assert status["multi-frame-ok.session.v4.jsonl.zstd"] == "ok"
    assert status["first-frame-two-lines.session.v4.jsonl.zstd"] == "ok"
    assert status["lines-split-across-frames.session.v4.jsonl.zstd"] == "ok"
    # its seq 6 is not there; the magic bytes in its text disturb nothing
    assert {entry["code"] for entry in reports["magic-bytes-in-text.session.v4.jsonl.zstd"].damage} == {"seq_gap"}
    assert status["skippable-frame.session.v4.jsonl.zstd"] == "ok"
    assert status["empty.session.v4.jsonl.zstd"] == status["not-zstd.session.v4.jsonl.zstd"] == "failed"
    assert status["future-version.session.v5.jsonl"] == "unsupported"
    assert reports["future-version.session.v5.jsonl"].events == 1
    assert status["torn-tail.session.v4.jsonl.zstd"] == "damaged"
    assert {entry["code"] for entry in reports["seq-gap.v4.jsonl"].damage} == {"seq_gap"}
    assert reports["seq-gap.v4.jsonl"].events == 5
    back = {entry["code"] for entry in reports["seq-goes-back-after-end-seed.v4.jsonl"].damage}
    assert back & {"seq_back", "two_processes"}
    assert not back & {"bad_row", "corrupt_frame", "bad_checksum"}
    assert reports["bare-magic-inside-raw-block.session.v4.jsonl.zstd"].events == 8
    assert totals.logs == sum(totals.status.values()) == len(reports)
    assert totals.events == sum(report.events or 0 for report in reports.values())


def test_fr_053_055_old_shapes_are_kept(people, data_dir):
    reports, _ = bring_in(people, FIELD / "parse" / "v0-old-shapes.jsonl")
    report = reports["v0-old-shapes.jsonl"]
    assert (report.status, report.rows, report.events) == ("ok", 6, 8)
    authors = Message.objects.for_team(people.team).order_by("seq").values_list("author", flat=True)
    assert list(authors) == ["agent-teams-command", "plugin:dsh-mnemon", ""]


def test_fr_058_two_generations_the_newer_content_is_shown_and_odd_names_are_said(people, data_dir, tmp_path):
    from tests.builders import frame, header, human

    bring_in(people, FIELD / "parse" / "two-generations")
    session = Session.objects.for_team(people.team).get()
    assert (session.current.file_name, session.warnings) == ("session.v3.jsonl", [])
    bring_in(people, FIELD / "parse" / "filename-header-mismatch")
    session.refresh_from_db()
    assert "version_mismatch:session.v4.jsonl" in session.warnings
    old, new = header("session-x", version=3), header("session-x")
    (tmp_path / "session.v3.jsonl.zstd").write_bytes(frame(old) + frame(human(0, "one")) + frame(human(1, "two")))
    (tmp_path / "session.v4.jsonl.zstd").write_bytes(frame(new) + frame(human(0, "one")))
    bring_in(people, tmp_path)
    session = Session.objects.for_team(people.team).get(session_id="session-x")
    assert (session.current.file_name, session.warnings) == ("session.v3.jsonl.zstd", ["newer_is_older"])


def test_fr_001_002_quotes_nobody_said_rank_first(people, data_dir):
    for name in ("fabricated-user-ask.v4.jsonl", "fabricated-instruction-ko.v4.jsonl"):
        Session.unscoped.all().delete()
        bring_in(people, FIELD / "compaction" / name)
        first = Signal.objects.for_team(people.team).order_by("audit_id", "rank").first()
        assert first.cls == "user_quote", (name, first)


def test_fr_010_an_empty_summary_cannot_be_audited(people, data_dir):
    bring_in(people, FIELD / "compaction" / "empty-and-degenerate.v4.jsonl")
    assert set(Audit.objects.for_team(people.team).values_list("verdict", flat=True)) == {"cannot_be_audited"}


def test_fr_028_029_attempts_that_failed_are_listed_with_their_error(people, data_dir):
    reports, _ = bring_in(
        people, FIELD / "compaction" / "failed-and-cancelled.v4.jsonl", FIELD / "compaction" / "unclosed-start.v4.jsonl"
    )
    for report in reports.values():
        assert sum(report.compactions.values()) > 0
    rows = Compaction.objects.for_team(people.team)
    assert rows.filter(outcome="cancelled").exclude(error="").exists()
    assert rows.filter(outcome="failed").exclude(error="").exists()
    assert reports["unclosed-start.v4.jsonl"].compactions["unmatched"] == 1


def test_fr_046_047_a_fork_counts_its_own_tokens_only(people, data_dir):
    bring_in(people, FIELD / "fork")
    tokens = dict(Session.objects.for_team(people.team).values_list("session_id", "tokens"))
    assert tokens == {"session-parent": 330, "session-child": 55}
    inherited = Message.objects.for_team(people.team).filter(log__session__session_id="session-child", inherited=True)
    assert list(inherited.order_by("seq").values_list("seq", flat=True)) == [0, 1, 2]


def test_fr_062_to_065_the_author_is_decided_by_source_not_by_text(people, data_dir):
    bring_in(people, FIELD / "provenance" / "sources.v4.jsonl")
    rows = Message.objects.for_team(people.team).order_by("seq").values_list("seq", "human", "author")
    assert [(seq, human) for seq, human, _author in rows] == [
        (0, True),
        (1, False),
        (2, True),
        (3, False),
        (4, False),
        (5, False),
    ]
    assert {seq: author for seq, _human, author in rows}[1] == "plugin:uploader"
    session = Session.objects.for_team(people.team).get()
    assert session.title == "why does <system-reminder> show up in my chat?"
    # search looks at what was said, never at reminders
    caller = caller_for_user(people.bob)
    assert not messages_saying(caller, "skills list")
    assert len(messages_saying(caller, "show up in my chat")) == 1


SECRETS = [line for line in (FIELD / "secrets" / "must-mask.txt").read_text(encoding="utf-8").splitlines() if line]


@pytest.mark.parametrize("nth", range(len(SECRETS)))
def test_fr_109_to_115_no_secret_reaches_the_database(people, data_dir, tmp_path, nth):
    """Each secret as human text, tool input, tool output, assistant text and in a summary."""
    from tests.builders import assistant, compaction, frame, header, human, write

    line = SECRETS[nth].replace("\\n", "\n")
    call = {
        "type": "tool-call",
        "id": "call1",
        "name": "run",
        "arguments": json.dumps({"command": line}, ensure_ascii=False),
    }
    asking = assistant(1, f"I saw {line}")
    asking["data"]["message"]["content"].append(call)
    result = {
        "type": "tool/result", "seq": 2, "time": 1_790_000_002_000, "surfaceOp": "append",
        "data": {"turn": 1, "step": 1, "message": {
            "role": "tool", "toolCallId": "call1", "content": [{"type": "text", "text": f"out: {line}"}], "isError": False,
            "source": {"kind": "tool", "callId": "call1"}, "id": "t2"}},
    }  # fmt: skip
    rows = [
        header(),
        human(0, f"look: {line}"),
        asking,
        result,
        *compaction(3, [0, 1, 2], f"Summary. {line} See /srv/a.txt"),
    ]
    write(tmp_path, [frame(row) for row in rows])
    bring_in(people, tmp_path)
    stored = everything_stored()
    for secret in secrets_in(line):
        assert secret not in stored


def secrets_in(line: str) -> list[str]:
    """The part of a must-mask line that must not survive: its longest run that is made up."""
    import re

    runs = re.findall(r"[A-Za-z0-9示例密码_\-.]*(?:EXAMPLE|example|示例)[A-Za-z0-9示例密码_\-.]*", line)
    return [run for run in runs if run not in {"示例密码"}]


def test_fr_112_tool_input_is_masked_like_its_output(people, data_dir):
    bring_in(people, FIELD / "secrets" / "tool-io.v4.jsonl")
    stored = everything_stored()
    for secret in ("EXAMPLEKEY00000000000", "sk-proj-EXAMPLE", "EXAMPLEpass", "AKIAIOSFODNN7EXAMPLE", "ghp_EXAMPLE"):
        assert secret not in stored
    assert "[redacted:" in stored


def test_fr_044_two_results_for_one_call_are_both_kept_and_the_placeholder_named(people, data_dir, tmp_path):
    from tests.builders import frame, header, human, write

    def result(seq: int, text: str, message_id: str, **more) -> dict:
        message = {
            "role": "tool", "toolCallId": "call9", "content": [{"type": "text", "text": text}], "isError": False,
            "source": {"kind": "tool", "callId": "call9"}, "id": message_id,
        }  # fmt: skip
        return {
            "type": "tool/result", "seq": seq, "time": 1_790_000_002_000, "surfaceOp": "append",
            "data": {"turn": 1, "step": 1, "message": message, **more},
        }  # fmt: skip

    lost = result(1, "[interrupted]", "interrupted-tool-result-call9-1", error={"code": "TOOL_OUTCOME_UNKNOWN"})
    write(tmp_path, [frame(row) for row in (header(), human(0, "go"), lost, result(1, "the real output", "t1"))])
    bring_in(people, tmp_path)
    rows = Message.objects.for_team(people.team).filter(call_id="call9").order_by("position")
    assert list(rows.values_list("text", "placeholder")) == [("[interrupted]", True), ("the real output", False)]


def test_an_event_beyond_the_largest_seq_is_masked_like_any_other(people, data_dir, tmp_path):
    from dshweb.sessionlog.models import LogFile
    from dshweb.sessionlog.services.evidence import LogEvents
    from tests.builders import frame, header, human, write

    huge = 2**63 + 5
    write(
        tmp_path, [frame(header()), frame({**human(0, "token sk-proj-EXAMPLE0000EXAMPLE0000EXAMPLE0000"), "seq": huge})]
    )
    bring_in(people, tmp_path)
    with LogEvents(LogFile.objects.for_team(people.team).get()) as events:
        found = [events.get(seq) for seq in (huge, 0)]
    assert any(found)
    assert not any("EXAMPLE0000" in str(event.value) for event in found if event)
