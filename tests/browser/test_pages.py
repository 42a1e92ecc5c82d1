"""The pages in a real browser: they fit every window, break no rule of the content policy, and work without scripts."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.browser.shots import ARGS, CHROMIUM

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not Path(CHROMIUM).exists(), reason=f"no browser at {CHROMIUM}"),
]


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
def visit(browser, live_server, client, people):
    """A page of bob's browser; what the console complained about is in `page.complaints`."""
    from dshweb.ui.tests.sample import fill

    fill(people.team, people.alice)
    client.force_login(people.bob)
    contexts = []

    def open_page(width=1440, *, scripts=True):
        context = browser.new_context(viewport={"width": width, "height": 900}, java_script_enabled=scripts)
        contexts.append(context)
        cookie = {"name": "dshweb_session", "value": client.cookies["dshweb_session"].value, "url": live_server.url}
        context.add_cookies([cookie])
        page = context.new_page()
        page.complaints = []
        page.on(
            "console", lambda told: page.complaints.append(told.text) if told.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("dialog", lambda dialog: page.complaints.append(f"dialog: {dialog.message}"))
        return page

    yield open_page
    for context in contexts:
        context.close()


def addresses():
    from dshweb.sessionlog.models import Compaction, Message, Session
    from dshweb.tasks.models import Task

    found = ["/sessions/", "/sources/", "/tasks/"]
    found += [f"/sessions/{row.pk}/" for row in Session.unscoped.all()]
    found += [f"/compactions/{row.pk}/" for row in Compaction.unscoped.all()]
    message = Message.unscoped.select_related("log").last()
    return [*found, f"/sessions/{message.log.session_id}/messages/{message.pk}/", f"/tasks/{Task.unscoped.last().pk}/"]


@pytest.mark.parametrize("width", [320, 360, 768, 1920])
def test_every_page_fits_the_window_and_nothing_complains(visit, live_server, width):
    page = visit(width)
    for path in addresses():
        page.goto(live_server.url + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    assert page.complaints == []


def test_progress_moves_without_loading_the_page_again(visit, live_server, people):
    from dshweb.tasks.models import State, Task

    task = Task.unscoped.get(state=State.RUNNING)
    page = visit()
    page.goto(f"{live_server.url}/tasks/{task.pk}/")
    page.evaluate("window.stillHere = true")
    Task.unscoped.filter(pk=task.pk).update(done=72)
    page.get_by_text(re.compile("72 / 96")).wait_for(timeout=10_000)
    Task.unscoped.filter(pk=task.pk).update(state=State.DONE, done=96)
    page.locator(".badge", has_text="done").wait_for(timeout=15_000)
    assert page.evaluate("window.stillHere")
    assert page.complaints == []


def test_without_scripts_language_theme_and_filters_work(visit, live_server):
    page = visit(scripts=False)
    page.goto(f"{live_server.url}/sessions/")
    page.get_by_role("button", name="中文").click()
    assert page.get_by_role("heading", name="会话", level=1).is_visible()
    page.get_by_role("button", name=re.compile("主题")).click()
    assert page.locator("html").get_attribute("data-theme") == "light"
    page.get_by_label("标题、ID、文件夹或说过的话").fill("data reports")
    page.locator("[data-finder] button").first.click()
    assert page.locator("tbody tr").count() == 1
    assert "q=data+reports" in page.url


def test_the_keyboard_reaches_the_content_first(visit, live_server):
    page = visit()
    page.goto(f"{live_server.url}/sessions/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
