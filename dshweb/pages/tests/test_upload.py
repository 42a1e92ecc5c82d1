"""The upload page without scripts: who sees it, what it takes, and what became of each file."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext

from dshweb.access.models import Membership, Role
from dshweb.sessionlog.models import Session
from dshweb.sessionlog.services import inbox
from dshweb.tasks.models import Task
from dshweb.tasks.services import drain

CORPUS = Path(__file__).resolve().parents[3] / "tests" / "data" / "corpus"
NAME = "session.v4.jsonl.zstd"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _a_folder_of_its_own(data_dir):
    return data_dir


def log(case: str, name: str = NAME) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, next((CORPUS / case).rglob("*.zstd")).read_bytes())


def send(client, *files, **more):
    return client.post("/upload/", {"file": list(files), **more})


def test_three_files_one_broken_two_are_in_and_one_is_named_with_its_reason(client, people):
    client.force_login(people.bob)
    answer = send(
        client, log("plain-chat-en"), SimpleUploadedFile("holiday.v4.jsonl", b"not a log"), log("manual-compact")
    )
    assert answer.status_code == 302
    page = client.get(answer.url).content.decode()
    assert page.count("waits for a worker") == 3
    drain(people.team)
    page = client.get(answer.url).content.decode()
    assert "2 are in" in page
    assert "1 could not be read" in page
    assert page.count("intact") == 2
    assert "Nothing in it is a session log. (torn_row: the last row breaks off" in page
    assert "holiday.v4.jsonl" in page
    assert "data-busy" not in page
    for session in Session.unscoped.all():
        assert f"/sessions/{session.pk}/?log={session.current_id}" in page
    assert "/compactions/" in page


def test_while_nothing_changes_the_answer_is_empty(client, people, django_assert_max_num_queries):
    client.force_login(people.bob)
    url = send(client, log("plain-chat-en")).url + "&part"
    tag = client.get(url).headers["ETag"]
    with django_assert_max_num_queries(6):
        assert client.get(url, headers={"If-None-Match": tag}).status_code == 304
    drain(people.team)
    changed = client.get(url, headers={"If-None-Match": tag})
    assert changed.status_code == 200
    assert "<html" not in changed.content.decode()


def test_queries_do_not_grow_with_the_files(client, people, django_assert_max_num_queries):
    client.force_login(people.bob)
    cases = ("plain-chat-en", "manual-compact", "tools-en", "forked", "chat-zh-corrections")
    url = send(client, *(log(case) for case in cases)).url
    drain(people.team)
    first = "/upload/results/?" + url.partition("?")[2].partition("&")[0]
    client.get(first)
    with CaptureQueriesContext(connection) as seen:
        client.get(first)
    with django_assert_max_num_queries(len(seen) + 4):  # audits of the second one
        client.get(url)


def test_the_same_files_again_say_so(client, people):
    client.force_login(people.bob)
    for _ in range(2):
        url = send(client, log("plain-chat-en")).url
        drain(people.team)
    assert "was here already" in client.get(url).content.decode()


def test_what_is_not_taken_is_said_on_the_next_page(client, people, settings):
    client.force_login(people.bob)
    assert "Choose a file first." in client.post("/upload/", {}, follow=True).content.decode()
    empty = client.post("/upload/", {"file": SimpleUploadedFile("a<b>.v4.jsonl", b"")}, follow=True).content.decode()
    assert "a&lt;b&gt;.v4.jsonl: The file is empty." in empty
    settings.MAX_UPLOAD_BYTES = 1000
    page = client.post(
        "/upload/", {"file": [log("plain-chat-en"), SimpleUploadedFile("small.v4.jsonl", b"x")]}, follow=True
    )
    assert "Larger than the 1000 bytes" in page.content.decode()
    assert "small.v4.jsonl" in page.content.decode()
    assert len(list(inbox.folder("whole").iterdir())) == 1


def test_who_may(client, people):
    assert client.get("/upload/").status_code == 302
    for user, status in ((people.alice, 200), (people.bob, 200), (people.vera, 403)):
        client.force_login(user)
        assert client.get("/upload/").status_code == status
        assert send(client, log("plain-chat-en")).status_code == {200: 302}.get(status, status)
    assert "Your role does not bring logs in" in client.get("/upload/").content.decode()
    client.force_login(people.mallory)
    assert send(client, log("plain-chat-en"), team="ours").status_code == 404
    assert len(list(inbox.folder("whole").iterdir())) == 2


def test_a_viewer_here_who_is_a_member_there_cannot_choose_this_team(client, people):
    Membership.objects.create(team=people.other_team, user=people.vera, role=Role.MEMBER)
    client.force_login(people.vera)
    assert b"Theirs" not in client.get("/upload/").content.partition(b'<form class="card')[2].partition(b"</form>")[0]
    assert send(client, log("plain-chat-en"), team="ours").status_code == 403
    answer = send(client, log("plain-chat-en"), team="theirs")
    assert (answer.status_code, Task.unscoped.get().team) == (302, people.other_team)


def test_whose_files_they_are(client, people):
    client.force_login(people.bob)
    url = send(client, log("plain-chat-en", "bobs-own.v4.jsonl.zstd")).url
    for user in (people.alice, people.mallory):
        client.force_login(user)
        assert "bobs-own" not in client.get(url).content.decode()


@pytest.mark.parametrize("query", ["", "?task=", "?task=x&task=-1&task=9999999999999999999", "?task=0&part"])
def test_results_of_nothing(client, people, query):
    client.force_login(people.bob)
    answer = client.get("/upload/results/" + query)
    assert answer.status_code == 200
    assert "No files to show" in answer.content.decode()


def test_a_full_disk_is_said_on_the_page(client, people, monkeypatch):
    monkeypatch.setattr(inbox, "DISK_RESERVE", 1 << 62)
    client.force_login(people.bob)
    page = client.post("/upload/", {"file": [log("plain-chat-en")]}, follow=True)
    assert page.status_code == 200
    assert "no room for it" in page.content.decode()
    assert not Task.unscoped.exists()
