"""Saving settings: one expected revision, all or nothing, both sides of a conflict."""

from __future__ import annotations

import math
import threading
from typing import Any

import pytest
from django.db import connection, transaction

from compaction.core.document import Op, parse_ops
from compaction.core.problem import InvalidSettings
from compaction.models import ModelRoute, Profile, SettingsRevision
from compaction.services.profiles import default_of
from compaction.services.settings import Conflict, document_at, mutate, replace


def put(**values: Any) -> tuple[Op, ...]:
    return tuple(Op("set", key, value) for key, value in values.items())


def drop(*keys: str) -> tuple[Op, ...]:
    return tuple(Op("unset", key) for key in keys)


DEEP: Any = []
for _level in range(5000):
    DEEP = [DEEP] if _level % 2 else {"a": DEEP}


@pytest.fixture
def profile(people) -> Profile:
    return default_of(people.team)


def stored(profile: Profile) -> tuple[int, dict[str, Any]]:
    row = Profile.unscoped.get(pk=profile.pk)
    return row.revision, row.document


def test_a_save_raises_the_revision_and_says_who_and_when(profile, alice):
    saved = mutate(profile, put(thresholdRatio=0.7), 0, by=alice)
    assert stored(profile) == (1, {"thresholdRatio": 0.7})
    assert (saved.profile.revision, [change.key for change in saved.changes]) == (1, ["thresholdRatio"])
    row = SettingsRevision.unscoped.get(profile=profile)
    assert (row.revision, row.document, row.author, row.origin) == (1, {"thresholdRatio": 0.7}, alice, "saved")
    assert row.ops == [{"op": "set", "path": "thresholdRatio", "value": 0.7}]
    assert Profile.unscoped.get(pk=profile.pk).changed_by == alice
    assert Profile.unscoped.get(pk=profile.pk).changed_at is not None


def test_who_comes_second_gets_both_sides_and_nothing_is_written(profile, alice, bob):
    mutate(profile, put(auto=False), 0, by=alice)
    mutate(profile, put(thresholdRatio=0.7), 1, by=alice)
    with pytest.raises(Conflict) as caught:
        mutate(profile, put(thresholdRatio=0.5), 1, by=bob)
    conflict = caught.value
    assert (conflict.expected, conflict.actual) == (1, 2)
    assert conflict.base == {"auto": False}
    assert conflict.yours == {"auto": False, "thresholdRatio": 0.5}
    assert conflict.theirs.document == {"auto": False, "thresholdRatio": 0.7}
    assert conflict.theirs.changed_by == alice
    assert stored(profile) == (2, {"auto": False, "thresholdRatio": 0.7})


def test_a_conflict_on_a_key_that_nobody_else_touched_is_one_all_the_same(profile, alice):
    mutate(profile, put(auto=False), 0, by=alice)
    with pytest.raises(Conflict):
        mutate(profile, put(thresholdRatio=0.5), 0, by=alice)


def test_a_revision_that_never_was_has_no_base(profile, alice):
    with pytest.raises(Conflict) as caught:
        mutate(profile, put(auto=False), 7, by=alice)
    assert (caught.value.base, caught.value.yours) == (None, None)


def test_saving_what_stands_already_is_no_new_revision(profile, alice):
    mutate(profile, put(headroomTokens=4000, maxTokens=900), 0, by=alice)
    saved = mutate(profile, put(headroomTokens=4000.0), 1, by=alice)
    assert (saved.changes, stored(profile)[0]) == ((), 1)
    assert SettingsRevision.unscoped.filter(profile=profile).count() == 1


def test_one_form_of_retention_takes_the_place_of_the_other(profile, alice):
    mutate(profile, put(retainRatio=0.2), 0, by=alice)
    mutate(profile, put(retainTokens=0), 1, by=alice)
    assert stored(profile)[1] == {"retainTokens": 0}
    with pytest.raises(InvalidSettings):
        mutate(profile, put(retainTokens=1, retainRatio=0.1), 2, by=alice)
    mutate(profile, put(retainRatio=0.3), 2, by=alice)
    assert stored(profile) == (3, {"retainRatio": 0.3})


