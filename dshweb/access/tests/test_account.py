"""The pages of a person about itself: preferences, tokens, signing out everywhere, passwords, leaving a team."""

from __future__ import annotations

import re
import time

import pytest
from django.contrib.sessions.models import Session as Login
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from dshweb.access.models import AccessLog, ApiToken, LoginLink, Membership, Role, User
from dshweb.access.services import attempts, links, tokens
from dshweb.access.tests.browsers import of, once
from dshweb.access.views import CAME_BY_LINK, LINK_SECONDS

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_tries_yet():
    cache.clear()


@pytest.fixture
def browser(people) -> Client:
    return of(people.bob)


def make_token(browser, **values):
    form = {
        "name": "laptop",
        "team": "ours",
        "scopes": ["read"],
        "lifetime": "30",
        "once": once(browser.get("/account/tokens/")),
    }
    return browser.post("/account/tokens/", form | values), form | values


def secret_of(page) -> str:
    return re.search(r"dshw_[\w-]{40,}", page.content.decode())[0]


def test_the_account_page_names_teams_roles_and_choices(browser, people):
    html = browser.get("/account/").content.decode()
    assert "/teams/ours/" in html
    assert "member" in html
    assert "Theirs" not in html
    assert "<option>Asia/Shanghai</option>" in html


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_who_is_in_no_team_is_told_what_to_do(language):
    user = User.objects.create_user("alone")
    for url in ("/account/", "/account/tokens/", "/teams/"):
        page = of(user).get(url, headers={"accept-language": language})
        assert page.status_code == 200
    assert "<b>alone</b>" in of(user).get("/account/").content.decode()


def test_preferences_are_kept_with_the_person_and_the_browser(browser, people):
    form = {"language": "zh-hans", "theme": "dark", "time_zone": "Asia/Shanghai"}
    assert browser.post("/preferences/", form)["Location"] == "/account/"
    people.bob.refresh_from_db()
    assert (people.bob.language, people.bob.theme, people.bob.time_zone) == ("zh-hans", "dark", "Asia/Shanghai")
    html = browser.get("/account/").content.decode()
    assert 'data-theme="dark"' in html
    assert 'data-time-zone="Asia/Shanghai"' in html
    assert 'lang="zh-Hans"' in html
    browser.post("/preferences/", {"language": "", "theme": "", "time_zone": ""})
    html = browser.get("/account/").content.decode()
    assert "data-theme" not in html
    assert "data-time-zone" not in html


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../../etc/passwd", "/etc/localtime", "x" * 65, "\u202e"])
def test_a_made_up_time_zone_is_refused_and_the_rest_kept(browser, people, zone):
    answer = browser.post("/preferences/", {"language": "en", "theme": "dark", "time_zone": zone}, follow=True)
    assert "is no time zone" in answer.content.decode()
    people.bob.refresh_from_db()
    assert (people.bob.theme, people.bob.time_zone) == ("dark", "")


def test_times_of_one_person_do_not_leak_into_the_next_request(browser, people):
    from django.utils import timezone

    before = timezone.get_current_timezone_name()
    User.objects.filter(pk=people.bob.pk).update(time_zone="Asia/Tokyo")
    browser.get("/account/")
    assert timezone.get_current_timezone_name() == before


def test_a_token_is_shown_once_and_works(browser, people):
    page, _form = make_token(browser, scopes=["read", "ingest"])
    secret = secret_of(page)
    token = tokens.verify(secret)
    assert (token.user, token.team, token.scopes) == (people.bob, people.team, ["read", "ingest"])
    assert 29 < (token.expires_at - token.created_at).days + 1 <= 31
    assert "no-store" in page["Cache-Control"]
    for url in ("/account/tokens/", "/account/", "/teams/ours/"):
        assert secret not in browser.get(url).content.decode()
    assert not any(secret in str(login.get_decoded()) for login in Login.objects.all())
    assert "messages" not in page.cookies
    assert not any(secret in str(row.target) for row in AccessLog.unscoped.all())


def test_an_address_can_set_what_the_new_token_may_do(browser):
    set_at = {"": ["read"], "?scope=ingest": ["ingest"], "?scope=<b>": []}
    for query, scopes in set_at.items():
        page = browser.get(reverse("tokens") + query).content.decode()
        assert re.findall(r'name="scopes" value="(\w+)" checked', page) == scopes, query


