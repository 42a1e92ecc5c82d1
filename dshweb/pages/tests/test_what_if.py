"""The page that tries other settings on a session: what it lists, what it says of wrong values, who may see it."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.urls import reverse

from compaction import trying
from dshweb.access.models import Team, Visibility
from dshweb.sessionlog.models import SourceFile
from dshweb.sessionlog.services.ingest import Import, ingest_file

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


@pytest.mark.parametrize(
    "values", [{"thresholdRatio": "0"}, {"thresholdRatio": "nan"}, {"headroomTokens": "1e3"}, {"maxTokens": "0"}]
)
def test_a_wrong_value_is_said_beside_its_field_and_nothing_is_replayed(client, people, url, values):
    client.force_login(people.vera)
    page = client.get(url, values)
    assert page.status_code == 200
    assert page.context["tried"] is None
    assert page.content.decode().count('aria-invalid="true"') == 1


def test_settings_that_do_not_go_together_and_a_log_that_is_too_large_are_said(client, people, url, monkeypatch):
    client.force_login(people.vera)
    page = client.get(url, {"thresholdRatio": "0.5", "retainRatio": "0.9"})
    assert "retainRatio" in str(page.context["problem"])
    monkeypatch.setattr(trying, "MOST_BYTES", 10)
    assert "too large" in client.get(url).content.decode()


def test_it_is_for_those_who_see_the_content(client, people, url):
    Team.objects.filter(pk=people.team.pk).update(content_visibility=Visibility.OWNER)
    for user, status in ((people.vera, 404), (people.mallory, 404), (people.alice, 200)):
        client.force_login(user)
        assert client.get(url).status_code == status
