"""`/api/v1/profiles`: settings with their revision, both sides of a conflict, who may save."""

from __future__ import annotations

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from compaction.core.document import Op
from compaction.models import ModelRoute, Profile
from compaction.services import engine
from compaction.services.profiles import default_of
from compaction.services.settings import mutate
from tests.api_rows import bearer

pytestmark = pytest.mark.django_db
LIST = "/api/v1/profiles"


@pytest.fixture
def profile(people) -> Profile:
    return default_of(people.team)


@pytest.fixture
def admin(people) -> dict[str, str]:
    return bearer(people.team, people.alice, "read", "engine")


def url(profile: Profile) -> str:
    return f"{LIST}/{profile.pk}/compaction"


def post(client, profile, headers, ops, revision=0, **more):
    body = {"ops": ops, "expectedRevision": revision} | more
    return client.post(url(profile), json.dumps(body), content_type="application/json", headers=headers)


def put(key, value):
    return {"op": "set", "path": key, "value": value}


def test_a_save_answers_with_what_stands_then(client, profile, admin):
    engine.take(profile)
    answer = post(client, profile, admin, [put("thresholdRatio", 0.7), put("retainTokens", 0)])
    body = answer.json()
    assert answer.status_code == 200, body
    assert (body["revision"], body["document"]) == (1, {"thresholdRatio": 0.7, "retainTokens": 0})
    assert (body["changedBy"], body["requiresReload"], body["activeRevision"]) == ("alice", True, 0)
    assert body["effective"]["thresholdRatio"] == 0.7
    assert body["activeConfig"]["thresholdRatio"] == 0.8
    assert "retainRatio" not in body["effective"]
    engine.take(Profile.unscoped.get(pk=profile.pk))
    body = client.get(url(profile), headers=admin).json()
    assert (body["requiresReload"], body["activeConfig"]) == (False, body["effective"])


def test_before_any_worker_the_engine_holds_nothing(client, profile, admin):
    body = client.get(url(profile), headers=admin).json()
    assert (body["activeConfig"], body["activeRevision"], body["requiresReload"]) == (None, None, False)
    assert (body["revision"], body["document"], body["changedBy"], body["findings"]) == (0, {}, None, [])


def test_each_value_says_where_it_came_from_and_each_model_where_compaction_would_begin(client, profile, admin):
    ModelRoute.unscoped.create(team=profile.team, provider="acme", model="m", allowed=True)
    policy = {"provider": "small", "model": "s", "retainTokens": 5}
    body = post(client, profile, admin, [put("thresholdRatio", 0.7), put("modelPolicies", [policy])]).json()
    assert {key: value for key, value in body["origins"].items() if value != "default"} == {
        "thresholdRatio": "set", "maxTokens": "headroomTokens", "modelPolicies": "set",
    }  # fmt: skip
    assert set(body["origins"]) == set(body["effective"])
    found = {one["model"]: one for one in body["triggers"]}
    assert set(found) == {"deepseek-flash", "deepseek-v4-pro", "m", "s"}
    flash = found["deepseek-flash"]
    assert (flash["contextWindow"], flash["outputReserve"]) == (1_000_000, 256_000)
    assert (flash["thresholdTokens"], flash["winner"], flash["defaultOverrode"]) == (
        678_464,
        "headroom",
        "thresholdRatio",
    )
    assert (flash["retainTokens"], flash["problem"]) == (119_040, None)
    for unknown in (found["m"], found["s"]):
        assert (unknown["contextWindow"], unknown["outputReserve"], unknown["thresholdTokens"]) == (None, None, None)
        assert "unknown" in unknown["problem"]


def test_a_conflict_carries_both_sides(client, profile, people, admin):
    mutate(profile, (Op("set", "auto", value=False),), 0, by=people.alice)
    mutate(profile, (Op("set", "mode", "native"),), 1, by=people.alice)
    answer = post(client, profile, admin, [put("mode", "handoff")], 1)
    body = answer.json()
    assert (answer.status_code, body["code"]) == (409, "settings/conflict")
    detail = body["detail"]
    assert (detail["expected"], detail["actual"], detail["changedBy"]) == (1, 2, "alice")
    assert detail["base"] == {"auto": False}
    assert detail["yours"] == {"auto": False, "mode": "handoff"}
    assert detail["theirs"] == {"auto": False, "mode": "native"}
    assert detail["changedAt"].endswith("Z")
    assert Profile.unscoped.get(pk=profile.pk).document == detail["theirs"]


def test_a_revision_that_never_was_is_not_told_as_somebody_else_s_saving(client, profile, admin):
    body = post(client, profile, admin, [put("mode", "handoff")], 7).json()
    assert "no such revision yet" in body["message"]
    assert "somebody" not in body["message"]
    assert (body["detail"]["base"], body["detail"]["yours"]) == (None, None)


