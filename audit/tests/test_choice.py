"""Which record counts, what its numbers count, and what is said when part of an audit could not be made."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from audit.core import record as core
from audit.core.policy import Policy
from audit.models import Audit, Signal, VocabularyTerm
from audit.selectors import audit_of, chosen, latest, worst_of
from audit.services import policy as policies
from audit.services.gate import counted
from audit.services.run import audit_log, columns
from dshweb.access.callers import caller_for_user
from dshweb.sessionlog.models import Compaction, LogFile
from dshweb.sessionlog.services import store
from dshweb.sessionlog.services.ingest import Import, ingest_path
from dshweb.sessionlog.services.report import Totals
from dshweb.ui.tests.rows import make_audit, make_compaction, make_log, make_messages, make_session
from tests.builders import frame, header, session_frames, write

pytestmark = pytest.mark.django_db(transaction=True)


FIRST, SECOND = (f"session-00000000-0000-4000-8000-0000000000{end}" for end in ("0a", "bb"))


def bring(team, folder: Path, session: str = FIRST) -> LogFile:
    path = write(folder, [frame(header(session)), *session_frames()[1:]], session)
    ingest_path(path, run=Import.by(team, None, inline=True), totals=Totals())
    return LogFile.objects.for_team(team).latest("pk")


@pytest.fixture
def log(people, data_dir, tmp_path):
    return bring(people.team, tmp_path)


def term(team, text: str) -> VocabularyTerm:
    made = VocabularyTerm.unscoped.create(team=team, list="keep", term=text)
    policies.publish(team=team, by=None)
    return made


def test_back_at_an_earlier_policy_its_records_count_again_and_are_not_made_twice(people, log):
    first = {one.audit.pk for one in chosen(Audit.objects.for_team(people.team)).values()}
    made = term(people.team, "never")
    before = chosen(Audit.objects.for_team(people.team))
    assert {one.audit.pk for one in before.values()} == first
    assert all(one.older for one in before.values()), "shown, but said to be of an older policy"
    second = {audit.pk for audit in audit_log(log)}
    assert len(second) == 2
    assert {(one.audit.pk in second, one.older) for one in chosen(Audit.objects.for_team(people.team)).values()} == {
        (True, False)
    }
    made.delete()
    policies.publish(team=people.team, by=None)
    back = chosen(Audit.objects.for_team(people.team))
    assert {one.audit.pk for one in back.values()} == first, "the newest is not the one in force"
    assert not any(one.older for one in back.values())
    assert audit_log(log) == []


def test_a_record_of_another_engine_and_one_of_another_policy_are_not_one_record_in_force(people, log):
    """Two rows that match one condition each: the compaction still lacks an audit by this engine under this policy."""
    Audit.unscoped.update(engine="0")
    made = term(people.team, "never")
    audit_log(log)
    made.delete()
    policies.publish(team=people.team, by=None)
    assert len(audit_log(log)) == 2


def test_page_list_and_command_show_the_same_record(client, people, log):
    made = term(people.team, "never")
    audit_log(log)
    made.delete()
    policies.publish(team=people.team, by=None)
    caller = caller_for_user(people.bob)
    row = Compaction.unscoped.get(log=log, round=1)
    one = audit_of(caller, row)
    assert latest(caller, [row.pk])[row.pk].audit.pk == one.audit.pk == row.audits.earliest("pk").pk
    client.force_login(people.bob)
    shown = client.get(f"/compactions/{row.pk}/record.json").content
    out = io.StringIO()
    call_command("audit", team="ours", json=True, stdout=out)
    assert shown.decode() in out.getvalue()
    assert "older policy" not in client.get(f"/compactions/{row.pk}/").content.decode()
    term(people.team, "always")
    assert "Made under an older policy" in client.get(f"/compactions/{row.pk}/").content.decode()
    assert "under an older policy" in client.get("/sessions/").content.decode()


def test_numbers_of_an_axis_all_count_facts(people, log):
    for audit in Audit.objects.for_team(people.team):
        assert audit.unverified == audit.asserted - audit.verified
        assert audit.lost == audit.key_facts - audit.kept
    record = Audit.objects.for_team(people.team).first().record
    rows = record["coverage"]["lost"]
    record["coverage"] |= {"keyFacts": 900, "kept": 100, "truncated": True}
    assert columns(record)["lost"] == 800 != len(rows)


def test_the_gate_counts_members_of_a_family_and_what_a_cut_list_leaves_out(people, log):
    audit = Audit.objects.for_team(people.team).first()
    row = {"class": "uuid", "family": {"key": "k", "members": ["a"], "size": 40}}
    alone = {"class": "uuid", "family": None}
    axis = {
        "lost": [row, alone],
        "truncated": False,
        "classes": {"uuid": {"keyFacts": 90, "kept": 1}},
        "extended": None,
    }
    audit.record = {"fidelity": None, "coverage": axis, "compliance": None}
    assert counted([audit])["uuid"] == 41
    axis["truncated"] = True
    assert counted([audit])["uuid"] == 89


def without_choices(html: str) -> str:
    """A page without the choices of its filters, which name every result there can be."""
    return re.sub(r"<option.*?</option>", "", html, flags=re.S)


def broken(team, monkeypatch, axis: str) -> Compaction:
    def fail(*_args, **_more):
        raise RuntimeError("broken on purpose")

    monkeypatch.setattr(core, axis, fail)
    log = make_log(make_session(team, f"broken-{axis}", compactions=1))
    make_messages(log, [("user/message", "user", True, "hello there, nothing to see")])
    row = make_compaction(
        log, summary=["The user said hello and nothing else of importance happened in here at all. " * 2]
    )
    make_audit(row, policy=Policy(check_compliance=axis == "compliance"))
    return row


@pytest.mark.parametrize("axis", ["fidelity", "coverage", "compliance"])
def test_a_broken_axis_is_not_an_absence_of_candidates(client, people, monkeypatch, axis):
    row = broken(people.team, monkeypatch, axis)
    line = latest(caller_for_user(people.bob), [row.pk])[row.pk]
    assert line.partial
    assert line.candidates == (0 if axis == "compliance" else None)
    client.force_login(people.bob)
    for page in ("/sessions/", f"/sessions/{row.session_id}/", f"/compactions/{row.pk}/"):
        html = without_choices(client.get(page).content.decode())
        assert "not fully audited" in html, page
        assert "no candidates" not in html, page
    assert "That is no statement about" not in html


def test_an_audit_without_a_candidate_says_so(client, people, monkeypatch):
    log = make_log(make_session(people.team, "calm", compactions=1))
    make_messages(log, [("user/message", "user", True, "hello there, nothing to see")])
    row = make_compaction(
        log, summary=["The user said hello and nothing else of importance happened in here at all. " * 2]
    )
    make_audit(row, policy=Policy(check_compliance=False))
    client.force_login(people.bob)
    html = without_choices(client.get("/sessions/").content.decode())
    assert "no candidates" in html
    assert "not fully audited" not in html


def test_what_rests_on_the_assistants_word_alone_is_on_the_page(client, people):
    log = make_log(make_session(people.team, "alone"))
    make_messages(log, [
        ("user/message", "user", True, "How large is the cache?"),
        ("assistant/message", "model", False, "The cache holds 46 MiB of entries."),
    ])  # fmt: skip
    row = make_compaction(log, summary=["- The cache holds 46 MiB of entries."])
    audit = make_audit(row)
    assert [one["text"] for one in audit.record["fidelity"]["assistantOnly"]] == ["46 MiB"]
    assert not Signal.unscoped.filter(audit=audit, kind="verified").exists()
    client.force_login(people.bob)
    html = client.get(f"/compactions/{row.pk}/").content.decode()
    part = html[html.index("Only the assistant said so") :]
    assert "46 MiB" in part
    assert "no human wrote it and no tool printed it" in part
    people.team.content_visibility = "owner"
    people.team.save()
    assert "Only the assistant said so" not in client.get(f"/compactions/{row.pk}/").content.decode()


def test_the_worst_of_a_log_leaves_out_what_it_inherited(people):
    log = make_log(make_session(people.team, "fork"))
    make_messages(log)
    inherited = make_compaction(log, 9, inherited=True)
    make_audit(inherited)
    caller = caller_for_user(people.bob)
    assert worst_of(caller, [log.pk]) == {}
    own = make_compaction(log, 30)
    assert worst_of(caller, [log.pk])[log.pk].waiting == 1
    make_audit(own)
    assert worst_of(caller, [log.pk])[log.pk].line.audit.compaction_id == own.pk


def test_one_log_whose_bytes_are_gone_leaves_the_others(people, data_dir, tmp_path, log):
    other = bring(people.team, tmp_path / "other", SECOND)
    term(people.team, "never")
    store.delete(log.stored)
    out = io.StringIO()
    with pytest.raises(CommandError) as failure:
        call_command("audit", team="ours", json=True, stdout=out)
    assert failure.value.returncode == 1
    assert "\n" not in str(failure.value)
    assert str(data_dir) not in str(failure.value), "no places of this machine"
    assert log.session.session_id in str(failure.value)
    assert other.session.session_id not in str(failure.value)
    printed = [json.loads(line) for line in out.getvalue().splitlines()]
    assert len(printed) == 4, "the old records of the log that failed are still shown"
    assert Audit.unscoped.filter(compaction__log=other).count() == 4


def test_what_an_error_quotes_is_for_those_who_may_see_content(client, people, monkeypatch):
    row = broken(people.team, monkeypatch, "coverage")
    people.team.content_visibility = "owner"
    people.team.save()
    client.force_login(people.bob)
    html = client.get(f"/compactions/{row.pk}/").content.decode()
    assert "not fully audited" in html
    assert "broken on purpose" not in html
