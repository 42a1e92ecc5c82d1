"""Faults people met in such software (field reports, parts 3 and 4), each as the kind of fault it is."""

from __future__ import annotations

import pytest

from dshweb.sessionlog.core.generations import Generation, choose, parse_log_name

from .logs import FIELD, assistant, line, log_bytes, read, result, row, user

PARSE = FIELD / "parse"


def parsed(name: str):
    return read(PARSE / name, compressed=name.endswith(".zstd"))


def test_all_frames_are_read():
    assert parsed("multi-frame-ok.session.v4.jsonl.zstd").seqs == list(range(6))


def test_header_is_the_first_line_whatever_the_frames():
    for name in ("first-frame-two-lines.session.v4.jsonl.zstd", "lines-split-across-frames.session.v4.jsonl.zstd"):
        log = parsed(name)
        assert log.reader.status == "ok"
        assert log.reader.header.id.startswith("session-")
        assert log.seqs == list(range(6))


def test_magic_bytes_inside_a_frame_cost_nothing():
    log = parsed("bare-magic-inside-raw-block.session.v4.jsonl.zstd")
    assert log.seqs == [0, 1, 2, 3, 4, 5, 7, 99]
    assert log.reader.accounting.frames == 9
    assert log.codes == ["bad_utf8", "seq_gap", "seq_gap"]
    assert log.get(7).extra == {"raw": "(\ufffd/\ufffd"}
    assert log.get(7).repaired
    assert parsed("magic-bytes-in-text.session.v4.jsonl.zstd").seqs == [0, 1, 2, 3, 4, 5, 7]


def test_skippable_frames_are_accounted():
    log = parsed("skippable-frame.session.v4.jsonl.zstd")
    assert (log.reader.status, log.reader.accounting.skippable_frames, len(log.events)) == ("ok", 1, 6)


def test_a_record_cut_in_a_complete_frame_is_named_and_the_rest_kept():
    log = parsed("torn-record-in-complete-frame.session.v4.jsonl.zstd")
    assert len(log.events) == 6
    assert [(d.code, d.offset) for d in log.reader.damage] == [("torn_row", 1127)]
    assert log.reader.accounting.skipped == {"torn_row": 1}


def test_a_torn_tail_is_named_by_offset():
    log = parsed("torn-tail.session.v4.jsonl.zstd")
    assert (log.seqs, log.codes) == ([0, 1, 2, 3, 4], ["torn_tail"])


@pytest.mark.parametrize(
    ("name", "code"), [("empty.session.v4.jsonl.zstd", "empty_file"), ("not-zstd.session.v4.jsonl.zstd", "not_zstd")]
)
def test_what_is_no_log_says_why(name, code):
    log = parsed(name)
    assert (log.reader.status, log.codes, log.events) == ("failed", [code], [])


def test_a_gap_is_marked_and_both_sides_are_shown():
    log = parsed("seq-gap.v4.jsonl")
    assert log.seqs == [0, 1, 2, 4, 5]
    (gap,) = log.reader.damage
    assert (gap.code, gap.kind, gap.seq, gap.offset) == ("seq_gap", "order", 3, None)


def test_order_is_told_apart_from_bytes():
    log = parsed("seq-goes-back-after-end-seed.v4.jsonl")
    assert log.seqs == [0, 1, 2, 3, 4, 5, 6, 3]
    assert log.codes == ["seq_back", "two_processes"]
    assert {d.kind for d in log.reader.damage} == {"order"}


def test_two_results_for_one_call_are_both_there_and_the_placeholder_is_named():
    rows = [result(203408, "c", "[interrupted]", message_id="interrupted-tool-result-c-203407"),
            result(203408, "c", "real output")]  # fmt: skip
    log = read(log_bytes(rows))
    assert [(m.seq, m.call_id, m.placeholder) for m in log.messages] == [
        (203408, "c", "interrupted"), (203408, "c", None)]  # fmt: skip
    assert "seq_duplicate" in log.codes


def test_a_fork_does_not_count_its_parents_usage_again():
    parent, child = (read(FIELD / "fork" / name / "session.jsonl") for name in ("parent", "child"))
    assert child.reader.header.parent_session == parent.reader.header.id
    assert [e.inherited for e in child.events] == [True, True, True, False, False]
    assert child.reader.inherited_before == 3
    totals = [log.scan.work.usage.total for log in (parent, child)]
    assert totals == [330, 55]
    assert child.scan.work.inherited_usage.total == 330


