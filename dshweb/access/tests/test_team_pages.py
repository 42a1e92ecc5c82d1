"""The pages of a team: who may what, what it does, what the access log says of it, what is refused and why."""

from __future__ import annotations

import re
import threading

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client

from dshweb.access.models import AccessLog, Membership, Role, Team, User, Visibility
from dshweb.access.services import links, members, tokens
from dshweb.access.tests.browsers import of, once

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_sent_yet():
    cache.clear()


@pytest.fixture
def alice(people) -> Client:
    return of(people.alice)


def word(client) -> str:
    return once(client.get("/teams/ours/"))


def row_of(user) -> Membership:
    return Membership.objects.get(user=user)


def add(client, username="dora", **more):
    form = {"username": username, "role": "member", "new": "new", "once": word(client)}
    return client.post("/teams/ours/members/", form | more)


def logged(team) -> list[tuple[str, str]]:
    return list(AccessLog.objects.for_team(team).order_by("pk").values_list("action", "target"))


def calls(people):
    """Every address of a team's pages: method, path, form, (viewer, member, admin)."""
    bob, token = row_of(people.bob), tokens.make(people.team, people.bob, "t", ["read"])[0]
    return [
        ("get", "/teams/ours/", {}, (200, 200, 200)),
        ("get", f"/teams/ours/members/{bob.pk}/", {}, (403, 403, 200)),
        ("get", "/teams/ours/log/", {}, (403, 403, 200)),
        ("get", "/teams/ours/log.csv", {}, (403, 403, 200)),
        ("post", "/teams/ours/members/", {"username": "nobody", "role": "viewer"}, (403, 403, 200)),
        ("post", f"/teams/ours/members/{bob.pk}/", {"role": "member"}, (403, 403, 302)),
        ("post", f"/teams/ours/members/{bob.pk}/link", {}, (403, 403, 302)),
        ("post", "/teams/ours/settings", {"name": "Ours", "content_visibility": "team"}, (403, 403, 302)),
        ("post", f"/teams/ours/tokens/{token.pk}/revoke", {}, (403, 403, 302)),
        ("post", f"/teams/ours/members/{bob.pk}/remove", {}, (403, 403, 302)),
    ]


def test_every_address_for_every_role(people):
    stranger, other_admin = of(User.objects.create_user("stranger")), of(people.mallory)
    for method, path, form, (viewer, member, admin) in calls(people):
        for client, expected in (
            (stranger, 404), (other_admin, 404), (of(people.vera), viewer), (of(people.bob), member), (of(people.alice), admin),
        ):  # fmt: skip
            assert getattr(client, method)(path, form).status_code == expected, (method, path)
        if method == "post":
            assert of(people.alice).get(path).status_code in (200, 405)


def test_ids_of_another_team_are_not_there(people, alice):
    theirs, token = row_of(people.mallory), tokens.make(people.other_team, people.mallory, "t", ["read"])[0]
    for path in (
        f"members/{theirs.pk}/",
        f"members/{theirs.pk}/link",
        f"members/{theirs.pk}/remove",
        f"tokens/{token.pk}/revoke",
    ):
        assert alice.post(f"/teams/ours/{path}", {"role": "viewer"}).status_code == 404, path
    assert alice.get(f"/teams/ours/members/{10**18}/").status_code == 404
    token.refresh_from_db()
    assert token.revoked_at is None
    assert row_of(people.mallory).role == Role.ADMIN


def test_viewers_read_and_are_offered_nothing_to_change(people):
    html = of(people.vera).get("/teams/ours/").content.decode()
    assert all(name in html for name in ("alice", "bob", "vera"))
    assert "Theirs" not in html
    assert "/teams/ours/members/" not in html
    assert "/teams/ours/log/" not in html


def test_an_existing_person_is_added_by_name(people, alice):
    User.objects.create_user("carol")
    assert (
        alice.post("/teams/ours/members/", {"username": "carol", "role": "viewer", "can_review": "on"}).status_code
        == 302
    )
    made = Membership.objects.get(user__username="carol")
    assert (made.team, made.role, made.can_review) == (people.team, "viewer", True)
    assert logged(people.team) == [("member-added", "carol: viewer + review")]
    again = alice.post("/teams/ours/members/", {"username": "carol", "role": "admin"})
    assert "is a member already" in again.content.decode()
    assert Membership.objects.get(user__username="carol").role == "viewer"


@pytest.mark.parametrize(("name", "words"), [("nobody", "Nobody here has this name"), ("", "required")])
def test_who_is_not_there_is_not_added(alice, name, words):
    page = alice.post("/teams/ours/members/", {"username": name, "role": "viewer"})
    assert words in page.content.decode()


