"""The list of signals and the form of a verdict: who sees and does what, filters in the address, fixed numbers of questions."""

from __future__ import annotations

import re

import pytest

from audit.core.policy import Policy
from audit.models import Review, Signal
from audit.selectors_review import signal_for
from audit.services.review import review
from dshweb.access.callers import caller_for_user
from dshweb.access.models import Visibility
from dshweb.ui.tests.rows import (
    HOSTILE,
    make_audit,
    make_audited,
    make_compaction,
    make_log,
    make_messages,
    make_policy,
    make_session,
)

pytestmark = pytest.mark.django_db


def add(people, name="s-1", **fields):
    return make_audited(people.team, people.bob, name, **fields)


@pytest.fixture
def audited(people):
    make_policy(people.team)
    return add(people)


def listed(client, query=""):
    answer = client.get(f"/signals/{query}")
    assert answer.status_code == 200
    return [int(pk) for pk in re.findall(r'data-signal="(\d+)"', answer.content.decode())]


def post(client, signal, fragment=False, **fields):
    headers = {"x-fragment": "1"} if fragment else {}
    return client.post(f"/signals/{signal.pk}/review", fields, headers=headers)


def confirm(people, signal, verdict="confirmed", note=""):
    caller = caller_for_user(people.alice)
    return review(caller, signal_for(caller, signal.pk), verdict, note)


def test_what_awaits_review_stands_with_the_most_important_first(client, people, audited):
    client.force_login(people.vera)
    wanted = list(Signal.unscoped.order_by("-importance", "-pk").values_list("pk", flat=True))
    assert listed(client) == wanted
    confirm(people, Signal.unscoped.get(pk=wanted[0]))
    assert listed(client) == wanted[1:]
    assert listed(client, "?verdict=confirmed") == wanted[:1]
    assert listed(client, "?verdict=all") == wanted
    assert listed(client, "?sort=newest&verdict=all") == sorted(wanted, reverse=True)


def test_only_the_record_that_counts_is_asked_about(client, people, audited):
    client.force_login(people.vera)
    make_audit(audited, policy=Policy(max_facts_per_category=1))
    in_force = set(audited.audits.order_by("id").first().signals.values_list("pk", flat=True))
    assert set(listed(client)) == in_force, "the newest record is of another policy"
    alone = add(people, "s-2")
    alone.audits.all().delete()
    for policy in (Policy(max_facts_per_category=1), Policy(max_facts_per_category=2)):
        newest = make_audit(alone, policy=policy)
    assert set(listed(client, f"?session={alone.session_id}")) == set(newest.signals.values_list("pk", flat=True))
    assert "under an older policy" in client.get(f"/signals/?session={alone.session_id}").content.decode()


def test_forks_and_older_logs_ask_nothing_twice(client, people, audited):
    client.force_login(people.vera)
    before = listed(client)
    inherited = add(people, "fork", inherited=True)
    old = make_log(audited.session, "session.v3.jsonl", current=False, stored="old")
    make_messages(old)
    copied = make_compaction(old)
    make_audit(copied)
    assert listed(client) == before
    for row in (inherited, copied):
        assert len(listed(client, f"?compaction={row.pk}")) == len(before), "asked for by name it is there"


def test_filters_narrow_and_live_in_the_address(client, people, audited):
    client.force_login(people.vera)
    rows = Signal.unscoped
    assert set(listed(client, "?kind=altered")) == set(rows.filter(kind="altered").values_list("pk", flat=True))
    assert set(listed(client, "?class=uuid")) == set(rows.filter(cls="uuid").values_list("pk", flat=True))
    assert set(listed(client, "?axis=coverage")) == set(rows.filter(axis="coverage").values_list("pk", flat=True))
    assert listed(client, f"?session={audited.session_id + 1}") == listed(client, "?model=other") == []
    assert listed(client, "?until=2001-01-01") == listed(client, "?since=2999-01-01") == []
    assert listed(client, "?since=2001-01-01&until=2999-01-01&model=deepseek-flash") == listed(client)
    page = client.get("/signals/?kind=lost&class=uuid&verdict=all").content.decode()
    assert "kind=lost&amp;verdict=confirmed&amp;class=uuid" in page or "verdict=confirmed" in page
    assert re.search(r'export\.csv\?[^"]*kind=lost', page)


