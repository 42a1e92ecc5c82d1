"""A secret that a later pattern hides is hidden in records, signals and notes made before; all else in them stays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audit.models import Audit, Signal
from audit.selectors import chosen
from audit.services.mask_again import HIDDEN, mask_records
from audit.services.run import audit_log, save
from dshweb.sessionlog.models import Compaction, LogFile, MaskPattern, SourceFile
from dshweb.sessionlog.services import store
from dshweb.sessionlog.services.ingest import Import, ingest_path
from dshweb.sessionlog.services.masking import masker_for
from dshweb.sessionlog.services.rebuild import rebuild_log
from dshweb.sessionlog.services.report import Totals
from dshweb.tasks.models import Task
from dshweb.tasks.services import drain, enqueue
from tests.builders import assistant, compaction, frame, header, human, write

pytestmark = pytest.mark.django_db(transaction=True)

CASE = "ABC-4711"
PATH = "/srv/clinic/erika-mustermann/notes.txt"
SUMMARY = (
    "The port stays 9000. Batch 0b7d1f5e-1111-4222-8333-444455556666 is done; see /srv/app/other.yaml and ABC-4712."
)


@pytest.fixture
def log(people, data_dir, tmp_path: Path) -> LogFile:
    rows = [
        human(0, f"The patient file is {CASE}. Always keep {PATH} and /srv/app/conf-1.yaml."),
        assistant(1, "It took 12 s."),
    ]
    frames = [frame(header()), *(frame(row) for row in rows), *(frame(row) for row in compaction(2, [0, 1], SUMMARY))]
    ingest_path(write(tmp_path, frames), run=Import.by(people.team, None, inline=True), totals=Totals())
    return LogFile.objects.for_team(people.team).get()


def stored(team) -> str:
    rows = [audit.record for audit in Audit.objects.for_team(team)]
    signals = Signal.objects.for_team(team).values_list("text", "canon", "data")
    return json.dumps([rows, list(signals)], ensure_ascii=False)


def hide(team, expression: str) -> None:
    MaskPattern.unscoped.create(team=team, name="person", expression=expression)


def test_a_re_scan_hides_it_in_old_records_and_signals(people, log):
    assert PATH in stored(people.team)
    before = Audit.objects.for_team(people.team).get()
    places = [row["where"] for row in before.record["coverage"]["lost"]]
    hide(people.team, r"erika-mustermann")
    enqueue(people.team, "rescan", "masking")
    drain()
    assert "mustermann" not in stored(people.team)
    old = Audit.unscoped.get(pk=before.pk)
    assert old.config_fp == before.config_fp
    assert old.record["masked"] == old.masked == masker_for(people.team.pk).version
    assert [row["where"] for row in old.record["coverage"]["lost"]] == places, "places and order stay"
    assert "/srv/app/conf-1.yaml" in json.dumps(old.record), "what is no secret stays"
    assert (old.asserted, old.lost, old.score) == (before.asserted, before.lost, before.score)
    new = chosen(Audit.objects.for_team(people.team)).popitem()[1]
    assert new.audit.pk != old.pk
    assert not new.older
    assert "masked" not in new.audit.record


def test_a_pattern_that_needs_the_words_around_a_secret_reaches_the_fact_without_them(people, log):
    assert CASE in stored(people.team)
    hide(people.team, r"patient file is [A-Z]+-\d+")
    rebuild_log(log)
    mask_records(people.team.pk)
    text = stored(people.team)
    assert CASE not in text
    assert CASE.lower() not in text
    assert HIDDEN in text
    assert "ABC-4712" in text, "what stands in the open elsewhere stays"


def test_it_is_done_once_and_again_for_other_patterns(people, log):
    hide(people.team, r"erika-mustermann")
    assert mask_records(people.team.pk) == 1
    assert mask_records(people.team.pk) == 0
    hide_more = MaskPattern.unscoped.create(team=people.team, name="more", expression=r"conf-\d")
    assert mask_records(people.team.pk) == 1
    hide_more.delete()
    assert mask_records(people.team.pk) == 1
    assert mask_records(people.team.pk) == 0
    assert "mustermann" not in stored(people.team)


def test_back_at_the_earlier_patterns_the_record_is_made_anew_in_its_place(people, log):
    first = Audit.objects.for_team(people.team).get()
    hide(people.team, r"erika-mustermann")
    mask_records(people.team.pk)
    MaskPattern.unscoped.all().delete()
    (made,) = audit_log(log)
    assert made.record == first.record
    assert made.masked == ""
    assert Audit.objects.for_team(people.team).get().pk == made.pk


def test_a_record_made_while_the_patterns_changed_is_masked_when_it_is_stored(people, log, monkeypatch):
    """An audit that began under the old list and ends after the re-scan passed."""
    Audit.unscoped.all().delete()

    def late(row: Compaction, *args, **more) -> Audit:
        hide(people.team, r"erika-mustermann")
        return save(row, *args, **more)

    monkeypatch.setattr("audit.services.run.save", late)
    audit_log(log)
    assert "mustermann" not in stored(people.team)


def test_with_the_bytes_gone_what_a_pattern_sees_alone_is_still_hidden(people, log):
    store.delete(log.stored)
    hide(people.team, r"erika-mustermann")
    assert mask_records(people.team.pk) == 1
    assert "mustermann" not in stored(people.team)


def test_records_of_another_team_stay(people, log):
    before = stored(people.team)
    hide(people.other_team, r"erika-mustermann")
    assert mask_records(people.other_team.pk) == 0
    assert stored(people.team) == before


def test_notes_about_failed_work_are_masked(people, log):
    task = Task.unscoped.create(
        team=people.team, kind="x", key="x", state="failed", error="ValueError: erika-mustermann"
    )
    damage = [{"code": "error", "detail": "near erika-mustermann", "offset": 3}]
    file = SourceFile.unscoped.create(
        team=people.team, location="/a", error="bad: erika-mustermann", report={"status": "failed", "damage": damage}
    )
    theirs = Task.unscoped.create(team=people.other_team, kind="x", key="x", state="failed", error="erika-mustermann")
    hide(people.team, r"erika-mustermann")
    enqueue(people.team, "rescan", "masking")
    drain()
    for row in (task, file, theirs):
        row.refresh_from_db()
    assert task.error == "ValueError: [redacted:person]"
    assert file.error == "bad: [redacted:person]"
    assert file.report["damage"] == [{"code": "error", "detail": "near [redacted:person]", "offset": 3}]
    assert theirs.error == "erika-mustermann"


def test_the_error_of_a_task_is_masked_when_it_is_written(people, data_dir):
    enqueue(people.team, "sk-proj-EXAMPLEEXAMPLEEXAMPLE00", "k")
    drain()
    error = Task.unscoped.get(key="k").error
    assert error
    assert "[redacted:" in error
    assert "EXAMPLEEXAMPLE" not in error
