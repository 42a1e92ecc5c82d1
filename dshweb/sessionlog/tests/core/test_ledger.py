"""From summaries to leaves: nesting, prunes, and everything that can be wrong with the citations."""

from __future__ import annotations

from dshweb.sessionlog.core.ledger import build_ledger, summary_texts

from .logs import compaction, log_bytes, read, replace, result, row, user


def ledger_of(rows, seq, **options):
    log = read(log_bytes(rows))
    by_seq = {e.seq: e for e in log.events}
    return build_ledger(by_seq[seq], by_seq.get, **options)


def codes(ledger):
    return [(r.code, r.seq) for r in ledger.reasons]


HEAD = [user(0, "a"), user(1, "b")]


def test_leaves_of_a_simple_summary():
    ledger, leaves = ledger_of([*HEAD, *compaction(2, "c", [0, 1])], 3)
    assert (ledger.leaf_seqs, ledger.depth, ledger.reasons) == ((0, 1), 1, ())
    assert [(leaf.author, leaf.blocks[0].source, leaf.blocks[0].text) for leaf in leaves] == [
        ("user", "human", "a"), ("user", "human", "b")]  # fmt: skip


def test_a_later_summary_reaches_the_leaves_of_the_earlier_one_and_only_those_it_shadows():
    rows = [*HEAD, *compaction(2, "c", [0, 1]), user(6, "c"), user(7, "kept"), *compaction(8, "d", [4, 6])]
    ledger, _ = ledger_of(rows, 9)
    assert (ledger.leaf_seqs, ledger.depth, ledger.reasons) == ((0, 1, 6), 2, ())
    assert ledger_of(rows, 9, summaries={"c": 3})[0] == ledger


def test_a_pruned_result_leads_to_its_original():
    rows = [result(0, "c", "full"), row(1, "compaction/prune", {"shadowedSeqs": [0]}),
            result(2, "c", "cut", op=replace(0, 0), sourceEventSeqs=[0]), *compaction(3, "c", [2])]  # fmt: skip
    ledger, leaves = ledger_of(rows, 4)
    assert (ledger.leaf_seqs, ledger.depth, ledger.reasons) == ((0,), 1, ())
    assert leaves[0].blocks[0].text == "full"


def test_a_replacement_that_cites_nothing_is_a_leaf_and_a_reason():
    rows = [result(0, "c", "full"), result(1, "c", "cut", op=replace(0, 0)), *compaction(2, "c", [1])]
    ledger, _ = ledger_of(rows, 3)
    assert (ledger.leaf_seqs, codes(ledger)) == ((1,), [("replacement_without_source", 1)])


def test_missing_and_later_rows_are_reasons():
    rows = [*HEAD, *compaction(2, "c", [0, 1])]
    rows[3]["data"]["shadowedSeqs"] = [0, 1, 5, 77]
    ledger, _ = ledger_of(rows, 3)
    assert (ledger.leaf_seqs, codes(ledger)) == ((0, 1), [("missing_seq", 5), ("missing_seq", 77)])


def test_a_row_off_the_surface_is_a_reason_when_shadowed_and_ignored_when_cited():
    rows = [user(0, "a"), row(1, "turn/end"), result(2, "c", "cut", op=replace(0, 0), sourceEventSeqs=[1, 0]),
            *compaction(3, "c", [2])]  # fmt: skip
    rows[4]["data"]["shadowedSeqs"] = [1, 2]
    ledger, _ = ledger_of(rows, 4)
    assert (ledger.leaf_seqs, codes(ledger)) == ((0,), [("not_surface", 1)])


def test_a_checkpoint_whose_summary_is_gone_is_a_reason():
    rows = [*HEAD, *compaction(2, "c", [0, 1]), *compaction(6, "d", [4])]
    del rows[3]
    ledger, _ = ledger_of(rows, 7)
    assert (ledger.leaf_seqs, codes(ledger)) == ((), [("checkpoint_without_summary", 4)])


def test_the_summary_with_the_same_id_wins_over_another_that_is_cited():
    first, second = compaction(2, "c", [0]), compaction(6, "d", [1])
    second[2]["sourceEventSeqs"] = [6, 3, 7, 1]
    rows = [*HEAD, *first, *second, *compaction(10, "e", [8])]
    assert ledger_of(rows, 11)[0].leaf_seqs == (1,)


def test_a_circle_ends_and_is_a_reason():
    rows = [user(0, "a"), result(1, "c", "x", op=replace(0, 0), sourceEventSeqs=[2]),
            result(2, "c", "y", op=replace(1, 1), sourceEventSeqs=[1]), *compaction(3, "c", [2])]  # fmt: skip
    ledger, _ = ledger_of(rows, 4)
    assert ("cycle", 2) in codes(ledger)
    rows = [*HEAD, *compaction(2, "c", [4])]
    assert codes(ledger_of(rows, 3)[0]) == [("missing_seq", 4)]


def test_what_the_caller_knows_becomes_a_reason():
    rows = [*HEAD, *compaction(2, "c", [0, 1])]
    ledger, _ = ledger_of(rows, 3, span_ok=False, damaged=True, log_format=4)
    assert codes(ledger) == [("damaged_log", None), ("span_mismatch", 3)]
    odd = [row(0, "user/message", {"content": 7}, surfaceOp="append"), *compaction(2, "c", [0])]
    assert codes(ledger_of(odd, 3, log_format=1)[0]) == [("unknown_format", 0)]


def test_opaque_blocks_and_results_kept_elsewhere_are_counted():
    image = row(0, "user/message", {"content": [{"type": "image"}], "source": {"kind": "user"}}, surfaceOp="append")
    rows = [image, result(1, "c", "Full output saved to /tmp/x"), *compaction(2, "c", [0, 1])]
    ledger, _ = ledger_of(rows, 3)
    assert (ledger.opaque_blocks, ledger.externalized, ledger.incomplete) == (1, 1, False)


def test_deep_nesting_is_followed_once_each():
    rows, seq = [user(0, "leaf")], 1
    node = 0
    for n in range(3000):
        rows += compaction(seq, f"c{n}", [node])
        node, seq = seq + 2, seq + 4
    log = read(log_bytes(rows, per_frame=500))
    by_seq = {e.seq: e for e in log.events}
    looks: list[int] = []

    def get(seq):
        looks.append(seq)
        return by_seq.get(seq)

    ledger, leaves = build_ledger(by_seq[seq - 3], get)
    assert (ledger.leaf_seqs, ledger.depth, ledger.reasons) == ((0,), 3000, ())
    assert len(leaves) == 1
    assert len(looks) < 6 * 3000


def test_summary_texts_are_its_text_blocks():
    rows = [*HEAD, *compaction(2, "c", [0, 1], "one")]
    rows[3]["data"]["summary"] += [{"type": "image"}, {"type": "text", "text": 7}, {"type": "text", "text": "two"}]
    log = read(log_bytes(rows))
    assert summary_texts(log.get(3)) == ("one", "two")