@pytest.mark.parametrize(
    "query",
    ["?kind=x", "?class=<script>", "?verdict=no", "?session=x", "?since=2026-13-01", "?since=0001-01-01", "?sort=a"],
)
def test_what_means_nothing_in_an_address_is_said_and_left_out(client, people, audited, query):
    client.force_login(people.vera)
    assert len(listed(client, query)) == Signal.unscoped.count()
    page = client.get(f"/signals/{query}").content.decode()
    assert "means nothing here" in page
    assert "<script>" not in page.replace('<script type="module"', "")


@pytest.mark.parametrize("cursor", ["x", "1~", "9" * 40, "-1~-1"])
def test_a_cursor_of_nowhere_is_the_first_page(client, people, audited, cursor):
    client.force_login(people.vera)
    assert len(listed(client, f"?after={cursor}")) == Signal.unscoped.count()


def test_pages_join(client, people, audited, monkeypatch):
    for number in range(4):
        add(people, f"more-{number}")
    client.force_login(people.vera)
    seen, query = [], "?verdict=all"
    while query:
        page = client.get(f"/signals/{query}").content.decode()
        seen += [int(pk) for pk in re.findall(r'data-signal="(\d+)"', page)]
        found = re.search(r'rel="next" href="([^"]+)"', page)
        query = found[1].replace("&amp;", "&") if found else ""
    assert seen == list(Signal.unscoped.order_by("-importance", "-pk").values_list("pk", flat=True))


def test_strangers_see_an_empty_list_and_owners_their_own(client, people, audited):
    client.force_login(people.mallory)
    assert listed(client) == []
    assert "Nothing to review yet" in client.get("/signals/").content.decode()
    people.team.content_visibility = Visibility.OWNER
    people.team.save()
    for person, sees in ((people.vera, 0), (people.bob, 1), (people.alice, 1)):
        client.force_login(person)
        assert bool(listed(client)) is bool(sees)
    client.logout()
    assert client.get("/signals/").status_code == 302


def test_only_reviewers_get_the_form(client, people, audited):
    client.force_login(people.vera)
    assert "verdict-f" not in client.get("/signals/").content.decode()
    client.force_login(people.alice)
    assert client.get("/signals/").content.decode().count("verdict-f") == Signal.unscoped.count()


def test_a_verdict_without_scripts_goes_back_to_where_it_came_from(client, people, audited):
    signal = Signal.unscoped.first()
    client.force_login(people.alice)
    page = client.get("/signals/?kind=altered").content.decode()
    assert re.search(r'name="next" value="/signals/\?kind=altered#s-\d+"', page)
    answer = post(client, signal, verdict="confirmed", note="why", next="/signals/?kind=altered#s-1")
    assert (answer.status_code, answer.url) == (302, "/signals/?kind=altered#s-1")
    assert Review.unscoped.get().note == "why"


@pytest.mark.parametrize(
    "there", ["https://evil.example/", "//evil.example", "javascript:alert(1)", "", "\\\\evil", "signals"]
)
def test_it_never_goes_elsewhere(client, people, audited, there):
    signal = Signal.unscoped.first()
    client.force_login(people.alice)
    answer = post(client, signal, verdict="confirmed", next=there)
    assert answer.url.startswith(f"/compactions/{audited.pk}/")
    assert answer.url.endswith(f"#signal-{signal.rank}")


def test_a_script_gets_the_fragment_it_puts_in_place(client, people, audited):
    signal = Signal.unscoped.first()
    client.force_login(people.alice)
    answer = post(client, signal, fragment=True, verdict="dismissed", note="said otherwise", next="/signals/#s-1")
    html = answer.content.decode()
    assert (answer.status_code, answer.headers["X-Fragment"]) == (200, "1")
    assert html.count('class="verdict"') == 1
    assert 'data-verdict="dismissed"' in html
    assert 'name="next" value="/signals/#s-1"' in html
    assert "said otherwise" in html
    assert "alice" in html
    assert "<html" not in html