def test_a_new_person_gets_an_account_without_a_password_and_a_link_shown_once(people, alice):
    page = add(alice)
    html = page.content.decode()
    assert "no-store" in page["Cache-Control"]
    secret = re.search(r"/login/link/([\w-]+)/", html)[1]
    dora = links.peek(secret)
    assert (dora.username, dora.has_usable_password(), dora.home) == ("dora", False, people.team)
    assert secret not in alice.get("/teams/ours/").content.decode()
    assert "messages" not in page.cookies
    assert [action for action, _ in logged(people.team)] == ["member-added", "login-link-made"]
    assert not any(secret in target for _, target in logged(people.team))


def test_a_name_typed_in_other_letters_is_the_name_one_logs_in_with(people, alice):
    wide = "ｄｏｒａ"
    alice.post("/teams/ours/members/", {"username": wide, "role": "viewer", "new": "new", "once": word(alice)})
    dora = User.objects.get(username="dora")
    dora.set_password("quite-a-long-one-7")
    dora.save()
    form = {"username": wide, "password": "quite-a-long-one-7"}
    assert Client().post("/login/", form).status_code == 302
    Membership.objects.filter(user=dora).delete()
    alice.post("/teams/ours/members/", {"username": wide, "role": "member"})
    assert Membership.objects.get(user=dora).role == "member"


def test_loading_the_page_of_a_link_again_makes_nothing(people, alice):
    form = {"username": "dora", "role": "member", "new": "new", "once": word(alice)}
    alice.post("/teams/ours/members/", form)
    assert alice.post("/teams/ours/members/", form).status_code == 302
    assert alice.post("/teams/ours/members/", form | {"username": "eve"}).status_code == 302
    assert not User.objects.filter(username="eve").exists()


@pytest.mark.parametrize("name", ["bob", "BOB", "mallory", "with space", "<script>", "a" * 151, "\u202egnp"])
def test_a_new_account_needs_a_name_of_its_own(alice, name):
    before = User.objects.count()
    page = add(alice, name)
    assert page.status_code == 200
    assert 'aria-invalid="true"' in page.content.decode()
    assert User.objects.count() == before


def test_rights_are_changed_and_logged(people, alice):
    row = row_of(people.bob)
    alice.post(f"/teams/ours/members/{row.pk}/", {"role": "admin", "can_review": "on"})
    row.refresh_from_db()
    assert (row.role, row.can_review) == ("admin", True)
    alice.post(f"/teams/ours/members/{row.pk}/", {"role": "admin", "can_review": "on"})
    assert logged(people.team) == [("member-changed", "bob: member → admin + review")], "no change, no row"
    assert alice.post(f"/teams/ours/members/{row.pk}/", {"role": "owner"}).status_code == 200
    row.refresh_from_db()
    assert row.role == "admin"


def test_the_last_admin_cannot_be_demoted_or_removed(people, alice):
    row = row_of(people.alice)
    page = alice.post(f"/teams/ours/members/{row.pk}/", {"role": "viewer", "sure": "on"})
    assert "only admin" in page.content.decode()
    Membership.objects.create(team=people.team, user=User.objects.create_user("off", is_active=False), role=Role.ADMIN)
    alice.post(f"/teams/ours/members/{row.pk}/", {"role": "viewer", "sure": "on"})
    row.refresh_from_db()
    assert row.role == Role.ADMIN, "an admin who cannot log in is none"


def test_one_does_not_give_up_ones_own_rights_by_accident(people, alice):
    Membership.objects.filter(user=people.bob).update(role=Role.ADMIN)
    row = row_of(people.alice)
    page = alice.post(f"/teams/ours/members/{row.pk}/", {"role": "viewer"})
    assert 'name="sure"' in page.content.decode()
    alice.post(f"/teams/ours/members/{row.pk}/remove")
    row.refresh_from_db()
    assert row.role == Role.ADMIN
    assert alice.post(f"/teams/ours/members/{row.pk}/", {"role": "viewer", "sure": "on"}).status_code == 302
    row.refresh_from_db()
    assert row.role == Role.VIEWER
    assert alice.get("/teams/ours/log/").status_code == 403, "at once"


