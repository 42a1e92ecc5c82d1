"""The page of a compaction: both sides marked and linked, a selected fact, filters, windows, and who may see what."""

from __future__ import annotations

import re
import time

import pytest
from django.utils.html import escape

from audit import selectors_facts
from audit.core.marks import fact_key
from audit.models import Audit, Fact, MarkedText, Signal
from audit.presenting_marks import Marker, summary_html
from audit.selectors_facts import WINDOW, marks_in
from dshweb.access.models import Visibility
from dshweb.sessionlog.core.leaves import LedgerReason
from dshweb.sessionlog.models import Message
from dshweb.ui.templatetags.dshweb import GAP, grouped
from dshweb.ui.tests.rows import (
    HOSTILE,
    ID_B,
    SUMMARY,
    TURN,
    make_audit,
    make_compaction,
    make_log,
    make_messages,
    make_session,
)
from tests.reading import words

pytestmark = pytest.mark.django_db

FORCE = fact_key("user_rule", "never force-push to main")


def compaction(people, turn=None, *, audited=True, **fields):
    session = make_session(people.team, f"s{fields.get('position', '')}", people.alice)
    log = make_log(session)
    make_messages(log, turn)
    row = make_compaction(log, **fields)
    if audited:
        make_audit(row)
    return row


def part(html: str, name: str) -> str:
    start = html.index(f'id="{name}"')
    return (
        html[start : html.index("</section>\n", start)]
        if name != "originals"
        else html[start : html.index('id="summary"')]
    )


def marks_of(html: str) -> list[tuple[str, str]]:
    """(state, text) of every mark of a fact."""
    found = re.findall(r'<a class="fact f-(\w+)"[^>]*>(.*?)</a>', html, re.DOTALL)
    return [(state, re.sub(r'<span class="f-l">.*?</span>|<[^>]+>', "", inner)) for state, inner in found]


def test_every_judged_fact_is_marked_on_the_side_where_it_stands(page, people):
    row = compaction(people)
    html = page(f"/compactions/{row.pk}/")
    left, right = marks_of(part(html, "originals")), marks_of(html[html.index('id="summary"') :])
    assert {("lost", "data/report-a.txt"), ("altered", "64 MiB"), ("kept", "src/store.py"), ("lost", ID_B)} <= set(left)
    assert {("altered", "46 MiB"), ("unverified", "250 GiB"), ("verified", "src/store.py")} <= set(right)
    assert ("unverified", "/srv/demo-app/deploy/rollout.yaml") in right
    assert 'class="said f-lost"' in part(html, "originals"), "a rule is marked around its facts"


def test_what_is_on_one_side_only_stands_at_the_foot_of_the_other(page, people):
    html = page(f"/compactions/{compaction(people).pk}/")
    left, right = part(html, "originals"), html[html.index('id="summary"') :]
    foot = left[left.index('class="absent"') :]
    assert "Only in the summary" in words(foot)
    assert ("unverified", "250 GiB") in marks_of(foot)
    foot = right[right.index('class="absent"') :]
    assert ("lost", "data/report-a.txt") in marks_of(foot)
    assert ("altered", "64 MiB") not in marks_of(foot), "its altered copy stands for it"


def test_the_first_signal_is_selected_and_another_by_the_address(page, people):
    row = compaction(people)
    html = page(f"/compactions/{row.pk}/")
    current = re.findall(r'<li class="signal" id="signal-(\d+)"[^>]*aria-current="true"', html)
    assert current == ["0"]
    html = page(f"/compactions/{row.pk}/?fact={FORCE}")
    (current,) = re.findall(r'<li class="signal"[^>]*aria-current="true"', html)
    assert f'data-fact="{FORCE}"' in current
    on = re.findall(r'<(?:a|span) class="(?:fact|said) [^>]*data-on=?[^>]*>', html)
    assert len(on) == 2, "once where it stands and once at the foot of the summary"
    html = page(f"/compactions/{row.pk}/?fact=unheardof")
    assert re.findall(r'id="signal-(\d+)"[^>]*aria-current="true"', html) == ["0"], (
        "one that is none is as if not asked for"
    )
    signal = Signal.unscoped.get(text="46 MiB")
    html = page(f"/compactions/{row.pk}/?signal={signal.pk}")
    (current,) = re.findall(r'<li class="signal"[^>]*aria-current="true"', html)
    assert f'data-signal="{signal.pk}"' in current
    both = re.findall(r'<a class="fact f-altered"[^>]*data-on', html)
    assert len(both) >= 2, "the altered value and its original"


