"""The page of a compaction: both sides marked and linked, a selected fact, filters, and who may see what."""

from __future__ import annotations

import re

import pytest

from audit.core.marks import fact_key
from audit.models import Audit, Fact, MarkedText, Signal
from audit.tests.compaction_page import FORCE, MANY, compaction, marks_of, part
from dshweb.sessionlog.core.leaves import LedgerReason
from dshweb.ui.tests.rows import HOSTILE, ID_B, SUMMARY, TURN, make_audit, make_compaction
from tests.reading import words

pytestmark = pytest.mark.django_db


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
