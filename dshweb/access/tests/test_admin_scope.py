"""The admin of staff who are no superusers: rights of their own to act, and nothing of teams they are not admins of."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from audit.models import Audit, PolicyVersion, Signal, VocabularyTerm
from audit.services.policy import publish
from compaction.models import EngineSnapshot, ModelRoute, Profile, SettingsRevision
from compaction.services import engine
from compaction.services.profiles import default_of
from compaction.services.settings import replace
from dshweb.access.models import AccessLog, ApiToken, Membership, Role, Team, User
from dshweb.access.services import tokens
from dshweb.sessionlog.models import Compaction, Frame, LogFile, MaskPattern, Message, Session, Source, SourceFile
from dshweb.tasks.models import Task
from dshweb.ui.tests.rows import (
    make_audited,
    make_task,
)

pytestmark = pytest.mark.django_db

SCOPED = [
    Source, SourceFile, Session, LogFile, Message, Compaction, Frame, MaskPattern, Audit, Signal, PolicyVersion, VocabularyTerm,
    Task, ApiToken, AccessLog, Membership, Team, Profile, ModelRoute, SettingsRevision, EngineSnapshot,
]  # fmt: skip


def address(model, name, *args):
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{name}", args=args)


def staff(user, *actions: str) -> None:
    """Lets `user` into the admin with these rights on every model."""
    user.is_staff = True
    user.save()
    for action in actions:
        user.user_permissions.add(*Permission.objects.filter(codename__startswith=f"{action}_"))


def rows_of(team, user) -> None:
    log = make_audited(team, session_id=f"s-{team.slug}").log
    Frame.unscoped.create(team=team, log=log, offset=0, length=9, kind="data", first_row=0, next_seq=0)
    Source.unscoped.create(team=team, path=f"/logs/{team.slug}")
    SourceFile.unscoped.create(team=team, location=f"/logs/{team.slug}/a", log=log)
    MaskPattern.unscoped.create(team=team, name="badge", expression=f"BADGE-{team.slug}-[0-9]+")
    VocabularyTerm.unscoped.create(team=team, list="keep", term=f"never {team.slug}")
    publish(team=team, by=None)
    tokens.make(team, user, f"token of {team.slug}", ["read"])
    make_task(team)
    engine.take(replace(default_of(team), {"auto": False}, 0, by=user).profile)


@pytest.fixture
def both(people):
    rows_of(people.team, people.alice)
    rows_of(people.other_team, people.mallory)
    return people


@pytest.mark.parametrize("model", SCOPED, ids=lambda model: model.__name__)
def test_staff_see_only_rows_of_teams_they_are_admins_of(client, both, model):
    staff(both.alice, "view", "change")
    Membership.objects.create(team=both.other_team, user=both.alice, role=Role.MEMBER)
    client.force_login(both.alice)
    rows = model.objects.all() if model in (Team, Membership) else model.unscoped.all()
    team = "pk" if model is Team else "team"
    ours, theirs = rows.filter(**{team: both.team.pk}), rows.filter(**{team: both.other_team.pk})
    assert ours.exists()
    assert theirs.exists()
    page = client.get(address(model, "changelist"))
    assert page.context["cl"].result_count == ours.count()
    assert "Theirs" not in page.content.decode(), "filters name no other team either"
    assert client.get(address(model, "change", ours.first().pk)).status_code == 200
    assert client.get(address(model, "change", theirs.first().pk)).status_code == 302, "as if it did not exist"


def test_the_operator_sees_every_team(client, both):
    both.alice.is_staff = both.alice.is_superuser = True
    both.alice.save()
    client.force_login(both.alice)
    assert client.get(address(Audit, "changelist")).context["cl"].result_count == Audit.unscoped.count()
    assert client.get(address(User, "changelist")).context["cl"].result_count == User.objects.count()


def test_members_who_are_staff_see_nothing_of_a_team_they_are_no_admins_of(client, both):
    """Its admins may have said that content is for the owner; staff rights must not be a way around it."""
    both.team.content_visibility = "owner"
    both.team.save()
    staff(both.bob, "view")
    client.force_login(both.bob)
    assert client.get(address(Message, "changelist")).context["cl"].result_count == 0
    message = Message.unscoped.filter(team=both.team).first()
    assert client.get(address(Message, "change", message.pk)).status_code == 302


@pytest.mark.parametrize(
    ("model", "data"),
    [
        (Source, {"path": "/etc"}),
        (MaskPattern, {"name": "x", "expression": "xyz[0-9]", "enabled": "on"}),
        (VocabularyTerm, {"list": "keep", "term": "never"}),
        (PolicyVersion, {"critical_number_count": 3, "max_facts_per_category": 9, "family_min": 4, "tool_only_max": 1}),
    ],
    ids=["source", "pattern", "term", "policy"],
)
def test_nothing_can_be_added_to_another_team(client, both, model, data):
    staff(both.alice, "add", "view", "change")
    client.force_login(both.alice)
    before = model.unscoped.count()
    assert "Theirs" not in client.get(address(model, "add")).content.decode()
    refused = client.post(address(model, "add"), data | {"team": both.other_team.pk})
    assert refused.status_code == 200
    assert "team" in refused.context["adminform"].form.errors
    assert model.unscoped.count() == before
    client.post(address(model, "add"), data | {"team": both.team.pk})
    assert model.unscoped.count() == before + 1


ACTIONS = [
    (Source, "scan"),
    (MaskPattern, "scan_again"),
    (VocabularyTerm, "audit_again"),
    (PolicyVersion, "audit_again"),
    (Audit, "audit_again"),
]


@pytest.mark.parametrize(("model", "action"), ACTIONS, ids=lambda one: getattr(one, "__name__", one))
def test_who_may_only_look_asks_for_no_work(client, both, model, action):
    staff(both.alice, "view")
    client.force_login(both.alice)
    Task.unscoped.all().delete()
    data = {"action": action, "_selected_action": [model.unscoped.filter(team=both.team).first().pk]}
    client.post(address(model, "changelist"), data)
    assert not Task.unscoped.exists()
    both.alice.user_permissions.add(Permission.objects.get(codename=f"change_{model._meta.model_name}"))
    client.post(address(model, "changelist"), data)
    assert Task.unscoped.filter(team=both.team).exists()
    assert not Task.unscoped.exclude(team=both.team).exists()


def test_an_action_on_another_teams_row_does_nothing(client, both):
    staff(both.alice, "view", "change")
    client.force_login(both.alice)
    Task.unscoped.all().delete()
    theirs = Source.unscoped.get(team=both.other_team)
    client.post(address(Source, "changelist"), {"action": "scan", "_selected_action": [theirs.pk]})
    assert not Task.unscoped.exists()


def test_the_test_box_uses_no_other_teams_patterns(client, both):
    staff(both.alice, "view")
    client.force_login(both.alice)
    url = reverse("admin:sessionlog_maskpattern_try")
    refused = client.post(url, {"team": both.other_team.pk, "sample": "BADGE-theirs-1"})
    assert refused.context["masked"] is None
    assert client.post(url, {"team": both.team.pk, "sample": "BADGE-ours-1"}).context["masked"].count_by_class


def test_staff_give_no_rights_beyond_their_team(client, both):
    staff(both.alice, "view", "change", "delete", "add")
    User.objects.filter(pk__in=[both.bob.pk, both.vera.pk]).update(home=both.team)
    Membership.objects.create(team=both.other_team, user=both.vera, role=Role.VIEWER)
    client.force_login(both.alice)
    shown = client.get(address(User, "changelist")).context["cl"].queryset
    assert {user.username for user in shown} == {"alice", "bob", "vera"}
    form = {"username": "alice", "is_superuser": "on", "is_active": "on", "memberships-TOTAL_FORMS": 0,
            "memberships-INITIAL_FORMS": 0, "date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}  # fmt: skip
    assert client.post(address(User, "change", both.alice.pk), form).status_code == 302
    both.alice.refresh_from_db()
    assert not both.alice.is_superuser
    assert client.post(address(User, "change", both.vera.pk), form).status_code == 403, "another team relies on her too"
    assert client.post(address(User, "delete", both.bob.pk), {"post": "yes"}).status_code == 403
    people = [both.bob.pk, both.vera.pk]
    page = client.post(address(User, "changelist"), {"action": "make_login_link", "_selected_action": people})
    assert [one for one, _url in page.context["links"]] == [both.bob]
    assert [one for one, _reason in page.context["refused"]] == [both.vera]
    assert "no-store" in page["Cache-Control"]
    assert not page.cookies.get("messages"), "a message would keep the link in a cookie"


def test_no_part_of_a_password_is_shown(client, both):
    both.alice.is_staff = both.alice.is_superuser = True
    both.alice.save()
    client.force_login(both.alice)
    html = client.get(address(User, "change", both.bob.pk)).content.decode()
    for part in both.bob.password.split("$")[1:]:
        assert part[:4] not in html
    assert "md5" not in html
    assert "Set." in html


def test_one_change_of_a_policy_is_one_change_for_whichever_team_is_chosen(client, both):
    both.alice.is_staff = both.alice.is_superuser = True
    both.alice.save()
    client.force_login(both.alice)
    publish(team=both.team, by=None, critical_number_count=9, extended_classes=False)
    publish(team=both.other_team, by=None, tool_only_max=3)
    url = address(PolicyVersion, "add")
    shown = client.get(url + f"?team={both.team.pk}").context["adminform"].form.initial
    assert (shown["team"], shown["critical_number_count"]) == (both.team.pk, 9)
    form = {"team": both.other_team.pk, "base": shown["base"], "check_compliance": "on", "critical_number_count": 9,
            "max_facts_per_category": 200, "family_min": 7, "tool_only_max": 20, "note": "larger families"}  # fmt: skip
    client.post(url, form)
    made = PolicyVersion.objects.for_team(both.other_team).order_by("version").last()
    assert (made.family_min, made.tool_only_max) == (7, 3), "what was changed, on top of the chosen team's newest"
    assert (made.critical_number_count, made.extended_classes) == (2, True), "nothing of the team the form began with"


def test_tokens_are_revoked_and_never_deleted(client, both):
    both.alice.is_staff = both.alice.is_superuser = True
    both.alice.save()
    client.force_login(both.alice)
    token = ApiToken.unscoped.get(team=both.team)
    assert client.post(address(ApiToken, "delete", token.pk), {"post": "yes"}).status_code == 403
    data = {"action": "delete_selected", "_selected_action": [token.pk], "post": "yes"}
    client.post(address(ApiToken, "changelist"), data)
    assert ApiToken.unscoped.filter(pk=token.pk).exists()


def test_a_token_that_would_have_expired_is_refused_in_the_form(client, both):
    both.alice.is_staff = both.alice.is_superuser = True
    both.alice.save()
    client.force_login(both.alice)
    before = ApiToken.unscoped.count()
    data = {
        "team": both.team.pk,
        "user": both.alice.pk,
        "name": "late",
        "scopes": ["read"],
        "expires_at_0": "2020-01-01",
        "expires_at_1": "00:00:00",
    }
    page = client.post(address(ApiToken, "add"), data)
    assert (page.status_code, "This time is past." in page.content.decode()) == (200, True)
    client.post(address(ApiToken, "add"), data | {"expires_at_0": "2999-01-01"})
    assert ApiToken.unscoped.count() == before + 1


def test_what_the_admin_changes_about_members_is_in_the_access_log(client, both):
    both.alice.is_staff = both.alice.is_superuser = True
    both.alice.save()
    client.force_login(both.alice)
    AccessLog.unscoped.all().delete()
    row = Membership.objects.get(user=both.bob)
    form = {"user": both.bob.pk, "team": both.team.pk, "role": "admin", "can_review": "on"}
    assert client.post(address(Membership, "change", row.pk), form).status_code == 302
    new = {"password1": "quite-a-long-one-7", "password2": "quite-a-long-one-7", "usable_password": "true"}
    assert client.post(reverse("admin:auth_user_password_change", args=[both.bob.pk]), new).status_code == 302
    client.post(address(Membership, "delete", row.pk), {"post": "yes"})
    noted = AccessLog.objects.for_team(both.team).order_by("pk").values_list("action", "target", "user__username")
    assert list(noted) == [
        ("member-changed", "bob: admin + review", "alice"),
        ("account-changed", "bob", "alice"),
        ("member-removed", "bob: admin + review", "alice"),
    ]


@pytest.mark.parametrize("how", ["one", "action", "team"])
def test_who_is_removed_in_the_admin_keeps_no_token_either(client, both, how):
    both.alice.is_staff = both.alice.is_superuser = True
    both.alice.save()
    client.force_login(both.alice)
    _, secret = tokens.make(both.team, both.bob, "t", ["read"])
    row = Membership.objects.get(team=both.team, user=both.bob)
    if how == "one":
        client.post(address(Membership, "delete", row.pk), {"post": "yes"})
    elif how == "action":
        chosen = {"action": "delete_selected", "_selected_action": [row.pk], "post": "yes"}
        client.post(address(Membership, "changelist"), chosen)
    else:
        rows = list(Membership.objects.filter(team=both.team))
        form = {"name": "Ours", "slug": "ours", "content_visibility": "team", "memberships-TOTAL_FORMS": len(rows),
                "memberships-INITIAL_FORMS": len(rows)}  # fmt: skip
        for n, one in enumerate(rows):
            values = {"id": one.pk, "team": both.team.pk, "user": one.user_id, "role": one.role}
            form |= {f"memberships-{n}-{name}": value for name, value in values.items()}
            form |= {f"memberships-{n}-DELETE": "on"} if one == row else {}
        assert client.post(address(Team, "change", both.team.pk), form).status_code == 302
    Membership.objects.create(team=both.team, user=both.bob, role="member")
    assert tokens.verify(secret) is None
