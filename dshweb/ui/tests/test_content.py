"""What the pages say: plainly, completely, and never more than a candidate; hostile text stays text."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

import pytest
from django.test import override_settings

from audit.core.record import dumps
from audit.models import Audit
from dshweb.access.models import Visibility
from dshweb.sessionlog.models import Message, Session
from dshweb.ui.templatetags import dshweb as tags
from dshweb.ui.tests.rows import HOSTILE, make_audit, make_compaction, make_log, make_messages, make_session
from dshweb.ui.tests.sample import fill
from tests.reading import words

pytestmark = pytest.mark.django_db


def session_with(people, turn=None, **fields):
    session = make_session(people.team, "s", people.alice, **fields)
    log = make_log(session)
    make_messages(log, turn)
    return session, log


def test_hostile_text_is_shown_and_does_nothing(page, people):
    session, log = session_with(
        people, [("user/message", "user", True, HOSTILE)], title=HOSTILE, cwd=HOSTILE, model=HOSTILE
    )
    row = make_compaction(
        log, error=HOSTILE, summary=[HOSTILE + " /srv/<b>x</b>/app.py " * 5], compaction_id=HOSTILE[:60]
    )
    make_audit(row)
    failed = make_compaction(log, 50, outcome="failed", error=HOSTILE, summary=None)
    message = Message.unscoped.get()
    urls = ["/sessions/", f"/sessions/{session.pk}/", f"/sessions/{session.pk}/messages/{message.pk}/"]
    for url in [*urls, f"/compactions/{row.pk}/", f"/compactions/{failed.pk}/"]:
        html = re.sub(r'<option value="[^"]*"', "<option", page(url))  # what a form sends back is not shown
        assert "<script>alert" not in html, url
        assert "<img" not in html, url
        assert "\x1b" not in html, url
        assert "\u202e" not in html, url
        assert "&lt;script&gt;" in html, url
        assert "⟦U+202E⟧" in html, url
        assert "{{ 7|add:7 }}" in html, url


def test_unknown_is_a_dash_and_never_zero(page, people):
    session = make_session(
        people.team, "u", last_at=None, created_at=None, turns=None, events=None, tokens=None, model="", preset=""
    )
    html = page(f"/sessions/{session.pk}/")
    facts = html[html.index("<dl") : html.index("</dl>")]
    assert facts.count('aria-label="unknown"') >= 6
    assert not re.search(r"<dd>0|>0<", facts)


def test_who_wrote_a_message_is_named_and_injected_text_is_folded(page, people):
    session, _log = session_with(people)
    html = page(f"/sessions/{session.pk}/")
    articles = re.findall(r'<article class="msg.*?</article>', html, re.DOTALL)
    assert len(articles) == 8
    assert "human" in words(articles[0])
    assert "<details" not in articles[0]
    for article, name in zip(articles[1:3], ("runtime context", "instructions file"), strict=True):
        assert name in words(article)
        assert "<details" in article
    assert "&lt;system-reminder&gt;" in articles[2]


def test_both_results_of_one_call_are_shown_and_the_placeholder_is_named(page, people):
    session, _log = session_with(people)
    html = words(page(f"/sessions/{session.pk}/"))
    assert html.count("one of several results for this call") == 2
    assert html.count("placeholder result") == 1


def test_long_text_is_cut_in_the_view_only(page, people):
    session, _log = session_with(people, [("tool/result", "", False, "begin " + "long line " * 900 + "THE END")])
    html = page(f"/sessions/{session.pk}/")
    assert "THE END" not in html
    link = re.search(r'href="(/sessions/\d+/messages/\d+/)"', html)
    assert link, "no way to show all"
    assert "THE END" in page(link[1])


def test_damage_is_told_in_plain_words_with_its_place(page, people):
    fill(people.team)
    html = words(page(f"/sessions/{Session.unscoped.get(status='damaged').pk}/"))
    assert "A frame does not match its checksum" in html
    assert "byte 20 480" in html
    assert "Event numbers jump" in html
    assert "seq 17" in html
    assert "2 bad_row" in html


def test_what_is_odd_about_the_logs_is_told(page, people):
    session, _log = session_with(
        people, warnings=["newer_is_older", "version_mismatch:session.v3.jsonl", "new_code:<b>"]
    )
    html = page(f"/sessions/{session.pk}/")
    assert "another one holds newer events" in html
    assert "session.v3.jsonl" in html
    assert "new_code" in html
    assert "&lt;b&gt;" in html


def test_attempts_that_did_not_complete_are_listed_with_their_error(page, people):
    session, log = session_with(people)
    failed = make_compaction(log, 40, outcome="failed", error="provider: 503 overloaded", summary=None, round=None)
    make_compaction(log, 50, outcome="cancelled", error="aborted", summary=None, round=None)
    make_compaction(log, 60, outcome="unmatched", summary=None, round=None)
    html = words(page(f"/sessions/{session.pk}/"))
    for said in ("failed", "provider: 503 overloaded", "cancelled", "no end in the log"):
        assert said in html
    html = words(page(f"/compactions/{failed.pk}/"))
    assert "There is no summary in the log" in html
    assert "provider: 503 overloaded" in html


def test_words_never_say_more_than_candidate(page, people):
    fill(people.team)
    for row in Audit.unscoped.all():
        for language in ("en", "zh-hans"):
            said = words(page(f"/compactions/{row.compaction_id}/", **{"accept-language": language})).lower()
            for word in ("fabricat", "invented", "hallucinat", " safe ", "捏造", "编造", "安全"):
                assert word not in said


def test_a_summary_that_cannot_be_audited_has_its_own_words(page, people):
    _session, log = session_with(people, compactions=1)
    row = make_compaction(log, summary=["  "])
    make_audit(row)
    assert "This summary cannot be audited." in words(page(f"/compactions/{row.pk}/"))
    assert "cannot be audited" in words(page("/sessions/?q=s"))


def test_the_record_is_given_as_it_is_stored(client, people):
    _session, log = session_with(people)
    audit = make_audit(make_compaction(log))
    client.force_login(people.vera)
    answer = client.get(f"/compactions/{audit.compaction_id}/record.json")
    assert answer.content == dumps(audit.record) + b"\n"
    assert json.loads(answer.content)["schema"] == "audit.signals/1"


def test_where_only_owners_see_content_others_see_numbers(client, people):
    people.team.content_visibility = Visibility.OWNER
    people.team.save()
    session, log = session_with(people, title="secret plan", cwd="/secret")
    row = make_compaction(log, error="secret error")
    make_audit(row)
    message = log.messages.first()
    hidden = [f"/compactions/{row.pk}/record.json", f"/sessions/{session.pk}/messages/{message.pk}/"]
    shown = ["/sessions/", f"/sessions/{session.pk}/", f"/compactions/{row.pk}/", "/sources/"]
    client.force_login(people.bob)
    for url in shown:
        html = client.get(url).content.decode()
        assert "secret" not in html, url
        assert "src/store.py" not in html, url
        assert "64 MiB" not in html, url
    assert all(client.get(url).status_code == 404 for url in hidden)
    assert f"/sessions/{session.pk}/" not in client.get("/sessions/?q=secret").content.decode()
    client.force_login(people.alice)
    assert "secret plan" in client.get("/sessions/?q=secret").content.decode()
    assert all(client.get(url).status_code == 200 for url in hidden)


def test_empty_pages_say_what_to_do_next(page, people):
    assert "python manage.py ingest &quot;$DSH_HOME&quot; --watch" in page("/sessions/")
    assert "python manage.py ingest" in page("/sources/")
    assert "No tasks" in page("/tasks/")
    assert "还没有会话" in page("/sessions/", **{"accept-language": "zh-CN"})


@pytest.mark.parametrize(
    ("zone", "clock", "hover"),
    [
        ("UTC", "22:30:00", "3 May 2026, 22:30:00 UTC"),
        ("Asia/Shanghai", "06:30:00", "4 May 2026, 06:30:00 CST"),
        ("Asia/Tashkent", "03:30:00", "4 May 2026, 03:30:00 UTC+05"),
    ],
)
def test_times_are_in_the_zone_that_was_set(zone, clock, hover):
    moment = datetime(2026, 5, 3, 22, 30, tzinfo=UTC)
    with override_settings(TIME_ZONE=zone):
        assert tags.clock(moment) == f'<time datetime="2026-05-03T22:30:00Z" title="{hover}">{clock}</time>'
