"""Hostile text in every field that anybody can fill is inert on every page, fragment and export: shown, never obeyed.

Markup is escaped, ANSI escapes are gone, bidi controls are visible, template syntax is text, NUL breaks nothing, and a line of
ten megabytes costs a page no more than its first part.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from audit.models import Review, Signal, VocabularyTerm
from conftest import make_people
from dshweb.access.models import AccessLog
from dshweb.access.services import tokens
from dshweb.sessionlog.models import Compaction, Message, Session, Source, SourceFile
from dshweb.tasks.models import State, Task
from dshweb.ui.tests.rows import make_task
from tests.api_rows import Filled, bearer, filled, read_log
from tests.builders import human
from tests.hostile import session as hostile_session
from tests.hostile import spread
from tests.test_api_schema import OPERATIONS, body_of, in_place
from tests.test_walk import PAGES

pytestmark = pytest.mark.django_db  # also what makes pytest-django make the database that `place` fills

TEMPLATE = "A{{ 191|add:191 }}B"  # obeyed it is A382B
SHORT = f"<svg onload=alert(1)>\x1b[31mx\u202e{TEMPLATE}'\""
POISON = (
    '"><script>alert("x")</script><img src=x onerror=alert(1)>\x1b[31mred\x1b]8;;http://evil\x07\u202egnp.exe\u2066 '
    + TEMPLATE
    + "{% now 'Y' %} \x00 javascript:alert(1) </textarea></title></script><!-- "
    + SHORT
)
FORMULA = "=HYPERLINK(1)"
NAME = "session-00000000-0000-4000-8000-0000000000bb"
TEN_MB = 10 << 20


@dataclass
class Place:
    rows: Filled
    ids: dict[str, Any]
    client: Client
    bearer: dict[str, str]
    spoiled: Session | None = None
    urls: list[str] = field(default_factory=list)

    def get(self, url: str, headers: dict[str, str] | None = None) -> tuple[Any, bytes]:
        answer = self.client.get(url, headers=headers)
        return answer, body_of(answer)


@pytest.fixture(scope="module")
def place(django_db_setup, django_db_blocker, tmp_path_factory):
    with django_db_blocker.unblock(), transaction.atomic():
        people, folder = make_people(), tmp_path_factory.mktemp("hostile")
        rows = filled(people, folder)
        spoil(people)
        client = Client()
        client.force_login(people.alice)
        place = Place(rows, rows.ids | {"team": people.team.slug}, client, bearer(people.team, people.alice))
        place.spoiled = read_log(people, folder, [spread(row, POISON) for row in hostile_session()], NAME)
        large = read_log(people, folder, large_log(), NAME.replace("bb", "cc"))
        place.urls = list(addresses(place, [place.spoiled, large, Session.unscoped.get(session_id="h-1")]))
        yield place
        transaction.set_rollback(True)


def large_log() -> list[dict[str, Any]]:
    first, *rest = hostile_session()
    line = "<b>" * (TEN_MB // 3)
    result = rest[7] | {"seq": 7}
    result = json.loads(json.dumps(result).replace("port 9000", line))
    return [first | {"id": NAME.replace("bb", "cc")}, *rest[:7], result, *rest[8:], human(len(rest), line)]


def spoil(people) -> None:
    """Poison in everything that people and programs name."""
    team = people.team
    team.name = SHORT
    team.save()
    for user in (people.alice, people.bob):
        type(user).objects.filter(pk=user.pk).update(
            username=f"{user.username}{SHORT}", first_name=SHORT, last_name=SHORT
        )
    tokens.make(team, people.alice, SHORT, ["read"])
    AccessLog.unscoped.create(team=team, user=people.bob, action=SHORT[:40], target=POISON.replace("\x00", ""))
    bare = POISON.replace("\x00", "")
    for n, state in enumerate(State.values):
        make_task(
            team,
            kind=SHORT[:40],
            label=bare[:300],
            key=f"{n}",
            state=state,
            error=bare,
            unit=SHORT[:16],
            result={bare: bare},
        )
    make_task(
        team, kind="ingest", label=bare[:300], state=State.DONE, result={"status": {bare: 1}}, payload={"path": bare}
    )
    VocabularyTerm.unscoped.create(team=team, list="keep", term=bare[:200])
    Source.unscoped.create(team=team, path=f"/srv/{bare}", last_error=bare)
    SourceFile.unscoped.create(team=team, location=f"/srv/{bare}", status="failed", error=bare)
    Session.unscoped.update(
        preset=bare[:120], provider=bare[:120], model=bare[:200], parent_session=bare[:200], origin=bare[:60]
    )
    Session.unscoped.filter(session_id="h-1").update(title=FORMULA)
    for signal in Signal.unscoped.select_related("audit"):
        Review.unscoped.create(team=team, compaction_id=signal.audit.compaction_id, key=signal.key, verdict="dismissed",
                               note=bare, user=people.bob)  # fmt: skip
    Compaction.unscoped.filter(outcome="failed").update(error=bare, provider=bare[:120], model=bare[:200])


def addresses(place: Place, sessions: list[Session]) -> Iterator[str]:
    """Every page and fragment, for these sessions too; hostile questions; every GET of the API."""
    for row in PAGES:
        if row.method == "get" and row.name not in ("readyz", "login-link"):
            yield f"{row.url(place.ids)}?{urlencode(row.sent(place.ids))}"
            if row.args.get("pk") == "session_id" and "message" not in row.args:
                for session in sessions:
                    yield f"{row.url(place.ids | {'session_id': session.pk})}?log={session.current_id}"
    for session in sessions:
        yield from parts_of(session)
    yield from asked_badly(place)
    yield from (f"/tasks/{task.pk}/" for task in Task.unscoped.all())
    for path, method, operation in OPERATIONS:
        if method == "get":
            yield from (in_place(path, operation, one, place.ids) for one in operation["x-examples"])


def parts_of(session: Session) -> Iterator[str]:
    for row in Compaction.unscoped.filter(session=session):
        for tail in ("", "originals?at=0", "record.json"):
            yield f"/compactions/{row.pk}/{tail}"
        audit = row.audits.last()
        for fact in audit.facts.all()[:20] if audit else []:
            yield f"/compactions/{row.pk}/facts/{fact.key}"
            yield f"/compactions/{row.pk}/?fact={fact.key}"
    for message in Message.unscoped.filter(log=session.current_id):
        yield f"/sessions/{session.pk}/messages/{message.pk}/"
        yield f"/sessions/{session.pk}/events/{message.seq}"


def asked_badly(place: Place) -> Iterator[str]:
    bad = quote('"><script>alert(1)</script>\x1b[31m\u202e' + TEMPLATE)
    for name in (
        "sessions",
        "signals",
        "tasks",
        "sources",
        "access-log",
        "sessions-export",
        "signals-csv",
        "signals-jsonl",
    ):
        url = reverse(name, kwargs={"slug": place.ids["team"]} if name == "access-log" else {})
        for key in (
            "q",
            "model",
            "status",
            "kind",
            "state",
            "cls",
            "verdict",
            "cursor",
            "before",
            "after",
            "action",
            "sort",
        ):
            yield f"{url}?{key}={bad}"
    yield from (
        "/tasks/?part",
        "/login/?next=javascript:alert(1)",
        f"/nothing/{bad}",
        f"/sessions/{bad}",
        f"/api/v1/{bad}",
    )


class Seen(HTMLParser):
    """Elements and attributes as a browser would find them."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.complaints: list[str] = []
        self.inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside = tag
        for name, value in attrs:
            if name.startswith("on") or name == "style" or name == "srcdoc":
                self.complaints.append(f"<{tag} {name}>")
            if name in ("href", "src", "action", "formaction", "xlink:href", "data"):
                plain = "".join(str(value or "").split()).lower()
                if plain.startswith(("javascript:", "data:", "vbscript:", "http://evil", "//")):
                    self.complaints.append(f"<{tag} {name}={value!r}>")
            if name in ("title", "aria-label", "alt", "placeholder", "data-copy"):
                self.shown(str(value))
        named = dict(attrs)
        if tag in ("iframe", "object", "embed", "base", "img") or (tag == "script" and "src" not in named):
            self.complaints.append(f"<{tag}>")

    def shown(self, text: str) -> None:
        """Text that a reader sees; what only a form sends back (the value of an option) stays as it was."""
        for char in "\x1b\x07\u202e\u2066":
            if char in text:
                at = text.index(char)
                self.complaints.append(f"raw {char!r} in <{self.inside}>: {text[max(0, at - 20) : at + 10]!r}")

    def handle_data(self, data: str) -> None:
        if self.inside != "textarea":  # a note that its writer goes on with: as it was
            self.shown(data)
        if self.inside == "script" and "alert" in data:
            self.complaints.append("a script")


