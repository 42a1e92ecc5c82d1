"""The texts of the OpenAPI document, for the message catalogue: `/api/docs` says them in the reader's language.

    python manage.py shell -c "from dshweb.api.words import renew; renew()"    writes TEXTS anew after a call has changed

A test compares (dshweb/api/tests/test_docs.py).
"""

# ruff: noqa: E501 - the texts stand as the document has them
from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.utils.translation import gettext_noop as _

from dshweb.api.reference import Reference, reference


def said(document: dict[str, Any]) -> list[str]:
    """Every paragraph that the page shows of `document`, each once, sorted."""
    found = {part for text in _texts(reference(document, "")) for part in text.split("\n\n")}
    return sorted(found - {""})


def _texts(found: Reference) -> Iterator[str]:
    for calls in found.groups.values():
        for call in calls:
            yield from (call.summary, call.about)
            yield from (one.summary for one in call.examples)
            yield from (one.about for one in call.parameters)
    for shape in found.shapes:
        yield shape.about
        yield from (one.about for one in shape.fields)


def renew() -> None:
    """Writes the list below anew from the document of this code."""
    from dshweb.api.main import api

    path = Path(__file__)
    lines = "".join(f"    _({json.dumps(text, ensure_ascii=False)}),\n" for text in said(api.get_openapi_schema()))
    before = path.read_text().partition("\nTEXTS = [")[0]
    path.write_text(f"{before}\nTEXTS = [\n{lines}]\n")


