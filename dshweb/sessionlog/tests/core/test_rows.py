"""Rows as anyone may have written them: nothing raises, everything is counted."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dshweb.sessionlog.core.body import too_deep
from dshweb.sessionlog.core.events import Replace
from dshweb.sessionlog.core.index import read_events
from dshweb.sessionlog.core.limits import Limits

from .logs import HEADER, frame, line, log_bytes, read, row, user

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=8,
)
ENVELOPE = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["session", "text-chunks", "user/message", "assistant/message", "tool/result",
                                 "compaction/start", "compaction/summary", "compaction/end", "session/end-seed",
                                 "turn/start", "goal/change", "job/registered", "request/header"]) | JSON,
        "seq": st.integers(-5, 40) | JSON,
        "seq0": st.integers(-5, 40) | JSON,
        "time": st.integers(0, 10**13) | JSON,
        "time0": JSON,
        "data": JSON | st.fixed_dictionaries({"content": JSON, "source": JSON}) | st.fixed_dictionaries(
            {"texts": JSON, "dt": JSON}) | st.fixed_dictionaries({"message": st.fixed_dictionaries({"content": JSON})}),
        "surfaceOp": JSON | st.fixed_dictionaries({"op": st.just("replace"), "startSeq": st.integers(0, 40),
                                                   "endSeq": st.integers(0, 40)}) | st.just("append"),
        "sourceEventSeqs": JSON | st.lists(st.integers(0, 40) | st.lists(st.integers(0, 40), max_size=3), max_size=4),
        "ignorable": JSON,
        "more": JSON,
    },
)  # fmt: skip
LINE = (
    st.binary(max_size=40).filter(lambda b: b"\n" not in b)
    | JSON.map(lambda v: json.dumps(v).encode())
    | ENVELOPE.map(lambda v: json.dumps(v).encode("utf-8", "surrogatepass"))
    | ENVELOPE.map(lambda v: json.dumps(v, ensure_ascii=False).encode("utf-8", "surrogatepass"))
)


@settings(deadline=None, max_examples=200)
@given(lines=st.lists(LINE, max_size=12), packed=st.booleans())
def test_arbitrary_rows_never_raise_and_add_up(lines, packed):
    data = b"\n".join([line(HEADER)[:-1], *lines, b""])
    log = read(frame(data) if packed else data, limits=Limits(row_events=50, row_seqs=50), compressed=packed)
    json.dumps(log.scan.to_state())
    for event in log.events:
        json.dumps([event.value, event.extra], allow_nan=False).encode()
        event.data.decode()
    for message in log.messages:
        "".join(b.text for b in message.blocks).encode()


@settings(deadline=None, max_examples=100)
@given(data=st.binary(max_size=300), compressed=st.sampled_from([True, False, None]))
def test_arbitrary_bytes_never_raise(data, compressed):
    log = read(data, compressed=compressed)
    if not log.events and log.reader.header is None:
        assert log.reader.status == "failed"


def test_rows_without_seq_are_numbered_by_position_and_it_is_said_once():
    rows = [{"type": "turn/start", "data": {"turn": 1}}, {"type": "user/message", "data": {}, "surfaceOp": "append"}]
    log = read(log_bytes(rows))
    assert [(e.seq, e.time, e.numbered_by_position) for e in log.events] == [(0, None, True), (1, None, True)]
    assert log.codes == ["seq_by_position", "no_time"]
    assert log.reader.damage_counts == {"seq_by_position": 2, "no_time": 2}
    assert log.reader.status == "ok"


def test_position_counts_expanded_rows():
    packed = {"type": "text-chunks", "seq0": 0, "time0": 5, "data": {"dt": [1], "texts": ["a", "b"]}}
    assert read(log_bytes([packed, {"type": "turn/end", "time": 9}])).seqs == [0, 1, 2]


def test_lone_surrogates_and_odd_numbers_are_read():
    raw = b'{"type":"x","seq":0,"time":1,"data":{"s":"a\\ud800b","n":1e400,"pair":"\\ud83d\\ude00"}}\n'
    log = read(line(HEADER) + raw)
    assert log.events[0].body == {"s": "a\ufffdb", "n": None, "pair": "😀"}
    deep = b'{"type":"x","seq":0,"time":1,"data":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    log = read(line(HEADER) + deep + line(row(1)))
    assert log.seqs == [1]
    assert log.reader.accounting.skipped == {"bad_json": 1}


@pytest.mark.parametrize("depth", [150, 700, 3000])
def test_values_nested_too_deep_are_not_taken(depth):
    nest = b"[" * depth + b"]" * depth
    log = read(line(HEADER) + b'{"type":"user/message","seq":0,"time":1,"data":{"content":' + nest + b'},"surfaceOp":"append"}\n'
               + b'{"type":"x","seq":1,"time":1,"more":' + nest + b"}\n" + line(row(2)))  # fmt: skip
    assert 2 in log.seqs
    assert {e.seq: (e.value, e.extra) for e in log.events if e.seq < 2}.items() <= {
        0: (None, None), 1: (None, {"more": None})}.items()  # fmt: skip
    header = json.dumps(HEADER).encode()[:-1] + b',"x":' + nest + b"}\n"
    assert "no_header" in read(header + line(row(0))).codes


def test_extra_members_are_kept():
    log = read(log_bytes([row(0, origin="web", nested={"a": [1]})]))
    assert log.events[0].extra == {"origin": "web", "nested": {"a": [1]}}
    odd = read(log_bytes([row(0, surfaceOp={"op": "later", "x": 1})])).events[0]
    assert (odd.surface_op, odd.extra) == (None, {"surfaceOp": {"op": "later", "x": 1}})


def test_both_spellings_of_a_replacement():
    rows = [row(0, surfaceOp={"op": "replace", "start": 3, "end": 4}),
            row(1, surfaceOp={"op": "replace", "startSeq": 5, "endSeq": 2})]  # fmt: skip
    assert [e.surface_op for e in read(log_bytes(rows)).events] == [Replace(3, 4), Replace(5, 2)]


def test_ranges_are_expanded_and_bounded():
    log = read(log_bytes([row(0, sourceEventSeqs=[1, [4, 6]])]))
    assert log.events[0].source_event_seqs == (1, 4, 5, 6)
    log = read(log_bytes([row(0, sourceEventSeqs=[[0, 10**12]])]), limits=Limits(row_seqs=1000))
    assert len(log.events[0].source_event_seqs) == 1000
    assert log.codes == ["limit_seqs"]
    log = read(log_bytes([row(0, sourceEventSeqs=list(range(50)))]), limits=Limits(row_seqs=10))
    assert (log.events[0].source_event_seqs, log.codes) == (tuple(range(10)), ["limit_seqs"])
    assert read(log_bytes([row(0, sourceEventSeqs=[[6, 4], "x"])])).codes == ["bad_seqs"]


def test_packed_rows_are_bounded():
    packed = {"type": "text-chunks", "seq0": 0, "time0": 0, "data": {"texts": ["x"] * 100}}
    log = read(log_bytes([packed]), limits=Limits(row_events=10))
    assert (len(log.events), log.codes) == (10, ["limit_events"])


def test_a_frame_gives_no_more_rows_than_the_limit_and_says_what_it_left_out():
    limits = Limits(frame_rows=10)
    many = b"".join(line(row(n)) for n in range(25))
    half = line(row(25))
    stored = frame(line(HEADER)) + frame(many + half[:9]) + frame(half[9:] + line(row(26)))
    log = read(stored, limits=limits)
    assert log.seqs == [*range(10), 25, 26]
    assert log.reader.accounting.skipped == {"limit_rows": 15}
    assert log.codes == ["limit_rows", "lost_rows"]
    assert (log.reader.accounting.adds_up(), log.reader.accounting.rows, log.reader.lost_row) == (True, 27, 10)
    for batch in (log.frames[1], log.frames[2]):
        found = read_events(io.BytesIO(stored), batch, limits)
        assert [event.seq for event in found] == [seq for seq in log.seqs if batch.first_seq <= seq <= batch.last_seq]


def test_packed_rows_of_one_frame_are_bounded_together():
    packed = [
        {"type": "text-chunks", "seq0": 60 * n, "time0": 0, "data": {"texts": ["x"] * 60}} for n in range(3)
    ]  # fmt: skip
    log = read(frame(b"".join(map(line, [HEADER, *packed, row(180)]))), limits=Limits(frame_rows=100))
    assert log.seqs == [*range(60), 180]
    assert log.reader.accounting.skipped == {"limit_rows": 2}
    assert log.reader.accounting.adds_up()


def test_a_stretch_of_a_plain_log_never_has_too_many_rows():
    log = read(line(HEADER) + b"\n" * (1 << 20) + line(row(0)))
    assert (log.seqs, log.codes, log.reader.accounting.skipped) == ([0], [], {"blank": 1 << 20})


def test_a_row_beyond_the_limit_is_left_out_and_the_next_is_read():
    big = line(row(0, data={"x": "y" * 5000}))
    rest = line(row(1)) + line(row(2))
    pieces = [big[n : n + 700] for n in range(0, len(big), 700)]
    limits = Limits(row_bytes=2000)
    stored = frame(line(HEADER)) + b"".join(map(frame, [*pieces[:-1], pieces[-1] + rest]))
    log = read(stored, limits=limits)
    assert log.seqs == [1, 2]
    assert log.reader.accounting.skipped == {"limit_row": 1}
    assert log.codes[0] == "limit_row"
    plain = read(line(HEADER) + line(row(0, data={"x": "y" * 600_000})) + rest, limits=limits)
    assert plain.seqs == [1, 2]


def test_a_log_without_header_is_read_and_named():
    log = read(log_bytes([row(0), row(1)], header=None))
    assert (log.seqs, log.codes, log.reader.status, log.reader.header) == ([0, 1], ["no_header"], "damaged", None)


def test_a_second_header_is_counted_out():
    log = read(log_bytes([row(0), HEADER, row(1)]))
    assert log.seqs == [0, 1]
    assert log.reader.accounting.skipped == {"second_header": 1}


def test_a_row_cut_by_a_damaged_frame_is_counted_as_such():
    cut = line(user(1, "cut in the middle"))
    bad = bytearray(frame(cut[40:80]))
    bad[-1] ^= 1
    stored = log_bytes([row(0)]) + frame(cut[:40]) + bytes(bad) + frame(cut[80:] + line(row(2)))
    log = read(stored)
    assert log.seqs == [0, 2]
    assert log.reader.accounting.skipped == {"cut_row": 2}
    assert log.codes == ["bad_checksum", "lost_rows"]


def test_mixed_writers_are_named():
    log = read(log_bytes([row(n) for n in (0, 1, 2, 3, 1, 4, 2, 5)]))
    assert len(log.events) == 8
    assert "seq_back" in log.codes
    assert "two_processes" in log.codes
    assert "seq_gap" not in log.codes


def test_many_findings_of_a_code_are_counted_not_listed():
    log = read(line(HEADER) + b"not json\n" * 5000)
    assert log.reader.damage_counts["bad_row"] == 5000
    assert len(log.reader.damage) == 100
    assert log.reader.accounting.skipped == {"bad_json": 5000}


def test_a_fork_of_a_fork_inherits_all_before_the_last_end_of_a_prefix():
    header = HEADER | {"isSeeded": True, "parentSession": "p"}
    seed = [row(n, "session/end-seed", {"inherited": True}) for n in (1, 3)]
    rows = [user(0, "grandparent"), seed[0], user(2, "parent"), seed[1], row(4, "session/end-seed"), user(5, "own")]
    log = read(log_bytes(rows, header=header))
    assert log.reader.inherited_before == 3
    assert [e.inherited for e in log.events if e.seq in (0, 4, 5)] == [True, False, False]
    assert (log.scan.work.events, log.scan.work.own_events) == (6, 2)


def test_a_row_in_many_pieces_is_put_together_once():
    text = line(row(0, data={"x": "y" * 3000}))
    log = read(frame(line(HEADER)) + b"".join(frame(text[n : n + 1]) for n in range(len(text))))
    assert log.seqs == [0]
    assert log.frames[-1].carried == len(text) - 1
    assert log.reader.accounting.adds_up()


def test_a_plain_log_may_begin_with_a_byte_order_mark():
    log = read(b"\xef\xbb\xbf" + line(HEADER) + line(row(0)) + line(row(1))[:-1])
    assert (log.reader.header.id, log.seqs) == ("session-1", [0, 1])
    source = io.BytesIO(b"\xef\xbb\xbf" + line(HEADER) + line(row(0)) + line(row(1))[:-1])
    assert [e.seq for f in log.frames for e in read_events(source, f)] == [0, 1]


@pytest.mark.parametrize(
    ("text", "deep"),
    [
        ("[" * 100 + "]" * 100, False),
        ("[" * 101 + "]" * 101, True),
        ('{"a":' * 101 + "1" + "}" * 101, True),
        ('["]]",' * 200 + "1" + "]" * 200, True),
        (json.dumps(["[" * 500, '"[\\"[' * 300]), False),
        (json.dumps([[{"a": [1, {}]}]] * 1000), False),
        ('"[[[["', False),
    ],
)
def test_depth_is_that_of_containers(text, deep):
    assert too_deep(json.loads(text)) == deep


@settings(deadline=None)
@given(value=JSON)
def test_no_shallow_value_is_too_deep(value):
    assert not too_deep(value)
