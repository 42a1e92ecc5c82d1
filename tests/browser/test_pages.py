"""The pages in a real browser: they fit every window, break no rule of the content policy, and work without scripts."""

from __future__ import annotations

import re

import pytest

from tests.browser import IN_BROWSER

pytestmark = IN_BROWSER


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
    page = visit(width=width)
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
