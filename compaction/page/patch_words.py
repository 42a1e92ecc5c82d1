"""What can be wrong with a `cordis.patch.yml`, in words. They name no path: who sees them need not know this server's folders."""

from __future__ import annotations

import errno
from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from compaction.core.patch_yaml import PatchError

WORDS: Mapping[str, str | Promise] = {
    # what cannot be read, and what DSH would not start with
    "not-a-file": gettext_lazy("What stands in the place of the file is no file."),
    "not-utf8": gettext_lazy("The file is not UTF-8 text."),
    "too-large": gettext_lazy("The file is larger than any cordis.patch.yml that is read here."),
    "too-deep": gettext_lazy("The file is nested deeper than is followed here."),
    "not-yaml": gettext_lazy("The file is not valid YAML; DSH would not start with it."),
    "not-a-list": gettext_lazy("The file is no list of rows; an empty one has to hold [] at least."),
    "not-a-row": gettext_lazy("An entry of the file is no row with keys and values."),
    "key-twice": gettext_lazy("A key stands twice in one row; DSH would not start with it."),
    "odd-config": gettext_lazy("The config of the row is no list of settings."),
    "unknown-tag": gettext_lazy("The file uses a YAML tag that is not read here."),
    "odd-key": gettext_lazy("A key of the file is not a single word."),
    # what can be read and not be changed exactly
    "anchor": gettext_lazy("The row uses YAML anchors or aliases."),
    "block-scalar": gettext_lazy("A setting of the row runs over several lines."),
    "comment": gettext_lazy("There may be comments inside a setting; they would be lost."),
    "document-end": gettext_lazy("The file has an end-of-document mark."),
    "expression": gettext_lazy(
        "A setting that is saved here is computed by DSH (!!js) in the file; it is not overwritten."
    ),
    "flow-config": gettext_lazy("The settings of the row stand in braces together with expressions or comments."),
    "not-exact": gettext_lazy("Read back, the changed file would not say what was wanted."),
    "odd-line-break": gettext_lazy("The file has line breaks that YAML readers do not agree on."),
    "odd-list": gettext_lazy("The empty list does not stand at the start of its line."),
    "unknown-key": gettext_lazy("The row holds a key that is no setting; take it out by hand first."),
}
_REASONS = {
    errno.ENOENT: gettext_lazy("Its folder is not there."),
    errno.ENOTDIR: gettext_lazy("Its folder is not there."),
    errno.EACCES: gettext_lazy("This server may not do that there: ask who runs it."),
    errno.EPERM: gettext_lazy("This server may not do that there: ask who runs it."),
    errno.EROFS: gettext_lazy("That place is read-only."),
    errno.ENOSPC: gettext_lazy("No space is left there."),
    errno.EISDIR: WORDS["not-a-file"],
    errno.ENXIO: WORDS["not-a-file"],
}


def of_patch(error: PatchError) -> str:
    """Why the file cannot be read or changed, and in which line."""
    words = str(WORDS.get(error.code) or _("The file cannot be read as a cordis.patch.yml."))
    if error.line is None:
        return words
    line = _("Line %(n)d.") % {"n": error.line}
    return f"{words} {line}"


def of_system(error: OSError) -> str:
    """What the system said, without the path it said it of."""
    return str(_REASONS.get(error.errno or 0) or _("The system refuses it (%(code)s).") % {
        "code": errno.errorcode.get(error.errno or 0, "?")
    })  # fmt: skip
