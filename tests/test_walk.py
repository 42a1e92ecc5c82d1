"""Every address as everybody: what is not visible answers 404, what is visible but not allowed 403, nobody 401 (pages: a
login). One table; an address that is missing from it fails the test (API.md, "Who may call")."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import get_resolver, reverse

from conftest import make_people
from dshweb.access.models import Scope
from tests.api_rows import bearer, filled
from tests.test_api_schema import EXAMPLE_NAMES, EXAMPLES, NAMES, call, in_place

pytestmark = pytest.mark.django_db  # also what makes pytest-django make the database that `place` fills

# nobody: not logged in · other: admin of another team · reviewer: a viewer who may review · admin: may review too
WHO = ("nobody", "other", "viewer", "reviewer", "member", "admin")
OPEN = "200 200 200 200 200 200"
LIST = "302 200 200 200 200 200"
THING = "302 404 200 200 200 200"
ACT = "302 404 403 403 302 302"
REVIEW = "302 404 403 302 403 302"
ADMIN = "302 404 403 403 403 200"
ADMIN_ACT = "302 404 403 403 403 302"


@dataclass(frozen=True)
class Row:
    """One address and method. `args` names ids of `tests.api_rows`; `expect` has a status for each of `WHO`."""

    name: str
    expect: str
    method: str = "get"
    args: dict[str, str] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)

    @property
    def statuses(self) -> dict[str, int]:
        return dict(zip(WHO, map(int, self.expect.split()), strict=True))

    @property
    def id(self) -> str:
        more = "".join(f" {name}={value}" for name, value in self.data.items())
        return f"{self.method} {self.name}{more}"[:80]

    def url(self, ids: dict[str, Any]) -> str:
        return reverse(self.name, kwargs={name: ids.get(of, of) for name, of in self.args.items()})

    def sent(self, ids: dict[str, Any]) -> dict[str, Any]:
        return {name: ids[value[1:]] if str(value)[:1] == "@" else value for name, value in self.data.items()}


def get(name: str, expect: str, data: dict[str, Any] | None = None, **args: str) -> Row:
    return Row(name, expect, "get", args, data or {})


def post(name: str, expect: str, data: dict[str, Any] | None = None, **args: str) -> Row:
    return Row(name, expect, "post", args, data or {})


PAGES = [
    get("healthz", OPEN),
    get("readyz", "503 503 503 503 503 503"),  # no worker runs in a test
    get("home", "302 302 302 302 302 302"),
    get("api-docs", OPEN),
    # access
    get("login", "200 302 302 302 302 302"),
    get("login-link", "404 404 404 404 404 404", secret="secret"),
    post("logout", "302 302 302 302 302 302"),
    get("password_change", LIST),
    get("admin-login", "302 403 403 403 403 403"),
    get("admin-password", "302 302 302 302 302 302"),
    post("set-language", "302 302 302 302 302 302", {"language": "en"}),
    post("set-theme", "302 302 302 302 302 302", {"theme": "dark"}),
    post("set-preferences", "302 302 302 302 302 302", {"language": "en", "theme": "dark", "time_zone": "UTC"}),
    get("account", LIST),
    post("sign-out-everywhere", "302 302 302 302 302 302"),
    get("tokens", LIST),
    post("token-revoke", "302 404 404 404 302 404", pk="token"),  # bob's own
    get("teams", LIST),
    get("team-new", "302 403 403 403 403 403"),  # superusers make teams
    get("team", THING, slug="team"),
    post("team-settings", ADMIN_ACT, {"name": "Ours", "content_visibility": "team"}, slug="team"),
    post("team-leave", "302 404 302 302 302 302", slug="team"),
    post("team-member-add", ADMIN_ACT, {"username": "mallory", "role": "viewer"}, slug="team"),
    post("team-member", ADMIN_ACT, {"role": "member"}, slug="team", pk="membership"),
    post("team-member-link", ADMIN_ACT, slug="team", pk="membership"),
    post("team-member-remove", ADMIN_ACT, slug="team", pk="membership"),
    post("team-token-revoke", ADMIN_ACT, slug="team", pk="token"),
    get("access-log", ADMIN, slug="team"),
    get("access-log-csv", ADMIN, slug="team"),
    # logs
    get("sessions", LIST),
    get("sessions", LIST, {"q": "port", "sort": "title"}),
    get("sessions-export", LIST),
    get("session", THING, pk="session_id"),
    get("session-live", THING, {"log": "@log"}, pk="session_id"),
    get("message", THING, pk="session_id", message="message_id"),
    get("events", THING, pk="session_id"),
    get("event", THING, pk="session_id", seq="seq"),
    post("event-original", "302 404 403 403 403 200", pk="session_id", seq="seq"),  # alice is the owner too
    get("what-if", THING, pk="session_id"),
    get("what-if", THING, {"thresholdRatio": "0.5", "headroomTokens": "x"}, pk="session_id"),
    get("session-delete", "302 404 403 403 403 200", pk="session_id"),
    post("session-delete", ADMIN_ACT, pk="session_id"),
    get("upload", "302 200 403 403 200 200"),
    post("upload", "302 302 403 403 302 302"),  # other: into its own team
    get("upload-results", LIST),
    get("sources", LIST),
    post("source-scan", ACT, pk="source"),
    post("file-again", ACT, pk="file"),
    # work
    get("tasks", LIST),
    get("task", THING, pk="task_id"),
    post("task-cancel", ACT, pk="task_id"),
    post("task-retry", ACT, pk="task_id"),
    # judgements
    get("compaction", THING, pk="compaction_id"),
    get("originals", THING, {"at": "0"}, pk="compaction_id"),
    get("original", THING, pk="compaction_id", seq="seq"),
    get("fact", THING, pk="compaction_id", key="fact"),
    get("compaction-record", THING, pk="compaction_id"),
    post("compaction-audit", ACT, pk="compaction_id"),
    get("signals", LIST),
    get("signals-jsonl", LIST),
    get("signals-csv", LIST),
    post("signal-review", REVIEW, {"verdict": "confirmed", "note": ""}, pk="signal_id"),
    # settings
    get("profiles", LIST),
    get("profile-new", "302 200 403 403 403 200"),  # other: admin of its own team
    get("profile-edit", ADMIN, pk="profile_id"),
    get("profile-settings", THING, pk="profile_id"),
    get("profile-settings", THING, {"session": "none"}, pk="profile_id"),
    post("profile-settings", "302 404 403 403 403 200", {"revision": "0", "action": "draft"}, pk="profile_id"),
    post("profile-settings", ADMIN_ACT, {"revision": "0", "action": "save", "auto": "off"}, pk="profile_id"),
    get("session-settings", "302 404 302 302 302 302", pk="session_id"),
    get("profile-history", THING, pk="profile_id"),
    get("profile-what-if", THING, {"session": "@session_id"}, pk="profile_id"),
    post("profile-write", ADMIN_ACT, {"form": "compaction-basic", "digest": "absent"}, pk="profile_id"),
    post("profile-read", ADMIN_ACT, {"revision": "0"}, pk="profile_id"),
]

# the REST API: what each call answers on its first example
API_LIST = "401 200 200 200 200 200"
API_THING = "401 404 200 200 200 200"
API_ACT = "401 404 403 403 200 200"
API_ASK = "401 404 403 403 202 202"
CALLS = {
    "get /api/v1/tasks": API_LIST,
    "get /api/v1/tasks/{task_id}": API_THING,
    "post /api/v1/tasks/{task_id}/cancel": API_ACT,
    "post /api/v1/tasks/{task_id}/retry": API_ASK,
    "post /api/v1/logs": "401 202 403 403 202 202",  # other: into its own team
    "get /api/v1/logs/{session_id}/{file_name}": "401 200 403 403 200 200",
    "put /api/v1/logs/{session_id}/{file_name}": "401 200 403 403 200 200",
    "get /api/v1/compactions/{compaction_id}": API_THING,
    "get /api/v1/compactions/{compaction_id}/audit": API_THING,
    "post /api/v1/compactions/{compaction_id}/audit": API_ASK,
    "get /api/v1/audit/signals": API_LIST,
    "get /api/v1/audit/signals.jsonl": API_LIST,
    "get /api/v1/audit/signals/{signal_id}": API_THING,
    "patch /api/v1/audit/signals/{signal_id}": "401 404 403 200 403 200",
    "get /api/v1/sessions": API_LIST,
    "get /api/v1/sessions/{session_id}": API_THING,
    "get /api/v1/sessions/{session_id}/events": API_THING,
    "get /api/v1/sessions/{session_id}/messages": API_THING,
    "get /api/v1/sessions/{session_id}/compactions": API_THING,
    "get /api/v1/profiles": API_LIST,
    "get /api/v1/profiles/{profile_id}/compaction": API_THING,
    "post /api/v1/profiles/{profile_id}/compaction": "401 404 403 403 403 200",
    "get /api/v1/profiles/{profile_id}/compaction/history": API_THING,
    "get /api/v1/profiles/{profile_id}/inspect": API_THING,
    "get /api/v1/sessions/{session_id}/what-if": API_THING,
    "delete /api/v1/sessions/{session_id}": "401 404 403 403 403 200",
}


@dataclass(frozen=True)
class Place:
    """A filled database, the addresses of rows in it, and the keys of everybody's login."""

    ids: dict[str, Any]
    users: dict[str, Any]
    teams: dict[str, Any]
    logins: dict[str, str]

    def url(self, row: Row) -> str:
        return row.url(self.ids)

    def data(self, row: Row) -> dict[str, Any]:
        return row.sent(self.ids)

    def browsers(self, **options: Any) -> Iterator[tuple[str, Client]]:
        for who in WHO:
            client = Client(raise_request_exception=False, **options)
            if who in self.logins:
                client.cookies["dshweb_session"] = self.logins[who]
            yield who, client

    def token(self, who: str, *scopes: str) -> dict[str, str]:
        if who == "nobody":
            return {"authorization": "Bearer dshw_" + "x" * 43}
        return bearer(self.teams[who], self.users[who], *scopes)


