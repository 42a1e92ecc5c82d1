"""The list of profiles: whose it is, what it says of engines, and who may make, name and point a profile at a file."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from compaction.core.document import Op
from compaction.models import Profile
from compaction.services import engine
from compaction.services.profiles import default_of
from compaction.services.settings import mutate
from dshweb.access.models import AccessLog, Membership, Role, Team
from tests.reading import words

HOSTILE = "<img src=x onerror=alert(1)>\"'&"
PATH = "/srv/dsh/web/cordis.patch.yml"


@pytest.fixture(autouse=True)
def _none_but_the_tests_own(people):
    Profile.unscoped.all().delete()  # each team begins with one


@pytest.fixture
def profile(people) -> Profile:
    return default_of(people.team)


@pytest.fixture
def as_(client, people):
    def login(name: str):
        client.force_login(getattr(people, name))
        return client

    return login


@pytest.fixture
def root(people):
    people.alice.is_superuser = people.alice.is_staff = True
    people.alice.save()
    return people.alice


def listed(client) -> str:
    return client.get(reverse("profiles")).content.decode()


def make(client, **sent):
    return client.post(reverse("profile-new"), {"name": "web", **sent})


def change(client, profile, **sent):
    return client.post(reverse("profile-edit", args=[profile.pk]), {"name": profile.name, **sent})


def test_the_list_shows_the_teams_own_profiles_only(as_, people, profile):
    Profile.unscoped.create(team=people.other_team, name="theirs-alone")
    shown = listed(as_("vera"))
    assert reverse("profile-settings", args=[profile.pk]) in shown
    assert "theirs-alone" not in shown
    assert "theirs-alone" in listed(as_("mallory"))


def test_what_the_engine_holds_is_said_in_words(as_, people, profile):
    assert "no engine yet" in listed(as_("vera"))
    engine.take(profile)
    assert "holds what is saved" in listed(as_("vera"))
    mutate(profile, (Op("set", "mode", "handoff"),), 0, by=people.alice)
    shown = listed(as_("vera"))
    assert "restart needed" in shown
    assert "holds revision 0" in shown
    assert "hand-off" in shown
    assert "revision 1" in shown
    assert "alice" in shown


def test_no_profile_yet_says_what_to_do(as_):
    assert "Make the first profile" in listed(as_("alice"))
    shown = listed(as_("vera"))
    assert "An admin of the team makes the first one" in shown
    assert "<form class" not in shown


def test_who_is_in_no_team_is_told_so(as_, people):
    Membership.objects.filter(user=people.vera).delete()
    assert "No profile yet" not in listed(as_("vera"))


def test_the_list_takes_the_same_queries_for_one_profile_and_for_many(as_, people, profile):
    client = as_("alice")

    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert client.get(reverse("profiles")).status_code == 200
        return len(asked)

    listed(client)
    few = queries()
    for number in range(30):
        engine.take(Profile.unscoped.create(team=people.team, name=f"p{number}"))
    assert queries() == few


def test_a_long_list_has_pages(as_, people):
    Profile.unscoped.bulk_create(Profile(team=people.team, name=f"p{number:03}") for number in range(101))
    client = as_("vera")
    assert "p099" in listed(client)
    assert "p100" not in listed(client)
    assert "p100" in client.get(reverse("profiles"), {"page": "2"}).content.decode()
    assert client.get(reverse("profiles"), {"page": "9" * 18}).status_code == 200


def test_an_admin_makes_a_profile_and_lands_on_its_settings(as_, people, profile):
    answer = make(as_("alice"), machine="laptop")
    made = Profile.unscoped.get(name="web")
    assert (answer.status_code, answer.url) == (302, reverse("profile-settings", args=[made.pk]))
    assert (made.team, made.machine, made.path, made.is_default, made.revision) == (people.team, "laptop", "", False, 0)


@pytest.mark.parametrize("who", ["vera", "bob"])
def test_who_is_no_admin_makes_and_changes_nothing(as_, profile, who):
    client = as_(who)
    assert make(client).status_code == 403
    assert change(client, profile, machine="x").status_code == 403
    assert client.get(reverse("profile-edit", args=[profile.pk])).status_code == 403
    assert list(Profile.unscoped.values_list("name", "machine")) == [("default", "")]


def test_another_teams_profile_and_team_are_not_there(as_, profile):
    client = as_("mallory")
    assert change(client, profile, machine="x").status_code == 404
    assert client.get(reverse("profile-edit", args=[profile.pk])).status_code == 404
    assert make(client, team="ours").status_code == 404
    assert Profile.unscoped.count() == 1


def test_a_profile_is_made_in_the_team_that_was_chosen_if_it_is_the_admins(as_, people):
    more = Team.objects.create(slug="more", name="More")
    Membership.objects.create(team=more, user=people.alice, role=Role.ADMIN)
    Membership.objects.create(team=people.other_team, user=people.alice, role=Role.VIEWER)
    client = as_("alice")
    make(client, team="more")
    assert Profile.unscoped.get(name="web").team == more
    assert make(client, team="theirs").status_code == 403


def test_only_a_superuser_names_a_file_of_this_server(as_, people, profile):
    people.alice.is_staff = True
    people.alice.save()
    client = as_("alice")
    assert 'name="path"' not in listed(client)
    assert make(client, path=PATH).status_code == 403
    assert change(client, profile, path=PATH).status_code == 403
    assert set(Profile.unscoped.values_list("path", flat=True)) == {""}
    assert not AccessLog.unscoped.filter(action="profile-file-named").exists()


def test_a_superuser_names_it_and_the_team_can_see_that_in_its_log(as_, root, profile):
    profile.file_digest = "f" * 64
    profile.save()
    client = as_("alice")
    assert change(client, profile, path="/srv//dsh/./web/cordis.patch.yml").status_code == 302
    profile.refresh_from_db()
    assert (profile.path, profile.file_digest) == (PATH, "")
    assert AccessLog.unscoped.get(action="profile-file-named").target == "default"
    assert PATH not in AccessLog.unscoped.get(action="profile-file-named").target


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "cordis.patch.yml",
        "/srv/cordis.patch.yml\n",
        "/srv/cordis.patch.yml/",
        "/a\u202e/cordis.patch.yml",
    ],
)
def test_a_path_that_is_no_patch_file_is_refused(as_, root, profile, path):
    answer = change(as_("alice"), profile, path=path)
    profile.refresh_from_db()
    if path.endswith("\n"):  # forms take the space around a text away
        assert profile.path == path.strip()
    else:
        assert (answer.status_code, profile.path) == (200, "")
        assert 'aria-invalid="true"' in answer.content.decode()


def test_an_admin_who_may_not_see_the_path_does_not(as_, people, profile):
    profile.path = PATH
    profile.save()
    for who in ("alice", "bob", "vera"):
        assert "/srv/dsh" not in listed(as_(who))
    shown = as_("alice").get(reverse("profile-edit", args=[profile.pk])).content.decode()
    assert "/srv/dsh" not in shown
    assert "It names one." in shown
    change(as_("alice"), profile, machine="m")
    profile.refresh_from_db()
    assert (profile.path, profile.machine) == (PATH, "m")


def test_one_profile_of_the_team_is_the_default(as_, people, profile):
    other = default_of(people.other_team)
    client = as_("alice")
    make(client, is_default="on")
    defaults = Profile.unscoped.filter(is_default=True)
    assert set(defaults.values_list("name", "team__slug")) == {("web", "ours"), ("default", "theirs")}
    change(client, Profile.unscoped.get(name="web"))  # not ticked: the team keeps a default
    assert set(defaults.values_list("pk", flat=True)) == {Profile.unscoped.get(name="web").pk, other.pk}
    change(client, profile, is_default="on")
    assert set(defaults.values_list("pk", flat=True)) == {profile.pk, other.pk}
    rows = words(client.get(reverse("profiles")).content.decode())
    assert "default the team's default" in rows, "a name and a badge that read alike are told apart"


def test_a_name_that_is_taken_changes_nothing_not_even_the_default(as_, profile):
    client = as_("alice")
    answer = make(client, name="default", is_default="on")
    assert answer.status_code == 200
    assert "The team has a profile of this name on that machine." in answer.content.decode()
    assert list(Profile.unscoped.values_list("name", "is_default")) == [("default", True)]


def test_changing_a_name_leaves_settings_saved_meanwhile(as_, people, profile):
    client = as_("alice")
    client.get(reverse("profile-edit", args=[profile.pk]))
    mutate(profile, (Op("set", "auto", False),), 0, by=people.alice)
    change(client, profile, name="renamed")
    profile.refresh_from_db()
    assert (profile.name, profile.revision, profile.document) == ("renamed", 1, {"auto": False})


def test_hostile_names_stand_as_text(as_, people):
    people.team.name = HOSTILE
    people.team.save()
    Membership.objects.create(team=people.other_team, user=people.alice, role=Role.ADMIN)
    row = Profile.unscoped.create(team=people.team, name=HOSTILE, machine=HOSTILE)
    client = as_("alice")
    for url in (reverse("profiles"), reverse("profile-edit", args=[row.pk]), reverse("profile-history", args=[row.pk])):
        shown = client.get(url).content.decode()
        assert "<img src=x" not in shown
        assert "&lt;img src=x" in shown
    answer = make(client, name="a\u202eb")
    assert "hidden characters" in answer.content.decode()


@pytest.mark.parametrize("name", ["", " ", "x" * 121, "a\nb"])
def test_a_bad_name_is_told_and_what_was_typed_stays(as_, name):
    answer = make(as_("alice"), name=name, machine="laptop-7")
    assert answer.status_code == 200
    assert "laptop-7" in answer.content.decode()
    assert not Profile.unscoped.exists()
