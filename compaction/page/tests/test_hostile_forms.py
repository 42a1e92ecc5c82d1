"""Forms that no page of ours sends: refused in words, never an error of the server, nothing saved."""

from __future__ import annotations

import pytest
from django.urls import reverse

from compaction.services.profiles import default_of

pytestmark = pytest.mark.django_db

ROUTES = [r'["\ud800", "m"]', r'["p", "\u0000"]', "[" * 100_000, '["p"]', "[1, 2]", '{"p": "m"}']


@pytest.mark.parametrize("action", ["draft", "rebase", "save"])
@pytest.mark.parametrize(
    "sent",
    [{"route": route} for route in ROUTES]
    + [{"mode": "zz"}, {"auto": "maybe"}, {"thresholdRatio": "1e999"}, {"headroomTokens": "-1"}, {"maxTokens": "1.5"},
       {"retainForm": "tokens", "retainTokens": ""}, {"reasoningEffort": "a\0b"}, {"reasoningEffort": "x" * 1_000_000}],
    ids=lambda sent: str(sent)[:40],
)  # fmt: skip
def test_what_cannot_be_kept_is_refused_in_words(client, people, sent, action):
    profile = default_of(people.team)
    client.force_login(people.alice)
    url = reverse("profile-settings", args=[profile.pk])
    answer = client.post(url, {"revision": "0", "action": action, **sent})
    assert answer.status_code == (422 if action == "save" else 200)
    assert answer.context["errors"]
    profile.refresh_from_db()
    assert (profile.revision, profile.document) == (0, {})
