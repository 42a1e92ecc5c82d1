"""The session page: calls stand with the results that answer them, compactions where they happened, and what is new comes alone."""

from __future__ import annotations

import re

import pytest

from audit.models import Audit
from audit.services.run import audit_log
from dshweb.access.models import Visibility
from dshweb.pages.tests.logs import ROWS, bring_in, calls, result
from dshweb.sessionlog import conversation, selectors
from dshweb.sessionlog.conversation import Item
from dshweb.sessionlog.models import Compaction, Session
from tests.builders import compaction, human

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(people, tmp_path, data_dir):
    return bring_in(people, tmp_path / "home", owner=people.bob)


def flow(session: Session, **where):
    log = session.current
    return conversation.window(log, selectors.compactions_of(log), **where).flow


def pairs(session: Session) -> dict[str, list[str]]:
    """Arguments of each call → texts of its results."""
    found = {}
    for one in flow(session):
        if isinstance(one, Item):
            for piece in one.pieces:
                if piece.source == "tool_args":
                    found[piece.text] = [result.pieces[0].text for result in piece.results]
    return found


def test_results_stand_under_the_very_call_they_answer(session):
    assert pairs(session) == {"path\na.txt": ["first file"], "path\nb.txt": ["second file"], "command\nls": ["listing"]}


def test_two_results_of_one_call_are_both_shown_and_the_placeholder_is_named(people, tmp_path, data_dir, client):
    rows = [
        human(0, "go"),
        calls(1, ("c1", "bash", {"command": "sleep"})),
        result(2, "c1", "interrupted", id="interrupted-tool-result-1"),
        result(3, "c1", "the real one"),
    ]
    session = bring_in(people, tmp_path / "home", rows, owner=people.bob)
    assert pairs(session) == {"command\nsleep": ["interrupted", "the real one"]}
    client.force_login(people.bob)
    html = client.get(f"/sessions/{session.pk}/").content.decode()
    assert html.count("one of several results for this call") == 2
    assert html.count("placeholder result") == 1


def test_calls_that_cannot_be_told_apart_stay_beside_their_results(session):
    """Two calls of one tool, results in the other order, and the stored bytes are gone: nothing is guessed."""
    session.current.frames.all().delete()
    assert pairs(session) == {"path\na.txt": [], "path\nb.txt": [], "command\nls": []}
    assert [one.row.seq for one in flow(session) if isinstance(one, Item) and one.is_result] == [2, 3, 4]


def test_results_behind_the_edge_of_a_window_go_with_their_call(session):
    window = conversation.window(session.current, [], start=0, size=2)
    assert [one.row.seq for one in window.flow] == [0, 1]
    assert [piece.call_id for piece in window.flow[1].pieces if piece.source == "tool_args"] == ["c1", "c2", "c3"]
    following = conversation.window(session.current, [], start=window.on, size=2)
    assert following.flow[0].row.seq == 6


def test_a_seq_behind_the_last_message_leads_to_the_end(session):
    for seq, shown in ((6, 6), (7, 9), (99, 11)):
        assert [one.row.seq for one in flow(session, seq=seq, size=1) if isinstance(one, Item)] == [shown]


def test_a_compaction_stands_where_it_happened(session):
    kinds = ["cut" if isinstance(one, Compaction) else one.row.seq for one in flow(session)]
    assert kinds == [0, 1, 6, "cut", 9, 11]


def test_what_is_new_comes_as_a_fragment_and_nothing_new_is_one_small_query(
    client, people, session, tmp_path, django_assert_max_num_queries
):
    client.force_login(people.bob)
    page = client.get(f"/sessions/{session.pk}/").content.decode()
    url = re.search(r'data-live="([^"]+)"', page)[1].replace("&amp;", "&")
    first = client.get(url)
    assert b'id="seq-11"' in first.content
    tag = first.headers["ETag"]
    # session of the browser, person, memberships, and the one question
    with django_assert_max_num_queries(4):
        assert client.get(url, headers={"if-none-match": tag}).status_code == 304
    more = [*ROWS, human(12, "one more thing")]
    bring_in(people, tmp_path / "home", more, owner=people.bob)
    grown = client.get(url, headers={"if-none-match": tag})
    assert grown.status_code == 200
    assert b"one more thing" in grown.content
    assert b'id="seq-0"' not in grown.content