def test_loading_the_page_of_a_new_token_again_makes_no_second(browser):
    _page, form = make_token(browser)
    again = browser.post("/account/tokens/", form)
    assert again.status_code == 302
    assert ApiToken.unscoped.count() == 1
    assert browser.post("/account/tokens/", form | {"once": ""}).status_code == 302, "a form that is none of ours"
    assert ApiToken.unscoped.count() == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""}, {"name": "x" * 81}, {"name": "a\u202eb"},
        {"team": "theirs"}, {"team": "nowhere"}, {"scopes": []}, {"scopes": ["admin"]},
        {"lifetime": "-1"}, {"lifetime": "36500"},
    ],
    ids=str,
)  # fmt: skip
def test_a_token_that_cannot_be_is_refused_with_its_reason(browser, wrong):
    page, _form = make_token(browser, **wrong)
    assert page.status_code == 200
    assert 'class="wrong"' in page.content.decode()
    assert not ApiToken.unscoped.exists()


def test_scopes_the_role_cannot_use_are_explained(people):
    html = of(people.vera).get("/account/tokens/").content.decode()
    assert "No effect in Ours while your role there is viewer" in html
    assert "No effect in Ours while you may not review there" in html
    assert of(people.bob).get("/account/tokens/").content.decode().count("while your role there is member") == 1, (
        "engine"
    )
    assert "No effect" not in of(people.alice).get("/account/tokens/").content.decode()
    tokens.make(people.team, people.vera, "t", ["ingest"])
    assert "no effect with the rights of now" in of(people.vera).get("/account/tokens/").content.decode()


def test_one_revokes_ones_own_tokens_and_nobody_elses(browser, people):
    mine, _ = tokens.make(people.team, people.bob, "mine", ["read"])
    hers, secret = tokens.make(people.team, people.alice, "hers", ["read"])
    assert browser.get(f"/account/tokens/{mine.pk}/revoke").status_code == 405
    assert browser.post(f"/account/tokens/{hers.pk}/revoke").status_code == 404
    assert tokens.verify(secret)
    assert browser.post(f"/account/tokens/{mine.pk}/revoke").status_code == 302
    mine.refresh_from_db()
    assert mine.revoked_at
    assert "revoked" in browser.get("/account/tokens/").content.decode()
    assert "had ended already" in browser.post(f"/account/tokens/{mine.pk}/revoke", follow=True).content.decode()


def test_the_list_of_tokens_asks_a_fixed_number_of_questions(browser, people, django_assert_max_num_queries):
    for count in (1, 30):
        for n in range(count):
            tokens.make(people.team, people.bob, f"t{n}", ["read"])
        with django_assert_max_num_queries(8):
            assert browser.get("/account/tokens/").status_code == 200


def test_signing_out_everywhere_ends_every_other_login_and_unused_links(people):
    here, elsewhere = of(people.bob), of(people.bob)
    colleague = of(people.alice)
    link = links.make(people.bob)
    _, secret = tokens.make(people.team, people.bob, "t", ["read"])
    assert here.get("/account/sign-out").status_code == 405
    assert here.post("/account/sign-out").status_code == 302
    assert here.get("/account/").status_code == 200
    assert elsewhere.get("/account/").status_code == 302
    assert colleague.get("/account/").status_code == 200
    assert links.peek(link) is None
    assert tokens.verify(secret), "tokens stay unless asked for"
    elsewhere.force_login(User.objects.get(pk=people.bob.pk))
    assert elsewhere.get("/account/").status_code == 200, "logging in again works"


def test_signing_out_here_too_and_with_tokens(people):
    here = of(people.bob)
    _, secret = tokens.make(people.team, people.bob, "t", ["read"])
    _, other = tokens.make(people.team, people.alice, "t", ["read"])
    assert here.post("/account/sign-out", {"here": "on", "tokens": "on"})["Location"] == "/login/"
    assert here.get("/account/").status_code == 302
    assert tokens.verify(secret) is None
    assert tokens.verify(other)
    assert AccessLog.objects.for_team(people.team).filter(action="token-revoked", user=people.bob).count() == 1


def test_a_stolen_copy_of_the_cookie_ends_with_a_change_of_password(people):
    here, thief = Client(), Client()
    here.post("/login/", {"username": "bob", "password": "bob-password"})
    thief.cookies["dshweb_session"] = here.cookies["dshweb_session"].value
    assert thief.get("/account/").status_code == 200
    new = {"old_password": "bob-password", "new_password1": "quite-a-long-one-7", "new_password2": "quite-a-long-one-7"}
    assert here.post("/password/", new).status_code == 302
    assert here.get("/account/").status_code == 200
    assert thief.get("/account/").status_code == 302


