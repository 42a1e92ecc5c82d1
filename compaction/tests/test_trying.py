"""Other settings tried on stored logs: damaged ones, and settings that never fire by themselves."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from compaction import trying
from compaction.core.policy import resolve
from dshweb.sessionlog.models import LogFile, SourceFile
from dshweb.sessionlog.services.ingest import Import, ingest_file
from dshweb.sessionlog.services.masking import masker_for
from tests.builders import frame, header, human, write


def stored(people, path: Path) -> LogFile:
    ingest_file(path, run=Import.by(people.team, people.bob, inline=True))
    return SourceFile.unscoped.select_related("log").get(location=str(path)).log


def turns(count: int) -> list[bytes]:
    """Frames of short turns that a person talks in and nobody answers, one said row a frame."""
    config = {"provider": "p", "model": "m", "maxTokens": 100}
    frames = [
        frame({"type": "request/header", "seq": 0, "time": 1, "data": {"header": {"config": config, "tools": []}}})
    ]
    for turn in range(1, count + 1):
        seq = turn * 3 - 2
        frames += [
            frame({"type": "turn/start", "seq": seq, "time": seq, "data": {"turn": turn}}),
            frame({"type": "step/start", "seq": seq + 1, "time": seq + 1, "data": {"turn": turn, "step": 1}}),
            frame(human(seq + 2, f"word {turn} " * 40)),
        ]
    return frames


def test_behind_rows_that_were_lost_nothing_is_worked_out(people, data_dir, tmp_path):
    frames = [frame(header()), *turns(6)]
    hurt = bytearray(frames[7])
    hurt[-6] ^= 0xFF
    settings = resolve({"headroomTokens": 10, "retainTokens": 10, "maxTokens": 10})
    whole = trying.try_settings(stored(people, write(tmp_path / "a", frames)), settings, window=400)
    frames[7] = bytes(hurt)
    other = "session-00000000-0000-4000-8000-00000000000b"
    damaged = trying.try_settings(stored(people, write(tmp_path / "b", frames, other)), settings, window=400)
    assert (whole.looks["looks"], whole.looks["unknown"]) == (6, 0)
    assert (damaged.looks["looks"], damaged.looks["unknown"]) == (6, 4)


def test_names_of_a_log_are_shown_masked_and_short_and_cost_one_query(
    people, data_dir, tmp_path, django_assert_max_num_queries
):
    secret = "ghp_" + "a1B2" * 9
    frames = [frame(header())]
    for turn in range(1, 41):
        config = {"provider": secret, "model": f"{turn}" * 3000, "maxTokens": 10}
        rows = [
            {"type": "turn/start", "data": {"turn": turn}},
            {"type": "step/start", "data": {"turn": turn, "step": 1}},
            {"type": "request/header", "data": {"header": {"config": config, "tools": []}}},
            {"type": "step/end", "data": {"turn": turn, "step": 1}},
            {"type": "compaction/start", "data": {"compactionId": secret, "turn": turn}},
            {"type": "compaction/end", "data": {"compactionId": secret, "turn": turn, "error": "x"}},
        ]  # fmt: skip
        frames += [frame({**row, "seq": (turn - 1) * 6 + n, "time": 1}) for n, row in enumerate(rows)]
    log = stored(people, write(tmp_path, frames))
    settings = resolve({"headroomTokens": 10, "retainTokens": 1, "maxTokens": 10})
    masker_for(people.team.pk)
    with django_assert_max_num_queries(6):
        tried = trying.try_settings(log, settings)
    assert (tried.looks["fired"], len(tried.marks), len(tried.notes)) == (40, 40, trying.MOST_NOTES)
    shown = repr([tried.shown, tried.marks, [note.text for note in tried.notes]])
    assert secret not in shown
    assert "1" * 201 not in shown


def test_only_one_waits_while_another_is_at_work():
    pool = ThreadPoolExecutor()
    with trying._alone():
        waiting = pool.submit(_enter)
        deadline = time.monotonic() + 5
        while trying._places._value and time.monotonic() < deadline:  # until it has taken its place
            pass
        began = time.monotonic()
        with pytest.raises(trying.Busy), trying._alone():
            pass
        assert time.monotonic() - began < 1
        assert not waiting.done()
    assert waiting.result(10) == "in"
    pool.shutdown()
    assert _enter() == "in"


def _enter() -> str:
    with trying._alone():
        return "in"


def test_saved_settings_without_automatic_compaction_are_said_to_fire_nowhere(people, data_dir, tmp_path):
    log = stored(people, write(tmp_path, [frame(header()), *turns(1)]))
    assert trying.AUTO_OFF in [note.text for note in trying.try_settings(log, resolve({"auto": False})).notes]
    assert trying.AUTO_OFF not in [note.text for note in trying.try_settings(log, resolve({})).notes]