@pytest.fixture(scope="module")
def place(django_db_setup, django_db_blocker, tmp_path_factory):
    """Filled once for all rows of the table; each call's changes are taken back (`in_vain`)."""
    with django_db_blocker.unblock(), transaction.atomic():
        people = make_people()
        rows = filled(people, tmp_path_factory.mktemp("walk"))
        users = {
            "other": people.mallory,
            "viewer": people.vera,
            "reviewer": rows.rita,
            "member": people.bob,
            "admin": people.alice,
        }
        logins = {}
        for who, user in users.items():
            client = Client()
            client.force_login(user)
            logins[who] = client.cookies["dshweb_session"].value
        teams = dict.fromkeys(users, people.team) | {"other": people.other_team}
        yield Place(rows.ids | {"team": people.team.slug}, users, teams, logins)
        transaction.set_rollback(True)


def in_vain(act: Callable[[], Any]) -> Any:
    """The answer of a call whose changes are taken back, so that the next one finds what it found."""
    with transaction.atomic():
        answer = act()
        if answer.streaming:
            b"".join(answer.streaming_content)
        transaction.set_rollback(True)
    cache.clear()  # who called too often is counted there
    return answer


@pytest.mark.parametrize("row", PAGES, ids=lambda row: row.id)
def test_a_page_answers_each_as_it_should(place, row):
    url, found = place.url(row), {}
    for who, client in place.browsers():
        found[who] = in_vain(partial(getattr(client, row.method), url, place.data(row)))
    assert {who: answer.status_code for who, answer in found.items()} == row.statuses
    if found["nobody"].status_code == 302 and found["other"].status_code in (200, 403, 404):
        assert found["nobody"].url.startswith("/login/")


