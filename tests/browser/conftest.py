"""One Chromium for the tests of a module, and pages in it that remember what went wrong."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.browser.shots import ARGS, CHROMIUM

CORPUS = Path(__file__).parents[1] / "data" / "corpus"


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    # Playwright runs an event loop in this thread; the queries of the tests are made between its calls
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield browser
        browser.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def opens(browser, live_server, client):
    """Opens a page in a window of its own, with the login of `client`; what the console or a dialog said is in
    `page.complaints`, and `page.open("/path")` goes on."""
    contexts = []

    def open_page(path="", *, width=1440, scripts=True, logged_in=True, cookies=None):
        context = browser.new_context(viewport={"width": width, "height": 900}, java_script_enabled=scripts)
        contexts.append(context)
        kept = {**(cookies or {}), **({"dshweb_session": client.cookies["dshweb_session"].value} if logged_in else {})}
        context.add_cookies([{"name": name, "value": value, "url": live_server.url} for name, value in kept.items()])
        page = context.new_page()
        page.complaints = []
        page.on("console", lambda told: told.type in ("error", "warning") and page.complaints.append(told.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("dialog", lambda dialog: _refuse(page, dialog))
        page.open = lambda path: page.goto(live_server.url + path)
        if path:
            page.open(path)
        return page

    yield open_page
    for context in contexts:
        context.close()


def _refuse(page, dialog) -> None:
    if dialog.type != "beforeunload":  # that one is for the test to answer
        page.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()


@pytest.fixture
def visit(opens, client, people):
    """`opens` for bob, in a team with one of everything."""
    from dshweb.ui.tests.sample import fill

    fill(people.team, people.alice)
    client.force_login(people.bob)
    return opens


@pytest.fixture
def profile(people, data_dir):
    """A profile whose team has a session of another preset, and two of none."""
    from compaction.services.profiles import default_of
    from dshweb.sessionlog.services.ingest import Import, ingest_file

    for name in ("continued-headless", "legacy-v0", "repeated-compaction"):
        for path in sorted((CORPUS / name).rglob("session*.jsonl*")):
            ingest_file(path, run=Import.by(people.team, people.alice, inline=True))
    return default_of(people.team)


@pytest.fixture
def edit(opens, client, people, profile):
    """The settings page as alice, an admin of the team, has it open; as another person has it with `who`."""

    def go(query="", *, who=None, **options):
        client.force_login(who or people.alice)
        return opens(f"/profiles/{profile.pk}/compaction/{query}", **options)

    return go
