"""The access log as its page and its CSV: filters, paging, cells that are no formulas."""

from __future__ import annotations

import csv
import io

import pytest
from django.test import Client

from dshweb.access.models import AccessLog
from dshweb.access.services.log import note_access
from dshweb.access.tests.browsers import of

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice(people) -> Client:
    return of(people.alice)


def targets(page) -> list[str]:
    return [row.target for row, _words in page.context["rows"]]


def test_rows_newest_first_by_pages(people, alice):
    for n in range(120):
        note_access(people.team, "read-original", f"seq {n}", user=people.bob)
    note_access(people.other_team, "read-original", "theirs", user=people.mallory)
    seen, url = [], "/teams/ours/log/"
    for _ in range(3):
        page = alice.get(url)
        seen += targets(page)
        url = f"/teams/ours/log/?before={page.context['more']}"
    assert seen == [f"seq {n}" for n in reversed(range(120))]
    assert page.context["more"] is None


def test_filters_by_action_and_person(people, alice):
    note_access(people.team, "read-original", "by bob", user=people.bob)
    note_access(people.team, "read-original", "by alice", user=people.alice)
    note_access(people.team, "token-made", "a token", user=people.bob)
    assert targets(alice.get("/teams/ours/log/?action=read-original")) == ["by alice", "by bob"]
    assert targets(alice.get(f"/teams/ours/log/?person={people.bob.pk}")) == ["a token", "by bob"]
    page = alice.get(f"/teams/ours/log/?action=read-original&person={people.bob.pk}")
    assert targets(page) == ["by bob"]
    assert {user.username for user in page.context["people"]} == {"alice", "bob"}
    for odd in (
        "?action=nothing",
        "?person=x",
        "?person=9999999999999999999999",
        "?before=-1",
        f"?person={people.mallory.pk}",
    ):
        assert alice.get("/teams/ours/log/" + odd).status_code == 200


def test_an_unknown_action_is_shown_as_it_stands(people, alice):
    note_access(people.team, "wall-cleared", "x", user=people.bob)
    assert "wall-cleared" in alice.get("/teams/ours/log/").content.decode()


def test_the_csv_has_the_rows_that_fit_and_is_itself_in_the_log(people, alice):
    note_access(people.team, "read-original", "=HYPERLINK(0)", user=people.bob)
    note_access(people.team, "token-made", "+1", user=people.bob)
    note_access(people.other_team, "read-original", "theirs", user=people.mallory)
    answer = alice.get("/teams/ours/log.csv?action=read-original")
    text = b"".join(answer.streaming_content).decode()
    rows = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"))))
    assert rows[0] == ["at", "person", "token", "action", "target"]
    assert [row[1:] for row in rows[1:]] == [["bob", "", "read-original", "'=HYPERLINK(0)"]]
    assert "no-store" in answer["Cache-Control"]
    assert AccessLog.objects.for_team(people.team).get(action="log-exported").user == people.alice


def test_a_fixed_number_of_questions(people, alice, django_assert_max_num_queries):
    for count in (1, 60):
        for n in range(count):
            note_access(people.team, "read-original", f"seq {n}", user=people.bob)
        with django_assert_max_num_queries(9):
            alice.get("/teams/ours/log/")


def test_an_empty_log_says_so(alice):
    assert "Nothing noteworthy" in alice.get("/teams/ours/log/").content.decode()
