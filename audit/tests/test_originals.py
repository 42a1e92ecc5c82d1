"""Large texts on the page of a compaction: originals in windows and pieces, what of a summary is shown, very many marks."""

from __future__ import annotations

import re
import time

import pytest
from django.utils.html import escape

from audit import selectors_facts
from audit.core.marks import fact_key
from audit.models import Fact
from audit.presenting_marks import Marker, summary_html
from audit.selectors_facts import WINDOW, marks_in
from audit.tests.compaction_page import FORCE, MANY, compaction, marks_of, part
from dshweb.access.models import Visibility
from dshweb.sessionlog.models import Message
from dshweb.ui.templatetags.dshweb import GAP, grouped
from dshweb.ui.tests.rows import TURN
from tests.reading import words

pytestmark = pytest.mark.django_db


def test_originals_come_in_windows(page, client, people):
    row = compaction(people, [*MANY[: 2 * WINDOW], *TURN, *MANY[2 * WINDOW :]], shadowed_seqs=[])
    html = page(f"/compactions/{row.pk}/?at=8")
    shown = re.findall(r'<article class="leaf[^"]*" id="leaf-(\d+)"', html)
    assert shown == [str(seq) for seq in range(8, 8 + WINDOW)]
    assert f'data-on-at="{8 + WINDOW}"' in html
    assert "data-back" not in html
    html = page(f"/compactions/{row.pk}/originals?at={8 + WINDOW}")
    shown = re.findall(r'id="leaf-(\d+)"', html)
    assert shown == [str(seq) for seq in range(8 + WINDOW, 8 + 2 * WINDOW)]
    assert 'data-back="8"' in html
    html = page(f"/compactions/{row.pk}/originals?fact={FORCE}")
    assert f'data-fact="{FORCE}"' in html, "the window in which the fact stands"
    only_summary = fact_key("number_unit", "250 GiB")
    assert client.get(f"/compactions/{row.pk}/originals?fact={only_summary}").status_code == 204


def test_a_long_body_shows_its_marks_and_the_rest_in_pieces(page, people):
    lines = [f"{n}: nothing of note in this line at all" for n in range(4000)]
    lines[2500] = "the file /srv/deep/inside.txt was written"
    row = compaction(people, [*TURN, ("assistant/message", "", False, "\n".join(lines))])
    html = page(f"/compactions/{row.pk}/?at=16")
    body = html[html.index('id="leaf-16"') :]
    assert ("lost", "/srv/deep/inside.txt") in marks_of(body)
    assert "2500:" not in body
    assert "17: nothing" not in body
    hole = re.findall(r'<a class="hole" href="([^"]+)"', body)
    assert len(hole) == 2
    text, url = "", hole[1].replace("&amp;", "&")
    start = int(re.search(r"from=(\d+)", url)[1])
    for _ in range(20):
        piece = page(url, **{"x-fragment": "1"})
        assert "<html" not in piece
        assert len(piece) < 40_000
        more = re.search(r'<a class="hole" href="([^"]+)".*?</a>', piece)
        text += piece[: more.start()] if more else piece
        if not more:
            break
        url = more[1].replace("&amp;", "&")
    whole = "\n".join(lines)
    assert text == str(escape(whole[start:])), "the pieces join to the text"
    assert "Original event at seq 16" in words(page(hole[0].replace("&amp;", "&"))), "without scripts it is a page"


@pytest.mark.parametrize("url", ["originals?at=8", "originals/8?from=0&to=9", "facts/{key}"])
def test_fragments_are_for_those_who_may_see_content(client, people, url):
    row = compaction(people)
    address = f"/compactions/{row.pk}/" + url.format(key=FORCE)
    client.force_login(people.vera)
    assert client.get(address).status_code == 200
    people.team.content_visibility = Visibility.OWNER
    people.team.save()
    assert client.get(address).status_code == 404
    client.force_login(people.alice)
    assert client.get(address).status_code == 200
    client.force_login(people.mallory)
    assert client.get(address).status_code == 404
    client.logout()
    assert client.get(address).status_code == 302


def test_only_leaves_of_this_summary_are_given_in_pieces(client, people):
    row = compaction(people)
    Message.unscoped.create(
        team=people.team, log=row.log, position=500, seq=500, type="user/message", human=True, text="no leaf", chars=7
    )
    client.force_login(people.bob)
    assert client.get(f"/compactions/{row.pk}/originals/8?from=0").status_code == 200
    for wrong in ("originals/500?from=0", "originals/8?from=99999999", "originals/7", "facts/000000000000"):
        assert client.get(f"/compactions/{row.pk}/{wrong}").status_code == 404, wrong


def test_of_a_summary_larger_than_any_models_the_beginning_is_shown_and_more_when_asked(page, people):
    row = compaction(people, audited=False, summary=["# Head\n" + "word & " * 60_000, "second", *["tail"] * 300])
    first, more = page(f"/compactions/{row.pk}/"), page(f"/compactions/{row.pk}/?all=1")
    assert len(first) < 300_000 < len(more)
    assert '<b class="sec"># Head</b>' in first
    assert f'href="?all=1#summary">… {grouped(420_007 - 100_000)} characters …</a>' in first
    assert "second" not in words(part(first, "summary"))
    assert "second" in words(part(more, "summary"))
    assert "… 408 characters …" in more  # of 302 blocks 200 are shown


def test_of_very_many_marks_of_a_summary_the_first_are_drawn_and_the_chosen_one(people):
    fact = {n: Fact(pk=n + 1, key=f"{n:04}", cls="abs_path", text="/a/b", claim="unverified") for n in range(5_000)}
    text = "/a/b " * 5_000
    places = {0: [(5 * n, 5 * n + 4, n) for n in range(5_000)]}
    (html,) = summary_html(Marker(fact, "s", frozenset({"4000"}), "?fact="), [text], places, address="?all=1")
    assert html.count("data-fact=") < 1_500
    started = time.perf_counter()
    (many,) = summary_html(Marker(fact, "s"), ["# /a\n" * 5_000], places)
    assert 200 < many.count('<b class="sec">') < 1_000
    assert time.perf_counter() - started < 3
    assert 'id="s-0000"' in html
    assert 'id="s-4000" data-on=""' in html
    assert html.count('class="hole"') == 2
    left = sum(int(one.replace(GAP, "")) for one in re.findall(r"… ([^ ]+) characters", html))
    assert (
        left == len(text) - 5 * 1_000 - 2 * 1_000
    )  # the first thousand marks, and a thousand characters on either side


def test_marks_of_very_many_facts_are_asked_for_in_parts(people, monkeypatch):
    audit = compaction(people).audits.get()
    at_once = marks_in(audit, range(100), keys=[FORCE])
    assert len(at_once.by_position) > 4
    assert list(at_once.by_key) == [FORCE]
    monkeypatch.setattr(selectors_facts, "IN_ONE_QUERY", 2)
    assert marks_in(audit, range(100), keys=[FORCE]) == at_once
