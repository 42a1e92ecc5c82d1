"""The page that tries other settings on a session: what it lists, what it says of wrong values, who may see it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from django.urls import reverse

from compaction import trying
from compaction.core.document import Op
from compaction.core.formula import NoSpec
from compaction.services.profiles import default_of
from compaction.services.settings import mutate
from dshweb.access.models import Team, Visibility
from dshweb.pages import what_if
from dshweb.sessionlog.models import SourceFile
from dshweb.sessionlog.services.ingest import Import, ingest_file
from dshweb.ui.templatetags.dshweb import GAP, grouped, percent
from tests.api_rows import read_log
from tests.builders import header, human

CORPUS = Path(__file__).parents[3] / "tests" / "data" / "corpus"


@pytest.fixture
def url(people, data_dir) -> str:
    path = next((CORPUS / "repeated-compaction").rglob("session*.jsonl*"))
    ingest_file(path, run=Import.by(people.team, people.alice, inline=True))
    return reverse("what-if", args=[SourceFile.unscoped.get(location=str(path)).log.session.pk])


def test_steps_that_only_stay_over_are_counted_with_the_one_that_crossed(client, people, url):
    client.force_login(people.vera)
    page = client.get(
        url, {"thresholdRatio": "0.5", "headroomTokens": "0", "maxTokens": "1000", "retainTokens": "3000"}
    )
    points, looks = page.context["points"], page.context["looks"]
    assert all(one["crossing"] or one["point"].fired for one in points)
    assert sum(1 + one["over"] for one in points) == looks["over"] == 21
    text = page.content.decode()
    assert "not a prediction" in text
    assert text.count("would fire") == looks["crossings"] == 3
    assert text.count("really fired") == looks["fired"] == 3
    window = page.context["tried"].marks[0].route.window
    assert text.count(f"of a window of {grouped(window)}") == len(page.context["tried"].marks) == 4


@pytest.mark.parametrize(
    "values", [{"thresholdRatio": "0"}, {"thresholdRatio": "nan"}, {"headroomTokens": "1e3"}, {"maxTokens": "0"}]
)
def test_a_wrong_value_is_said_beside_its_field_and_nothing_is_replayed(client, people, url, values):
    client.force_login(people.vera)
    page = client.get(url, values)
    assert page.status_code == 200
    assert page.context["tried"] is None
    assert page.content.decode().count('aria-invalid="true"') == 1


def test_a_log_that_is_too_large_is_said(client, people, url, monkeypatch):
    client.force_login(people.vera)
    monkeypatch.setattr(trying, "MOST_BYTES", 10)
    assert "too large" in client.get(url).content.decode()


@pytest.mark.parametrize(
    "values",
    [
        {"headroomTokens": "0"},
        {"retainRatio": "0.2", "retainTokens": "5"},
        {"thresholdRatio": "0.5", "retainRatio": "0.9"},
    ],
)
def test_settings_that_do_not_go_together_are_said_in_words_of_the_page(client, people, url, values):
    client.force_login(people.vera)
    assert client.get(url, values).context["problem"] in what_if.BROKEN.values()


def test_an_empty_field_shows_what_holds_without_it(client, people, url):
    client.force_login(people.vera)
    hints = dict(
        re.findall(
            r'name="(\w+)"[^>]* placeholder="([^"]*)"', client.get(url, {"headroomTokens": "5000"}).content.decode()
        )
    )
    assert hints["thresholdRatio"] == "0.8"
    assert hints["maxTokens"] == grouped(5000), "it follows the headroom"
    assert (hints["retainRatio"], hints["retainTokens"], hints["contextWindow"]) == ("0.16", "", "as recorded")
    assert f'placeholder="{grouped(65536)}"' in client.get(url, {"thresholdRatio": "7"}).content.decode(), (
        "also beside a wrong one"
    )


@pytest.mark.parametrize(
    ("values", "code", "figure"),
    [
        ({"headroomTokens": "900000"}, "no-pressure-budget", grouped(20000 - 1000 - 900000)),
        ({"contextWindow": "500"}, "no-message-budget", grouped(500 - 1000)),
        ({"headroomTokens": "100", "retainTokens": "50000"}, "retain-not-below-threshold", grouped(50000)),
    ],
)
def test_why_there_is_no_trigger_is_said_in_words_of_the_page(client, people, url, values, code, figure):
    client.force_login(people.vera)
    (note,) = client.get(url, values).context["notes"]
    assert note.startswith(str(what_if.PROBLEMS[code]).partition("%")[0])
    assert figure in note


def test_an_empty_list_says_whether_it_is_known_to_be_empty(client, people, data_dir, tmp_path):
    client.force_login(people.alice)
    chat = next((CORPUS / "plain-chat-en").rglob("session*.jsonl*"))
    ingest_file(chat, run=Import.by(people.team, people.alice, inline=True))
    chatted = SourceFile.unscoped.get(location=str(chat)).log.session
    stepless = read_log(people, tmp_path, [header(), human(0, "hello")])
    for session, window, said in (
        (stepless, "1000000", "no step at which"), (chatted, "1000000", "Nowhere"), (chatted, "500", "Not known"),
    ):  # fmt: skip
        page = client.get(reverse("what-if", args=[session.pk]), {"contextWindow": window}).content.decode()
        assert [one for one in ("Not known", "Nowhere", "no step at which") if one in page] == [said]


def test_every_reason_for_no_trigger_has_words():
    assert set(what_if.PROBLEMS) == set(get_args(get_type_hints(NoSpec)["code"]))


def test_a_little_is_not_shown_as_nothing():
    assert [percent(one) for one in (0.0, 0.007, 0.01, 0.999, 1.0)] == [
        f"{one}{GAP}%" for one in ("0", f"<{GAP}1", "1", "99", "100")
    ]


def test_it_is_for_those_who_see_the_content(client, people, url):
    Team.objects.filter(pk=people.team.pk).update(content_visibility=Visibility.OWNER)
    for user, status in ((people.vera, 404), (people.mallory, 404), (people.alice, 200)):
        client.force_login(user)
        assert client.get(url).status_code == status


def test_it_is_said_when_nothing_fires_because_automatic_compaction_is_off(client, people, url):
    client.force_login(people.vera)
    assert str(what_if.AUTO_OFF) not in client.get(url, {"headroomTokens": "5000"}).context["notes"]
    mutate(default_of(people.team), (Op("set", "auto", value=False),), 0, by=people.alice)
    assert str(what_if.AUTO_OFF) in client.get(url, {"headroomTokens": "5000"}).context["notes"]
