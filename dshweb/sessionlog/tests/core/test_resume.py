"""Going on with a grown log gives what one undisturbed reading gives; and only new frames are read."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dshweb.sessionlog.core.limits import Limits
from dshweb.sessionlog.core.reader import read_log
from dshweb.sessionlog.core.resume import Resume, StaleState
from dshweb.sessionlog.core.scan import Scan

from .logs import CORPUS, Reading, corpus_logs, damaged_log, frame, line, log_bytes, plain, read, row, user

SCENARIOS = ["manual-compact", "legacy-v0", "plain-jsonl", "killed-mid-auto-compaction-resumed",
             "failed-compaction-auto", "forked", "work-running-resumed", "repeated-compaction"]  # fmt: skip


def grow(data: bytes, cuts: list[int], limits: Limits | None = None) -> tuple[Reading, list]:
    """Read `data` as it grows to each of `cuts` and to its end; the last reading and all events that were settled."""
    resume, events, state, header = None, [], None, None
    for cut in [*sorted({c for c in cuts if c < len(data)}), len(data)]:
        scan = Scan() if state is None else Scan.from_state(json.loads(json.dumps(state)), header)
        reading = read(data[:cut], resume=resume, scan=scan, limits=limits)
        events += [plain(e) for e in reading.events if not e.provisional or cut == len(data)]
        state = reading.scan.to_state()
        resume = Resume.from_json(json.loads(json.dumps(reading.reader.resume().to_json())))
        header = reading.reader.header
    return reading, events


def same(grown: Reading, events: list, whole: Reading) -> None:
    assert events == [plain(e) for e in whole.events]
    assert grown.reader.accounting == whole.reader.accounting
    assert grown.reader.damage == whole.reader.damage
    assert grown.reader.damage_counts == whole.reader.damage_counts
    assert (grown.reader.header and grown.reader.header.rules) == (whole.reader.header and whole.reader.header.rules)
    assert grown.reader.resume() == whole.reader.resume()
    assert grown.reader.inherited_before == whole.reader.inherited_before
    assert grown.scan.to_state() == whole.scan.to_state()
    assert grown.scan.compaction_totals == whole.scan.compaction_totals
    assert grown.scan.work.usage == whole.scan.work.usage


@pytest.mark.parametrize(("scenario", "path"), [(s, p) for s, p, _ in corpus_logs() if s in SCENARIOS])
def test_growing_frame_by_frame_equals_one_reading(scenario, path):
    data = path.read_bytes()
    whole = read(data)
    borders = [f.offset for f in whole.frames if f.offset]
    grown, events = grow(data, borders[:: 1 + len(borders) // 25])
    same(grown, events, whole)


@pytest.mark.parametrize("name", ["damaged-bad-checksum", "damaged-torn-by-3-bytes", "damaged-torn-last-frame"])
def test_growing_a_damaged_log_equals_one_reading(name):
    path, facts = damaged_log(name)
    data = path.read_bytes()
    same(*grow(data, [facts["damagedFrameOffset"] + 30, facts["damagedFrameOffset"] + 400]), read(data))


ROWS = [user(0, "你好 world"), row(1, "turn/start", {"turn": 1}), row(2, "note", {"x": "y" * 90}), row(3, "turn/end")]


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_rows_split_over_frames_anywhere_and_a_log_cut_anywhere(data):
    text = line({"type": "session", "version": 4, "id": "s"}) + b"".join(map(line, ROWS))
    splits = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    stored = b"".join(frame(text[a:b]) for a, b in zip([0, *splits], [*splits, len(text)], strict=True))
    whole = read(stored)
    assert whole.reader.status == "ok"
    assert whole.seqs == [0, 1, 2, 3]
    cuts = data.draw(st.lists(st.integers(0, len(stored)), max_size=5))
    same(*grow(stored, cuts), whole)


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_a_plain_log_cut_anywhere(data):
    text = line({"type": "session", "version": 4, "id": "s"}) + b"".join(map(line, ROWS))
    text += data.draw(st.sampled_from([b"", b'{"type":"x"', b'{"type":"x","seq":4,"time":1}', b"\n\n"]))
    cuts = data.draw(st.lists(st.integers(1, len(text)), max_size=5))
    same(*grow(text, cuts), read(text))


@settings(deadline=None, max_examples=60)
@given(junk=st.lists(st.binary(max_size=30), min_size=5, max_size=5), cuts=st.lists(st.integers(0, 600), max_size=4))
def test_junk_between_frames_and_a_log_cut_anywhere(junk, cuts):
    text = [line({"type": "session", "version": 4, "id": "s"}), *map(line, ROWS)]
    stored = b"".join(frame(t) + j for t, j in zip(text, junk, strict=True))
    whole = read(stored, compressed=True)
    assert whole.seqs == [0, 1, 2, 3]
    assert whole.reader.accounting.bytes_good == sum(len(frame(t)) for t in text)
    same(*grow(stored, cuts), whole)


def test_truncation_at_every_byte_keeps_every_complete_frame():
    stored = log_bytes(ROWS, per_frame=1)
    ends = [f.offset + f.length for f in read(stored).frames]
    for cut in range(len(stored)):
        log = read(stored[:cut], compressed=True)
        whole = sum(end <= cut for end in ends)
        settled_seqs = [e.seq for e in log.events if not e.provisional]
        assert settled_seqs == list(range(max(0, whole - 1))), cut
        assert (log.reader.status == "ok") == (cut in ends), cut
        assert log.reader.resume().offset == max((e for e in ends if e <= cut), default=0)


def test_truncation_of_a_recorded_log_at_many_bytes():
    (path,) = [p for s, p, _ in corpus_logs() if s == "cwd-special"]
    stored = path.read_bytes()
    for cut in range(0, len(stored), 41):
        log = read(stored[:cut], compressed=True)
        assert log.seqs == list(range(len(log.events)))
        assert set(log.codes) <= {"torn_tail", "empty_file"}


def test_state_taken_between_two_frames_goes_on_behind_them():
    stored = log_bytes(ROWS, per_frame=1)
    whole = read(stored)
    for stop in range(1, len(whole.frames)):
        reader, before = read_log(io.BytesIO(stored)), []
        for n, batch in enumerate(reader, 1):
            before += batch.events
            if n == stop:
                break
        resume = reader.resume()
        assert resume.offset == whole.frames[stop].offset
        after = read(stored, resume=resume)
        assert list(map(plain, before + after.events)) == list(map(plain, whole.events))
        assert after.reader.accounting == whole.reader.accounting


class CountingFile(io.BytesIO):
    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.count = 0

    def read(self, size=-1):
        data = super().read(size)
        self.count += len(data)
        return data


def test_an_appended_frame_costs_itself():
    stored = log_bytes([row(n, data={"noise": str(hash(str(n))) * 40}) for n in range(4000)])
    resume = read(stored).reader.resume()
    extra = frame(line(row(4000)))
    source = CountingFile(stored + extra)
    reader = read_log(source, resume=resume)
    assert [e.seq for batch in reader for e in batch.events] == [4000]
    assert source.count == len(extra)
    assert reader.walker.decoder.decoded_in == len(extra)


def test_resume_holds_no_text_of_rows():
    secret = "sk-verysecret"
    log = read(log_bytes([user(0, secret), row(1, secret[:5], {"k": secret})]) + frame(b'{"type":"' + secret.encode()))
    assert log.codes == ["torn_row"]
    assert secret not in json.dumps(log.reader.resume().to_json())
    assert secret not in json.dumps(log.scan.to_state())
    assert secret not in json.dumps([d.to_json() for d in log.reader.damage])


def test_a_shrunk_log_is_refused():
    stored = log_bytes(ROWS)
    resume = read(stored).reader.resume()
    with pytest.raises(ValueError, match="shrunk"):
        read_log(io.BytesIO(stored[:-1]), resume=resume)


def test_state_of_another_version_or_shape_is_refused_as_stale():
    stored = log_bytes(ROWS)
    log = read(stored)
    resume, state = log.reader.resume().to_json(), log.scan.to_state()
    with pytest.raises(StaleState, match="version"):
        Resume.from_json(resume | {"v": 0})
    with pytest.raises(StaleState, match="version"):
        Scan.from_state({"v": 0})
    for name in ("rows", "accounting", "damage"):
        with pytest.raises(StaleState):
            read_log(io.BytesIO(stored), resume=Resume.from_json(resume | {name: {"other": 1}}))
        with pytest.raises(StaleState):
            Resume.from_json({key: value for key, value in resume.items() if key != name})
    for name in ("surface", "compactions", "work", "tools"):
        with pytest.raises(StaleState):
            Scan.from_state(state | {name: {"other": 1} if name != "tools" else None})


def test_a_log_beyond_its_limit_is_read_that_far_and_stays_so():
    stored = log_bytes([row(n, data={"x": "y" * 200}) for n in range(50)])
    limits = Limits(log_bytes=2_000)
    log = read(stored, limits=limits)
    assert log.codes == ["limit_log"]
    assert 0 < log.reader.accounting.bytes_unread < len(stored)
    assert log.seqs == list(range(len(log.events)))
    again = read(stored + frame(line(row(50))), limits=limits, resume=log.reader.resume())
    assert again.events == []
    assert again.codes == ["limit_log"]


def test_of_the_header_and_the_working_directory_only_what_rows_are_read_by_is_in_the_state():
    log = read(next(CORPUS.glob("cwd-special/sessions/*/*/session*.zstd")))
    assert log.reader.header.cwd == log.scan.work.cwd == "/srv/演示 app~1"
    kept = json.dumps([log.reader.resume().to_json(), log.scan.to_state()], ensure_ascii=False)
    assert "演示" not in kept
    assert log.reader.resume().rows["header"] == {"version": 4, "isSeeded": False, "seedLength": None}
