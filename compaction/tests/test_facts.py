"""Facts of a log: made in the import's pass, the same however the log came in, made anew where they are missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compaction import inspecting
from compaction.core.replay import Replay
from compaction.core.session_facts import SessionFacts, facts_of
from compaction.core.standing import Standing
from compaction.models import LogFacts, ModelRoute
from compaction.services import facts
from dshweb.sessionlog.core.reader import read_log
from dshweb.sessionlog.models import LogFile, SourceFile
from dshweb.sessionlog.services import companions, steps, store
from dshweb.sessionlog.services.ingest import Import, ingest_file
from dshweb.sessionlog.services.rebuild import rebuild_log
from tests.builders import frame, header, human, session_frames, write

CORPUS = Path(__file__).parents[2] / "tests" / "data" / "corpus"
LOGS = sorted(path for path in CORPUS.rglob("session*.jsonl*"))


def bring_in(people, path: Path) -> LogFile:
    ingest_file(path, run=Import.by(people.team, people.bob, inline=True))
    return SourceFile.unscoped.select_related("log").get(location=str(path)).log


def kept(log: LogFile) -> LogFacts:
    log.refresh_from_db()
    return LogFacts.unscoped.get(log=log, revision=log.revision)


def folded(path: Path) -> tuple[SessionFacts, bytes | None, dict]:
    replay, standing = Replay(), Standing()
    with path.open("rb") as source:
        reader = read_log(source)
        for batch in reader:
            standing.start(reader.header)
            replay.feed_batch(batch, reader)
            for event in batch.events:
                standing.feed(event)
    return *facts_of(replay), standing.document()


@pytest.mark.parametrize("path", LOGS[::3], ids=lambda path: path.relative_to(CORPUS).parts[0])
def test_an_import_keeps_what_a_replay_of_the_log_says(people, data_dir, path):
    row = kept(bring_in(people, path))
    wanted, cuts, standing = folded(path)
    assert facts.facts_in(row.facts) == wanted
    assert (None if row.cuts is None else bytes(row.cuts)) == cuts
    assert row.standing == json.loads(json.dumps(standing))


def test_a_log_that_grows_is_caught_up_with_and_never_read_again(people, data_dir, tmp_path, monkeypatch):
    frames = session_frames(rounds=3)
    monkeypatch.setattr(facts, "read_log", None)  # what `catch_up` reads with: it must have nothing to do
    for end in range(1, len(frames) + 1):
        log = bring_in(people, write(tmp_path, frames[:end]))
        assert kept(log).revision == log.revision
    wanted, cuts, _ = folded(write(tmp_path / "whole", frames))
    row = kept(log)
    assert facts.facts_in(row.facts) == wanted
    assert bytes(row.cuts) == cuts


def test_a_log_cut_anywhere_and_then_finished_has_the_facts_of_the_whole(people, data_dir, tmp_path):
    data = b"".join(session_frames(rounds=2))
    wanted, cuts, _ = folded(write(tmp_path / "whole", [data]))
    for n, cut in enumerate(range(150, len(data), 97)):
        session = f"session-00000000-0000-4000-8000-{n:012d}"
        bring_in(people, write(tmp_path, [data[:cut]], session))
        row = kept(bring_in(people, write(tmp_path, [data], session)))
        assert (facts.facts_in(row.facts), bytes(row.cuts)) == (wanted, cuts)


def test_a_log_that_is_taken_back_torn_or_replaced_has_the_facts_of_what_it_is_now(people, data_dir, tmp_path):
    frames = session_frames(rounds=3)
    data = b"".join(frames)
    other = [*frames[:4], frame(human(4, "another branch"), human(5, "of the same session"))]
    for now in (
        [data],
        [data[:-7]],
        frames[:-1],
        [*frames[:-1], frames[-1][:9]],
        frames[:-1],
        other[:-1],
        other,
        frames,
    ):
        path = write(tmp_path, now)
        row, (wanted, cuts, standing) = kept(bring_in(people, path)), folded(path)
        assert (facts.facts_in(row.facts), bytes(row.cuts)) == (wanted, cuts)
        assert row.standing == json.loads(json.dumps(standing))


def test_facts_that_are_missing_old_or_unreadable_are_made_anew(people, data_dir, tmp_path):
    frames = session_frames(rounds=2)
    log = bring_in(people, write(tmp_path, frames[:5]))
    LogFacts.unscoped.filter(log=log).delete()
    assert facts.settle_missing() == 1
    assert facts.settle_missing() == 0
    LogFacts.unscoped.filter(log=log).update(state='{"replay": {"v": 0}, "standing": {"v": 0}}')
    log = bring_in(people, write(tmp_path, frames))
    wanted, cuts, _ = folded(write(tmp_path / "whole", frames))
    row = kept(log)
    assert (facts.facts_in(row.facts), bytes(row.cuts)) == (wanted, cuts)


def test_a_log_imported_without_the_companion_gets_its_facts_after_the_import(people, data_dir, tmp_path, monkeypatch):
    monkeypatch.setattr(companions, "OPENERS", [])
    row = kept(bring_in(people, write(tmp_path, session_frames(rounds=1))))
    assert row.facts["last"]["id"] == "c0"


def test_rebuilding_makes_them_anew(people, data_dir, tmp_path):
    log = bring_in(people, write(tmp_path, session_frames(rounds=1)))
    before = kept(log).facts
    LogFacts.unscoped.filter(log=log).update(facts={}, cuts=None)
    rebuild_log(log)
    assert kept(log).facts == before


def test_what_was_masked_under_other_patterns_goes_before_the_log_is_read_anew(people, data_dir, tmp_path):
    log = bring_in(people, write(tmp_path, session_frames(rounds=1)))
    assert kept(log)
    steps.start_over(log)
    assert not LogFacts.unscoped.exists()


def test_no_secret_of_the_log_is_kept(people, data_dir, tmp_path):
    secret = "ghp_" + "a1B2" * 9
    goal = {
        "kind": "goal/change", "version": 1, "operation": "create", "roundsStarted": 0, "createdAt": 1, "updatedAt": 1,
        "goal": {"id": "g", "revision": 1, "objective": f"rotate {secret}", "phase": "active", "maxGoalRounds": 3},
    }  # fmt: skip
    rows = [
        human(0, "hello"),
        {"type": "goal/change", "seq": 1, "time": 1, "data": goal},
        {"type": "todo/write", "seq": 2, "time": 1, "data": {"todos": [{"content": secret, "status": "pending"}]}},
        {"type": "compaction/start", "seq": 3, "time": 1, "data": {"compactionId": "c", "turn": None}},
        {"type": "compaction/end", "seq": 4, "time": 2, "data": {"compactionId": "c", "turn": None, "error": f"bad {secret}"}},
    ]  # fmt: skip
    row = kept(bring_in(people, write(tmp_path, [frame(header()), *(frame(one) for one in rows)])))
    assert "redacted" in row.facts["last"]["error"]
    assert secret not in json.dumps([row.facts, row.standing, row.state])


def test_neither_names_nor_ids_of_the_log_are_kept_as_they_stand_where_they_hide_a_secret(people, data_dir, tmp_path):
    secret, long = "ghp_" + "a1B2" * 9, "m" * 5000
    rows = [
        {"type": "request/header", "data": {"header": {"config": {"provider": secret, "model": long}, "tools": []}}},
        {"type": "agent-preset/selected", "data": {"agentPreset": secret}},
        {"type": "job/registered", "data": {"jobId": secret, "kind": "bash", "label": f"curl {secret}"}},
        {"type": "subagent/catalog", "data": {"childId": secret, "mode": "one-shot", "label": secret}},
        {"type": "agent/inbox/spliced", "data": {"target": "next-turn", "start": 0, "inserted": [{"id": secret}]}},
        {"type": "tool/call", "data": {"name": "ask_user_question", "callId": secret, "arguments": {
            "questions": [{"id": secret, "question": secret, "options": [{"label": secret}]}]}}},
        {"type": "compaction/start", "data": {"compactionId": secret, "turn": None}},
        {"type": "compaction/end", "data": {"compactionId": secret, "turn": None, "error": long}},
    ]  # fmt: skip
    frames = [frame({**row, "seq": seq, "time": seq}) for seq, row in enumerate(rows)]
    row = kept(bring_in(people, write(tmp_path, [frame(header()), *frames])))
    stored = json.dumps([row.facts, row.standing, row.state])
    assert secret not in stored
    assert long not in stored
    assert row.facts["last"]["error"]
    assert [len(row.standing[name]) for name in ("questions", "jobs", "children")] == [1, 1, 1]


def test_facts_of_an_older_dshweb_are_not_read_but_made_anew(people, data_dir, tmp_path):
    log = bring_in(people, write(tmp_path, session_frames(rounds=1)))
    wanted = kept(log).facts
    for older in ({**wanted, "v": "0.1.1"}, {name: value for name, value in wanted.items() if name != "v"}):
        LogFacts.unscoped.filter(log=log).update(facts=older)
        assert facts.facts_in(older) is None
        about = inspecting.asked_in(people.team.pk, log.session.session_id)
        assert inspecting.NOT_MEASURED in inspecting.body(about)["diagnostics"]
        assert facts.settle_missing() == 1
        assert kept(log).facts == wanted


class Broken:
    """A companion that fails where it is told to."""

    def __init__(self, at: str) -> None:
        self.at = at

    def feed(self, batch, reader):
        assert self.at != "feed"

    def save(self, log, revision, resume):
        LogFacts.unscoped.filter(log=log).update(masking="half")
        assert self.at != "save"

    def opened(self, log, resume, masker):
        assert self.at != "open"
        return self


@pytest.mark.parametrize("at", ["open", "feed", "save"])
def test_a_companion_that_fails_takes_neither_the_log_nor_the_others_with_it(
    people, data_dir, tmp_path, monkeypatch, at
):
    monkeypatch.setattr(companions, "OPENERS", [*companions.OPENERS, Broken(at).opened])
    row = kept(bring_in(people, write(tmp_path, session_frames(rounds=1))))
    assert row.facts["last"]["id"] == "c0"
    assert row.masking != "half"


def test_a_log_that_cannot_be_measured_does_not_keep_the_others_from_it(people, data_dir, tmp_path, monkeypatch):
    names = [f"session-00000000-0000-4000-8000-{n:012d}" for n in range(3)]
    rest = session_frames(rounds=1)[1:]
    logs = [bring_in(people, write(tmp_path, [frame(header(name)), *rest], name)) for name in names]
    LogFacts.unscoped.all().delete()
    save = facts.Folding.save

    def fails_for_one(self, log, revision, resume):
        assert log.pk != logs[0].pk
        save(self, log, revision, resume)

    monkeypatch.setattr(facts.Folding, "save", fails_for_one)
    store.delete(LogFile.unscoped.get(pk=logs[1].pk).stored)
    assert facts.settle_missing() == 1
    assert kept(logs[2])


def test_logs_of_before_fill_the_catalogue_too(people, data_dir, tmp_path):
    config = {"provider": "p", "model": "m"}
    rows = [
        {"type": "request/header", "seq": 0, "time": 1, "data": {"header": {"config": config, "tools": []}}},
        {"type": "request/context", "seq": 1, "time": 1, "data": {**config, "contextWindow": 4321}},
    ]
    bring_in(people, write(tmp_path, [frame(header()), *map(frame, rows)]))
    ModelRoute.unscoped.filter(team=people.team).delete()
    LogFacts.unscoped.all().delete()
    assert facts.settle_missing() == 1
    assert ModelRoute.unscoped.get(team=people.team, provider="p", model="m").seen_window == 4321


def test_facts_go_with_their_log(people, data_dir, tmp_path):
    log = bring_in(people, write(tmp_path, session_frames(rounds=1)))
    log.session.delete()
    assert not LogFacts.unscoped.exists()


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_log_that_grows_is_gone_on_with_here_and_in_another_process(people, data_dir, tmp_path, elsewhere):
    """What this process still holds of a log says the same as what is stored of it."""
    frames = session_frames(rounds=3)
    for end in range(1, len(frames) + 1):
        log = bring_in(people, write(tmp_path, frames[:end]))
        assert log.stored in facts._kept
        if elsewhere:
            facts._kept.clear()
    wanted, cuts, standing = folded(write(tmp_path / "whole", frames))
    row = kept(log)
    assert (facts.facts_in(row.facts), bytes(row.cuts)) == (wanted, cuts)
    assert row.standing == json.loads(json.dumps(standing))


def test_what_is_held_of_a_log_is_not_gone_on_with_once_another_wrote_or_it_was_fed_and_not_saved(
    people, data_dir, tmp_path, monkeypatch
):
    frames = session_frames(rounds=3)
    log = bring_in(people, write(tmp_path, frames[:1]))
    held = facts._kept[log.stored]
    LogFacts.unscoped.filter(log=log).update(revision=log.revision + 1)
    LogFile.unscoped.filter(pk=log.pk).update(revision=log.revision + 1)
    bring_in(people, write(tmp_path, frames[:2]))
    assert facts._kept[log.stored] is not held
    held = facts._kept[log.stored]
    monkeypatch.setattr(facts.Folding, "save", lambda *_: 1 / 0)
    bring_in(people, write(tmp_path, frames[:3]))
    assert held.stands is None
    monkeypatch.undo()
    row = kept(bring_in(people, write(tmp_path, frames)))
    wanted, cuts, _ = folded(write(tmp_path / "whole", frames))
    assert (facts.facts_in(row.facts), bytes(row.cuts)) == (wanted, cuts)
