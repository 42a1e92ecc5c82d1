"""Error pages say what happened, what was kept and what to do; in the reader's language; also when everything else is broken."""

from __future__ import annotations

import pytest
from django.test import Client, RequestFactory
from django.views.defaults import server_error

pytestmark = pytest.mark.django_db


def test_404_for_a_member_keeps_the_header(client, people):
    client.force_login(people.bob)
    answer = client.get("/sessions/999/", headers={"accept-language": "zh-hans"})
    assert answer.status_code == 404
    html = answer.content.decode()
    assert "这里没有你能看到的内容" in html
    assert 'href="/tasks/"' in html


def test_404_without_login_shows_nothing_of_the_inside(client):
    answer = client.get("/no/such/page")
    assert answer.status_code == 404
    assert 'href="/tasks/"' not in answer.content.decode()


def test_500_needs_no_database(django_assert_num_queries):
    with django_assert_num_queries(0):
        answer = server_error(RequestFactory().get("/"))
    assert answer.status_code == 500
    assert "is kept" in answer.content.decode()


def test_a_form_without_its_cookie_is_explained(people):
    client = Client(enforce_csrf_checks=True)
    client.force_login(people.bob)
    answer = client.post("/preferences/theme", {"theme": "dark"})
    assert answer.status_code == 403
    assert "Nothing was changed" in answer.content.decode()


def test_a_viewer_is_told_why_not(client, people):
    from dshweb.sessionlog.models import Source

    source = Source.unscoped.create(team=people.team, path="/srv")
    client.force_login(people.vera)
    answer = client.post(f"/sources/{source.pk}/scan")
    assert answer.status_code == 403
    assert "Your role does not allow this" in answer.content.decode()