def test_a_signal_is_a_row_with_what_its_review_needs(page, people):
    row = compaction(people)
    html = page(f"/compactions/{row.pk}/")
    for signal in Signal.unscoped.filter(audit__compaction=row):
        (line,) = re.findall(rf'<li class="signal" id="signal-{signal.rank}"[^>]*>', html)
        assert f'data-signal="{signal.pk}"' in line
        assert f'data-kind="{signal.kind}"' in line
        assert f'data-class="{signal.cls}"' in line
        assert f'data-fact="{fact_key(signal.cls, signal.canon)}"' in line
        assert Fact.unscoped.filter(key=fact_key(signal.cls, signal.canon)).exists()
    assert "0 of" in words(html)
    assert "46 MiB ← 64 MiB" in words(html)
    line = html[html.index(f'data-fact="{fact_key("uuid", ID_B)}" data-signal') :]
    assert "In the originals:" not in words(line[: line.index("</li>")]), "one place is told already"


def test_open_terms_of_the_vocabulary_are_listed_and_marked(page, people):
    html = page(f"/compactions/{compaction(people).pk}/")
    assert 'data-kind="missing"' in html
    assert 'data-kind="superseded"' in html
    assert ("superseded", "rollout") in marks_of(html) or "f-superseded" in html


def test_filters_narrow_the_list_and_say_when_nothing_is_left(page, people):
    row = compaction(people)
    html = page(f"/compactions/{row.pk}/?kind=unverified")
    kinds = set(re.findall(r'<li class="signal"[^>]*data-kind="(\w+)"', html))
    assert kinds == {"unverified"}
    html = page(f"/compactions/{row.pk}/?kind=lost&cls=uuid")
    assert re.findall(r'<li class="signal"[^>]*data-class="(\w+)"', html) == ["uuid"]
    assert "No signal of this kind and class." in page(f"/compactions/{row.pk}/?kind=lost&cls=ip")


def test_the_counts_the_ledger_and_the_plain_sentence(page, people):
    row = compaction(people, audited=False)
    audit = make_audit(row, reasons=(LedgerReason("missing_seq", 12),))
    said = words(page(f"/compactions/{row.pk}/"))
    assert f"{audit.verified} / {audit.asserted}" in said
    assert f"{audit.kept} / {audit.key_facts}" in said
    assert "candidate for review" in said
    assert "A cited event is not in the log." in said
    last = audit.record["coverage"]["lastExchange"]
    assert f"the last exchange before the cut · {last['kept']} / {last['facts']} facts" in said


def test_how_a_fact_fared_in_other_rounds(page, people):
    first = compaction(people, position=9)
    second = make_compaction(first.log, 40, round=2, summary=[SUMMARY[0] + f"\n- never force-push to main; {ID_B}"])
    make_audit(second)
    html = page(f"/compactions/{second.pk}/?fact={fact_key('uuid', ID_B)}")
    assert re.search(r"round 1 not in the summary\s+round 2 kept", words(html))
    assert f'href="/compactions/{first.pk}/?fact={fact_key("uuid", ID_B)}"' in html
    assert "2 of 2" in words(html)
    assert f'rel="prev" href="/compactions/{first.pk}/"' in html
    assert f'rel="next" href="/compactions/{second.pk}/"' in page(f"/compactions/{first.pk}/")


