"""Writing settings into a `cordis.patch.yml`: the export, as small edits of the text itself.

Rule: INTEGRATION (b) «keep comments and `!!js` scalars of foreign rows; if the file cannot be round-tripped exactly,
refuse and show the patch to paste», DECISIONS 13. Only the settings of one row are touched; every other character
of the file stays. The result is read back and compared before anyone gets it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from compaction.core.document import same
from compaction.core.keys import ALL_KEYS, RETENTION, Document
from compaction.core.patch_edit import add_settings, change_settings, config_lines
from compaction.core.patch_rows import NATIVE, Form, Row, native_part, rows
from compaction.core.patch_scalars import has_expression, write_flow
from compaction.core.patch_splice import content_end, newline_of
from compaction.core.patch_yaml import PatchError, compose, is_shared, line_of, value_of
from compaction.core.problem import InvalidSettings, unknown_key
from compaction.core.rules_common import both_retentions

_ODD_BREAK = re.compile("\r(?!\n)|[\x85\u2028\u2029]")


class CannotRoundTrip(PatchError):
    """The file cannot be changed exactly. `paste`: the row to put into it by hand."""

    def __init__(self, code: str, message: str, line: int | None, paste: str) -> None:
        super().__init__(code, message, line)
        self.paste = paste


@dataclass(frozen=True, slots=True)
class Exported:
    """The new text of the file. `changed` False: it is the old one. `kept`: keys left to their `!!js` expressions.

    `left_out`: keys of the document that this form of row does not know (the enhanced ones on `compaction-basic`).
    """

    text: str
    changed: bool
    line: int
    kept: tuple[str, ...]
    left_out: tuple[str, ...]


def row_text(document: Document, form: Form) -> str:
    """The row alone, as it would be pasted into an empty place of the file. Raises InvalidSettings for no settings document."""
    return "\n".join(_row_lines(_wanted(document, form), form, 0)) + "\n"


def write_patch(text: str | None, document: Document, form: Form) -> Exported:
    """The file with the document's settings on the row of that form; `text` None: there is no file yet.

    The last row of the form is changed (an entry of the file before an inserted one); without any, a row is added at the
    end. Raises PatchError when the file is not one that DSH loads, CannotRoundTrip when it cannot be changed exactly,
    InvalidSettings for a document that is none.
    """
    wanted = _wanted(document, form)
    left_out = tuple(key for key in document if key not in wanted)
    before = text if text is not None else ""
    if _ODD_BREAK.search(before):
        words = "the file has line breaks that YAML readers do not agree on"
        raise CannotRoundTrip("odd-line-break", words, None, row_text(document, form))
    root = compose(before)
    try:
        target = _target(root, before, form)
        kept: tuple[str, ...] = ()
        if target is None:
            after = _with_new_row(before, root, wanted, form)
        else:
            after = add_settings(before, target, wanted)
            middle = target if after == before else _target(compose(after), after, form)
            if middle is None:
                raise PatchError("not-exact", "the changed file would not hold the row")
            after, kept = change_settings(after, middle, wanted)
        line = _verify(before, root, after, target, wanted, form)
    except CannotRoundTrip:
        raise
    except PatchError as error:
        raise CannotRoundTrip(error.code, error.message, error.line, row_text(document, form)) from error
    return Exported(after, after != before, line, kept, left_out)


def _wanted(document: Document, form: Form) -> dict[str, object]:
    unknown = [key for key in document if key not in ALL_KEYS]
    if unknown or all(key in document for key in RETENTION):
        raise InvalidSettings((unknown_key("", unknown[0], ALL_KEYS) if unknown else both_retentions(""),))
    if form == NATIVE:
        return native_part(document)
    return {key: document[key] for key in ALL_KEYS if key in document}


# ---- which row, and what becomes of it


def _target(root: SequenceNode | None, text: str, form: Form) -> Row | None:
    if root is None:
        return None
    found = [row for row in rows(root, text) if row.form == form]
    tops = [row for row in found if row.top]
    return (tops or found)[-1] if found else None


def _with_new_row(text: str, root: SequenceNode | None, wanted: dict[str, object], form: Form) -> str:
    newline = newline_of(text)
    if root is None:
        # nothing but comments: they stay, the list begins below them
        return _ended(text, newline) + newline.join(_row_lines(wanted, form, 0)) + newline
    if root.flow_style:
        row = write_flow({"id": form, "config": wanted})
        if root.value:
            at = content_end(root.value[-1])
            return f"{text[:at]}, {row}{text[at:]}"
        if root.start_mark.column or is_shared(root):
            raise PatchError("odd-list", "the empty list does not stand at the start of its line", line_of(root))
        rest = text[root.end_mark.index :]
        row = newline.join(_row_lines(wanted, form, 0)) + (newline if rest[:1] not in ("\r", "\n") else "")
        return text[: root.start_mark.index] + row + rest
    if re.search(r"^\.\.\.", text[content_end(root) :], re.MULTILINE):
        raise PatchError("document-end", "the file has an end-of-document mark")
    lines = _row_lines(wanted, form, root.start_mark.column)
    return _ended(text, newline) + newline.join(lines) + newline


def _row_lines(wanted: dict[str, object], form: Form, column: int) -> list[str]:
    pad = " " * column
    return [f"{pad}- id: {form}", *config_lines(wanted, column + 2)]


def _ended(text: str, newline: str) -> str:
    return text if not text or text.endswith("\n") else text + newline


# ---- trust, but read it back


def _verify(
    before: str, root: SequenceNode | None, after: str, target: Row | None, wanted: dict[str, object], form: Form
) -> int:
    """The line of the changed row, once the new text reads as: the old rows, and on the target exactly what was wanted."""
    try:
        new_root = compose(after)
    except PatchError as error:
        raise PatchError("not-exact", f"the changed file would not be readable ({error})") from error
    new_row = _target(new_root, after, form)
    if new_root is None or new_row is None or new_row.config is None:
        raise PatchError("not-exact", "the changed file would not hold the row")
    if target is not None and new_row.place != target.place:
        raise PatchError("not-exact", "the changed file would hold the row in another place")
    config = value_of(new_row.config, after)
    old = value_of(target.config, before) if target is not None and target.config is not None else {}
    computed = {key: value for key, value in old.items() if has_expression(value)} if isinstance(old, dict) else {}
    if not same(config, computed | wanted):
        raise PatchError("not-exact", "the changed file would not hold the wanted settings")
    # everything but this row's config, compared as values; characters were not touched
    if _skeleton(root, before, target) != _skeleton(new_root, after, new_row, added=target is None):
        raise PatchError("not-exact", "the changed file would alter another row")
    return new_row.line


def _skeleton(root: SequenceNode | None, text: str, row: Row | None, *, added: bool = False) -> list[object]:
    """The tree as comparable values: (tag, style, text) for scalars, without the given row's config (or the whole row)."""
    if root is None:
        return []
    items = root.value[:-1] if added else root.value
    return [_shape(item, row.node if row is not None and not added else None) for item in items]


def _shape(node: Node, row: MappingNode | None) -> object:
    if isinstance(node, ScalarNode):
        return (str(node.tag), node.style, str(node.value))
    if isinstance(node, SequenceNode):
        return [_shape(item, row) for item in node.value]
    pairs = [
        (_shape(key, row), "" if node is row and str(key.value) == "config" else _shape(value, row))
        for key, value in node.value
    ]
    if node is row:
        pairs = [pair for pair in pairs if pair[1] != ""]
    return (str(node.tag), tuple(pairs))
