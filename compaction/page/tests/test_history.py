"""The history of a profile's settings: newest first, field by field, in pages, for the team alone."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from compaction.core.document import Op
from compaction.models import Profile, SettingsRevision
from compaction.page.history import entries
from compaction.services.profiles import default_of
from compaction.services.settings import mutate, replace


@pytest.fixture
def profile(people) -> Profile:
    return default_of(people.team)


@pytest.fixture
def shown(client, people):
    def get(profile: Profile, who: str = "vera", **query: object) -> str:
        client.force_login(getattr(people, who))
        answer = client.get(reverse("profile-history", args=[profile.pk]), query)
        assert answer.status_code == 200
        return answer.content.decode()

    return get


def saved(profile: Profile, number: int, by=None) -> Profile:
    for _each in range(number):
        ops = (Op("set", "compactionRetries", profile.revision + 2),)
        profile = mutate(profile, ops, profile.revision, by=by).profile
    return profile


def revisions(html: str) -> list[int]:
    return [int(one) for one in re.findall(r'id="r(\d+)"', html)]


def test_each_revision_says_what_it_changed_before_and_after(profile, people):
    profile = mutate(
        profile, (Op("set", "mode", "native"), Op("set", "retainTokens", 60000)), 0, by=people.alice
    ).profile
    profile = mutate(profile, (Op("set", "retainRatio", 0.2), Op("unset", "mode")), 1, by=people.bob).profile
    newest, oldest = entries(profile)[0]
    assert [(one.key, one.before, one.after) for one in newest.changes] == [
        ("mode", "DSH native", "default (Goal-enhanced)"),
        ("retainRatio", "not set", "0.2"),
        ("retainTokens", "60\u202f000 tokens", "not set"),
    ]
    assert [(one.key, one.before, one.after) for one in oldest.changes] == [
        ("mode", "default (Goal-enhanced)", "DSH native"),
        ("retainTokens", "not set", "60\u202f000 tokens"),
    ]
    assert (newest.current, oldest.current) == (True, False)


def test_the_page_names_author_and_origin_and_holds_the_whole_document(profile, people, shown):
    mutate(profile, (Op("set", "auto", False),), 0, by=people.alice)
    replace(profile.pk, {"auto": False, "maxTokens": 5000}, 1, by=people.bob)
    html = shown(profile)
    assert revisions(html) == [2, 1]
    assert "alice" in html
    assert "bob" in html
    assert "read from a file" in html
    assert "&quot;maxTokens&quot;: 5000" in html


def test_restoring_is_offered_to_who_may_save_and_not_for_what_stands(profile, people, shown):
    profile = saved(profile, 3, people.alice)
    settings = reverse("profile-settings", args=[profile.pk])
    assert re.findall(rf'href="{settings}\?from=(\d+)"', shown(profile, "alice")) == ["2", "1"]
    for who in ("vera", "bob"):
        assert "?from=" not in shown(profile, who)


def test_twenty_a_page_and_none_twice_or_missing(profile, people, shown):
    profile = saved(profile, 45)
    first = shown(profile)
    assert revisions(first) == list(range(45, 25, -1))
    assert "?before=26" in first
    second = shown(profile, before=26)
    assert revisions(second) == list(range(25, 5, -1))
    third = shown(profile, before=6)
    assert revisions(third) == [5, 4, 3, 2, 1]
    assert 'rel="next"' not in third
    assert "Nothing was ever saved" not in shown(profile, before=1)
    assert revisions(shown(profile, before="x' OR 1")) == revisions(first)


def test_the_last_revision_of_a_page_is_compared_with_the_one_on_the_next(profile):
    profile = saved(profile, 25)
    last = entries(profile)[0][-1]
    assert [(one.before, one.after) for one in last.changes] == [("6", "7")]


def test_what_changed_is_not_guessed_when_the_one_before_is_gone(profile, shown):
    profile = saved(profile, 3)
    SettingsRevision.unscoped.filter(revision=2).delete()
    assert [one.changes is None for one in entries(profile)[0]] == [True, False]
    assert "cannot be told" in shown(profile)


def test_a_profile_without_revisions_says_so(profile, shown):
    assert "Nothing was ever saved for this profile" in shown(profile)


def test_another_teams_history_is_not_there(client, profile, people):
    client.force_login(people.mallory)
    assert client.get(reverse("profile-history", args=[profile.pk])).status_code == 404
    client.logout()
    assert client.get(reverse("profile-history", args=[profile.pk])).status_code == 302


def test_hostile_values_stand_as_text(profile, people, shown):
    evil = "<script>alert(1)</script>\u202e"
    ops = (Op("set", "summarizationProvider", evil), Op("set", "summarizationModel", "\x1b[31mred"))
    mutate(profile, ops, 0, by=people.alice)
    people.alice.username = "<b>al</b>"
    people.alice.save()
    html = shown(profile)
    assert "<script>alert" not in html
    assert "<b>al</b>" not in html
    assert "\u202e" not in html
    assert "\x1b" not in html


def test_a_huge_document_is_cut_and_says_so(profile, people, shown):
    policies = [{"provider": "p" * 50, "model": f"m{number:04}", "retainTokens": 10} for number in range(400)]
    mutate(profile, (Op("set", "modelPolicies", policies),), 0, by=people.alice)
    html = shown(profile)
    assert len(html) < 30_000
    assert "characters more; the API gives the whole" in html


def test_the_history_takes_the_same_queries_for_one_revision_and_for_many(client, profile, people):
    client.force_login(people.alice)
    url = reverse("profile-history", args=[profile.pk])

    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            client.get(url)
        return len(asked)

    profile = saved(profile, 1, people.alice)
    queries()
    few = queries()
    saved(profile, 25, people.alice)
    assert queries() == few