def test_refusals_never_look_like_success(client, people, audited):
    signal = Signal.unscoped.first()
    assert post(client, signal, verdict="confirmed").status_code == 302, "to the login"
    assert not Review.unscoped.exists()
    client.force_login(people.mallory)
    assert post(client, signal, fragment=True, verdict="confirmed").status_code == 404
    assert post(client, signal, verdict="confirmed").status_code == 404
    client.force_login(people.bob)
    refused = post(client, signal, fragment=True, verdict="confirmed")
    assert (refused.status_code, refused.headers["Content-Type"]) == (403, "text/plain; charset=utf-8")
    assert post(client, signal, verdict="confirmed").status_code == 403
    client.force_login(people.alice)
    for fields in ({"verdict": "perhaps"}, {}, {"verdict": "open", "note": "x" * 2001}):
        assert post(client, signal, fragment=True, **fields).status_code == 422
        answer = client.post(f"/signals/{signal.pk}/review", fields, follow=True)
        assert "nothing was changed" in answer.content.decode()
    assert client.get(f"/signals/{signal.pk}/review").status_code == 405
    assert not Review.unscoped.exists()


def test_hostile_notes_and_texts_are_only_shown(client, people):
    make_policy(people.team)
    log = make_log(make_session(people.team, "s", people.bob, title=HOSTILE))
    make_messages(
        log, [("user/message", "user", True, HOSTILE + " Keep /srv/<b>x</b>/app.py and /srv/y.py unchanged.")]
    )
    make_audit(make_compaction(log, summary=[HOSTILE + " /srv/<i>z</i>/q.py " * 8], model=HOSTILE))
    for signal in Signal.unscoped.all():
        confirm(people, signal, "open", HOSTILE)
        confirm(people, signal, "dismissed", HOSTILE + "2")
    client.force_login(people.alice)
    pages = [client.get(url).content.decode() for url in ("/signals/?verdict=all", "/signals/?session=1&verdict=all")]
    pages.append(
        post(client, Signal.unscoped.first(), fragment=True, verdict="confirmed", note=HOSTILE).content.decode()
    )
    for html in pages:
        assert "<script>alert" not in html
        assert "<img src=x" not in html
        assert "<b>x" not in html
        assert "\x1b" not in html
        assert "\u202e" not in html.replace("&#x202e;", "")
        assert "14" not in re.findall(r"\{\{ (\S+) \}\}", html)


def test_the_list_asks_a_fixed_number_of_questions(client, people, audited, django_assert_max_num_queries):
    client.force_login(people.alice)
    client.get("/signals/")
    for count in (1, 8):
        for number in range(count):
            add(people, f"more-{count}-{number}")
        for row in Signal.unscoped.order_by("-pk")[:5]:
            confirm(people, row, "open", str(count))
        # login, person, memberships, teams in the header;
        # policy and patterns in force, visibility, signals, reviews; texts around them (summaries, messages);
        # the first three again and counts; models
        with django_assert_max_num_queries(4 + 5 + 2 + 4 + 1):
            assert client.get("/signals/").status_code == 200


def test_a_candidate_stands_among_the_words_around_it(client, people, audited):
    client.force_login(people.vera)
    page = client.get("/signals/").content.decode()
    assert re.search(r"the cache limit is\s*<mark>46 MiB</mark>", page), "of the summary"
    assert re.search(r"read\s*<mark>data/report-a.txt</mark>\s*and data/report-b.txt", page), "of an original"


def test_a_verdict_shows_who_when_and_what_came_before(client, people, audited):
    signal = Signal.unscoped.first()
    confirm(people, signal, "confirmed", "first thought")
    confirm(people, signal, "dismissed", "second thought")
    client.force_login(people.vera)
    page = client.get("/signals/?verdict=dismissed").content.decode()
    assert re.search(r"alice\s*·\s*<time[^>]*>just now</time>", page)
    assert "second thought" in page
    assert "History: 2 entries" in page
    assert "first thought" in page
