"""Verdicts on signals: who may give one, what is kept of it, and that it outlives the record it was given on."""

from __future__ import annotations

import itertools

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404

from audit.core.identity import importance, signal_key
from audit.core.policy import Policy
from audit.models import Review, Signal
from audit.selectors_review import reviews_of, signal_for
from audit.services.review import BadReview, mask_review_notes, review
from dshweb.access.callers import caller_for_token, caller_for_user
from dshweb.access.models import Visibility
from dshweb.access.services import tokens
from dshweb.sessionlog.models import MaskPattern
from dshweb.ui.tests.rows import make_audit, make_audited, make_compaction, make_policy

pytestmark = pytest.mark.django_db
ROW = {"class": "uuid", "kind": "lost", "canon": "a", "text": "A", "tier": "B", "weight": 1.5}


@pytest.fixture
def audited(people):
    make_policy(people.team)
    return make_audited(people.team, people.bob)


@pytest.fixture
def signal(audited):
    return Signal.unscoped.filter(audit__compaction=audited).order_by("rank").first()


def asking(person, signal):
    caller = caller_for_user(person)
    return caller, signal_for(caller, signal.pk)


def test_a_key_is_of_what_a_signal_says_and_not_of_where_it_stands():
    same = signal_key("coverage", ROW)
    assert same == signal_key("coverage", ROW | {"where": {"seq": 9}, "occurrences": 7, "weight": 9.0, "text": "B"})
    others = [ROW | {"class": "ip"}, ROW | {"kind": "altered"}, ROW | {"canon": "b"}, ROW | {"canon": "", "text": "B"}]
    assert len({same, signal_key("fidelity", ROW), *(signal_key("coverage", row) for row in others)}) == 6
    assert len(signal_key("coverage", ROW | {"canon": "\ud800 lone"})) == 32


def test_importance_puts_the_tier_before_the_weight():
    def of(tier, weight):
        return importance(ROW | {"tier": tier, "weight": weight})

    assert of("A", None) > of("B", 999.0) > of("B", 2.5) > of("B", 2.4) > of("C", 999.0) > of("C", None) >= 0


def test_every_stored_signal_has_a_key_and_an_importance(audited):
    rows = Signal.unscoped.filter(audit__compaction=audited)
    assert all(row.key == signal_key(row.axis, row.data) and row.importance == importance(row.data) for row in rows)
    assert rows.count() > 5


def test_a_verdict_is_kept_with_who_and_counts_as_the_newest(people, signal, audited):
    caller, row = asking(people.alice, signal)
    review(caller, row, "confirmed", "seen in seq 8")
    review(caller, row, "dismissed")
    history = reviews_of(caller, audited)[signal.key]
    assert [(one.verdict, one.note, one.user, one.token) for one in history] == [
        ("dismissed", "", people.alice, None),
        ("confirmed", "seen in seq 8", people.alice, None),
    ]
    signal.refresh_from_db()
    assert signal.review == "dismissed"


def test_an_undone_verdict_leaves_the_signal_open_and_the_history_whole(people, signal):
    caller, row = asking(people.alice, signal)
    review(caller, row, "confirmed", "yes")
    undone = review(caller, row, "", "yes")
    assert (undone.verdict, undone.note) == ("open", "")
    signal.refresh_from_db()
    assert signal.review == "open"
    assert Review.unscoped.count() == 2


def test_the_same_verdict_sent_twice_is_one(people, signal):
    caller, row = asking(people.alice, signal)
    first = review(caller, row, "confirmed", "so\r\nit is ")
    assert review(caller, row, "confirmed", "so\nit is") == first
    review(caller, row, "confirmed", "another reason")
    assert Review.unscoped.count() == 2


def test_an_equal_verdict_of_another_person_is_one_more(people, signal, team):
    from dshweb.access.models import Membership

    Membership.objects.filter(user=people.bob).update(can_review=True)
    for person in (people.alice, people.bob):
        caller, row = asking(person, signal)
        review(caller, row, "confirmed")
    assert Review.unscoped.count() == 2


@pytest.mark.parametrize("who", ["bob", "vera"])
def test_who_reads_but_may_not_review_is_refused(people, signal, who):
    caller, row = asking(getattr(people, who), signal)
    with pytest.raises(PermissionDenied):
        review(caller, row, "confirmed")
    assert not Review.unscoped.exists()


def test_who_cannot_see_a_signal_does_not_find_it(people, signal):
    stranger = caller_for_user(people.mallory)
    with pytest.raises(Http404):
        signal_for(stranger, signal.pk)
    with pytest.raises(Http404):
        review(stranger, signal, "confirmed")
    people.team.content_visibility = Visibility.OWNER
    people.team.save()
    with pytest.raises(Http404):
        asking(people.vera, signal)
    assert asking(people.bob, signal)


def test_a_token_needs_the_scope_and_is_named(people, signal):
    for scopes, allowed in ((["read", "ingest"], False), (["review"], True)):
        token, _secret = tokens.make(people.team, people.alice, "ci", scopes)
        caller = caller_for_token(token)
        if allowed:
            assert review(caller, signal_for(caller, signal.pk), "confirmed").token == token
        else:
            with pytest.raises(PermissionDenied):
                review(caller, signal_for(caller, signal.pk), "confirmed")