def test_provider_and_model_move_together(profile, alice):
    pair = {"summarizationProvider": "deepseek-official", "summarizationModel": "deepseek-v4-pro"}
    for half in (put(summarizationProvider="p"), put(summarizationModel="m")):
        with pytest.raises(InvalidSettings):
            mutate(profile, half, 0, by=alice)
    mutate(profile, put(**pair), 0, by=alice)
    with pytest.raises(InvalidSettings):
        mutate(profile, drop("summarizationModel"), 1, by=alice)
    assert stored(profile) == (1, pair)
    mutate(profile, drop(*pair), 1, by=alice)
    assert stored(profile) == (2, {})


def test_enhanced_settings_stay_while_the_native_engine_is_chosen(profile, alice):
    mutate(profile, put(cachePriority=False, reasoningEffort="high"), 0, by=alice)
    mutate(profile, put(mode="native"), 1, by=alice)
    assert stored(profile)[1] == {"cachePriority": False, "reasoningEffort": "high", "mode": "native"}


@pytest.mark.parametrize(
    ("ops", "code"),
    [
        (put(thresholdRatio=1), "threshold-is-one"),
        (put(retainRatio=0.8), "not-below"),
        (put(headroomTokens=True), "not-a-number"),
        (put(modelPolicies=[{"provider": "p\0", "model": "m"}]), "bad-text"),
        (put(summarizationProvider="p", summarizationModel="m\ud800"), "bad-text"),
        (put(modelPolicies=[{"provider": "p", "model": "m" * 70_000}]), "too-large"),
        ((Op("set", "tresholdRatio", 0.5),), "unknown-key"),
        pytest.param(put(modelPolicies=DEEP), "too-deep", id="deep"),
    ],
)
def test_what_breaks_a_rule_is_refused_whole(profile, alice, ops, code):
    with pytest.raises(InvalidSettings) as caught:
        mutate(profile, (*put(auto=False), *ops), 0, by=alice)
    assert any(code in problem.code for problem in caught.value.problems), caught.value.problems
    assert stored(profile) == (0, {})


@pytest.mark.parametrize(
    "value",
    [math.nan, -math.inf, "nul\0", "\ud800", "m" * 70_000, DEEP],
    ids=["nan", "inf", "nul", "half", "large", "deep"],
)
def test_what_a_later_operation_undoes_has_to_be_keepable_too(profile, alice, value):
    with pytest.raises(InvalidSettings, match=r"^headroomTokens: "):
        mutate(profile, put(headroomTokens=value) + put(headroomTokens=5000), 0, by=alice)
    assert stored(profile) == (0, {})


def test_operations_that_are_too_much_together_are_refused(profile, alice):
    many = put(modelPolicies="m" * 10_000) * 10
    with pytest.raises(InvalidSettings):
        mutate(profile, many + put(modelPolicies=[]), 0, by=alice)
    assert stored(profile) == (0, {})


def test_a_row_that_was_read_before_and_is_saved_now_undoes_no_settings(profile, alice):
    mutate(profile.pk, put(auto=False), 0, by=alice)
    Profile.unscoped.filter(pk=profile.pk).update(file_digest="seen")
    assert (profile.revision, profile.document) == (0, {})  # what this caller still sees
    profile.machine = "b"
    profile.save()
    assert stored(profile) == (1, {"auto": False})
    row = Profile.unscoped.get(pk=profile.pk)
    assert (row.machine, row.changed_by, row.file_digest) == ("b", alice, "seen")


def test_an_effort_outside_a_known_list_is_an_error_and_an_unknown_list_a_warning(profile, alice):
    pair = {"summarizationProvider": "deepseek-official", "summarizationModel": "deepseek-flash"}
    with pytest.raises(InvalidSettings) as caught:
        mutate(profile, put(**pair, reasoningEffort="ultra"), 0, by=alice)
    assert caught.value.problems[0].supported == ("off", "low", "high", "max")
    other = {"summarizationProvider": "elsewhere", "summarizationModel": "m"}
    saved = mutate(profile, put(**other, reasoningEffort="ultra"), 0, by=alice)
    assert {problem.code for problem in saved.warnings} == {"route-not-allowed", "effort-unknown"}