MANY = [("tool/result", "", False, f"row {n} of data/part-{n:04}.csv holds {n} MB") for n in range(3 * WINDOW)]


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


def test_before_the_audit_both_texts_are_there_without_marks(page, people):
    html = page(f"/compactions/{compaction(people, audited=False).pk}/")
    assert "Not audited yet." in words(html)
    assert "never force-push to main" in words(part(html, "originals"))
    assert "Tracking id" in words(html)
    assert not marks_of(html)


def test_an_audit_whose_facts_are_gone_says_so(page, people):
    row = compaction(people)
    Fact.unscoped.all().delete()
    MarkedText.unscoped.all().delete()
    Audit.unscoped.update(marked=False)
    html = page(f"/compactions/{row.pk}/")
    assert "carry no marks" in words(html)
    assert "Audit again" in words(html)
    assert "never force-push to main" in words(part(html, "originals"))
    assert re.findall(r'<li class="signal"', html)


def test_places_of_another_masking_mark_nothing(page, people):
    row = compaction(people)
    row.log.masking = "other"
    row.log.save()
    assert not marks_of(page(f"/compactions/{row.pk}/"))


def test_hostile_text_is_inert_in_marks_too(page, people):
    path = "/srv/<b>x</b>/app.py"
    hostile = f'{HOSTILE} keep "{path}" and never <i>touch</i> /srv/"onclick="alert(1)/y.txt'
    row = compaction(
        people, [("user/message", "user", True, hostile)], summary=[f"- {HOSTILE} /srv/<u>z</u>/w.py 5 MB"]
    )
    for url in (
        "",
        "originals?at=8",
        "originals/8?from=0&to=400",
        *(f"facts/{fact.key}" for fact in Fact.unscoped.all()),
    ):
        html = page(f"/compactions/{row.pk}/{url}")
        for bad in ("<script>alert", "<img", "<b>x", "<i>touch", "<u>z", "\x1b", "\u202e", 'onclick="'):
            assert bad not in html, (url, bad)


def test_the_page_asks_a_fixed_number_of_questions(
    client, people, django_assert_num_queries, django_assert_max_num_queries
):
    client.force_login(people.bob)
    row = compaction(people)
    with django_assert_max_num_queries(26) as seen:
        assert client.get(f"/compactions/{row.pk}/").status_code == 200
    big = compaction(people, [*TURN, *MANY], position=10)
    audit = big.audits.get()
    one = audit.signals.last()
    Signal.unscoped.bulk_create(
        Signal(team=people.team, audit=audit, rank=100 + n, axis="coverage", cls=one.cls, kind="lost", text=f"x{n}", data=one.data, seq=n)
        for n in range(200)
    )  # fmt: skip
    with django_assert_num_queries(len(seen)):
        page = client.get(f"/compactions/{big.pk}/").content.decode()
    assert "all=1#signals" in page
    with django_assert_num_queries(len(seen)):
        client.get(f"/compactions/{big.pk}/?fact={FORCE}")
    near, far = audit.signals.get(rank=0), audit.signals.get(rank=299)
    page = client.get(f"/compactions/{big.pk}/?signal={near.pk}").content.decode()
    assert "all=1#signals" in page, "the asked one is among the first: no need for the others"
    assert f'data-signal="{far.pk}"' in client.get(f"/compactions/{big.pk}/?signal={far.pk}").content.decode()


def test_marks_of_very_many_facts_are_asked_for_in_parts(people, monkeypatch):
    audit = compaction(people).audits.get()
    at_once = marks_in(audit, range(100), keys=[FORCE])
    assert len(at_once.by_position) > 4
    assert list(at_once.by_key) == [FORCE]
    monkeypatch.setattr(selectors_facts, "IN_ONE_QUERY", 2)
    assert marks_in(audit, range(100), keys=[FORCE]) == at_once
