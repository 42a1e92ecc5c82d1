"""Where content is for owners and admins, the page of sources names no folders of theirs to others."""

from __future__ import annotations

import pytest

from dshweb.access.models import Visibility
from dshweb.sessionlog.models import Source, SourceFile
from dshweb.ui.tests.rows import make_log, make_session

pytestmark = pytest.mark.django_db


@pytest.fixture
def places(people):
    people.team.content_visibility = Visibility.OWNER
    people.team.save()
    log = make_log(make_session(people.team, "s-1", people.bob, title="hush"))
    Source.unscoped.create(team=people.team, path="/srv/dsh-home", last_error="OSError: /srv/dsh-home is gone")
    for location, found in (
        ("/srv/dsh-home/--work-secret--/session.v4.jsonl.zstd", log),
        ("/srv/dsh-home/odd.zstd", None),
    ):
        SourceFile.unscoped.create(
            team=people.team, location=location, log=found, error=f"bad_header: {location}", status="failed"
        )
    return people


SECRETS = ["--work-secret--", "/srv/dsh-home/odd.zstd", "/srv/dsh-home</code>", "hush"]


@pytest.mark.parametrize(
    ("who", "seen"),
    [
        ("alice", [True, True, True, True]),  # admin
        ("bob", [True, True, True, True]),  # member, and the session's owner
        ("vera", [False, False, False, False]),  # viewer
        ("mallory", [False, False, False, False]),  # of another team
    ],
)
def test_who_sees_which_path(client, places, who, seen):
    client.force_login(getattr(places, who))
    html = client.get("/sources/").content.decode()
    assert [part in html for part in SECRETS] == seen


def test_a_member_who_is_not_the_owner_sees_folders_but_not_the_workspace(client, places, people):
    people.vera.memberships.update(role="member")
    client.force_login(people.vera)
    html = client.get("/sources/").content.decode()
    assert [part in html for part in SECRETS] == [False, True, True, False]


def test_who_sees_no_path_still_sees_which_file_and_how_it_went(client, places):
    client.force_login(places.vera)
    html = client.get("/sources/").content.decode()
    for words in ("session.v4.jsonl.zstd", "odd.zstd", "bad_header", "dsh-home", "OSError"):
        assert words in html
    assert "/srv" not in html


def test_with_content_for_the_team_paths_are_too(client, places, people):
    people.team.content_visibility = Visibility.TEAM
    people.team.save()
    client.force_login(people.vera)
    assert "--work-secret--" in client.get("/sources/").content.decode()


@pytest.mark.parametrize(
    ("location", "status"),
    [
        ("/srv/dsh-home/gone.zstd", "deleted"),
        ("upload:bob/plan.zstd", "failed"),
        ("push:7-bob/--work-secret--/plan.zstd", "failed"),
    ],
)
def test_what_others_deleted_or_sent_in_is_named_by_its_last_part(client, places, people, location, status):
    people.vera.memberships.update(role="member")
    SourceFile.unscoped.create(team=people.team, location=location, status=status)
    client.force_login(people.vera)
    html = client.get("/sources/").content.decode()
    assert location not in html
    assert location[-9:] in html
