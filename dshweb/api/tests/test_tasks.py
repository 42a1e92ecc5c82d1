"""`/api/v1/tasks`: each role, a page after a page, and 304 while nothing changes."""

from __future__ import annotations

import pytest

from dshweb.access.models import Visibility
from dshweb.tasks.models import State, Task
from dshweb.ui.tests.rows import make_task
from tests.api_rows import bearer

pytestmark = pytest.mark.django_db


@pytest.fixture
def waiting(people):
    return make_task(people.team, label="/srv/logs")


@pytest.fixture
def failed(people):
    return make_task(people.team, state=State.FAILED, error="OSError: /srv/logs is gone", kind="ingest", key="again")


@pytest.mark.parametrize(("who", "status"), [("alice", 200), ("bob", 200), ("vera", 403), ("mallory", 404)])
def test_cancel_and_retry_are_for_those_who_may_ingest(client, people, waiting, failed, who, status):
    user, team = getattr(people, who), people.other_team if who == "mallory" else people.team
    client.force_login(user)
    token = bearer(team, user)
    for headers in ({}, token):
        assert client.post(f"/api/v1/tasks/{waiting.pk}/cancel", headers=headers).status_code == status
        again = client.post(f"/api/v1/tasks/{failed.pk}/retry", headers=headers).status_code
        assert again == (202 if status == 200 else status)
    waiting.refresh_from_db()
    assert (waiting.state == State.CANCELLED) is (status == 200)
    assert Task.unscoped.filter(key="again").count() == (2 if status == 200 else 1)


def test_a_token_needs_its_scope(client, people, waiting):
    reads, ingests = bearer(people.team, people.bob, "read"), bearer(people.team, people.bob, "ingest")
    assert client.get("/api/v1/tasks", headers=ingests).status_code == 403
    assert client.get(f"/api/v1/tasks/{waiting.pk}", headers=ingests).status_code == 403
    assert client.post(f"/api/v1/tasks/{waiting.pk}/cancel", headers=reads).status_code == 403
    assert client.get(f"/api/v1/tasks/{waiting.pk}", headers=reads).json()["state"] == "queued"


def test_nobody_reads_nothing(client, people, waiting):
    assert client.get("/api/v1/tasks").status_code == 401
    assert client.get(f"/api/v1/tasks/{waiting.pk}").json()["code"] == "unauthenticated"
    client.force_login(people.mallory)
    assert client.get("/api/v1/tasks").json() == {"items": [], "next": None}
    assert client.get(f"/api/v1/tasks/{waiting.pk}").status_code == 404


def test_pages_follow_each_other_and_filters_narrow_them(client, people, failed):
    made = [make_task(people.team).pk for _ in range(5)]
    client.force_login(people.vera)
    seen, cursor = [], ""
    while cursor is not None:
        page = client.get("/api/v1/tasks", {"state": "queued", "kind": "audit", "limit": 2, "cursor": cursor}).json()
        seen += [item["id"] for item in page["items"]]
        cursor = page["next"]
    assert seen == made[::-1]
    assert client.get("/api/v1/tasks", {"cursor": "x"}).json()["code"] == "bad-cursor"
    assert client.get("/api/v1/tasks", {"state": "odd"}).status_code == 422


def test_a_list_costs_the_same_however_long(client, people, django_assert_max_num_queries):
    client.force_login(people.vera)
    for _ in range(30):
        make_task(people.team, created_by=people.bob)
    with django_assert_max_num_queries(4):
        assert len(client.get("/api/v1/tasks").json()["items"]) == 30


def test_polling_costs_one_light_query_while_nothing_changes(client, people, waiting, django_assert_num_queries):
    url = f"/api/v1/tasks/{waiting.pk}"
    client.force_login(people.vera)
    tag = client.get(url).headers["ETag"]
    with django_assert_num_queries(4) as asked:  # session, person, memberships, and the version
        answer = client.get(url, headers={"if-none-match": tag})
    assert (answer.status_code, answer.content) == (304, b"")
    assert "payload" not in asked.captured_queries[-1]["sql"]
    Task.unscoped.filter(pk=waiting.pk).update(done=1)
    assert client.get(url, headers={"if-none-match": tag}).json()["done"] == 1


def test_where_only_owners_see_content_others_see_how_far_and_not_what(client, people, waiting, failed):
    people.team.content_visibility = Visibility.OWNER
    people.team.save()
    client.force_login(people.bob)
    text = client.get("/api/v1/tasks").content.decode() + client.get(f"/api/v1/tasks/{failed.pk}").content.decode()
    assert "/srv/logs" not in text
    assert '"OSError"' in text
    client.force_login(people.alice)
    assert "/srv/logs is gone" in client.get(f"/api/v1/tasks/{failed.pk}").content.decode()


@pytest.mark.parametrize("number", ["0", "-1", "x", str(1 << 63), "9" * 40])
def test_a_number_that_is_none_is_refused(client, people, number):
    client.force_login(people.bob)
    assert client.get(f"/api/v1/tasks/{number}").status_code in (404, 422)


def test_asking_again_shows_nobody_more_of_it(client, people, failed):
    """Where content is its owner's, a task is seen by who asked for it: repeating another's does not make it one's own."""
    people.team.content_visibility = Visibility.OWNER
    people.team.save()
    Task.unscoped.filter(pk=failed.pk).update(created_by=people.alice, label="/srv/logs/of-alice")
    again = client.post(f"/api/v1/tasks/{failed.pk}/retry", headers=bearer(people.team, people.bob)).json()
    assert (again["state"], again["label"]) == ("queued", "")
    Task.unscoped.filter(pk=again["id"]).update(state=State.FAILED)
    client.force_login(people.bob)
    page = client.post(f"/tasks/{again['id']}/retry", follow=True)
    assert page.status_code == 200
    assert "of-alice" not in page.content.decode()
    client.force_login(people.alice)
    assert "of-alice" in client.get(f"/tasks/{again['id']}/").content.decode()
