"""What the engine holds, and the admin around it."""

from __future__ import annotations

from threading import Event

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from compaction.core.document import Op
from compaction.models import EngineSnapshot, ModelRoute, Profile
from compaction.selectors import reload_needed
from compaction.services import engine
from compaction.services.profiles import default_of
from compaction.services.settings import mutate
from compaction.tasks import hold_settings

pytestmark = pytest.mark.django_db


def held(profile: Profile) -> dict:
    return EngineSnapshot.unscoped.get(profile=profile).config


def fresh(profile: Profile) -> Profile:
    return Profile.unscoped.get(pk=profile.pk)


def test_a_worker_that_starts_holds_the_settings_of_every_profile(people, monkeypatch):
    monkeypatch.setattr("compaction.tasks.connection.close", lambda: None)  # the test's own transaction hangs on it
    mutate(default_of(people.team), (Op("set", "mode", "native"),), 0, by=people.alice)
    hold_settings(Event())
    rows = {row.profile_id: row for row in EngineSnapshot.unscoped.all()}
    assert set(rows) == set(Profile.unscoped.values_list("pk", flat=True))
    mine = rows[default_of(people.team).pk]
    assert (mine.revision, mine.config["mode"], mine.team) == (1, "native", people.team)


def test_saving_touches_nothing_the_engine_holds(people):
    profile = default_of(people.team)
    engine.take(profile)
    before = held(profile)
    saved = mutate(profile, (Op("set", "auto", value=False),), 0, by=people.alice)
    assert held(profile) == before
    assert reload_needed(fresh(profile))
    engine.take(saved.profile)
    assert held(profile)["auto"] is False
    assert not reload_needed(fresh(profile))


def test_spelling_a_default_out_needs_no_reload(people):
    profile = default_of(people.team)
    engine.take(profile)
    ops = (Op("set", "thresholdRatio", 0.8), Op("set", "headroomTokens", 65_536.0))
    saved = mutate(profile, ops, 0, by=people.alice)
    assert saved.profile.revision == 1
    assert not reload_needed(fresh(profile))


def test_settings_that_do_not_fit_leave_the_engine_with_what_it_held(people, caplog):
    profile = default_of(people.team)
    engine.take(profile)
    Profile.unscoped.filter(pk=profile.pk).update(document={"no": 1})
    broken = Profile.unscoped.get(pk=profile.pk)
    assert not engine.take(broken)
    assert held(profile)["mode"] == "goal"
    assert reload_needed(fresh(profile))
    assert "no" in caplog.text


# ---- admin


@pytest.fixture
def staff(people, client):
    """Alice as staff with every permission of the app: a team admin who is not the operator."""
    people.alice.is_staff = True
    people.alice.save()
    people.alice.user_permissions.set(Permission.objects.filter(content_type__app_label="compaction"))
    client.force_login(people.alice)
    return client


def form(**values):
    return {"name": "n", "machine": "", "path": "/home/x/cordis.patch.yml", **values}


def test_which_file_a_profile_names_is_the_operators_to_say(people, staff, admin_client):
    add = reverse("admin:compaction_profile_add")
    assert staff.post(add, form(team=people.team.pk)).status_code == 302
    assert Profile.unscoped.get(name="n").path == ""
    assert admin_client.post(add, form(name="o", team=people.team.pk)).status_code == 302
    assert Profile.unscoped.get(name="o").path == "/home/x/cordis.patch.yml"
    for odd in ("/etc/passwd", "cordis.patch.yml", "/x/other-cordis.patch.yml", "/x/cordis.patch.yml/y"):
        page = admin_client.post(add, form(name="p", team=people.team.pk, path=odd))
        assert "path" in page.context["adminform"].form.errors
    assert not Profile.unscoped.filter(name="p").exists()


def test_another_file_is_one_we_have_not_seen(people, admin_client):
    row = default_of(people.team)
    change = reverse("admin:compaction_profile_change", args=[row.pk])
    kept = form(name=row.name, is_default="on", path="/home/x/cordis.patch.yml")
    for path, digest in (("/home/x/cordis.patch.yml", "seen"), ("/home/y/cordis.patch.yml", "")):
        Profile.unscoped.filter(pk=row.pk).update(path="/home/x/cordis.patch.yml", file_digest="seen")
        assert admin_client.post(change, kept | {"path": path}).status_code == 302
        assert Profile.unscoped.get(pk=row.pk).file_digest == digest


def test_a_second_default_and_a_second_of_one_name_are_refused_in_words(people, admin_client):
    other = Profile.unscoped.create(team=people.team, name="other")
    change = reverse("admin:compaction_profile_change", args=[other.pk])
    for values, field in (({"name": "other", "is_default": "on"}, "is_default"), ({"name": "default"}, "name")):
        page = admin_client.post(change, form(**values))
        assert set(page.context["adminform"].form.errors) == {field}
    theirs = Profile.unscoped.create(team=people.other_team, name="other")
    again = reverse("admin:compaction_profile_change", args=[theirs.pk])
    assert admin_client.post(again, form(name="another")).status_code == 302  # it is about one team only
    assert admin_client.post(change, form(name="other", machine="b")).status_code == 302


def test_the_admin_changes_no_settings(people, staff):
    profile = default_of(people.team)
    change = reverse("admin:compaction_profile_change", args=[profile.pk])
    staff.post(change, form(document='{"auto": false}', revision=9, team=people.other_team.pk))
    row = Profile.unscoped.get(pk=profile.pk)
    assert (row.name, row.document, row.revision, row.team) == ("n", {}, 0, people.team)


def test_the_admin_shows_rows_of_teams_the_person_runs_only(people, staff):
    default_of(people.other_team)
    engine.take_snapshots()
    for model in ("profile", "modelroute", "enginesnapshot", "settingsrevision"):
        page = staff.get(reverse(f"admin:compaction_{model}_changelist"))
        assert page.status_code == 200
        assert {row.team for row in page.context["cl"].result_list} <= {people.team}
    other = ModelRoute.unscoped.filter(team=people.other_team).earliest("pk")
    assert staff.get(reverse("admin:compaction_modelroute_change", args=[other.pk])).status_code == 302


def test_routes_are_allowed_and_not_in_bulk_but_never_the_row_for_any_model(people, staff):
    rows = ModelRoute.unscoped.filter(team=people.team)
    for action, allowed in (("disallow", 0), ("allow", 2)):
        data = {"action": action, "_selected_action": list(rows.values_list("pk", flat=True))}
        assert staff.post(reverse("admin:compaction_modelroute_changelist"), data).status_code == 302
        assert rows.filter(allowed=True).count() == allowed


def test_a_route_is_edited_with_what_was_seen_beside_it(people, staff):
    row = ModelRoute.unscoped.get(team=people.team, model="deepseek-flash")
    data = {
        "team": people.team.pk, "provider": row.provider, "model": row.model, "context_window": "", "efforts": '["low"]',
        "default_max_tokens": "5", "default_effort": "low", "allowed": "on", "seen_window": "3",
    }  # fmt: skip
    answer = staff.post(reverse("admin:compaction_modelroute_change", args=[row.pk]), data)
    assert answer.status_code == 302, answer.context["adminform"].form.errors
    row.refresh_from_db()
    assert (row.context_window, row.efforts, row.default_max_tokens, row.seen_window) == (None, ["low"], 5, None)
    assert (
        staff.post(
            reverse("admin:compaction_modelroute_change", args=[row.pk]),
            data | {"efforts": "null", "default_effort": ""},
        ).status_code
        == 302
    )
    row.refresh_from_db()
    assert row.efforts is None