def complaints_of(answer: Any, body: bytes) -> list[str]:
    """What a reader's browser or spreadsheet would obey."""
    kind = answer.headers.get("Content-Type", "").partition(";")[0]
    text = body.decode()
    found = [f"{name!r} in it" for name in ("A382B", "\x00") if name in text]
    if answer.headers.get("X-Content-Type-Options") != "nosniff":
        found.append("no nosniff")
    if kind == "text/html":
        reader = Seen()
        reader.feed(text)
        found += reader.complaints
    elif kind == "text/csv":
        for row in csv.reader(io.StringIO(text.removeprefix("\ufeff"))):
            found += [f"formula {cell[:40]!r}" for cell in row if cell[:1] in ("=", "+", "-", "@", "\t", "\r")]
            found += [f"raw escape {cell[:40]!r}" for cell in row if "\x1b" in cell]
    elif kind == "application/json":
        json.loads(text)
    elif kind not in ("text/plain", "application/x-ndjson", "application/jsonl", ""):
        found.append(f"what is {kind}?")
    return found


def test_every_page_and_export_is_inert(place):
    """All of them in one go: the addresses come from the table of test_walk and the OpenAPI document."""
    bad: dict[str, Any] = {}
    for url in dict.fromkeys(place.urls):
        answer, body = place.get(url)
        if answer.status_code >= 500:
            bad[url] = answer.status_code
        elif answer.status_code != 304 and body:
            found = complaints_of(answer, body)
            if found:
                bad[url] = found[:3]
    assert len(place.urls) > 150
    assert not bad, "\n".join(f"{url}: {what}" for url, what in bad.items())