def test_what_breaks_a_rule_is_answered_with_where_and_what_would_do(client, profile, admin):
    answer = post(client, profile, admin, [put("auto", False), put("mode", "quick"), put("thresholdRatio", 1)])
    body = answer.json()
    assert (answer.status_code, body["code"]) == (422, "settings/rejected")
    found = {one["path"]: one for one in body["detail"]["findings"]}
    assert set(found) == {"mode", "thresholdRatio"}
    assert found["mode"]["supported"] == ["native", "goal", "handoff"]
    assert Profile.unscoped.get(pk=profile.pk).revision == 0


@pytest.mark.parametrize(
    ("ops", "revision"),
    [
        ([], 0), ([put("auto", False)], -1), ([put("auto", False)], None), ([put("auto", False)], 1.5), ([{"op": "set"}], 0),
        ([{"op": "put", "path": "auto"}], 0), ([{"op": "set", "path": "auto"}], 0), ([put("no", 1)], 0),
        ([{"op": "unset", "path": "auto", "value": 1}], 0), ([put(["auto", "x"], 1)], 0), ([put("auto", None)], 0),
        ([put("auto", True)] * 101, 0), ([put("auto", False)], "0"), ([put("auto", False)], False),
    ],
)  # fmt: skip
def test_calls_that_make_no_sense_change_nothing(client, profile, admin, ops, revision):
    answer = post(client, profile, admin, ops, revision)
    assert answer.status_code == 422, answer.content
    assert Profile.unscoped.get(pk=profile.pk).revision == 0


NO_NUMBER = '{"ops": [{"op": "set", "path": "headroomTokens", "value": NaN}], "expectedRevision": 0}'


@pytest.mark.parametrize("text", ['{"ops": NaN', "", "[]", NO_NUMBER])
def test_a_body_that_is_none_changes_nothing(client, profile, admin, text):
    answer = client.post(url(profile), text, content_type="application/json", headers=admin)
    assert answer.status_code in (400, 422), answer.content
    assert Profile.unscoped.get(pk=profile.pk).revision == 0


@pytest.mark.parametrize("depth", [20, 300, 450, 600, 990, 100_000])
@pytest.mark.parametrize(("opening", "closing"), ["[]", ('{"a":', "1}")])
def test_a_value_nested_without_end_is_refused(client, profile, admin, depth, opening, closing):
    value = opening * depth + closing[:-1] + closing[-1] * depth
    text = f'{{"ops": [{{"op": "set", "path": "modelPolicies", "value": {value}}}], "expectedRevision": 0}}'
    answer = client.post(url(profile), text, content_type="application/json", headers=admin)
    assert answer.status_code in (400, 422), answer.content[:300]


def test_only_admins_and_their_tokens_for_the_engine_save(client, profile, people):
    ops = [put("auto", False)]
    for user, scopes, status in (
        (people.vera, (), 403), (people.bob, (), 403), (people.alice, ("read", "review"), 403),
        (people.alice, ("engine",), 200),
    ):  # fmt: skip
        assert post(client, profile, bearer(people.team, user, *scopes), ops).status_code == status, (user, scopes)
    assert post(client, profile, bearer(people.other_team, people.mallory), ops).status_code == 404
    assert post(client, profile, {}, ops).status_code == 401


def test_who_may_save_is_told(client, profile, people):
    for user, may in ((people.alice, True), (people.bob, False)):
        assert client.get(url(profile), headers=bearer(people.team, user)).json()["mayChange"] is may


def test_the_history_says_who_did_what(client, profile, people, admin):
    for revision, mode in enumerate(("native", "goal", "handoff")):
        mutate(profile, (Op("set", "mode", mode),), revision, by=people.alice)
    page = client.get(f"{url(profile)}/history?limit=2", headers=admin).json()
    assert [(one["revision"], one["document"]["mode"], one["author"]) for one in page["items"]] == [
        (3, "handoff", "alice"), (2, "goal", "alice"),
    ]  # fmt: skip
    rest = client.get(f"{url(profile)}/history?limit=2&cursor={page['next']}", headers=admin).json()
    assert ([one["revision"] for one in rest["items"]], rest["next"]) == ([1], None)


def test_the_list_costs_the_same_however_many_there_are(client, people, admin):
    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert client.get(LIST, headers=admin).status_code == 200
        return len(asked)

    queries()  # the first call of a token writes down that it was used
    few = queries()
    for n in range(20):
        engine.take(Profile.unscoped.create(team=people.team, name=f"p{n}", changed_by=people.alice))
    assert queries() == few
    names = {one["name"] for one in client.get(LIST, headers=admin).json()["items"]}
    assert names == {"default"} | {f"p{n}" for n in range(20)}


def test_settings_that_no_longer_fit_are_shown_with_why(client, profile, admin):
    engine.take(profile)
    Profile.unscoped.filter(pk=profile.pk).update(document={"gone": 1}, revision=5)
    body = client.get(url(profile), headers=admin).json()
    assert (body["effective"], body["requiresReload"], body["findings"][0]["code"]) == (None, True, "unknown-key")
    assert client.get(LIST, headers=admin).json()["items"][0]["requiresReload"] is True
