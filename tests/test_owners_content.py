"""Where a team shows content to owners and admins only (DECISIONS 3), no page and no call shows it to its other members:
every address that is read, as everybody, searched for everything that was said, titled, called or found."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

import pytest
from django.test import Client

from audit.models import Fact, Signal
from dshweb.access.models import Team, Visibility
from dshweb.sessionlog.models import Compaction, Message, Session, SourceFile
from dshweb.tasks.models import Task
from tests.test_api_schema import EXAMPLE_NAMES, EXAMPLES, body_of, in_place
from tests.test_walk import PAGES, in_vain, place  # noqa: F401 – the fixture

pytestmark = pytest.mark.django_db

READS = [row for row in PAGES if row.method == "get" and row.name not in ("login", "healthz", "readyz", "api-docs")]
CALLS = [(one, of) for one, of in zip(EXAMPLES, EXAMPLE_NAMES, strict=True) if one[1] == "get"]


@pytest.fixture
def closed(place):  # noqa: F811
    Team.objects.filter(pk=place.teams["viewer"].pk).update(content_visibility=Visibility.OWNER)
    yield place
    Team.objects.filter(pk=place.teams["viewer"].pk).update(content_visibility=Visibility.TEAM)


def contents() -> Iterator[tuple[str, str]]:
    """(what it is, a piece of it that occurs nowhere by chance)."""
    for session in Session.unscoped.all():
        yield from (("title", session.title), ("folder", session.cwd))
    yield from (
        *(("message", text) for text in Message.unscoped.values_list("text", flat=True)),
        *(("signal", text) for text in Signal.unscoped.values_list("text", flat=True)),
        *(("fact", text) for text in Fact.unscoped.values_list("text", flat=True)),
        *(("file", text) for text in SourceFile.unscoped.exclude(log=None).values_list("location", flat=True)),
        *(("task", text) for text in Task.unscoped.exclude(created_by=None).values_list("label", flat=True)),
        *(("error", text) for text in Compaction.unscoped.values_list("error", flat=True)),
    )


def pieces() -> dict[str, str]:
    found, ids = {}, " ".join(Session.unscoped.values_list("session_id", flat=True))  # which are for the whole team
    for name, text in contents():
        line = next((line for line in text.splitlines() if line.strip()), "").strip()[:24]
        if len(line) >= 8 and line.isascii() and line.isprintable() and line not in ids:
            found[line] = name
    return found


def shown(body: str, looked_for: dict[str, str]) -> set[str]:
    return {f"{name}: {piece}" for piece, name in looked_for.items() if piece in body or escape(piece) in body}


@pytest.mark.parametrize("row", READS, ids=lambda row: row.id)
def test_a_page_shows_members_no_content_of_others(closed, row):
    looked_for = pieces()
    assert len(looked_for) > 20
    for who, client in closed.browsers():
        if who in ("viewer", "reviewer", "member"):
            said = {piece: name for piece, name in looked_for.items() if piece not in str(closed.data(row).values())}
            assert shown(read(client, closed.url(row), closed.data(row)), said) == set(), who


@pytest.mark.parametrize(("one", "of"), CALLS, ids=[of for _, of in CALLS])
def test_a_call_shows_members_no_content_of_others(closed, one, of):
    looked_for = pieces()
    path, _method, operation, example = one
    url = in_place(path, operation, example, closed.ids)
    for who in ("viewer", "reviewer", "member"):
        assert shown(read(Client(headers=closed.token(who)), url, {}), looked_for) == set(), who


def test_owners_and_admins_see_it_so_that_this_test_means_something(closed):
    seen = set()
    for row in READS:
        for who, client in closed.browsers():
            if who == "admin":
                seen |= {
                    one.partition(":")[0] for one in shown(read(client, closed.url(row), closed.data(row)), pieces())
                }
    assert {"title", "folder", "message", "fact", "file"} <= seen  # a signal is a fact too


def read(client: Client, url: str, data: dict) -> str:
    found = []

    def get():
        answer = client.get(url, data)
        assert answer.status_code < 500, url
        found.append(body_of(answer).decode())
        answer.streaming = False
        return answer

    in_vain(get)
    return found[0]
