"""What people said of signals stays through whatever is read and audited anew, and goes only with its session."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from audit.models import Audit, Review, Signal
from audit.selectors_review import Filters, counts, signal_for
from audit.services.policy import publish
from audit.services.review import review
from audit.services.run import audit_log
from dshweb.access.callers import caller_for_user
from dshweb.sessionlog.models import LogFile, MaskPattern, Session, SourceFile
from dshweb.sessionlog.services.delete import bring_back, delete_session
from dshweb.sessionlog.services.rebuild import rebuild_log
from dshweb.tasks.services import drain, enqueue

pytestmark = pytest.mark.django_db(transaction=True)
LOGS = Path(__file__).parent / "data" / "corpus" / "pressure-compaction"


@pytest.fixture
def alice(people, data_dir):
    """Who has reviewed every signal of an imported log: confirmed and dismissed by turns, each with a note."""
    enqueue(people.team, "ingest", "k", {"path": str(LOGS), "owner": people.bob.pk})
    drain()
    caller = caller_for_user(people.alice)
    for number, row in enumerate(Signal.unscoped.order_by("id")):
        review(caller, signal_for(caller, row.pk), ("confirmed", "dismissed")[number % 2], f"note {row.key}")
    assert Review.unscoped.count() >= 2
    return caller


def told(caller) -> Counter:
    """Signals of records that count by verdict and kind."""
    return counts(caller, Filters())


def test_a_log_that_is_read_anew_keeps_them(alice):
    before = told(alice)
    log = LogFile.unscoped.get()
    audit_log(rebuild_log(log))
    assert told(alice) == before
    Audit.unscoped.all().delete()
    audit_log(LogFile.unscoped.get())
    assert told(alice) == before, "also when every record is made once more"


def test_a_new_policy_keeps_those_of_signals_it_finds_again(people, alice):
    said = {row.key: row.review for row in Signal.unscoped.all()}
    publish(team=people.team, by=people.alice, extended_classes=False)
    audit_log(LogFile.unscoped.get())
    newest = Audit.unscoped.order_by("-id").first()
    rows = list(newest.signals.all())
    assert rows
    assert Audit.unscoped.filter(compaction=newest.compaction).count() == 2
    assert [row.review for row in rows] == [said.get(row.key, "open") for row in rows]


def test_new_masking_patterns_hide_in_notes_and_keep_verdicts(people, alice):
    row = Signal.unscoped.order_by("id").first()
    review(alice, signal_for(alice, row.pk), "dismissed", "as in SEC-42")
    before = told(alice)
    MaskPattern.unscoped.create(team=people.team, name="ticket", expression="SEC-[0-9]+")
    enqueue(people.team, "rescan", "masking")
    drain()
    assert told(alice) == before
    assert Review.unscoped.latest("id").note == "as in [redacted:ticket]"


def test_a_session_that_was_deleted_and_brought_in_again_starts_fresh(people, alice):
    before = told(alice)
    delete_session(Session.unscoped.get().pk, by=alice)
    assert not Review.unscoped.exists()
    assert not Signal.unscoped.exists()
    bring_back(SourceFile.unscoped.get(), by=alice)
    drain()
    assert {verdict for verdict, _kind in told(alice)} == {"open"}
    assert sum(told(alice).values()) == sum(before.values())
