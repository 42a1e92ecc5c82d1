"""Account, tokens, teams, access log and the admin in a real browser: they fit, break no content policy, need no script."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse
from playwright.sync_api import Error

from dshweb.access.models import Membership, User
from dshweb.access.services import links, tokens
from dshweb.access.services.log import note_access
from tests.browser import IN_BROWSER

pytestmark = IN_BROWSER


@pytest.fixture
def visit(opens, client, people):
    """A page of alice's browser (admin of team ours, superuser); what the console complained about is in `complaints`."""
    User.objects.filter(pk=people.alice.pk).update(is_staff=True, is_superuser=True, time_zone="Asia/Tokyo")
    tokens.make(people.team, people.bob, "a-name-without-any-place-to-break-" + "x" * 40, ["read", "ingest", "review"])
    for n in range(60):
        note_access(people.team, "read-original", f"session 5c009325 seq {n}", user=people.bob)
    client.force_login(User.objects.get(pk=people.alice.pk))
    return opens


def addresses() -> list[str]:
    member = Membership.objects.get(user__username="bob")
    return [
        "/account/", "/account/tokens/", "/teams/", "/teams/new/", "/teams/ours/", f"/teams/ours/members/{member.pk}/",
        "/teams/ours/log/", "/password/",
    ]  # fmt: skip


@pytest.mark.parametrize("width", [320, 360, 768, 1440, 1920])
def test_every_page_fits_and_nothing_complains(visit, width):
    page = visit(width=width)
    for path in addresses():
        page.open(path)
        for summary in page.locator("details.sure > summary").all():
            summary.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    assert page.complaints == []


def test_the_admin_keeps_to_the_content_policy(visit, people):
    page = visit()
    for path in (
        "", "access/user/", f"access/user/{people.bob.pk}/change/", "access/apitoken/add/", "access/team/add/", "tasks/task/",
        "audit/vocabularyterm/add/", "sessionlog/maskpattern/try/",
    ):  # fmt: skip
        page.open(f"/admin/{path}")
        assert page.locator("#content").is_visible(), path
    assert page.complaints == []


def test_a_login_link_lets_in_and_asks_for_a_password(browser, live_server, people):
    """In a real browser: what it sends along with a form (Origin, Referer) decides whether the form is taken."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(live_server.url + reverse("login-link", args=[links.make(people.bob)]))
    page.locator("main form button").click()
    page.locator("input[name=new_password1]").fill("quite-a-long-one-7")
    page.locator("input[name=new_password2]").fill("quite-a-long-one-7")
    page.locator("main form button.btn-main").click()
    page.wait_for_url("**/account/")
    context.close()


def test_the_menu_closes_on_escape_and_on_a_click_elsewhere(visit):
    page = visit()
    page.open("/account/")
    menu, summary = page.locator("details.who"), page.locator("details.who > summary")
    for close in (lambda: page.keyboard.press("Escape"), lambda: page.locator("h1").click()):
        summary.click()
        assert menu.get_attribute("open") is not None
        close()
        assert menu.get_attribute("open") is None
    summary.click()
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement === document.querySelector('details.who > summary')")
    assert page.complaints == []


def test_times_on_hover_are_in_the_zone_the_person_chose(visit):
    page = visit()
    page.open("/teams/ours/log/")
    assert page.locator("[data-zone]").text_content() == "Asia/Tokyo"
    assert re.search(r"GMT\+9|JST", page.locator("tbody time").first.get_attribute("title"))


def test_without_scripts_one_makes_a_token_revokes_it_and_logs_out(visit):
    page = visit(scripts=False)
    page.open("/account/tokens/")
    page.get_by_role("textbox", name="Name").fill("laptop")
    page.get_by_role("button", name="Make the token").click()
    secret = page.locator(".secret code").text_content()
    assert tokens.verify(secret).name == "laptop"
    assert page.get_by_role("button", name="Copy").count() == 0, "shown by the script that can copy"
    page.reload()  # sends the form again
    assert page.locator(".secret").count() == 0
    page.get_by_text("Revoke…").click()
    page.get_by_role("button", name="Revoke", exact=True).click()
    assert tokens.verify(secret) is None
    page.locator("details.who > summary").click()
    page.get_by_role("button", name="Log out").click()
    page.open("/account/")
    assert "/login/" in page.url


def test_the_way_back_shows_no_secret_after_logging_out(visit):
    page = visit()
    page.open("/account/tokens/")
    page.get_by_role("textbox", name="Name").fill("laptop")
    page.get_by_role("button", name="Make the token").click()
    assert page.locator(".secret code").is_visible()
    page.locator("details.who > summary").click()
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url("**/login/**")
    with pytest.raises(Error, match="ERR_CACHE_MISS"):  # the browser kept nothing of the page
        page.go_back()


def test_a_new_colleague_comes_in_by_the_link_and_sets_a_password(visit, browser, live_server):
    page = visit()
    page.open("/teams/ours/")
    page.get_by_label("Name to log in with").fill("dora")
    page.get_by_label("a new person").check()
    page.get_by_label("viewer").check()
    page.get_by_role("button", name="Add to the team").click()
    link = page.locator(".secret code").text_content()
    context = browser.new_context()
    dora = context.new_page()
    for _ in range(2):  # looking at it uses nothing up
        dora.goto(link)
    dora.get_by_role("button", name="Log in as dora").click()
    dora.get_by_label("New password", exact=True).fill("quite-a-long-one-7")
    dora.get_by_label("New password confirmation").fill("quite-a-long-one-7")
    dora.get_by_role("button", name="Save").click()
    assert dora.get_by_role("heading", name="dora", level=1).is_visible()
    dora.goto(link)
    assert dora.get_by_text("This login link is not valid").is_visible()
    dora.goto(live_server.url + "/teams/ours/")
    assert dora.get_by_role("link", name="Change").count() == 0
    context.close()
    page.open("/teams/ours/")
    assert "just now" in page.locator("tr", has_text="dora").text_content()
    assert page.complaints == []
