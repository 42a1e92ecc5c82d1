"""Verdicts of people on signals. A verdict belongs to a compaction and a signal's key and outlives the record it was made on.

Rules: DECISIONS 3 (who may review), 18 (words); issue 3, Build 2.
"""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import F, Window
from django.db.models.functions import RowNumber
from django.http import Http404
from django.utils.translation import gettext as _

from audit.models import Review, ReviewVerdict, Signal
from audit.models.review import NOTE_CHARS
from dshweb.access.callers import Caller
from dshweb.sessionlog.models import Compaction
from dshweb.sessionlog.selectors import may_see_content
from dshweb.sessionlog.services.masking import masker_for
from dshweb.text.lines import storable, visible


class BadReview(ValueError):
    """A verdict or note that cannot be taken; the message says why."""


def review(caller: Caller, signal: Signal, verdict: str, note: str = "") -> Review:
    """Adds the caller's verdict on `signal` and returns it; the note is masked and holds at most NOTE_CHARS code points.

    `open` says only the note; "" takes back what was said: open again, without a note. The same verdict and note by the same
    person once more is the same review. Raises Http404 when the caller cannot see the signal, PermissionDenied when it sees
    it and may not review, BadReview for a verdict or note that is none.
    """
    compaction = signal.audit.compaction
    if signal.team_id not in caller.grants or not may_see_content(caller, compaction.session):
        raise Http404
    if not caller.may_review(signal.team_id):
        raise PermissionDenied(_("You may read this signal, but not review it; nothing was changed."))
    if verdict == "":
        verdict, note = ReviewVerdict.OPEN, ""
    if verdict not in ReviewVerdict.values:
        raise BadReview(_("A verdict is confirmed, dismissed or open; nothing was changed."))
    if len(note) > NOTE_CHARS:
        raise BadReview(_("A note has at most %(n)d characters; nothing was changed.") % {"n": NOTE_CHARS})
    # masked before it is made visible: a pattern reads what was written
    text = visible(storable(masker_for(signal.team_id).mask_text(note.replace("\r\n", "\n").strip())).text).strip()
    with transaction.atomic():
        # one reviewer after the other, and none while a new record is being stored
        Compaction.unscoped.select_for_update().filter(pk=compaction.pk).values_list("pk").first()
        last = Review.unscoped.filter(compaction=compaction, key=signal.key).order_by("-id").first()
        if last is not None and (last.verdict, last.note, last.user_id) == (verdict, text, caller.user.pk):
            return last
        made = Review.unscoped.create(
            team_id=signal.team_id,
            compaction=compaction,
            key=signal.key,
            verdict=verdict,
            note=text,
            user=caller.user,
            token=caller.token,
        )
        Signal.unscoped.filter(audit__compaction=compaction, key=signal.key).update(review=verdict)
    return made


def standing(compaction_id: int) -> dict[str, str]:
    """The verdict that counts for each reviewed key of a compaction. One query."""
    newest = Window(RowNumber(), partition_by=F("key"), order_by=F("id").desc())
    rows = Review.unscoped.filter(compaction=compaction_id).annotate(nth=newest).filter(nth=1)
    return dict(rows.values_list("key", "verdict"))


def mask_review_notes(team_id: int) -> int:
    """Hides in the team's notes what the patterns in force hide; the number of notes that changed (docs/decisions/0002)."""
    masker, changed = masker_for(team_id), 0
    rows = Review.unscoped.filter(team=team_id).exclude(note="").order_by("pk").values_list("pk", "note")
    for pk, note in rows.iterator(chunk_size=500):
        clean = masker.mask_text(note)
        if clean != note:
            changed += Review.unscoped.filter(pk=pk).update(note=clean)
    return changed
