"""Pages ask the database a fixed number of questions, however much there is to show."""

from __future__ import annotations

import pytest

from dshweb.sessionlog.models import SourceFile
from dshweb.ui.tests.rows import TURN, make_audit, make_compaction, make_log, make_messages, make_session, make_task

pytestmark = pytest.mark.django_db

# login session, person, memberships, teams in the header
AROUND = 4


def make(team, number: int):
    session = make_session(team, f"s-{number}", compactions=2)
    log = make_log(session)
    make_messages(log)
    for position in (20, 40):
        make_audit(make_compaction(log, position))
    SourceFile.unscoped.create(team=team, location=f"/{number}", log=log, status="ok")
    make_task(team)
    return session, log


@pytest.mark.parametrize(
    ("url", "queries"),
    [("/sessions/", 12), ("/tasks/", 3), ("/sources/", 4)],
    ids=["sessions", "tasks", "sources"],
)
def test_lists(client, people, url, queries, django_assert_num_queries):
    client.force_login(people.bob)
    for count in (1, 12):
        for number in range(count):
            make(people.team, number + count * 100)
        with django_assert_num_queries(AROUND + queries):
            assert client.get(url).status_code == 200


def test_one_session(client, people, django_assert_num_queries):
    client.force_login(people.bob)
    small, _ = make(people.team, 1)
    large, log = make(people.team, 2)
    make_messages(make_log(make_session(people.team, "other")), TURN)
    for position in range(100, 130):
        make_audit(make_compaction(log, position))
    # session, logs, their places, lineage (two), compactions, audits, policies and patterns in force,
    # signals, messages, before, doubled results
    for session in (small, large):
        with django_assert_num_queries(AROUND + 13):
            assert client.get(f"/sessions/{session.pk}/").status_code == 200


def test_lists_never_read_bodies(client, people, django_assert_max_num_queries):
    client.force_login(people.bob)
    make(people.team, 1)
    with django_assert_max_num_queries(99) as seen:
        client.get("/sessions/")
        client.get("/tasks/")
        client.get("/sources/")
    asked = " ".join(query["sql"] for query in seen.captured_queries)
    for column in (
        '"summary"',
        '"record"',
        '"sessionlog_message"',
        '"state" FROM "sessionlog_logfile"',
        '"audit_signal"."text"',
    ):
        assert column not in asked, column