@pytest.mark.parametrize("row", [row for row in PAGES if row.method == "post"], ids=lambda row: row.id)
def test_a_post_without_its_csrf_token_does_nothing(place, row):
    for who, client in place.browsers(enforce_csrf_checks=True):
        answer = in_vain(partial(client.post, place.url(row), place.data(row)))
        # a stranger's file is not even read, so the token in its form is not looked for either
        assert answer.status_code == (302 if (row.name, who) == ("upload", "nobody") else 403), who


@pytest.mark.parametrize("row", [row for row in PAGES if row.method == "post"], ids=lambda row: row.id)
def test_nothing_is_done_by_following_a_link(place, row):
    """A GET of an address that acts is refused, or shows a form and changes nothing."""
    for who, client in place.browsers():
        with CaptureQueriesContext(connection) as asked:
            answer = in_vain(partial(client.get, place.url(row), place.data(row)))
        assert answer.status_code in (200, 302, 403, 404, 405), who
        written = [one["sql"] for one in asked if one["sql"].split(" ", 1)[0] in ("INSERT", "UPDATE", "DELETE")]
        assert not [sql for sql in written if "django_session" not in sql], who


def first_example(name: str) -> tuple[str, str, dict[str, Any], dict[str, Any]]:
    """Path, method, operation and example of a call of `CALLS`."""
    return next(one for one, of in zip(EXAMPLES, EXAMPLE_NAMES, strict=True) if of.startswith(name + ": "))


