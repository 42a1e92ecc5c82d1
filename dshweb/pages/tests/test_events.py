"""Any event of a log, masked; the original for owner and admins only, and written down before it is read."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from dshweb.access.models import AccessLog
from dshweb.pages.tests.logs import ROWS, SECRET, bring_in
from dshweb.sessionlog.models import LogFile
from dshweb.sessionlog.services import events, store
from dshweb.sessionlog.services.events import Place
from dshweb.sessionlog.services.ingest import Import, ingest_file
from tests.builders import compaction, frame, header, human

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(people, tmp_path, data_dir):
    return bring_in(people, tmp_path / "home", owner=people.bob)


@pytest.mark.parametrize("limit", [1, 3, 100])
def test_pages_of_events_join_without_gap_or_overlap(session, limit):
    start, seen = None, []
    for _ in range(20):
        page = events.page(session.current, start=start, limit=limit)
        seen += [one.event.seq for one in page.rows]
        start = page.next
        if start is None:
            break
    assert seen == list(range(12))
    assert [one.event.seq for one in events.page(session.current, from_seq=9, limit=9).rows] == [9, 10, 11]
    assert events.page(session.current, from_seq=99).rows == []


def test_a_page_ends_early_in_the_middle_of_a_large_frame(people, tmp_path, data_dir):
    path = tmp_path / "home" / "sessions" / "--home-dev-proj--" / "session-large" / "session.v4.jsonl.zstd"
    path.parent.mkdir(parents=True)
    third = " ".join(map(str, range(events.PAGE_BYTES // 12)))[: events.PAGE_BYTES // 3]
    path.write_bytes(frame(header("session-large"), *(human(seq, third) for seq in range(9))))
    ingest_file(path, run=Import.by(people.team, people.bob))
    log, start, seen = LogFile.unscoped.get(), None, []
    for _ in range(9):
        page = events.page(log, start=start)
        seen.append([one.event.seq for one in page.rows])
        start = page.next
        if start is None:
            break
    assert seen == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]


def test_only_the_frame_of_an_event_is_read(session, django_assert_num_queries, monkeypatch):
    read, log = [], session.current
    real = events.read_events
    monkeypatch.setattr(
        events, "read_events", lambda source, info, bounds: read.append(info) or real(source, info, bounds)
    )
    with django_assert_num_queries(1):
        (event,) = events.at_seq(log, 5)
    assert event.type == "session/note"
    assert len(read) == 1


def test_every_event_of_a_seq_that_occurs_twice_is_shown(client, people, tmp_path, data_dir):
    twice = bring_in(people, tmp_path / "home", [human(0, "first"), human(1, "b"), human(0, "again")], owner=people.bob)
    client.force_login(people.bob)
    html = client.get(f"/sessions/{twice.pk}/events/0").content.decode()
    assert "first" in html
    assert "again" in html
    assert "More than one event" in html


def test_of_very_many_events_of_one_seq_the_first_are_shown_and_that_there_are_more_is_said(
    client, people, tmp_path, data_dir
):
    many = bring_in(people, tmp_path / "home", [human(0, f"no. {n} of them") for n in range(300)], owner=people.bob)
    client.force_login(people.bob)
    html = client.get(f"/sessions/{many.pk}/events/0").content.decode()
    assert list(dict.fromkeys(re.findall(r"no\. (\d+) of", html))) == [str(n) for n in range(events.ALIKE)]
    assert f"The first {events.ALIKE} are shown" in html
    assert "All are shown" not in html


def test_an_event_is_masked_wherever_it_is_shown(client, people, session):
    client.force_login(people.alice)
    for url in ("events/5", "events/6", "events/", ""):
        html = client.get(f"/sessions/{session.pk}/{url}").content.decode()
        assert SECRET not in html, url
    assert "[redacted:" in client.get(f"/sessions/{session.pk}/events/5").content.decode()


def test_a_secret_in_an_events_type_or_in_the_names_of_a_model_is_masked_too(client, people, tmp_path, data_dir):
    odd = {"type": f"note/{SECRET}", "seq": 1, "time": 1, "data": {}}
    rows = compaction(2, [0], "a summary", "c")
    rows[1]["data"].update(provider=f"https://x:{SECRET}@gate", model=SECRET)
    session = bring_in(people, tmp_path / "home", [human(0, "first"), odd, *rows], owner=people.bob)
    client.force_login(people.bob)
    attempt = session.current.compactions.get()
    assert "[redacted:" in attempt.provider
    assert "[redacted:" in attempt.model
    for url in ("events/", "events/1", ""):
        assert SECRET not in client.get(f"/sessions/{session.pk}/{url}").content.decode(), url
    answer = client.get(f"/api/v1/sessions/{session.pk}/events").json()
    assert SECRET not in json.dumps(answer)
    assert answer["items"][1]["type"].startswith("note/[redacted:")


@pytest.mark.parametrize(
    ("who", "status"), [("alice", 200), ("bob", 200), ("vera", 403), ("mallory", 404), (None, 302)]
)
def test_who_reads_the_original_and_that_it_is_written_down(client, people, session, who, status):
    if who:
        client.force_login(getattr(people, who))
    url = f"/sessions/{session.pk}/events/6/original?log={session.current_id}"
    answer = client.post(url)
    assert answer.status_code == status
    rows = list(AccessLog.unscoped.filter(action="read-original"))
    if status == 200:
        assert SECRET in answer.content.decode()
        assert "no-store" in answer.headers["Cache-Control"]
        (row,) = rows
        assert (row.team, row.user, row.token) == (people.team, getattr(people, who), None)
        assert "seq 6" in row.target
    else:
        assert rows == []
        assert SECRET not in answer.content.decode()
    assert client.get(url).status_code in (405, 302)


def test_the_original_is_written_down_even_when_it_cannot_be_read(client, people, session):
    store.delete(session.current.stored)
    client.force_login(people.bob)
    answer = client.post(f"/sessions/{session.pk}/events/6/original")
    assert "cannot be read" in answer.content.decode()
    assert AccessLog.unscoped.filter(action="read-original").count() == 1


def test_a_member_who_is_not_the_owner_reads_no_original(client, people, tmp_path, data_dir):
    hers = bring_in(people, tmp_path / "home", owner=people.alice)
    client.force_login(people.bob)
    assert client.post(f"/sessions/{hers.pk}/events/6/original").status_code == 403
    assert b"Write it down" not in client.get(f"/sessions/{hers.pk}/events/6").content


def test_a_huge_event_comes_in_parts(client, people, tmp_path, data_dir):
    big = bring_in(people, tmp_path / "home", [human(0, "begin " + "word " * 20_000 + "THE END")], owner=people.bob)
    client.force_login(people.bob)
    url, parts = f"/sessions/{big.pk}/events/0", []
    for _ in range(9):
        html = client.get(url).content.decode()
        parts.append(re.search(r"<pre[^>]*>(.*?)</pre>", html, re.DOTALL)[1])
        following = re.search(r'href="(\?[^"]*part=\d+)">Next part', html)
        if not following:
            break
        url = f"/sessions/{big.pk}/events/0" + following[1].replace("&amp;", "&")
    assert len(parts) == 3
    assert "begin" in parts[0]
    assert "THE END" in parts[-1]


@pytest.mark.parametrize("url", ["events/99", "events/6?log=99999", "events/?log=99999"])
def test_what_is_not_there_is_not_found(client, people, session, url):
    client.force_login(people.bob)
    assert client.get(f"/sessions/{session.pk}/{url}").status_code == 404


def test_places_are_read_as_they_are_written():
    assert Place.read(str(Place(7, 2))) == Place(7, 2)
    for bad in ("", "7", "7.", ".2", "a.b", "-1.0", "1.2.3", "9" * 30 + ".0"):
        assert Place.read(bad) is None


def test_a_document_says_what_the_row_says(session):
    (event,) = events.at_seq(session.current, 9)
    said = json.loads(events.pretty(events.document(event)))
    row = next(row for row in ROWS if row["seq"] == 9)
    assert said == row


def test_a_secret_that_is_streamed_in_pieces_is_masked_in_every_event(client, people, tmp_path, data_dir):
    """Format 0: packed rows and single ones, of two blocks in turn, in frames of their own."""
    said = f"The key is {SECRET}, do not tell."
    pieces = [said[at : at + 6] for at in range(0, len(said), 6)]
    body = {"turn": 1, "step": 1, "index": 1}
    packed = {"type": "text-chunks", "seq0": 1, "time0": 5, "data": {**body, "dt": [1, 1, 1], "texts": pieces[:4]}}
    rows: list[Any] = [human(0, "go"), packed]
    for piece in pieces[4:]:
        for index, text in ((1, piece), (2, "other ")):
            chunk = {"type": "text-delta", "index": index, "text": text}
            data = {"turn": 1, "step": 1, "chunk": chunk}
            rows.append({"type": "assistant/chunk", "seq": len(rows) + 3, "time": 9, "data": data})
    session = bring_in(people, tmp_path / "home", rows, owner=people.bob)
    client.force_login(people.vera)

    def told(found: list[Any]) -> str:
        chunks = [row["data"]["chunk"] for row in found if row["type"] == "assistant/chunk"]
        return "".join(chunk["text"] for chunk in chunks if chunk["index"] == 1)

    log = session.current
    listed = [one.event for one in events.page(log, limit=100).rows]
    assert told([events.document(one) for one in listed]) == said
    masked = said.replace(SECRET, "[redacted:openai-like]")
    assert told([events.masked_document(log, one) for one in listed]) == masked
    for limit in (1, 3, 100):
        found, cursor = [], ""
        while cursor is not None:
            answer = client.get(
                f"/api/v1/sessions/{session.pk}/events?limit={limit}" + (f"&cursor={cursor}" if cursor else "")
            )
            found += [one["event"] for one in answer.json()["items"]]
            cursor = answer.json()["next"]
        assert told(found) == masked
    page = client.get(f"/sessions/{session.pk}/events/5").content.decode()
    assert pieces[4] in said
    assert f"&quot;{pieces[4]}&quot;" not in page
