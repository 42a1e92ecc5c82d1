"""The list of sessions: filters in the address, hits that lead to the place, and parts that fail alone."""

from __future__ import annotations

import csv
import io
import re
from datetime import timedelta

import pytest
from django.db import DatabaseError
from django.utils import timezone

from dshweb.access.models import Visibility
from dshweb.pages import sessions as pages
from dshweb.pages.tests.logs import SECRET, bring_in
from dshweb.sessionlog.models import Session
from dshweb.ui.tests.rows import make_session

pytestmark = pytest.mark.django_db


def names(html: str) -> list[str]:
    """Titles in the list's order."""
    return re.findall(r'class="cell-main" href="[^"]*">([^<]*)<', html)


@pytest.fixture
def ask(client, people):
    client.force_login(people.bob)
    return lambda query="": client.get(f"/sessions/{query}").content.decode()


def test_every_filter_narrows_and_stands_as_a_chip_that_takes_it_away(ask, people):
    now = timezone.now()
    make_session(
        people.team, "a", people.alice, title="Alpha", cwd="/srv/a", model="m1", provider="p1", preset="x",
        audit_result="altered", status="damaged", compactions=1, last_at=now - timedelta(days=20),
    )  # fmt: skip
    make_session(people.team, "b", people.bob, title="Beta", cwd="/srv/b", model="m2", provider="p2", preset="y")
    make_session(people.team, "c", people.bob, title="Gamma", compactions=2, last_at=now - timedelta(days=200))
    day = (now - timedelta(days=30)).date().isoformat()
    for query, found in {
        "cwd=/srv/a": ["Alpha"], f"owner={people.bob.pk}": ["Beta", "Gamma"], "model=m1": ["Alpha"], "provider=p2": ["Beta"],
        "preset=x": ["Alpha"], "audit=altered": ["Alpha"], "audit=waiting": ["Gamma"], "status=damaged": ["Alpha"],
        "compacted=1": ["Alpha", "Gamma"], "period=30": ["Beta", "Alpha"], f"since={day}": ["Beta", "Alpha"],
        f"until={day}": ["Gamma"], "session_id=b": ["Beta"], "team=ours": ["Beta", "Alpha", "Gamma"],
        "sort=title&compacted=1": ["Alpha", "Gamma"], "sort=oldest": ["Gamma", "Alpha", "Beta"],
    }.items():  # fmt: skip
        html = ask(f"?{query}")
        assert names(html) == found, query
        if not query.startswith("sort=oldest"):
            assert 'class="chip"' in html, query
    for nonsense in (
        "owner=x",
        "status=broken",
        "audit=zzz",
        "since=2026-13-01",
        "until=x",
        "period=5",
        "sort=zzz",
        "owner=" + "9" * 40,
    ):
        assert len(names(ask(f"?{nonsense}"))) == 3, nonsense


def test_the_address_of_a_page_keeps_every_filter(ask, people):
    for n in range(120):
        make_session(people.team, f"s{n}", title=f"t{n:03}", model="m1", last_at=timezone.now() - timedelta(minutes=n))
    html = ask("?model=m1&sort=title")
    following = re.search(r'rel="next" href="([^"]+)"', html)[1].replace("&amp;", "&")
    assert "model=m1" in following
    second = ask(following)
    assert names(second)[0] == "t050"
    back = re.search(r'rel="prev" href="([^"]+)"', second)[1].replace("&amp;", "&")
    assert names(ask(back)) == names(html)
    assert "120 sessions" in html


def test_more_than_a_thousand_are_not_counted_when_narrowed(ask, people):
    Session.unscoped.bulk_create(Session(team=people.team, session_id=f"s{n}", model="m1") for n in range(1005))
    assert "more than 1\u202f000 sessions" in ask("?model=m1")
    assert "1\u202f005 sessions" in ask()


def test_a_hit_shows_where_it_was_said_masked_and_leads_there(ask, people, tmp_path, data_dir):
    session = bring_in(people, tmp_path / "home", owner=people.bob)
    html = ask("?q=my key")
    hit = re.search(r'<a class="hit" href="([^"]+)">(.*?)</a>', html, re.DOTALL)
    assert "<mark>my key</mark> is [redacted:" in hit[2]
    assert SECRET not in html
    assert hit[1].endswith("#seq-6")
    assert hit[1].startswith(f"/sessions/{session.pk}/?log=")
    for unsaid in ("listing", "thinking"):
        assert names(ask(f"?q={unsaid}")) == []


def test_what_may_not_be_seen_is_neither_searched_nor_named(client, people, tmp_path, data_dir):
    bring_in(people, tmp_path / "home", owner=people.bob)
    people.team.content_visibility = Visibility.OWNER
    people.team.save()
    client.force_login(people.vera)
    assert names(client.get("/sessions/?q=app.yaml").content.decode()) == []
    html = client.get("/sessions/").content.decode()
    assert names(html) == ["Untitled session"]
    assert "/home/dev/proj" not in html
    assert "/home/dev/proj" not in b"".join(client.get("/sessions/export.csv")).decode()


def test_an_empty_list_says_which_filter_to_drop(ask, people):
    make_session(people.team, "a", model="m1")
    html = ask("?model=m1&q=zzzz")
    assert "Nothing fits" in html
    assert "Without “Words” 1 session fits" in html
    assert "Without “Model”" not in html


def test_no_session_at_all_says_what_to_do(ask):
    html = ask()
    assert "python manage.py ingest" in html
    assert "No sessions yet" in html


@pytest.mark.parametrize(
    ("part", "words"),
    [("worst_of", "The audits could not be loaded"), ("listing.options", "The choices could not be loaded")],
)
@pytest.mark.django_db(transaction=True)
def test_a_part_that_fails_says_so_and_the_sessions_stand(ask, people, monkeypatch, part, words):
    make_session(people.team, "a", title="Alpha", compactions=1)

    def broken(*_args):
        raise DatabaseError("no such table")

    target = pages.listing if part.startswith("listing.") else pages
    monkeypatch.setattr(target, part.removeprefix("listing."), broken)
    html = ask()
    assert words in html
    assert names(html) == ["Alpha"]


def test_the_table_has_the_filtered_list_and_no_formula(client, people):
    make_session(people.team, "a", title='=HYPERLINK("http://x","y")', model="m1")
    make_session(people.team, "b", title="other", model="m2")
    client.force_login(people.vera)
    answer = client.get("/sessions/export.csv?model=m1")
    text = b"".join(answer).decode()
    assert text.startswith("\ufeff")
    (row,) = csv.DictReader(io.StringIO(text[1:]))
    assert row["title"].startswith("'=")
    assert row["sessionId"] == "a"
