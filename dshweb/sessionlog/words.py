"""Codes of the reader in plain words, for pages. A code nobody has words for is shown as it is, never dropped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from dshweb.sessionlog.core.damage import NOTE_CODES, ORDER_CODES
from dshweb.sessionlog.models import LogFile, Session

DAMAGE: dict[str, Promise] = {
    "empty_file": _("The file is empty."),
    "not_zstd": _("This is not a Zstandard file."),
    "junk_bytes": _("Bytes between frames belong to no frame. They were skipped."),
    "corrupt_frame": _("A frame cannot be decoded. It gives no rows; the frames after it were read."),
    "bad_checksum": _("A frame does not match its checksum. It gives no rows; the frames after it were read."),
    "torn_tail": _("The last frame is cut off. Its complete rows were kept."),
    "torn_row": _("The last row is cut off. The rows before it were kept."),
    "cut_row": _("A row was cut off by a damaged frame. It is left out."),
    "bad_row": _("A row is not JSON. It is left out."),
    "bad_utf8": _("A row holds bytes that are not UTF-8. They were replaced."),
    "lost_rows": _("Rows are missing where a frame could not be read."),
    "no_header": _("The log has no header line."),
    "dictionary": _("A frame needs a dictionary that is not in the log. It was not read."),
    "limit_frame": _("A frame is larger than the limit. It was not read."),
    "limit_window": _("A frame asks for more memory than the limit. It was not read."),
    "limit_ratio": _("A frame unpacks to far more than its size. It was not read."),
    "limit_log": _("The log is larger than the limit. The rest was not read."),
    "limit_row": _("A row is larger than the limit. It is left out."),
    "limit_rows": _("A frame gives more rows than the limit. The rows beyond it are left out."),
    "limit_events": _("A packed row claims more events than the limit. It is left out."),
    "limit_seqs": _("A row cites more seqs than the limit. The list was cut."),
    "seq_gap": _("Event numbers jump: seqs are missing."),
    "seq_duplicate": _("A seq occurs twice. Both events were kept."),
    "seq_back": _("Event numbers go back. The events were kept in the order of the file."),
    "two_processes": _("Two processes seem to have written to this log at once."),
    "seq_by_position": _("Rows without a seq were numbered by their position."),
    "no_time": _("Rows carry no time."),
    "second_header": _("There is a second header line."),
    "encoding_mismatch": _("The file name and the content do not agree on compression."),
    "unknown_version": _("This format version is newer than what is tested. It was read as far as possible."),
}

# the equations of the reader's accounting: a total, and the parts that add up to it
ACCOUNT: list[tuple[Promise, str, list[tuple[Promise, str]]]] = [
    (
        _("bytes"),
        "size",
        [
            (_("read"), "bytes_good"),
            (_("skippable"), "bytes_skippable"),
            (_("damaged"), "bytes_damaged"),
            (_("not read"), "bytes_unread"),
        ],
    ),
    (_("frames"), "frames", [(_("damaged"), "damaged_frames"), (_("skippable"), "skippable_frames")]),
    (_("rows"), "rows", [(_("with events"), "event_rows")]),
    (_("events"), "events", [(_("from packed rows"), "unpacked")]),
]

AUTHORS: dict[str, Promise] = {
    "user": _("human"),
    "compact-checkpoint": _("checkpoint"),
    "compact": _("checkpoint"),
    "agent-instructions": _("instructions file"),
    "runtime-context": _("runtime context"),
    "time-context": _("time"),
    "skill-catalog": _("skill list"),
    "skill-invocation": _("skill"),
    "plan-mode": _("plan mode"),
    "goal": _("goal round"),
    "subagent-settled": _("child session"),
    "user-question-reply": _("reply to a question"),
    "agent-message": _("other agent"),
    "tool-jobs": _("notice of jobs"),
    "tool-goal": _("notice of a goal"),
    "system-prompt": _("system prompt"),
}

TYPES: dict[str, Promise] = {
    "assistant/message": _("assistant"),
    "tool/result": _("tool result"),
    "system/message": _("system"),
    "developer/message": _("developer"),
}


@dataclass(frozen=True)
class Finding:
    """One line of a damage report. `kind` is bytes, order or note; `words` fall back to the code."""

    code: str
    kind: str
    words: Any
    offset: int | None
    seq: int | None
    detail: str


@dataclass(frozen=True)
class Report:
    """`read` holds (words, total, parts); a part of nothing is left out, as is a total that equals its only part."""

    findings: list[Finding]
    read: list[tuple[Any, int, list[tuple[Any, int]]]]
    skipped: list[tuple[str, int]]

    @property
    def bytes_damaged(self) -> bool:
        return any(one.kind == "bytes" for one in self.findings)


def damage_report(log: LogFile) -> Report:
    """The damage and the accounting of a log. Rows of any other shape than ours are shown as far as they go."""
    damage = log.damage if isinstance(log.damage, list) else []
    account = log.accounting if isinstance(log.accounting, dict) else {}
    skipped = account.get("skipped")
    return Report(
        [_finding(row) for row in damage if isinstance(row, dict)],
        _read(account),
        [(str(why), n) for why, n in sorted(skipped.items()) if n] if isinstance(skipped, dict) else [],
    )


def _read(account: dict[str, Any]) -> list[tuple[Any, int, list[tuple[Any, int]]]]:
    lines = []
    for words, name, parts in ACCOUNT:
        total = account.get(name)
        if isinstance(total, int):
            found = [(part, account[key]) for part, key in parts if account.get(key) and account[key] != total]
            lines.append((words, total, found))
    return lines


def _finding(row: dict[str, Any]) -> Finding:
    code = str(row.get("code", ""))
    kind = "order" if code in ORDER_CODES else "note" if code in NOTE_CODES else "bytes"
    return Finding(code, kind, DAMAGE.get(code, code), row.get("offset"), row.get("seq"), str(row.get("detail") or ""))


WARNINGS: dict[str, Promise] = {
    "newer_is_older": _("DSH would open the log with the highest format version, but another one holds newer events."),
    "version_mismatch": _("The name and the header of a log do not agree on its format version:"),
}


def warnings_of(session: Session) -> list[tuple[Any, str]]:
    """What is odd about a session's logs, as (words, file name or "")."""
    found = []
    for one in session.warnings if isinstance(session.warnings, list) else []:
        code, _colon, name = str(one).partition(":")
        found.append((WARNINGS.get(code, code), name))
    return found


def author_words(type: str, author: str, human: bool) -> Any:  # noqa: FBT001
    """Who really wrote a message, in a word."""
    if human:
        return _("human")
    if type == "user/message":
        return AUTHORS.get(author, author or _("unknown author"))
    return TYPES.get(type, type)