@pytest.mark.parametrize("name", [name for name in sorted(CALLS) if name in NAMES])
def test_a_call_answers_each_as_it_should(place, name):
    path, method, operation, example = first_example(name)
    expected = dict(zip(WHO, map(int, CALLS[name].split()), strict=True))
    number = count()

    def statuses(headers_of: Callable[[str], dict[str, str]], *, login: bool) -> dict[str, int]:
        found = {}
        for who, client in place.browsers():
            if not login:
                client.cookies.clear()
            # files are not taken back with the rows: each call hands in a log of its own
            names = {key: f"{value[:-4]}{next(number):04}" if key == "session_id" else value
                     for key, value in example.get("path", {}).items() if isinstance(value, str)}  # fmt: skip
            url = in_place(path, operation, example | {"path": example.get("path", {}) | names}, place.ids)
            found[who] = in_vain(partial(call, client, method, url, example, headers_of(who))).status_code
        return found

    assert statuses(lambda _who: {}, login=True) == expected
    assert statuses(place.token, login=False) == expected, "a token with every scope does what its person may"
    bad = {"authorization": "Bearer dshw_" + "x" * 43}
    assert set(statuses(lambda _who: bad, login=True).values()) == {401}, "a bad token is not saved by a good login"
    lacking = [scope for scope in Scope.values if scope != operation["x-scope"]]
    found = statuses(lambda who: place.token(who, *lacking), login=False)
    for who, status in expected.items():
        allowed = {403} if status < 400 else {status, 403} if who == "other" else {status}
        assert found[who] in allowed, f"{who}: a token without the scope {operation['x-scope']}"


@pytest.mark.parametrize("name", [name for name in sorted(CALLS) if name in NAMES and not name.startswith("get ")])
def test_a_login_alone_changes_nothing_by_a_call_from_another_site(place, name):
    """A browser sends its cookie wherever the form stands; without the CSRF token the call is refused, in the one shape."""
    path, method, operation, example = first_example(name)
    url = in_place(path, operation, example, place.ids)
    for who, client in place.browsers(enforce_csrf_checks=True):
        answer = in_vain(partial(call, client, method, url, example, {}))
        assert answer.status_code == (401 if who == "nobody" else 403), who
        assert set(answer.json()) >= {"code", "message"}


def names_of(resolver: Any) -> Iterator[str]:
    """Names of all addresses but the admin's (its own tests) and the API's (walked by operation)."""
    for pattern in resolver.url_patterns:
        if hasattr(pattern, "url_patterns"):
            if pattern.namespace not in ("admin", "api"):
                yield from names_of(pattern)
        else:
            yield pattern.name


def test_no_address_is_missing_from_the_table():
    assert {row.name for row in PAGES} == set(names_of(get_resolver()))


def test_no_call_is_missing_from_the_table():
    assert set(CALLS) == set(NAMES)
