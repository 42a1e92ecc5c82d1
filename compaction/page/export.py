"""The saved settings as rows of a `cordis.patch.yml`, and what the profile's file holds beside them.

Rule: issue 5.9, DECISIONS 12 and 13. The look at the file changes nothing and never fails: whatever stands in its place is said in
words. Only who may write it causes a look, and only who runs the server reads its path.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal, TypeAlias

from django.utils.translation import gettext as _

from compaction.core.document import same
from compaction.core.keys import Document
from compaction.core.patch_export import row_text
from compaction.core.patch_rows import BETTER, NATIVE, Form, Imported, Source, loads, native_part, read_patch
from compaction.core.patch_yaml import PatchError
from compaction.models import Profile
from compaction.page import patch_words
from compaction.page.values import Pair, label, labels, pairs
from compaction.services import patch_file
from dshweb.access.callers import Caller
from dshweb.text.lines import one_line

FORMS: tuple[Form, ...] = (BETTER, NATIVE)
MOST_COMPARED = 64 * 1024
"""Characters of a file that are read while a page is made (a third of a second); real files have a few thousand."""
State: TypeAlias = Literal["same", "differs", "no-row", "absent", "too-long", "broken", "unreachable"]


@dataclass(frozen=True, slots=True)
class Row:
    """The settings as one row to paste. `text` None: the saved document cannot stand in a file. `left_out`: labels."""

    form: Form
    what: str
    text: str | None
    left_out: str
    command: str


@dataclass(frozen=True, slots=True)
class Look:
    """What the profile's file holds. `digest` is that of its bytes as they were looked at, "absent", or "": not read.

    `differences`: saved before, file after; `unknown`: settings that its row does not know and that reading it would leave;
    `computed`: those that DSH computes; `taken` whether its settings can be read in.
    """

    state: State
    words: str
    digest: str = ""
    form: Form | None = None
    line: int | None = None
    differences: list[Pair] = field(default_factory=list)
    unknown: str = ""
    computed: str = ""
    warnings: list[str] = field(default_factory=list)
    taken: bool = False

    @property
    def writable(self) -> bool:
        return self.state not in ("broken", "unreachable")


@dataclass(frozen=True, slots=True)
class Export:
    """What `compaction/_export.html` shows. `path` "": there is none, or it is not this caller's to know (`named` tells)."""

    profile: Profile
    rows: list[Row]
    named: bool
    path: str
    may_write: bool
    look: Look | None
    changed_note: str

    @property
    def file_digest(self) -> str:
        return self.look.digest if self.look else ""

    @property
    def form(self) -> Form:
        """The row that would be written unless the caller says otherwise: the one that the file has."""
        return (self.look and self.look.form) or BETTER


def of(profile: Profile, caller: Caller) -> Export:
    """No queries. `profile` as `selectors.profiles` gives it, with its team."""
    may_write = caller.may_configure(profile.team_id)
    seen = look(profile) if may_write and profile.path else None
    changed = seen is not None and bool(seen.digest and profile.file_digest) and seen.digest != profile.file_digest
    note = _("The file was changed by others since it was last read or written here.") if changed else ""
    path = one_line(profile.path) if may_know_path(caller) else ""
    return Export(profile, list(_rows(profile)), bool(profile.path), path, may_write, seen, note)


def may_know_path(caller: Caller) -> bool:
    """Folders of the server are for those who run it."""
    return bool(caller.user.is_staff or caller.user.is_superuser)


def look(profile: Profile) -> Look:
    """What stands in the file now, compared with what is saved. Never raises."""
    try:
        file = patch_file.read(Path(profile.path))
        if file.text is None:
            there = Path(profile.path).parent.is_dir()
            words = _("There is no such file yet; writing makes it.") if there else _("Its folder is not there.")
            return Look("absent" if there else "unreachable", words, file.digest)
        return _compared(profile.document, file.text, file.digest)
    except PatchError as error:
        return Look("broken", patch_words.of_patch(error))
    except OSError as error:
        return Look("unreachable", patch_words.of_system(error))
    except ValueError:  # a path that is none
        return Look("unreachable", str(patch_words.WORDS["not-a-file"]))


def _compared(saved: Document, text: str, digest: str) -> Look:
    if len(text) > MOST_COMPARED:
        return Look("too-long", _("The file is too long to be compared while a page is made."), digest, taken=True)
    try:
        found = _parsed(text)
    except PatchError as error:
        return Look("broken", patch_words.of_patch(error), digest)
    source = found.chosen
    if source is None:
        return Look(
            "no-row", _("The file has no row with compaction settings yet; writing adds one at its end."), digest
        )
    computed = dict(source.expressions)
    ours = native_part(saved) if source.form == NATIVE else dict(saved)
    here = {key: value for key, value in ours.items() if key not in computed}
    unknown = [key for key in saved if key not in ours]
    equal = same(ours, source.document)
    words = (
        _("The file holds what is saved here.") if equal else _("The file holds other settings than those saved here.")
    )
    return Look(
        "same" if equal else "differs",
        words,
        digest,
        source.form,
        source.line,
        pairs(here, source.document),
        labels(unknown),
        labels(computed),
        list(_warnings(found, source)),
        loads(source.form, source.document) and not equal,
    )


@lru_cache(maxsize=16)
def _parsed(text: str) -> Imported:
    return read_patch(text)


def _warnings(found: Imported, source: Source) -> Iterator[str]:
    """What an import would warn of (`patch_rows`), in words."""
    if len(found.sources) > 1:
        lines = ", ".join(str(one.line) for one in found.sources)
        yield _("Settings stand in more than one row (lines %(lines)s); the one in line %(line)d counts here.") % {
            "lines": lines,
            "line": source.line,
        }
    if source.disabled:
        yield _("The row is disabled: DSH does not go by it.")
    if not loads(source.form, source.document):
        yield _("DSH would refuse the settings of this row.")


def _rows(profile: Profile) -> Iterator[Row]:
    named = command_name(profile)
    for form in FORMS:
        try:
            text: str | None = row_text(profile.document, form)
        except ValueError:
            text = None
        left = [label(key) for key in profile.document if form == NATIVE and key not in native_part(profile.document)]
        what = (
            _("All settings. For a DSH in which the plugin dsh-better-compact is installed.")
            if form == BETTER
            else _("Only the settings that the harness itself knows. For a DSH without that plugin.")
        )
        yield Row(form, what, text, ", ".join(left), f"manage.py settings export {named} --form {form}")


def command_name(profile: Profile) -> str:
    """How the command finds the profile: its name where that is plain and tells it apart, else its number."""
    plain = profile.name and not profile.machine and not profile.name.startswith("-") and profile.name.isprintable()
    name = shlex.quote(profile.name) if plain and len(profile.name) <= 40 else str(profile.pk)
    return name if profile.team.slug == "main" else f"{name} --team {shlex.quote(profile.team.slug)}"