def test_routes_are_judged_by_the_teams_own_catalogue(profile, people, alice):
    ModelRoute.unscoped.create(team=people.other_team, provider="p", model="m", efforts=["one"], allowed=True)
    chosen = put(summarizationProvider="p", summarizationModel="m", reasoningEffort="one")
    assert mutate(profile, chosen, 0, by=alice).warnings
    theirs = default_of(people.other_team)
    assert mutate(theirs, chosen, 0, by=people.mallory).warnings == ()


def test_a_whole_document_from_a_file_goes_by_the_harness_rules(profile, alice):
    saved = replace(profile, {"thresholdRatio": 1, "retainTokens": 10}, 0, by=alice)
    assert stored(profile) == (1, {"thresholdRatio": 1, "retainTokens": 10})
    assert [problem.code for problem in saved.warnings] == ["threshold-is-one"]
    row = SettingsRevision.unscoped.get(profile=profile)
    assert (row.origin, {op["path"] for op in row.ops}) == ("imported", {"thresholdRatio", "retainTokens"})
    with pytest.raises(InvalidSettings):
        replace(profile, {"thresholdRatio": 2}, 1, by=alice)
    with pytest.raises(Conflict):
        replace(profile, {}, 0, by=alice)
    replace(profile, {}, 1, by=alice)
    assert stored(profile) == (2, {})


def test_keys_that_a_file_has_no_place_for_stay(profile, alice):
    mutate(profile, put(mode="native", cachePriority=False, thresholdRatio=0.5), 0, by=alice)
    replace(profile, {"retainTokens": 9}, 1, by=alice, unspoken=("mode", "reasoningEffort", "cachePriority"))
    assert stored(profile) == (2, {"mode": "native", "cachePriority": False, "retainTokens": 9})
    assert {op["path"] for op in SettingsRevision.unscoped.get(revision=2).ops} == {"thresholdRatio", "retainTokens"}


def test_every_revision_can_be_looked_at_again(profile, alice):
    for revision, ratio in enumerate((0.5, 0.6, 0.7)):
        mutate(profile, put(thresholdRatio=ratio), revision, by=alice)
    row = Profile.unscoped.get(pk=profile.pk)
    assert [document_at(row, n) for n in range(5)] == [
        {}, {"thresholdRatio": 0.5}, {"thresholdRatio": 0.6}, {"thresholdRatio": 0.7}, None,
    ]  # fmt: skip


def test_a_save_inside_a_transaction_that_fails_leaves_nothing(profile, alice):
    def save_and_fail() -> None:
        with transaction.atomic():
            mutate(profile, put(auto=False), 0, by=alice)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        save_and_fail()
    assert stored(profile) == (0, {})
    assert not SettingsRevision.unscoped.filter(profile=profile).exists()


def test_a_profile_that_is_gone_says_so(profile, alice):
    pk = profile.pk
    profile.delete()
    with pytest.raises(Profile.DoesNotExist):
        mutate(pk, put(auto=False), 0, by=alice)


@pytest.mark.django_db(transaction=True)
def test_of_writers_at_once_one_wins_and_none_loses_an_update(people):
    """Threads with connections of their own: each adds one to a number again and again, as often as it must."""
    profile, writers, rounds = default_of(people.team), 4, 8
    start, conflicts, errors = threading.Barrier(writers), [], []

    def write() -> None:
        try:
            start.wait()
            row = Profile.unscoped.get(pk=profile.pk)
            for _ in range(rounds):
                while True:
                    ops = put(compactionRetries=row.document.get("compactionRetries", 0) + 1)
                    try:
                        row = mutate(row, ops, row.revision, by=people.alice).profile
                        break
                    except Conflict as conflict:
                        conflicts.append(conflict.actual)
                        row = conflict.theirs
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=write) for _ in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not errors
    assert stored(profile) == (writers * rounds, {"compactionRetries": writers * rounds})
    history = SettingsRevision.unscoped.filter(profile=profile).order_by("revision")
    assert [row.document["compactionRetries"] for row in history] == list(range(1, writers * rounds + 1))


def test_operations_as_they_arrive_are_what_is_kept(profile, alice):
    raw = [{"op": "set", "path": ["auto"], "value": False}, {"op": "unset", "path": "mode"}]
    mutate(profile, parse_ops(raw), 0, by=alice)
    assert SettingsRevision.unscoped.get(profile=profile).ops == [
        {"op": "set", "path": "auto", "value": False},
        {"op": "unset", "path": "mode"},
    ]