@pytest.mark.django_db(transaction=True)
def test_of_two_admins_who_demote_each_other_at_once_one_stays(people):
    Membership.objects.filter(user=people.bob).update(role=Role.ADMIN)
    barrier, refused = threading.Barrier(2), []

    def demote(whom, by) -> None:
        row = Membership.objects.select_related("team", "user").get(user=whom)
        barrier.wait()
        try:
            members.change(row, Role.VIEWER, can_review=False, by=by)
        except members.Refused:
            refused.append(whom)
        connection.close()

    pairs = [(people.alice, people.bob), (people.bob, people.alice)]
    threads = [threading.Thread(target=demote, args=pair) for pair in pairs]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert Membership.objects.filter(team=people.team, role=Role.ADMIN).count() == 1
    assert len(refused) == 1


def test_who_is_removed_sees_nothing_and_old_tokens_stay_dead(people, alice):
    _, secret = tokens.make(people.team, people.bob, "t", ["read"])
    bob = of(people.bob)
    alice.post(f"/teams/ours/members/{row_of(people.bob).pk}/remove")
    assert bob.get("/teams/ours/").status_code == 404
    assert tokens.verify(secret) is None
    members.add(people.team, people.bob, "member", can_review=False, by=people.alice)
    assert tokens.verify(secret) is None
    assert [action for action, _ in logged(people.team)] == [
        "token-made",
        "token-revoked",
        "member-removed",
        "member-added",
    ]


@pytest.mark.django_db(transaction=True)
def test_who_became_the_only_admin_this_moment_is_not_removed(people):
    before = Membership.objects.select_related("team", "user").get(user=people.bob)
    Membership.objects.filter(user=people.bob).update(role=Role.ADMIN)
    Membership.objects.filter(user=people.alice).update(role=Role.MEMBER)
    with pytest.raises(members.Refused, match="only admin"):
        members.remove(before, by=people.alice)
    assert Membership.objects.filter(team=people.team, role=Role.ADMIN).get().user == people.bob


def test_who_was_removed_this_moment_is_not_changed(people):
    before = Membership.objects.select_related("team", "user").get(user=people.bob)
    Membership.objects.filter(user=people.bob).delete()
    for act in (members.remove, lambda row, by: members.change(row, Role.ADMIN, can_review=True, by=by)):
        with pytest.raises(members.Refused, match="no member any more"):
            act(before, by=people.alice)


def test_a_link_of_one_team_does_not_open_another(people):
    """Whoever made it in the first team would see what the second one sees."""
    vera = User.objects.get(pk=people.vera.pk)
    User.objects.filter(pk=vera.pk).update(home=people.team)
    vera.refresh_from_db()
    theirs = links.make(vera)
    members.add(people.other_team, vera, "viewer", can_review=False, by=people.mallory)
    assert links.peek(theirs) is None
    ours = links.make(people.bob)  # the operator's own account: nobody but the operator made it
    members.add(people.other_team, people.bob, "viewer", can_review=False, by=people.mallory)
    assert links.peek(ours) == people.bob


# whose account it is: (what is done to bob first, whether alice may then let him in)
WHOSE = {
    "made by this team": (lambda people: people.bob.__class__.objects.filter(pk=people.bob.pk).update(home=people.team), True),
    "of nobody's making": (lambda people: None, False),
    "made by another team": (
        lambda people: User.objects.filter(pk=people.bob.pk).update(home=people.other_team), False,
    ),
    "in another team too": (
        lambda people: (
            User.objects.filter(pk=people.bob.pk).update(home=people.team),
            Membership.objects.create(team=people.other_team, user=people.bob, role=Role.VIEWER),
        ),
        False,
    ),
    "staff": (lambda people: User.objects.filter(pk=people.bob.pk).update(home=people.team, is_staff=True), False),
    "superuser": (lambda people: User.objects.filter(pk=people.bob.pk).update(home=people.team, is_superuser=True), False),
    "switched off": (lambda people: User.objects.filter(pk=people.bob.pk).update(home=people.team, is_active=False), False),
}  # fmt: skip


@pytest.mark.parametrize("whose", WHOSE)
def test_an_admin_lets_in_only_people_whose_account_is_the_teams_own(people, alice, whose):
    prepare, allowed = WHOSE[whose]
    prepare(people)
    path = f"/teams/ours/members/{row_of_team(people).pk}/"
    offered = "/link" in alice.get(path).content.decode()
    page = alice.post(path + "link", {"once": word(alice)})
    found = re.search(r"/login/link/([\w-]+)/", page.content.decode())
    assert (offered, bool(found), page.status_code) == (allowed, allowed, 200 if allowed else 302)
    if found:
        assert links.peek(found[1]) == people.bob


def row_of_team(people) -> Membership:
    return Membership.objects.get(user=people.bob, team=people.team)