def test_an_audit_that_comes_after_its_compaction_is_news(client, people, session):
    """Nothing is said behind the checkpoint until somebody answers: the result must not wait for that."""
    Audit.unscoped.all().delete()
    client.force_login(people.bob)
    url = f"/sessions/{session.pk}/live?log={session.current_id}&at=9"
    first = client.get(url)
    assert "not audited yet" in first.content.decode()
    audit_log(session.current)
    later = client.get(url, headers={"if-none-match": first.headers["ETag"]})
    assert later.status_code == 200
    assert "not audited yet" not in later.content.decode()


@pytest.mark.parametrize(("who", "status"), [("vera", 404), ("bob", 200), ("alice", 200), ("mallory", 404)])
def test_who_follows_a_session_whose_content_is_its_owners(client, people, session, who, status):
    people.team.content_visibility = Visibility.OWNER
    people.team.save()
    client.force_login(getattr(people, who))
    url = f"/sessions/{session.pk}/live?log={session.current_id}"
    assert client.get(url).status_code == status
    assert client.get(f"/sessions/{session.pk}/events/").status_code == status
    assert client.get(f"/sessions/{session.pk}/events/0").status_code == status


def test_words_are_found_in_what_was_said_only(client, people, session):
    client.force_login(people.bob)
    html = client.get(f"/sessions/{session.pk}/?find=端口").content.decode()
    assert "<mark>端口</mark>" in html
    assert 'id="hits"' in html
    for unsaid in ("listing", "thinking"):
        hits = client.get(f"/sessions/{session.pk}/?find={unsaid}").content.decode()
        assert "<mark>" not in hits
        assert "Nobody said" in hits


def test_sessions_that_begin_with_the_same_event_are_named(client, people, session, tmp_path):
    other = bring_in(
        people, tmp_path / "copy", session="session-00000000-0000-4000-8000-0000000000c1", owner=people.bob
    )
    later = [{**row, "time": row["time"] + 60_000} for row in ROWS]
    bring_in(
        people, tmp_path / "later", later, session="session-00000000-0000-4000-8000-0000000000c2", owner=people.bob
    )
    session.refresh_from_db()
    assert [row.pk for row in selectors.lineage(session).alike] == [other.pk]


def test_a_message_of_very_many_pieces_makes_no_very_large_page(client, people, tmp_path, data_dir):
    said = human(0, "")
    said["data"]["content"] = [{"type": "text", "text": f"piece {n}."} for n in range(3000)]
    made = [(f"c{n}", "read", {"path": f"file-{n}"}) for n in range(3000)]
    rows = [said, calls(1, *made), *(result(n + 2, f"c{key}", f"answer {key}.") for n, key in enumerate((0, 2999)))]
    session = bring_in(people, tmp_path / "home", rows, owner=people.bob)
    client.force_login(people.bob)
    html = client.get(f"/sessions/{session.pk}/").content.decode()
    assert len(html) < 300_000
    assert "piece 99." in html
    assert "piece 100." not in html
    assert "and 2900 more" in html
    assert "answer 0." in html
    assert "answer 2999." in html, "of a call that is not shown: it stands by itself"
    (message,) = session.current.messages.filter(seq=0)
    assert f"/sessions/{session.pk}/messages/{message.pk}/" in html
    alone = client.get(f"/sessions/{session.pk}/messages/{message.pk}/").content.decode()
    assert "piece 999." in alone
    assert "and 2000 more" in alone
    assert len(alone) < 300_000


def test_an_original_of_very_many_pieces_makes_no_very_large_page_of_its_compaction(client, people, tmp_path, data_dir):
    said = human(0, "")
    said["data"]["content"] = [{"type": "text", "text": f"piece {n}."} for n in range(3000)]
    rows = [said, *compaction(1, [0], "All of /srv/app/conf.yaml was read.")]
    session = bring_in(people, tmp_path / "home", rows, owner=people.bob)
    client.force_login(people.bob)
    html = client.get(f"/compactions/{session.current.compactions.get().pk}/").content.decode()
    leaf = html[html.index('id="leaf-0"') : html.index('id="summary"')]
    assert "piece 99." in leaf
    assert "piece 100." not in leaf
    (hole,) = re.findall(r'class="hole" href="([^"]+)"', leaf)
    text = ""
    while hole:
        part = client.get(hole.replace("&amp;", "&"), headers={"x-fragment": "1"}).content.decode()
        text += part
        hole = next(iter(re.findall(r'class="hole" href="([^"]+)"', part)), "")
    assert text.startswith("piece 100.")
    assert "piece 2999." in text