def test_the_login_gives_a_new_session_key(people):
    """A key planted in the browser before (fixation) is worth nothing after the login."""
    client = Client()
    client.get("/login/")
    planted = client.session
    planted["x"] = 1
    planted.save()
    client.cookies["dshweb_session"] = planted.session_key
    client.post("/login/", {"username": "bob", "password": "bob-password"})
    assert client.cookies["dshweb_session"].value != planted.session_key
    thief = Client()
    thief.cookies["dshweb_session"] = planted.session_key
    assert thief.get("/account/").status_code == 302


def test_who_came_by_link_sets_a_password_without_the_old_one_for_a_while(people):
    client = Client()
    answer = client.post(reverse("login-link", args=[links.make(people.bob)]))
    assert answer["Location"] == "/password/"
    new = {"new_password1": "quite-a-long-one-7", "new_password2": "quite-a-long-one-7"}
    late = client.session
    late[CAME_BY_LINK] = int(time.time()) - LINK_SECONDS - 1
    late.save()
    assert "old_password" in client.get("/password/").content.decode()
    assert client.post("/password/", new).status_code == 200, "asks for the old one"
    late[CAME_BY_LINK] = int(time.time())
    late.save()
    assert client.post("/password/", new).status_code == 302
    assert "old_password" in client.get("/password/").content.decode(), "once"
    assert Client().login(username="bob", password="quite-a-long-one-7")


def test_a_login_by_link_is_in_the_log_of_the_persons_teams(people):
    Client().post(reverse("login-link", args=[links.make(people.bob)]))
    row = AccessLog.objects.for_team(people.team).get()
    assert (row.action, row.user) == ("login-link-used", people.bob)


def test_the_address_of_a_link_is_told_to_no_other_page(people):
    page = Client().get(reverse("login-link", args=[links.make(people.bob)]))
    assert page["Referrer-Policy"] == "origin"
    assert "no-store" in page["Cache-Control"]


def test_the_old_password_is_not_guessed_for_ever_at_an_open_browser(browser):
    wrong = {"old_password": "no", "new_password1": "quite-a-long-one-7", "new_password2": "quite-a-long-one-7"}
    for _ in range(attempts.PER_NAME):
        browser.post("/password/", wrong)
    page = browser.post("/password/", wrong | {"old_password": "bob-password"})
    assert "Too many tries" in page.content.decode()


def test_changing_the_password_ends_unused_links(browser, people):
    link = links.make(people.bob)
    new = {"old_password": "bob-password", "new_password1": "quite-a-long-one-7", "new_password2": "quite-a-long-one-7"}
    assert browser.post("/password/", new).status_code == 302
    assert links.peek(link) is None
    assert LoginLink.objects.count() == 1


def test_a_team_one_was_added_to_is_no_ones_default(people):
    """Sent without naming a team, logs go to the person's own, not to one whose name or number comes first."""
    from dshweb.access.callers import caller_for_user
    from dshweb.api.auth import team_of

    early = people.team
    User.objects.filter(pk=people.mallory.pk).update(home=people.other_team)
    Membership.objects.create(team=early, user=people.mallory, role=Role.MEMBER)
    mallory = User.objects.get(pk=people.mallory.pk)
    assert early.pk < people.other_team.pk
    assert team_of(caller_for_user(mallory), None) == people.other_team
    html = of(mallory).get("/account/tokens/").content.decode()
    assert '<option value="theirs" selected>' in html
    html = of(mallory).get("/upload/").content.decode()
    assert html.index('value="theirs"') < html.index('value="ours"')


def test_leaving_a_team_ends_its_tokens_and_the_last_admin_stays(browser, people):
    _, secret = tokens.make(people.team, people.bob, "t", ["read"])
    assert browser.post("/teams/ours/leave").status_code == 302
    assert not Membership.objects.filter(user=people.bob).exists()
    assert tokens.verify(secret) is None
    assert browser.get("/teams/ours/").status_code == 404
    assert browser.post("/teams/ours/leave").status_code == 404
    answer = of(people.alice).post("/teams/ours/leave", follow=True)
    assert "only admin" in answer.content.decode()
    assert Membership.objects.get(user=people.alice).role == Role.ADMIN


@pytest.mark.parametrize(
    "url",
    [
        "/account/",
        "/account/tokens/",
        "/teams/",
        "/teams/ours/",
        "/teams/ours/log/",
        "/teams/ours/log.csv",
        "/teams/new/",
    ],
)
def test_who_is_not_logged_in_is_asked_to(client, people, url):
    answer = client.get(url)
    assert answer.status_code == 302
    assert answer["Location"].startswith("/login/?next=")
