"""`/api/v1/audit/signals`: who sees what, pages, verdicts by program."""

from __future__ import annotations

import json

import pytest

from audit.core.schema import CORE_CLASSES, EXTENDED_CLASSES, STATEMENT_CLASSES
from audit.models import Review, Signal
from audit.selectors_review import signal_for
from audit.services.review import review
from audit.words import KINDS
from dshweb.access.callers import caller_for_user
from dshweb.access.models import Membership, Visibility
from dshweb.api.signals import Class, Kind
from dshweb.ui.tests.rows import make_audited, make_policy
from tests.api_rows import bearer

pytestmark = pytest.mark.django_db
LIST = "/api/v1/audit/signals"


@pytest.fixture
def audited(people):
    make_policy(people.team)
    return add(people)


def add(people, name="s-1"):
    return make_audited(people.team, people.bob, name)


def patch(client, signal, headers, **body):
    return client.patch(f"{LIST}/{signal.pk}", json.dumps(body), content_type="application/json", headers=headers)


def test_the_words_of_filters_are_those_of_records():
    assert set(Class.__args__) == {*CORE_CLASSES, *STATEMENT_CLASSES, *EXTENDED_CLASSES}
    assert set(Kind.__args__) <= set(KINDS)


def test_pages_of_the_list_join_without_loss_and_say_what_the_record_says(client, people, audited):
    add(people, "s-2")
    headers, cursor, seen = bearer(people.team, people.vera, "read"), "", []
    for _ in range(20):
        page = client.get(LIST, {"limit": 5, "cursor": cursor}, headers=headers).json()
        seen += page["items"]
        cursor = page["next"]
        if cursor is None:
            break
    assert [one["id"] for one in seen] == list(
        Signal.unscoped.order_by("-importance", "-id").values_list("pk", flat=True)
    )
    for one in seen:
        stored = Signal.unscoped.get(pk=one["id"])
        assert one["signal"] == stored.data
        assert (one["axis"], one["rank"], one["verdict"], one["review"]) == (stored.axis, stored.rank, "open", None)


def test_filters_narrow(client, people, audited):
    headers = bearer(people.team, people.vera, "read")

    def of(**query):
        return client.get(LIST, query, headers=headers).json()["items"]

    assert {one["signal"]["kind"] for one in of(kind="altered")} == {"altered"}
    assert {one["signal"]["class"] for one in of(**{"class": "uuid"})} == {"uuid"}
    assert {one["axis"] for one in of(axis="coverage")} == {"coverage"}
    assert len(of(session=audited.session_id)) == len(of(compaction=audited.pk)) == Signal.unscoped.count()
    assert of(session=audited.session_id + 1) == of(model="no-such") == of(until="2001-01-01") == []
    assert len(of(model="deepseek-flash", since="2001-01-01")) == Signal.unscoped.count()


@pytest.mark.parametrize(
    "query",
    [
        {"kind": "x"},
        {"class": "x"},
        {"verdict": ""},
        {"session": "-1"},
        {"limit": "0"},
        {"since": "yesterday"},
        {"until": "0"},
        {"since": "9999-01-01"},
        {"since": "2026-02-30"},
    ],
)
def test_filters_that_mean_nothing_are_refused(client, people, query):
    assert client.get(LIST, query, headers=bearer(people.team, people.vera)).status_code == 422


@pytest.mark.parametrize("cursor", ["x", "1", "1~2~3", "~", "-1~2", "1~" + "9" * 30, "١~٢"])
def test_cursors_of_nowhere_are_refused(client, people, cursor):
    assert client.get(LIST, {"cursor": cursor}, headers=bearer(people.team, people.vera)).status_code == 400


def test_who_sees_signals(client, people, audited):
    one = Signal.unscoped.first()
    urls = [LIST, f"{LIST}.jsonl", f"{LIST}/{one.pk}"]
    assert [client.get(url).status_code for url in urls] == [401] * 3
    no_read = bearer(people.team, people.alice, "ingest", "review")
    assert [client.get(url, headers=no_read).status_code for url in urls] == [403] * 3
    other = bearer(people.other_team, people.mallory)
    assert client.get(LIST, headers=other).json() == {"items": [], "next": None}
    assert b"".join(client.get(f"{LIST}.jsonl", headers=other).streaming_content) == b""
    assert client.get(urls[2], headers=other).status_code == 404
    client.force_login(people.vera)
    assert [client.get(url).status_code for url in urls] == [200] * 3
    people.team.content_visibility = Visibility.OWNER
    people.team.save()
    assert client.get(LIST).json()["items"] == []
    assert client.get(urls[2]).status_code == 404
    client.force_login(people.bob)
    assert len(client.get(LIST).json()["items"]) == Signal.unscoped.count()


def test_a_verdict_by_program(client, people, audited):
    signal = Signal.unscoped.first()
    headers = bearer(people.team, people.alice, "review")
    first = patch(client, signal, headers, verdict="confirmed", note="seen")
    assert (first.status_code, first.json()["verdict"]) == (200, "confirmed")
    assert first.json()["review"] | {"at": ""} == {
        "verdict": "confirmed", "note": "seen", "by": "alice", "token": "program", "at": "",
    }  # fmt: skip
    second = patch(client, signal, headers, verdict="dismissed").json()
    assert second["review"]["note"] == "seen", "what is not sent stays"
    assert [one["verdict"] for one in second["history"]] == ["dismissed", "confirmed"]
    third = patch(client, signal, headers, verdict="open", note="").json()
    assert (third["verdict"], third["review"]["note"], len(third["history"])) == ("open", "", 3)
    assert patch(client, signal, headers, verdict="open", note="").json()["history"] == third["history"]


def test_who_may_give_a_verdict(client, people, audited):
    signal = Signal.unscoped.first()
    body = {"verdict": "confirmed"}
    assert patch(client, signal, {}, **body).status_code == 401
    assert patch(client, signal, bearer(people.other_team, people.mallory), **body).status_code == 404
    assert patch(client, signal, bearer(people.team, people.vera), **body).status_code == 403
    assert patch(client, signal, bearer(people.team, people.bob), **body).status_code == 403
    assert patch(client, signal, bearer(people.team, people.alice, "read", "ingest"), **body).status_code == 403
    assert not Review.unscoped.exists()
    Membership.objects.filter(user=people.vera).update(can_review=True)
    assert patch(client, signal, bearer(people.team, people.vera, "review"), **body).status_code == 200
    people.team.content_visibility = Visibility.OWNER
    people.team.save()
    assert patch(client, signal, bearer(people.team, people.vera, "review"), **body).status_code == 404


@pytest.mark.parametrize("body", [{}, {"verdict": "maybe"}, {"verdict": "open", "note": "x" * 2001}, {"note": "x"}])
def test_a_verdict_that_is_none_is_refused(client, people, audited, body):
    answer = patch(client, Signal.unscoped.first(), bearer(people.team, people.alice), **body)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    assert not Review.unscoped.exists()


def test_the_list_asks_a_fixed_number_of_questions(client, people, audited, django_assert_num_queries):
    client.force_login(people.bob)
    client.get(LIST)
    for count in (1, 8):
        for number in range(count):
            add(people, f"more-{count}-{number}")
        caller = caller_for_user(people.alice)
        for row in Signal.unscoped.order_by("-pk")[:5]:
            review(caller, signal_for(caller, row.pk), "confirmed", str(count))
        # login, person, memberships; policy and patterns in force, visibility, signals, reviews
        with django_assert_num_queries(3 + 5):
            assert client.get(LIST).status_code == 200
