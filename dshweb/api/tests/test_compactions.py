"""`/api/v1/compactions`: what one says, its record byte for byte, asking for another audit."""

from __future__ import annotations

import pytest

from audit.core.record import dumps
from audit.models import Audit
from dshweb.access.models import Visibility
from dshweb.tasks.models import Task
from dshweb.ui.tests.rows import SUMMARY, make_audited, make_compaction, make_policy
from tests.api_rows import bearer

pytestmark = pytest.mark.django_db


@pytest.fixture
def row(people):
    make_policy(people.team)
    return make_audited(people.team, people.bob)


def test_a_compaction_in_numbers(client, people, row):
    client.force_login(people.vera)
    told = client.get(f"/api/v1/compactions/{row.pk}").json()
    audit = Audit.unscoped.get()
    assert (told["id"], told["compactionId"], told["sessionId"]) == (row.pk, row.compaction_id, "s-1")
    assert (told["summary"], told["contentVisible"], told["shadowedEvents"]) == (SUMMARY, True, 8)
    assert told["audit"] | {"createdAt": ""} == {
        "id": audit.pk, "engine": audit.engine, "configFp": audit.config_fp, "older": False, "verdict": "audited",
        "partial": False, "ledgerIncomplete": False, "fidelity": audit.rate, "asserted": audit.asserted,
        "verified": audit.verified, "unverified": audit.unverified, "coverage": audit.score, "keyFacts": audit.key_facts,
        "kept": audit.kept, "lost": audit.lost, "termsOpen": audit.terms_open, "createdAt": "",
    }  # fmt: skip


def test_the_record_is_given_byte_for_byte(client, people, row):
    client.force_login(people.vera)
    answer = client.get(f"/api/v1/compactions/{row.pk}/audit")
    assert answer.content == dumps(Audit.unscoped.get().record)
    assert answer.headers["Content-Type"] == "application/json"


def test_what_is_unknown_is_null(client, people, row):
    bare = make_compaction(
        row.log, 50, outcome="failed", error="503", summary=None, summary_seq=None, round=None, at=None, took_ms=None,
        trigger="", shadowed_tokens=None,
    )  # fmt: skip
    client.force_login(people.vera)
    told = client.get(f"/api/v1/compactions/{bare.pk}").json()
    assert [told[name] for name in ("summary", "audit", "round", "at", "tookMs", "trigger", "shadowedTokens")] == [
        None
    ] * 7
    assert told["error"] == "503"
    assert client.get(f"/api/v1/compactions/{bare.pk}/audit").status_code == 404


def test_who_may_see_and_ask(client, people, row):
    one, record = f"/api/v1/compactions/{row.pk}", f"/api/v1/compactions/{row.pk}/audit"
    assert [client.get(one).status_code, client.get(record).status_code, client.post(record).status_code] == [401] * 3
    other = bearer(people.other_team, people.mallory)
    assert [
        client.get(one, headers=other).status_code,
        client.get(record, headers=other).status_code,
        client.post(record, headers=other).status_code,
    ] == [404] * 3
    unread = bearer(people.team, people.bob, "ingest")
    assert [client.get(one, headers=unread).status_code, client.get(record, headers=unread).status_code] == [403] * 2
    assert client.post(record, headers=bearer(people.team, people.vera)).status_code == 403
    assert client.post(record, headers=bearer(people.team, people.bob, "read")).status_code == 403
    assert not Task.unscoped.exists()
    assert client.post(record, headers=unread).status_code == 202


def test_content_is_for_those_who_may_see_it(client, people, row):
    people.team.content_visibility = Visibility.OWNER
    people.team.save()
    client.force_login(people.vera)
    told = client.get(f"/api/v1/compactions/{row.pk}").json()
    assert (told["summary"], told["error"], told["contentVisible"]) == (None, None, False)
    assert told["audit"]["lost"] is not None, "numbers are for the team"
    assert client.get(f"/api/v1/compactions/{row.pk}/audit").status_code == 404


def test_asked_for_twice_it_is_one_task(client, people, row):
    headers = bearer(people.team, people.bob)
    tasks = {client.post(f"/api/v1/compactions/{row.pk}/audit", headers=headers).json()["id"] for _ in range(2)}
    assert tasks == set(Task.unscoped.values_list("pk", flat=True))
    assert Task.unscoped.get().payload == {"log": row.log_id}


def test_without_a_summary_there_is_nothing_to_audit(client, people, row):
    bare = make_compaction(row.log, 50, outcome="failed", summary=None, summary_seq=None)
    answer = client.post(f"/api/v1/compactions/{bare.pk}/audit", headers=bearer(people.team, people.bob))
    assert (answer.status_code, answer.json()["code"]) == (409, "compactions/no-summary")
    assert not Task.unscoped.exists()
