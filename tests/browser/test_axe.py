"""Every page in a real browser: no serious finding of axe-core in light and dark, readable without scripts, and inert when all
that it shows is hostile."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from axe_playwright_python.sync_playwright import Axe

from dshweb.sessionlog.models import Session
from tests.api_rows import filled, read_log
from tests.browser import IN_BROWSER
from tests.hostile import session as hostile_session
from tests.hostile import spread
from tests.test_hostile_pages import NAME, POISON, parts_of, spoil
from tests.test_walk import PAGES

pytestmark = IN_BROWSER

# downloads and parts of pages
NO_PAGES = {
    "healthz", "readyz", "login-link", "sessions-export", "access-log-csv", "signals-jsonl", "signals-csv", "compaction-record",
    "originals", "original", "fact", "session-live", "admin-login", "admin-password", "home", "profile-what-if",
}  # fmt: skip
SERIOUS = ("serious", "critical")


@pytest.fixture
def place(people, data_dir):
    """`ids` of rows, by the names that the table of test_walk uses."""
    return filled(people, data_dir).ids | {"team": people.team.slug}


@pytest.fixture
def visit(opens, client, people):
    """A page of alice's browser (admin, reviewer, superuser: she sees every button)."""
    people.alice.is_staff = people.alice.is_superuser = True
    people.alice.save()
    client.force_login(people.alice)
    return lambda theme="light", **options: opens(cookies={"theme": theme}, **options)


def addresses(ids) -> dict[str, str]:
    """By name: every page of the table that a person opens, and some in other states."""
    found = {}
    for row in PAGES:
        if row.method == "get" and row.name not in NO_PAGES:
            url, data = row.url(ids), row.sent(ids)
            found[row.id] = f"{url}?{urlencode(data)}" if data else url
    return found | {
        "nothing found": "/sessions/?q=nosuchword",
        "no such page": "/nothing/",
        "damaged session": f"/sessions/{Session.unscoped.get(status='damaged').pk}/",
        "a failed attempt": f"/compactions/{ids['compaction_id']}/",
        "tasks, none": "/tasks/?state=cancelled",
        "a new token": "/account/tokens/",
    }


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(place, visit, live_server, theme):
    page, outside, axe = visit(theme), visit(theme, logged_in=False), Axe()
    found = {}
    for name, url in [*addresses(place).items(), ("login", "/login/")]:
        opened = outside if name == "login" else page
        opened.goto(live_server.url + url)
        for one in axe.run(opened).response["violations"]:
            if one["impact"] in SERIOUS:
                found[f"{name}: {one['id']}"] = [node["html"][:160] for node in one["nodes"]][:3]
    assert not found, "\n".join(f"{name} {nodes}" for name, nodes in found.items())


def test_every_page_can_be_read_without_scripts(place, visit, live_server):
    page = visit(scripts=False)
    for name, url in addresses(place).items():
        page.goto(live_server.url + url)
        heading = page.locator("main h1, main .code")
        assert heading.first.is_visible(), name
        assert len(page.locator("main").inner_text()) > 40, name
        assert page.locator("main [data-busy]:visible, main .loading:visible").count() == 0 or "task" in name, name


def test_hostile_text_does_nothing_in_a_browser(place, visit, live_server, people, tmp_path):
    spoil(people)
    session = read_log(people, tmp_path, [spread(row, POISON) for row in hostile_session()], NAME)
    page = visit()
    urls = [url for name, url in addresses(place).items() if name != "no such page"]
    urls += [f"/sessions/{session.pk}/", f"/sessions/{session.pk}/events/"]
    urls += [url for url in parts_of(session) if not url.endswith((".json", "at=0")) and "/facts/" not in url]
    for url in urls:
        page.goto(live_server.url + url)
        assert (
            page.evaluate("document.querySelectorAll('main script, main iframe, main img, [onload], [onerror]').length")
            == 0
        ), url
    assert page.complaints == []
