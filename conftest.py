"""Shared by all tests: a data folder of their own, and the people every permission test needs.

alice – admin of team `ours`, may review · bob – member · vera – viewer · mallory – a stranger, admin of another team.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

_folder = Path(tempfile.mkdtemp(prefix="dshweb-test-"))


def _use_folder(settings, folder: Path) -> None:
    """Point everything that lives in the data folder to `folder`."""
    settings.DATA_DIR = folder
    storages = {name: dict(value) for name, value in settings.STORAGES.items()}
    storages["logs"] = storages["logs"] | {"OPTIONS": storages["logs"]["OPTIONS"] | {"location": folder / "logs"}}
    settings.STORAGES = storages
    settings.STATIC_ROOT = folder / "static"


def pytest_configure(config) -> None:
    from django.conf import settings

    _use_folder(settings, _folder)
    settings.STATIC_ROOT.mkdir()
    # pages are tested without collectstatic; the password hash that is slow on purpose is not what tests wait for
    settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    # a file, so that threads of a test are real concurrent connections
    for database in settings.DATABASES.values():
        if database["ENGINE"].endswith("sqlite3"):
            database.setdefault("TEST", {})["NAME"] = str(_folder / "test.sqlite3")


def pytest_unconfigure(config) -> None:
    shutil.rmtree(_folder, ignore_errors=True)


@pytest.fixture(autouse=True)
def _language_of_its_own():
    """A page that a test asked for in Chinese leaves its language with the thread; the next test starts in English."""
    from django.utils import translation

    with translation.override("en"):
        yield


@pytest.fixture
def data_dir(tmp_path: Path, settings) -> Path:
    """An empty data folder for this test alone (logs, queue, static files)."""
    _use_folder(settings, tmp_path / "data")
    settings.DATA_DIR.mkdir()
    settings.STATIC_ROOT.mkdir()
    return settings.DATA_DIR


@dataclass(frozen=True)
class People:
    team: object
    other_team: object
    alice: object
    bob: object
    vera: object
    mallory: object


@pytest.fixture
def people(db) -> People:
    return make_people()


def make_people() -> People:
    """For fixtures that last longer than a test; a test asks for `people`."""
    from dshweb.access.models import Membership, Role, Team, User

    ours = Team.objects.create(slug="ours", name="Ours")
    theirs = Team.objects.create(slug="theirs", name="Theirs")
    users = {
        name: User.objects.create_user(name, password=f"{name}-password")
        for name in ("alice", "bob", "vera", "mallory")
    }
    for name, team, role in (
        ("alice", ours, Role.ADMIN),
        ("bob", ours, Role.MEMBER),
        ("vera", ours, Role.VIEWER),
        ("mallory", theirs, Role.ADMIN),
    ):
        Membership.objects.create(team=team, user=users[name], role=role, can_review=name == "alice")
    return People(ours, theirs, **users)


@pytest.fixture
def page(client, people: People):
    """Reads a page as bob; its HTML."""
    client.force_login(people.bob)

    def get(url: str, **headers: str) -> str:
        answer = client.get(url, headers=headers)
        if answer.status_code != 200:
            pytest.fail(f"{url} answers {answer.status_code}")
        return answer.content.decode()

    return get


@pytest.fixture
def team(people: People):
    return people.team


@pytest.fixture
def alice(people: People):
    return people.alice


@pytest.fixture
def bob(people: People):
    return people.bob


@pytest.fixture
def vera(people: People):
    return people.vera


@pytest.fixture
def mallory(people: People):
    return people.mallory