def test_hostile_text_is_not_simply_dropped(place):
    page = place.get(f"/sessions/{place.spoiled.pk}/")[1].decode()
    for words in ("&lt;script&gt;alert(", TEMPLATE, "⟦U+202E⟧", "&lt;svg onload=alert(1)&gt;"):
        assert words in page, words


def test_a_line_of_ten_megabytes_costs_a_page_its_first_part_only(place):
    session = Session.unscoped.get(session_id=NAME.replace("bb", "cc"))
    message = Message.unscoped.filter(log=session.current_id).order_by("-chars").first()
    assert message.chars > TEN_MB * 0.9
    pages = [
        f"/sessions/{session.pk}/",
        "/sessions/",
        *(f"/compactions/{row.pk}/" for row in Compaction.unscoped.filter(session=session)),
    ]
    for url in pages:
        assert len(place.get(url)[1]) < 400_000, url
    for url in (f"/sessions/{session.pk}/messages/{message.pk}/", f"/sessions/{session.pk}/events/{message.seq}"):
        answer, body = place.get(url)
        assert answer.status_code == 200
        assert len(body) < 4_000_000, url


@pytest.mark.parametrize("cookie", ["django_language", "theme", "dshweb_session", "dshweb_csrf", "messages"])
def test_hostile_cookies_break_nothing(place, cookie):
    client = Client()
    client.cookies["dshweb_session"] = place.client.cookies["dshweb_session"].value
    client.cookies[cookie] = "%22%3E<script>alert(1)</script>../../etc/passwd"
    answer = client.get("/sessions/", follow=True)
    assert answer.status_code == 200
    assert complaints_of(answer, answer.content) == []
