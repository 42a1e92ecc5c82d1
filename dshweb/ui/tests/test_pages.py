"""Every page: for members, strangers and people who are not logged in; in both languages; full and empty."""

from __future__ import annotations

import pytest

from audit.models import Audit
from dshweb.sessionlog.models import Compaction, Message, Session
from dshweb.tasks.models import Task
from dshweb.ui.tests.sample import fill

pytestmark = pytest.mark.django_db

LISTS = ["/sessions/", "/sources/", "/tasks/", "/tasks/?part", "/sessions/?q=data&compacted=on", "/sources/?troubled"]


@pytest.fixture
def full(people):
    fill(people.team, people.alice)
    return people


def details() -> list[str]:
    urls = [f"/sessions/{row.pk}/" for row in Session.unscoped.all()]
    urls += [f"/compactions/{row.pk}/" for row in Compaction.unscoped.all()]
    urls += [f"/compactions/{row.compaction_id}/record.json" for row in Audit.unscoped.all()]
    urls += [f"/sessions/{row.log.session_id}/messages/{row.pk}/" for row in Message.unscoped.select_related("log")]
    return urls + [f"/tasks/{row.pk}/" for row in Task.unscoped.all()]


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_a_member_sees_every_page(client, full, language):
    client.force_login(full.bob)
    for url in LISTS + details():
        assert client.get(url, headers={"accept-language": language}).status_code == 200, url


def test_a_stranger_gets_404_for_what_belongs_to_another_team(client, full):
    client.force_login(full.mallory)
    for url in details():
        assert client.get(url).status_code == 404, url


def test_a_stranger_sees_empty_lists(client, full):
    client.force_login(full.mallory)
    for url in LISTS:
        page = client.get(url).content.decode()
        assert "/sessions/" + str(Session.unscoped.first().pk) not in page
        assert "dsh-home" not in page


def test_without_login_every_page_asks_for_one(client, full, settings):
    settings.LOGIN_URL = "/login/"
    for url in ["/", *LISTS, *details()]:
        answer = client.get(url)
        assert answer.status_code == 302, url
        assert answer.url.startswith("/login/"), url
