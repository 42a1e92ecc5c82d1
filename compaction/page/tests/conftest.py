"""A profile with saved settings and a `cordis.patch.yml` of its own, and the buttons of its export."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.messages import get_messages
from django.template.loader import render_to_string
from django.urls import reverse

from compaction import selectors
from compaction.core.document import Op
from compaction.models import Profile
from compaction.page import export
from compaction.services.profiles import default_of
from compaction.services.settings import mutate
from dshweb.access.callers import caller_for_user

FILE = """# mine
- id: other  # stays
  name: some-plugin
  config: { key: !!js "process.env.SECRET_KEY" }
- id: compaction-basic
  config:
    thresholdRatio: 0.7   # why
    retainTokens: 3000
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cordis.patch.yml"


@pytest.fixture
def profile(people, path) -> Profile:
    made = default_of(people.team)
    made.path = str(path)
    made.save()
    return mutate(made, (Op("set", "mode", "handoff"), Op("set", "thresholdRatio", 0.6)), 0, by=people.alice).profile


@pytest.fixture
def of(people):
    def seen(profile: Profile, who: str = "alice") -> export.Export:
        caller = caller_for_user(getattr(people, who))
        return export.of(selectors.profiles(caller).get(pk=profile.pk), caller)

    return seen


@pytest.fixture
def html(of):
    return lambda profile, who="alice": render_to_string("compaction/_export.html", {"export": of(profile, who)})


@pytest.fixture
def send(client, people, of):
    """Presses a button of the page as it was looked at (`looked`, else now); the messages of the next page."""

    def press(
        profile: Profile, name: str, who: str = "alice", looked: export.Export | None = None, **more: object
    ) -> str:
        looked = looked or of(profile, who)
        client.force_login(getattr(people, who))
        sent = {"form": "compaction-basic", "digest": looked.file_digest, "revision": looked.profile.revision}
        answer = client.post(reverse(name, args=[profile.pk]), sent | more)
        assert answer.status_code == 302
        assert answer.url == reverse("profile-settings", args=[profile.pk]) + "#export-file"
        return " ".join(map(str, get_messages(answer.wsgi_request)))

    return press
