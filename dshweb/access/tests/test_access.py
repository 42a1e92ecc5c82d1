"""Who may what: scoped managers, roles, tokens, login links, login."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dshweb.access.auth import TokenAuth
from dshweb.access.callers import caller_for_token, caller_for_user
from dshweb.access.models import AccessLog, ApiToken, LoginLink, Membership, Role, Team, User
from dshweb.access.scoping import NoCaller
from dshweb.access.services import attempts, links, tokens
from dshweb.tasks.models import Task


@pytest.mark.parametrize("ask", ["all", "first", "count", "exists"])
@pytest.mark.parametrize("model", [Task, ApiToken, AccessLog])
def test_a_query_that_does_not_say_for_whom_raises(model, ask, db):
    with pytest.raises(NoCaller, match=model.__name__):
        getattr(model.objects, ask)()


def test_a_caller_sees_the_rows_of_its_teams_only(people):
    mine = Task.unscoped.create(team=people.team, kind="k", key="1")
    theirs = Task.unscoped.create(team=people.other_team, kind="k", key="1")
    assert list(Task.objects.for_caller(caller_for_user(people.bob))) == [mine]
    assert list(Task.objects.for_caller(caller_for_user(people.mallory))) == [theirs]
    assert list(Task.objects.for_team(people.team)) == [mine]


@pytest.mark.parametrize(
    ("who", "reads", "ingests", "reviews", "admins"),
    [
        ("alice", True, True, True, True),
        ("bob", True, True, False, False),
        ("vera", True, False, False, False),
        ("mallory", False, False, False, False),
    ],
)
def test_the_table_of_roles(people, who, reads, ingests, reviews, admins):
    caller, team = caller_for_user(getattr(people, who)), people.team.pk
    assert (team in caller.team_ids) is reads
    assert caller.may_ingest(team) is ingests
    assert caller.may_review(team) is reviews
    assert caller.is_admin(team) is admins


def test_a_token_is_stored_as_a_digest_and_found_by_its_secret(people):
    token, secret = tokens.make(people.team, people.bob, "collector", ["ingest"])
    assert secret.startswith("dshw_")
    assert len(secret) >= 5 + 43
    row = ApiToken.unscoped.filter(pk=token.pk).values().get()
    assert not any(secret in str(value) for value in row.values())
    assert tokens.verify(secret) == token
    assert tokens.verify(secret[:-1] + ("a" if secret[-1] != "a" else "b")) is None
    assert tokens.verify("dshw_" + "x" * 10_000) is None
    assert tokens.verify("") is None


def test_a_token_has_its_scopes_and_never_more_than_its_person(people):
    _, secret = tokens.make(people.team, people.alice, "reader", ["read"])
    caller = caller_for_token(tokens.verify(secret))
    assert not caller.may_ingest(people.team.pk)
    assert not caller.may_review(people.team.pk)
    assert not caller.is_admin(people.team.pk)
    _, secret = tokens.make(people.team, people.vera, "ingest", ["ingest"])
    assert not caller_for_token(tokens.verify(secret)).may_ingest(people.team.pk)
    Membership.objects.filter(user=people.vera).update(role=Role.MEMBER)
    assert caller_for_token(tokens.verify(secret)).may_ingest(people.team.pk)
    Membership.objects.filter(user=people.vera).delete()
    assert caller_for_token(tokens.verify(secret)).team_ids == []


@pytest.mark.parametrize("scopes", [[], ["admin"], ["read", "everything"]])
def test_unknown_scopes_are_refused_by_name(people, scopes):
    with pytest.raises(tokens.BadToken, match="known are ingest, read"):
        tokens.make(people.team, people.bob, "t", scopes)


def test_a_stranger_gets_no_token(people):
    with pytest.raises(tokens.BadToken, match="not a member"):
        tokens.make(people.team, people.mallory, "t", ["read"])


def test_an_expired_a_revoked_and_an_inactive_persons_token_end(people):
    token, secret = tokens.make(people.team, people.bob, "t", ["read"], timezone.now() + timedelta(hours=1))
    assert tokens.verify(secret)
    ApiToken.unscoped.filter(pk=token.pk).update(expires_at=timezone.now())
    assert tokens.verify(secret) is None
    token, secret = tokens.make(people.team, people.bob, "t2", ["read"])
    assert tokens.revoke(token, people.alice)
    assert not tokens.revoke(token, people.alice)
    assert tokens.verify(secret) is None
    _, secret = tokens.make(people.team, people.bob, "t3", ["read"])
    User.objects.filter(pk=people.bob.pk).update(is_active=False)
    assert tokens.verify(secret) is None
    noted = AccessLog.objects.for_team(people.team).values_list("action", flat=True)
    assert sorted(noted) == ["token-made"] * 3 + ["token-revoked"]


def test_the_use_of_a_token_is_noted_at_most_once_a_minute(people, django_assert_num_queries):
    token, secret = tokens.make(people.team, people.bob, "t", ["read"])
    with django_assert_num_queries(2):
        tokens.verify(secret)
    with django_assert_num_queries(1):
        tokens.verify(secret)
    ApiToken.unscoped.filter(pk=token.pk).update(last_used_at=timezone.now() - timedelta(minutes=2))
    with django_assert_num_queries(2):
        tokens.verify(secret)


def test_a_bearer_token_becomes_a_caller(people, rf):
    _, secret = tokens.make(people.team, people.bob, "t", ["read"])
    request = rf.get("/", headers={"Authorization": f"Bearer {secret}"})
    caller = TokenAuth()(request)
    assert caller.user == people.bob
    assert caller.team_ids == [people.team.pk]
    assert request.caller is caller
    assert not TokenAuth()(rf.get("/", headers={"Authorization": "Bearer dshw_no"}))


def test_a_link_logs_in_once_and_looking_at_it_uses_nothing_up(people, client):
    address = reverse("login-link", args=[links.make(people.bob)])
    for _ in range(3):
        page = client.get(address)
        assert page.status_code == 200
        assert "_auth_user_id" not in client.session
    assert client.post(address).status_code == 302
    assert client.session["_auth_user_id"] == str(people.bob.pk)
    second = Client()
    assert second.post(address).status_code == 404
    assert "_auth_user_id" not in second.session


def test_of_two_clicks_at_once_one_gets_in(transactional_db):
    user = User.objects.create_user("eve", password="x")
    secret = links.make(user)
    barrier, answers = threading.Barrier(4), []

    def click() -> None:
        barrier.wait()
        answers.append(links.use(secret))
        connection.close()

    threads = [threading.Thread(target=click) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert sorted(map(bool, answers)) == [False, False, False, True]


def test_an_old_a_replaced_and_an_inactive_persons_link_end(people):
    first = links.make(people.bob)
    second = links.make(people.bob)
    assert links.use(first) is None
    LoginLink.objects.filter(used_at=None).update(expires_at=timezone.now())
    assert links.use(second) is None
    third = links.make(people.bob)
    User.objects.filter(pk=people.bob.pk).update(is_active=False)
    assert links.use(third) is None
    assert links.use("unknown") is None
    assert third not in str(list(LoginLink.objects.values()))


def test_the_first_admin_has_no_password_and_is_told_until_one_is_set(db):
    User.objects.all().delete()
    admin = User.objects.create(username="root", is_superuser=True)
    admin.set_unusable_password()
    admin.save()
    assert links.nobody_can_log_in() == admin
    admin.set_password("a long enough one")
    admin.save()
    assert links.nobody_can_log_in() is None


def test_who_came_by_link_without_a_password_sets_one_without_an_old_one(db, client):
    user = User.objects.create(username="new")
    user.set_unusable_password()
    user.save()
    answer = client.post(reverse("login-link", args=[links.make(user)]))
    assert answer["Location"] == reverse("password_change")
    assert "old_password" not in client.get(answer["Location"]).content.decode()
    new = {"new_password1": "quite-a-long-one-7", "new_password2": "quite-a-long-one-7"}
    assert client.post(reverse("password_change"), new).status_code == 302
    assert Client().login(username="new", password="quite-a-long-one-7")


def test_login_and_logout(people, client):
    page = client.post(reverse("login"), {"username": "bob", "password": "bob-password"})
    assert page.status_code == 302
    assert client.get(reverse("logout")).status_code == 405
    assert client.post(reverse("logout")).status_code == 302
    assert "_auth_user_id" not in client.session


def test_a_login_never_leads_to_another_site(people, client):
    answer = client.post(
        reverse("login"), {"username": "bob", "password": "bob-password", "next": "https://elsewhere.example/"}
    )
    assert answer["Location"] == "/"


def test_wrong_passwords_are_limited_per_name_and_address(people):
    cache.clear()
    client, wrong = Client(REMOTE_ADDR="192.0.2.1"), {"username": "bob", "password": "wrong"}
    for _ in range(attempts.PER_NAME):
        assert client.post(reverse("login"), wrong).status_code == 200
    right = {"username": "bob", "password": "bob-password"}
    assert client.post(reverse("login"), right).status_code == 429
    elsewhere = Client(REMOTE_ADDR="192.0.2.2")
    assert elsewhere.post(reverse("login"), right).status_code == 302
    other = {"username": "alice", "password": "alice-password"}
    assert client.post(reverse("login"), other).status_code == 302


def test_one_address_does_not_try_name_after_name(people):
    cache.clear()
    for n in range(attempts.PER_ADDRESS):
        assert attempts.take(f"name{n}", "192.0.2.9")
    assert not attempts.take("bob", "192.0.2.9")
    assert attempts.take("bob", "192.0.2.10")


@pytest.fixture
def superuser(people):
    User.objects.filter(pk=people.alice.pk).update(is_superuser=True, is_staff=True)
    client = Client()
    client.force_login(people.alice)
    return client


def test_the_admin_shows_a_new_token_once(people, superuser):
    form = {"team": people.team.pk, "user": people.bob.pk, "name": "ship", "scopes": ["ingest", "read"]}
    page = superuser.post(reverse("admin:access_apitoken_add"), form, follow=True)
    secret = page.content.decode().split("dshw_")[1].split("<")[0].split("&")[0].strip()
    assert tokens.verify("dshw_" + secret).scopes == ["ingest", "read"]
    again = superuser.get(reverse("admin:access_apitoken_changelist")).content.decode()
    assert secret not in again
    token = ApiToken.unscoped.get()
    assert superuser.get(reverse("admin:access_apitoken_change", args=[token.pk])).status_code == 200
    superuser.post(
        reverse("admin:access_apitoken_changelist"), {"action": "revoke_tokens", "_selected_action": [token.pk]}
    )
    assert tokens.verify("dshw_" + secret) is None


def test_the_admin_makes_a_login_link_that_works(people, superuser):
    page = superuser.post(
        reverse("admin:access_user_changelist"),
        {"action": "make_login_link", "_selected_action": [people.bob.pk]},
        follow=True,
    ).content.decode()
    secret = page.split("/login/link/")[1].split("/")[0]
    assert links.peek(secret) == people.bob
    assert AccessLog.objects.for_team(people.team).get().action == "login-link-made"


def test_every_admin_list_opens_and_the_access_log_cannot_be_changed(people, superuser):
    log = AccessLog.unscoped.create(team=people.team, action="read-original", target="session 1 seq 7")
    task = Task.unscoped.create(team=people.team, kind="k", key="1", state="failed")
    for model in ("team", "user", "membership", "apitoken", "loginlink", "accesslog"):
        assert superuser.get(reverse(f"admin:access_{model}_changelist")).status_code == 200
    for model in ("task", "worker"):
        assert superuser.get(reverse(f"admin:tasks_{model}_changelist")).status_code == 200
    assert superuser.get(reverse("admin:tasks_task_change", args=[task.pk])).status_code == 200
    assert superuser.get(reverse("admin:access_accesslog_add")).status_code == 403
    assert superuser.post(reverse("admin:access_accesslog_delete", args=[log.pk]), {"post": "yes"}).status_code == 403


def test_the_admin_cancels_and_retries_tasks(people, superuser):
    queued = Task.unscoped.create(team=people.team, kind="k", key="1")
    failed = Task.unscoped.create(team=people.team, kind="k", key="2", state="failed", payload={"n": 1})
    address = reverse("admin:tasks_task_changelist")
    superuser.post(address, {"action": "cancel_tasks", "_selected_action": [queued.pk]})
    superuser.post(address, {"action": "retry_tasks", "_selected_action": [failed.pk]})
    queued.refresh_from_db()
    assert queued.state == "cancelled"
    assert Task.unscoped.get(key="2", state="queued").payload == {"n": 1}


def test_team_main_exists_after_migrate_alone(db):
    assert Team.objects.filter(slug="main").exists()


def test_behind_a_proxy_the_address_it_added_counts(rf, settings):
    request = rf.get("/", REMOTE_ADDR="10.0.0.1", headers={"X-Forwarded-For": "made-up, 192.0.2.7"})
    assert attempts.address_of(request) == "10.0.0.1"
    settings.BEHIND_TLS = True
    assert attempts.address_of(request) == "192.0.2.7"
    assert attempts.address_of(rf.get("/", REMOTE_ADDR="10.0.0.1")) == "10.0.0.1"