# fmt: off
# written by `renew`
TEXTS = [
    _("0 to 1, weighted; null when there was nothing to rate"),
    _("0 to 1; null when there was nothing to rate"),
    _("A form with files"),
    _("A log that is here already changes nothing: the same bytes lead to the same session. A file that is no log makes its task fail, with the reason. The body needs a length (`Content-Length`); more than MAX_UPLOAD_BYTES is refused."),
    _("A message. `author` is who wrote a message of the user's role, as the log names it; `human`: a person typed it."),
    _("A session by DSH's id"),
    _("A session in a line. The numbers are those of the log that is newest by content."),
    _("A stretch of a message's text; stretches are joined by a blank line."),
    _("A verdict of a person, or of a person's token. `verdict` open: an earlier one was taken back, or only a note given."),
    _("A waiting task is cancelled at once, a running one at its next step; what it did is kept. One that has ended stays as it is."),
    _("Adds your verdict; earlier ones stay as history. It holds for the same signal in later records of the compaction. The same verdict and note sent again change nothing."),
    _("All attempts in the order of the log, each with its audit in a line."),
    _("All with a verdict"),
    _("Altered values, ten at a time"),
    _("An attempt in a line; `GET /compactions/{id}` has the rest. The counts are null while it has no audit."),
    _("An audit in numbers: facts, not rows. Null is an axis that could not be made. The record has it all."),
    _("Answers the new task, or the one for the same work that is open already."),
    _("Any other offset: 409 `logs/offset`, and `detail.size` says where to go on. With `before`, bytes that differ are found: 409 `logs/different`. A body is taken whole or not at all, and is on disk when the answer comes. What one person sends is theirs: the same names sent by another person are another log."),
    _("Appends the body if `offset` is the size of what is here, and answers the new size; the import follows by itself."),
    _("Asks for audits of its log under the policy in force. What has such a record keeps it; verdicts of unchanged signals stay. 409 when the log has no summary of this compaction."),
    _("Audit compaction 1"),
    _("Audit it again"),
    _("Before a collector goes on"),
    _("Cancel a task"),
    _("Candidates for review"),
    _("Compaction 1"),
    _("Compactions of a log"),
    _("Confirm it"),
    _("DSH's id of the session it came from"),
    _("DSH's own id"),
    _("Delete a session"),
    _("Do a failed or cancelled task again"),
    _("Do task 1 again"),
    _("Events of a log"),
    _("Every event as its row says it, in the order of the log, masked. Only the frames that hold them are read; a page may end before `limit` when they are large. `original=true` needs the owner's login or token, or an admin in person."),
    _("From seq 4 on"),
    _("Hand in a log"),
    _("How far task 1 is"),
    _("How much of a log is here"),
    _("How much of a log is here. `sha256` is that of the first `first` bytes, where the call asked for it."),
    _("Its audit record"),
    _("Its compactions"),
    _("Its logs, messages, compactions, audits, reviews and stored bytes. For the session's owner, and the team's admins in person. The places it was read at are left alone from then on until somebody asks for them."),
    _("Keeps the bytes and asks for their import, which a worker does: follow `task`."),
    _("Long work, newest first"),
    _("Messages of a log"),
    _("Of whatever record, also of one that counts no more."),
    _("One attempt to compact. `id` is our number, `compactionId` the log's own."),
    _("One candidate with all its reviews"),
    _("One candidate: something a literal comparison did not find on the other side. No statement that a summary is wrong."),
    _("One compaction"),
    _("One event. `place`: number of its row in the log, and its number in the row. `event` has DSH's own members."),
    _("One line of a damage report. `kind`: `bytes` were lost, the `order` is odd, or only a `note`."),
    _("One log as the body"),
    _("One log of a session. `current`: newest by content; `openedByDsh`: the one DSH itself would open."),
    _("One piece of long work. `done` and `total` count `unit`s (bytes, logs, compactions); what is not known is null."),
    _("One session"),
    _("One signal with its review a line, as the items of the list; sent while it is read, however many there are."),
    _("One task"),
    _("Our ids of sessions of the same team. `alike` begin with the same message, said at the same time."),
    _("Review a candidate"),
    _("Rules of the user that one compaction did not keep"),
    _("SHA-256 of the up to 65536 bytes that stand before `offset` in your file"),
    _("Send the `ETag` of the last answer as `If-None-Match`: while nothing has changed the answer is an empty 304."),
    _("Send the next piece of a log"),
    _("Session 1"),
    _("Sessions"),
    _("Sessions of your teams, in any of the orders; `next` of the answer is the `cursor` of the next page."),
    _("Signal 1"),
    _("Signals of the record that counts of every compaction you can see. Those of forks and of a session's older logs are left out unless you name their `compaction`. `next` of the answer is the `cursor` of the next page."),
    _("Stop task 1"),
    _("Take that back"),
    _("Tasks of your teams. `state` and `kind` narrow the list; `next` of the answer is the `cursor` of the next page."),
    _("The beginning"),
    _("The conversation"),
    _("The first events"),
    _("The newest sessions"),
    _("The newest tasks"),
    _("The record `audit.signals/1` (docs/record.md), as `audit --json` prints it: sorted keys, UTF-8."),
    _("The record of compaction 1"),
    _("The record that counts: made under the policy in force, else the newest. 404 while there is none, and for those who may not see what was said."),
    _("The same as one file"),
    _("The size of what you sent of this log: 0 when nothing is here. Others' logs are never told of, whatever their names."),
    _("What a list of signals is narrowed to."),
    _("What awaits review, most important first"),
    _("What became of one file of the call: it is here and `task` imports it, or `error` says why it was not taken."),
    _("What every refused call answers. `code` is for programs, `message` for people: what happened, what was kept, what to do."),
    _("What failed, ten at a time"),
    _("What stands on the surface: who wrote it, and its masked text up to 20 000 characters (`chars` tells how many there are)."),
    _("What the log says of it, and its audit in numbers."),
    _("What went with a session, or would: `deleted` tells which."),
    _("What would go with session 1"),
    _("Where a port was spoken of, most to look at first"),
    _("Whether its first bytes are mine"),
    _("With its logs, the damage report of each, and where it came from."),
    _("Without `note` the note of the last review stays; `open` takes a verdict back."),
    _("`altered`, `candidates`, `cannot`, `partial`, `clean`: the worst of its audits; null: none was made"),
    _("`human`, `assistant`, `reasoning`, `tool_args`, `tool_result`, `injected`"),
    _("`ingest`, `audit`, `rescan` …"),
    _("`manual`, `pressure` or `overflow`; the last two are derived"),
    _("`next` of the page before; wins over `from_seq`"),
    _("`task` is that of the first file that was taken; `files` tells of all, those taken first."),
    _("a result that was written in place of the tool's own"),
    _("all of them when it is left out"),
    _("all reviews, newest first"),
    _("altered and old values"),
    _("byte in the log"),
    _("bytes of its data"),
    _("bytes that came"),
    _("bytes that were read"),
    _("bytes, frames, rows and events, and what was left out by reason"),
    _("codes of what is odd about its logs"),
    _("completed ones, without those inherited from a parent"),
    _("digest this many bytes, or all if fewer"),
    _("estimated"),
    _("first day of summaries"),
    _("from its start to its last event"),
    _("health of its log"),
    _("health of its log: `ok`, `damaged`, `unsupported`, `failed`"),
    _("how many events it replaced"),
    _("how often a worker began it"),
    _("images and files"),
    _("it stands among the rows a fork took over from its parent"),
    _("it stops at its next step"),
    _("last day of summaries"),
    _("last event on this day or earlier"),
    _("last event on this day or later"),
    _("made under an earlier policy; none was made under the one in force yet"),
    _("masked"),
    _("masked blocks of text; null when the log has no summary"),
    _("name of the token it came by"),
    _("number of the signal"),
    _("number of the task"),
    _("of a record made under an earlier policy"),
    _("of all its requests together"),
    _("of the newest review; open without one"),
    _("of the record that counts; null when none was made"),
    _("one of its logs; without, the newest by content"),
    _("only count what would go"),
    _("only sessions with compactions, also uncompleted ones"),
    _("open terms of the vocabulary; null when that is switched off"),
    _("our number of the compaction"),
    _("our number of the session"),
    _("place in its record, from 0"),
    _("read to its end"),
    _("rows it begins with that are its parent's"),
    _("short name of a team"),
    _("short name of the team it belongs to"),
    _("short name of the team; your first team without it"),
    _("something could not be judged"),
    _("start at this seq, or the first one after it"),
    _("stored masked"),
    _("that wrote the summary"),
    _("the file's name, when it is the body itself"),
    _("the log's file name"),
    _("the model that wrote the summary"),
    _("the newest review"),
    _("the row as it stands in the record (docs/record.md)"),
    _("the session: the name of the folder its log lies in"),
    _("the working directory"),
    _("the working directory, whole"),
    _("time of the summary"),
    _("title, id, folder, or words that were said"),
    _("units a second, of late"),
    _("unmasked: only the session's owner and its team's admins, and it is written down"),
    _("user name of its owner"),
    _("user name; null when the account is gone"),
    _("what came of it; depends on `kind`"),
    _("what it is about; empty for those who may not see that"),
    _("where in the log the body begins"),
    _("where it was read at; null unless you may bring logs in"),
    _("whether you may see what was said; if not, `error` and `summary` are null"),
    _("whether you may see what was said; if not, `title` and `workspace` are null"),
    _("which completed compaction of this log, from 1"),
    _("why it failed"),
    _("your file was written anew: drop what is here behind `offset`; needs `before`"),
]