@pytest.mark.parametrize(("verdict", "note"), [("maybe", ""), ("Confirmed", ""), ("confirmed", "x" * 2001)])
def test_what_is_no_verdict_or_no_note_is_refused(people, signal, verdict, note):
    caller, row = asking(people.alice, signal)
    with pytest.raises(BadReview):
        review(caller, row, verdict, note)
    assert not Review.unscoped.exists()


def test_a_note_is_masked_by_the_patterns_of_the_team_and_fit_to_store(people, signal):
    MaskPattern.unscoped.create(team=people.team, name="ticket", expression="SEC-[0-9]+")
    caller, row = asking(people.alice, signal)
    made = review(caller, row, "confirmed", "SEC-42\x00 and sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD")
    assert "SEC-42" not in made.note
    assert "abcdefghijklmnop" not in made.note
    assert "[redacted:ticket]" in made.note
    assert "\x00" not in made.note


def test_patterns_that_came_later_hide_in_notes_too(people, signal):
    caller, row = asking(people.alice, signal)
    review(caller, row, "confirmed", "as in SEC-42")
    review(caller, row, "confirmed", "plain")
    MaskPattern.unscoped.create(team=people.team, name="ticket", expression="SEC-[0-9]+")
    assert mask_review_notes(people.team.pk) == 1
    assert list(Review.unscoped.order_by("id").values_list("note", flat=True)) == ["as in [redacted:ticket]", "plain"]
    assert mask_review_notes(people.team.pk) == 0


def test_a_re_audit_under_a_changed_policy_keeps_the_verdicts_of_unchanged_signals(people, audited):
    caller = caller_for_user(people.alice)
    before = list(Signal.unscoped.filter(audit__compaction=audited).order_by("rank"))
    for row, verdict in zip(before, ["confirmed", "dismissed"] * len(before), strict=False):
        review(caller, signal_for(caller, row.pk), verdict, f"as {verdict}")
    few = make_audit(audited, policy=Policy(max_facts_per_category=1))
    said = {
        row.key: (row.rank, f"as {verdict}")
        for row, verdict in zip(before, ["confirmed", "dismissed"] * len(before), strict=False)
    }
    after = list(few.signals.order_by("rank"))
    assert 3 < len(after) < len(before)
    assert any(row.rank != said[row.key][0] for row in after), "ranks moved, and nothing hangs on them"
    assert [f"as {row.review}" for row in after] == [said[row.key][1] for row in after]
    history = reviews_of(caller, audited)
    assert [history[row.key][0].note for row in after] == [said[row.key][1] for row in after]


def test_a_signal_that_a_re_audit_finds_for_the_first_time_is_open(people, audited):
    caller = caller_for_user(people.alice)
    audited.audits.all().delete()
    few = make_audit(audited, policy=Policy(max_facts_per_category=1))
    for row in few.signals.all():
        review(caller, signal_for(caller, row.pk), "confirmed")
    keys = set(few.signals.values_list("key", flat=True))
    for row in make_audit(audited).signals.all():
        assert row.review == ("confirmed" if row.key in keys else "open")


def test_a_verdict_holds_for_the_records_that_stand_beside_each_other(people, audited, signal):
    make_audit(audited, policy=Policy(extended_classes=False))
    caller, row = asking(people.alice, signal)
    review(caller, row, "dismissed")
    assert set(Signal.unscoped.filter(key=signal.key).values_list("review", flat=True)) == {"dismissed"}
    assert Signal.unscoped.filter(key=signal.key).count() == 2


def test_a_verdict_is_of_one_compaction(people, audited, signal):
    other = make_compaction(audited.log, 60)
    make_audit(other)
    caller, row = asking(people.alice, signal)
    review(caller, row, "dismissed")
    twin = Signal.unscoped.get(audit__compaction=other, key=signal.key)
    assert twin.review == "open"
    assert reviews_of(caller, other) == {}


def test_reviews_go_with_their_session_and_stay_without_their_person(people, audited, signal):
    caller, row = asking(people.alice, signal)
    review(caller, row, "dismissed")
    people.alice.delete()
    assert Review.unscoped.get().user is None
    audited.session.delete()
    assert not Review.unscoped.exists()


def test_reading_reviews_is_for_those_who_may_see_the_content(people, audited, signal):
    caller, row = asking(people.alice, signal)
    review(caller, row, "dismissed", "why")
    assert reviews_of(caller_for_user(people.vera), audited)
    people.team.content_visibility = Visibility.OWNER
    people.team.save()
    audited.session.team.refresh_from_db()
    assert reviews_of(caller_for_user(people.vera), audited) == {}
    assert reviews_of(caller_for_user(people.mallory), audited) == {}


@pytest.mark.django_db(transaction=True)
def test_two_who_press_at_once_leave_one_row_each_and_one_verdict_that_counts(people, audited, signal):
    from threading import Barrier, Thread

    from django.db import connection

    start = Barrier(4)

    def press(verdict):
        caller = caller_for_user(people.alice)
        row = signal_for(caller, signal.pk)
        start.wait(timeout=30)
        review(caller, row, verdict)
        connection.close()

    threads = [
        Thread(target=press, args=(verdict,)) for verdict in ("confirmed", "confirmed", "dismissed", "dismissed")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    history = list(Review.unscoped.order_by("id").values_list("verdict", flat=True))
    assert 2 <= len(history) <= 4
    assert all(one != other for one, other in itertools.pairwise(history)), "none twice in a row"
    signal.refresh_from_db()
    assert signal.review == history[-1]
