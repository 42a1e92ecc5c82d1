"""The model catalogue: shipped, stated, seen; and what is offered."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.apps import apps
from django.core.exceptions import ValidationError

from compaction.core.routes_seen import RouteSeen, RoutesSeen
from compaction.models import ModelRoute, Profile
from compaction.services import catalogue
from dshweb.access.models import Team
from tests.api_rows import read_log
from tests.builders import assistant, header, human

DEEPSEEK = "deepseek-official"


def row(seq: int, kind: str, data: dict) -> dict:
    return {"type": kind, "seq": seq, "time": 1_796_025_802_262 + seq, "data": data}


def seen(model: str = "m", **values) -> RouteSeen:
    return RouteSeen("p", model, **values)


def test_new_teams_and_those_of_before_have_the_shipped_routes_and_a_default_profile(people):
    (before,) = Team.objects.bulk_create([Team(slug="before", name="Before")])  # nobody was told of it
    assert catalogue.known(before.pk, DEEPSEEK, "deepseek-flash") is None
    for _twice in range(2):
        import_module("compaction.migrations.0002_seed").give(apps, None)
    for team in (people.team, before):
        assert Profile.unscoped.filter(team=team, is_default=True).count() == 1
        flash = catalogue.known(team.pk, DEEPSEEK, "deepseek-flash")
        assert (flash.window, flash.default_max_tokens, flash.efforts) == (
            1_000_000,
            256_000,
            ("off", "low", "high", "max"),
        )
        assert (flash.default_effort, flash.allowed, flash.adapter_known) == ("high", True, True)


def test_any_other_id_of_a_provider_has_its_defaults_but_is_not_offered(team):
    other = catalogue.known(team.pk, DEEPSEEK, "deepseek-next")
    assert (other.window, other.default_max_tokens, other.stated_window) == (1_000_000, 256_000, None)
    assert [one["model"] for one in catalogue.models_body(team.pk)["routes"]] == ["deepseek-flash", "deepseek-v4-pro"]


def test_an_allowed_id_without_a_row_of_its_own_facts_is_offered_with_its_provider_s(team):
    ModelRoute.unscoped.create(team=team, provider=DEEPSEEK, model="deepseek-next", allowed=True)
    ModelRoute.unscoped.create(team=team, provider=DEEPSEEK, model="deepseek-old", efforts=["low"], allowed=True)
    ModelRoute.unscoped.create(team=team, provider="p", model="m", allowed=True, seen_effort="high")
    found = {one["model"]: (one["efforts"], one["defaultEffort"]) for one in catalogue.models_body(team.pk)["routes"]}
    assert found["deepseek-next"] == (["off", "low", "high", "max"], "high")
    assert found["deepseek-old"] == (["low"], None)  # its provider's default is none of its own
    assert found["m"] == ([], None)


def test_an_unknown_route_is_unknown(team):
    assert catalogue.known(team.pk, "nobody", "m") is None
    assert catalogue.Routes(team.pk)("nobody", "m") is None
    assert catalogue.window_for(None, None) is None


def test_models_are_the_allowed_routes_and_enabled_with_at_least_one(team):
    assert catalogue.models_body(team.pk) == {
        "enabled": True,
        "routes": [
            {"provider": DEEPSEEK, "model": name, "efforts": ["off", "low", "high", "max"], "defaultEffort": "high"}
            for name in ("deepseek-flash", "deepseek-v4-pro")
        ],
    }
    ModelRoute.unscoped.create(team=team, provider="a", model="m", allowed=True)
    assert catalogue.models_body(team.pk)["routes"][0] == {
        "provider": "a", "model": "m", "efforts": [], "defaultEffort": None,
    }  # fmt: skip
    ModelRoute.unscoped.filter(team=team).update(allowed=False)
    assert catalogue.models_body(team.pk) == {"enabled": False, "routes": []}


def test_what_was_stated_holds_over_what_was_seen(team):
    catalogue.note_seen(team, [seen(window=32_000, default_max_tokens=4_000, time=1_000_000)])
    assert catalogue.known(team.pk, "p", "m").window == 32_000
    assert not catalogue.known(team.pk, "p", "m").adapter_known
    ModelRoute.unscoped.filter(team=team, provider="p").update(context_window=64_000)
    catalogue.note_seen(team, [seen(window=33_000, time=2_000_000)])
    found = catalogue.known(team.pk, "p", "m")
    assert (found.window, found.stated_window, found.default_max_tokens) == (64_000, 64_000, 4_000)
    assert ModelRoute.unscoped.get(team=team, provider="p").seen_window == 33_000


def test_a_session_goes_by_its_own_window_where_none_was_stated(team):
    catalogue.note_seen(team, [seen(window=32_000)])
    found = catalogue.known(team.pk, "p", "m")
    assert catalogue.window_for(found, 25_000) == 25_000
    assert catalogue.window_for(found, None) == 32_000
    assert catalogue.window_for(catalogue.known(team.pk, DEEPSEEK, "deepseek-flash"), 25_000) == 1_000_000


def test_an_older_log_does_not_override_a_newer_one(team):
    catalogue.note_seen(team, [seen(window=2, time=2_000_000_000)])
    catalogue.note_seen(team, [seen(window=1, time=1_000_000_000)])
    assert ModelRoute.unscoped.get(team=team, provider="p").seen_window == 2


@pytest.mark.parametrize(
    "odd",
    [
        RouteSeen("", "m", 1), RouteSeen("p" * 121, "m", 1), RouteSeen("p", "m\0", 1), RouteSeen("p", "m\u202e", 1),
        RouteSeen("p", "m", 1 << 60), RouteSeen("p", "m", -1), RouteSeen("p", "", 5),
    ],
)  # fmt: skip
def test_what_no_route_looks_like_is_not_kept(team, odd):
    before = ModelRoute.unscoped.count()
    catalogue.note_seen(team, [odd])
    assert ModelRoute.unscoped.count() == before


def test_logs_cannot_fill_the_catalogue_without_end(team, monkeypatch):
    monkeypatch.setattr(catalogue, "MOST_SEEN", 5)
    catalogue.note_seen(team, [seen(f"m{n}") for n in range(20)])
    assert ModelRoute.unscoped.filter(team=team).count() == 5
    catalogue.note_seen(team, [seen("m0", window=9)])
    assert ModelRoute.unscoped.get(team=team, model="m0").seen_window == 9


def test_the_later_row_wins_and_what_it_leaves_out_stays():
    fold = RoutesSeen()
    fold.feed("request/context", {"provider": "p", "model": "m", "contextWindow": 10}, 1)
    config = {"provider": "p", "model": "m", "maxTokens": 5, "reasoningEffort": "low"}
    fold.feed("request/header", {"header": {"config": config, "adapterDefaults": {"maxTokens": True}}}, 2)
    fold.feed("request/header", {"header": {"config": config | {"maxTokens": 3}}}, 3)
    assert fold.found == (RouteSeen("p", "m", 10, 5, None, 3),)


@pytest.mark.parametrize("data", [None, [], {}, {"header": 1}, {"header": {"config": {"provider": 1, "model": "m"}}}])
def test_rows_that_name_no_route_count_nothing(data):
    fold = RoutesSeen()
    fold.feed("request/header", data)
    fold.feed("request/context", data)
    assert fold.found == ()


def test_an_import_fills_the_catalogue_of_its_team_only(people, data_dir):
    config = {"provider": "acme", "model": "m1", "maxTokens": 700, "reasoningEffort": "low"}
    rows = [
        header(),
        row(0, "request/header", {"header": {"config": config, "adapterDefaults": {"maxTokens": True}}}),
        row(1, "request/context", {"provider": "acme", "model": "m1", "contextWindow": 12_345}),
        human(2, "hello"),
        assistant(3, "hi"),
    ]
    read_log(people, data_dir, rows)
    found = ModelRoute.unscoped.get(provider="acme")
    assert (found.team, found.seen_window, found.seen_max_tokens, found.seen_effort) == (people.team, 12_345, 700, "")
    assert (found.context_window, found.allowed, found.efforts) == (None, False, None)
    assert found.seen_at is not None


def test_nothing_that_masking_hides_is_kept_of_a_log(people, data_dir):
    secret = "sk-abcdefghijklmnopqrstuvwx1234567890"
    config = {"provider": "acme", "model": "m1", "reasoningEffort": secret}
    rows = [
        header(),
        row(0, "request/header", {"header": {"config": config, "adapterDefaults": {"reasoningEffort": True}}}),
        row(1, "request/context", {"provider": secret, "model": "m", "contextWindow": 12_345}),
        row(2, "request/context", {"provider": "acme", "model": secret, "contextWindow": 12_345}),
    ]
    read_log(people, data_dir, rows)
    assert ModelRoute.unscoped.get(provider="acme").seen_effort == ""
    assert not [kept for kept in ModelRoute.unscoped.values_list("provider", "model") if secret in kept]


@pytest.mark.parametrize(
    "values",
    [
        {"efforts": ["low", "low"]}, {"efforts": "low"}, {"efforts": [1]}, {"default_effort": "x", "efforts": ["low"]},
        {"context_window": 0}, {"model": "", "allowed": True},
    ],
)  # fmt: skip
def test_the_admin_refuses_what_cannot_be(team, values):
    with pytest.raises(ValidationError):
        ModelRoute(**{"team": team, "provider": "p", "model": "m"} | values).full_clean()