def test_nobody_makes_a_link_for_the_account_the_browser_is_logged_in_with(people, alice):
    User.objects.filter(pk=people.alice.pk).update(home=people.team, is_superuser=True)
    page = alice.post(f"/teams/ours/members/{row_of(people.alice).pk}/link", {"once": word(alice)})
    assert page.status_code == 302


def test_a_new_link_ends_the_earlier_one(people, alice):
    User.objects.filter(pk=people.bob.pk).update(home=people.team)
    first = links.make(people.bob)
    alice.post(f"/teams/ours/members/{row_of(people.bob).pk}/link", {"once": word(alice)})
    assert links.peek(first) is None


def test_settings_are_changed_and_logged(people, alice):
    alice.post("/teams/ours/settings", {"name": "Ours & co", "content_visibility": "owner"})
    people.team.refresh_from_db()
    assert (people.team.name, people.team.content_visibility) == ("Ours & co", Visibility.OWNER)
    assert logged(people.team) == [("team-changed", "name: Ours → Ours & co; content: team → owner")]
    for wrong in ({"name": "", "content_visibility": "team"}, {"name": "x", "content_visibility": "world"}):
        assert 'class="wrong"' in alice.post("/teams/ours/settings", wrong).content.decode()
    people.team.refresh_from_db()
    assert people.team.name == "Ours & co"


def test_admins_see_and_revoke_tokens_of_all_members(people, alice):
    token, secret = tokens.make(people.team, people.bob, "bob's script", ["read"])
    tokens.make(people.other_team, people.mallory, "elsewhere", ["read"])
    html = alice.get("/teams/ours/").content.decode()
    assert "bob&#x27;s script" in html
    assert "elsewhere" not in html
    assert secret not in html
    assert "bob&#x27;s script" not in of(people.vera).get("/teams/ours/").content.decode()
    alice.post(f"/teams/ours/tokens/{token.pk}/revoke")
    assert tokens.verify(secret) is None
    assert AccessLog.objects.for_team(people.team).get(action="token-revoked").user == people.alice


def test_superusers_make_teams_and_nobody_else(people, alice):
    form = {"name": "New one", "slug": "new-one"}
    assert alice.get("/teams/new/").status_code == 403
    assert alice.post("/teams/new/", form).status_code == 403
    User.objects.filter(pk=people.alice.pk).update(is_superuser=True)
    assert alice.get("/teams/new/").status_code == 200
    assert alice.post("/teams/new/", form)["Location"] == "/teams/new-one/"
    made = Team.objects.get(slug="new-one")
    assert Membership.objects.get(team=made).user == people.alice
    assert logged(made) == [("team-made", "New one (new-one)")]
    for slug in ("new-one", "NEW-ONE", "new", "a/b", ""):
        assert alice.post("/teams/new/", form | {"slug": slug}).status_code == 200, slug
    assert Team.objects.filter(name="New one").count() == 1


def test_a_superuser_who_is_no_member_sees_no_team_on_these_pages(people):
    """The operator has the admin; pages of a team are for its members."""
    root = of(User.objects.create_user("root", is_superuser=True, is_staff=True))
    assert root.get("/teams/ours/").status_code == 404


def test_the_team_page_asks_a_fixed_number_of_questions(people, alice, django_assert_max_num_queries):
    for count in (1, 20):
        for n in range(count):
            user = User.objects.create_user(f"m{count}-{n}")
            Membership.objects.create(team=people.team, user=user)
            tokens.make(people.team, user, "t", ["read"])
        with django_assert_max_num_queries(9):
            assert alice.get("/teams/ours/").status_code == 200


def test_hostile_names_are_inert(people, alice):
    hostile = '"><script>alert(1)</script>\u202e\x1b[31m{{ 7|add:7 }}'
    Team.objects.filter(pk=people.team.pk).update(name=hostile)
    User.objects.filter(pk=people.bob.pk).update(username=hostile, first_name=hostile[:30])
    tokens.make(Team.objects.get(pk=people.team.pk), User.objects.get(pk=people.bob.pk), hostile, ["read"])
    bob = row_of(people.bob)
    for client in (alice, of(people.bob)):
        for url in (
            "/teams/",
            "/teams/ours/",
            f"/teams/ours/members/{bob.pk}/",
            "/teams/ours/log/",
            "/account/",
            "/account/tokens/",
        ):
            html = re.sub(r'value="[^"]*"', "", client.get(url).content.decode())  # a field holds what it will send
            assert "<script>alert" not in html
            assert "\x1b" not in html
            assert "\u202e" not in html, url