def test_equal_usage_in_parent_and_child_both_count():
    usage = {"inputTokens": 100, "outputTokens": 10}
    header = {"type": "session", "version": 4, "id": "c", "isSeeded": True, "parentSession": "p"}
    rows = [
        assistant(0, [], usage=usage),
        row(1, "session/end-seed", {"inherited": True}),
        assistant(2, [], usage=usage),
    ]
    work = read(log_bytes(rows, header=header)).scan.work
    assert (work.usage.total, work.inherited_usage.total) == (110, 110)


def test_an_unknown_version_is_named_and_read_as_far_as_it_goes():
    log = parsed("future-version.session.v5.jsonl")
    assert (log.reader.status, log.reader.format, log.seqs) == ("unsupported", 5, [0])
    assert [(d.code, d.kind) for d in log.reader.damage] == [("unknown_version", "note")]


def test_old_shapes_are_read_and_nothing_of_them_is_lost():
    log = parsed("v0-old-shapes.jsonl")
    assert (log.reader.status, log.seqs) == ("ok", list(range(8)))
    assert log.get(0).body["origin"] == "inferred"
    assert log.get(3).body["source"]["summary"] == "extra"
    assert [m.author.kind for m in log.messages[:2]] == ["agent-teams-command", "plugin:dsh-mnemon"]
    chunks = [log.get(seq) for seq in (4, 5, 6)]
    assert "".join(c.body["chunk"]["text"] for c in chunks) == "Hello 世界"
    assert [c.time - 1790000000000 for c in chunks] == [1, 3, 6]


def generation(path):
    log = read(path)
    last = log.events[-1] if log.events else None
    return Generation(
        parse_log_name(path.name), log.reader.format, last and last.seq, last and last.time, len(log.events)
    )


def test_generations_are_compared_by_content():
    logs = [generation(p) for p in sorted((PARSE / "two-generations").iterdir())]
    choice = choose(logs)
    assert choice.newest is choice.opened
    assert choice.opened.name.version == 3
    assert choice.warnings == ()


def test_a_higher_generation_with_older_content_is_warned_about():
    old = Generation(parse_log_name("session.jsonl.zstd"), 0, 90, 2000, 91)
    high = Generation(parse_log_name("session.v4.jsonl.zstd"), 4, 50, 1000, 51)
    choice = choose([high, old])
    assert (choice.newest, choice.opened, choice.warnings) == (old, high, ("newer_is_older",))


def test_name_and_header_that_disagree_are_warned_about():
    log = generation(PARSE / "filename-header-mismatch" / "session.v4.jsonl")
    assert choose([log]).warnings == ("version_mismatch:session.v4.jsonl",)


def test_authors_are_decided_by_source_never_by_text():
    log = read(FIELD / "provenance" / "sources.v4.jsonl")
    assert [m.is_human for m in log.messages] == [True, False, True, False, False, False]
    assert [m.author.kind for m in log.messages] == [
        "user", "plugin:uploader", "user", "runtime-context", "skill-catalog", "user-approval"]  # fmt: skip


@pytest.mark.parametrize("path", sorted((FIELD / "compaction").iterdir()), ids=lambda p: p.name)
def test_compaction_inputs_are_read_without_damage(path):
    log = read(path)
    assert log.reader.status == "ok"
    assert log.scan.surface.problems == []
    assert all(a.span_ok for a in log.scan.attempts if a.summary_seq is not None)


def test_failed_cancelled_and_unclosed_attempts_have_their_outcome():
    log = read(FIELD / "compaction" / "failed-and-cancelled.v4.jsonl")
    assert [(a.outcome, a.error) for a in log.scan.attempts] == [
        ("failed", "summarization produced no text summary content"),
        ("cancelled", "AbortError: cancelled by user"),
    ]
    (open_one,) = read(FIELD / "compaction" / "unclosed-start.v4.jsonl").scan.attempts
    assert open_one.outcome == "unmatched"


def test_a_plain_log_named_compressed_is_read_and_noted():
    log = read(line({"type": "session", "version": 4, "id": "s"}) + line(user(0, "hi")), compressed=True)
    assert (log.seqs, log.codes, log.reader.status) == ([0], ["encoding_mismatch"], "ok")
