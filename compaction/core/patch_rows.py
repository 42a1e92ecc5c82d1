"""Which rows of a `cordis.patch.yml` hold compaction settings, and reading them: the import.

Rule: DECISIONS 13, INTEGRATION (b), COMPACTION §1 and §11. Two forms: the row of better-compact with all keys (under its
own package or one of the two Apollo bundles) and native keys on `compaction-basic`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from compaction.core.keys import NATIVE_KEYS, Document
from compaction.core.patch_scalars import Expression, expressions_in
from compaction.core.patch_yaml import PatchError, compose, is_shared, line_of, member, value_of
from compaction.core.policy import problems_of
from compaction.core.problem import Problem
from compaction.core.rules_form import problems as form_problems
from compaction.core.rules_native import refusal

Form: TypeAlias = Literal["dsh-better-compact", "compaction-basic"]
BETTER: Form = "dsh-better-compact"
NATIVE: Form = "compaction-basic"
NATIVE_PACKAGE = "@deepseek-ai/dsh-compaction-basic"
PACKAGES = ("dsh-better-compact", "@menghuan1918/dsh-apollo", "dsh-apollo")
"""Bundles that may bring the better-compact row; its key is then `<package>#dsh-better-compact`."""
ROW_KEYS = tuple(f"{package}#{BETTER}" for package in PACKAGES)


@dataclass(frozen=True, slots=True)
class Row:
    """A row of one of the two forms. `place` as in `[2].insert[0]`; `top`: an entry of the file itself, not an insert."""

    form: Form
    key: str
    place: str
    line: int
    top: bool
    node: MappingNode
    config: Node | None
    disabled: bool


@dataclass(frozen=True, slots=True)
class Source:
    """Settings found in one row. `document` holds what could be read; `expressions` the keys whose value DSH computes.

    `problems`: what the rule set of its form says about the document (native rules for `compaction-basic`).
    """

    form: Form
    key: str
    place: str
    line: int
    disabled: bool
    document: dict[str, object]
    expressions: tuple[tuple[str, str], ...]
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Imported:
    """All sources in the order of the file, the one that was chosen (None: there is none), and warnings."""

    sources: tuple[Source, ...]
    chosen: Source | None
    warnings: tuple[Problem, ...]


def read_patch(text: str) -> Imported:
    """Read compaction settings from a patch file. Raises PatchError (with a line) for a file that DSH would not load.

    Chosen: the last better-compact row, else the last `compaction-basic` row; among several of one form the last one
    wins, as in DSH, where a later row replaces the whole `config`.
    """
    root = compose(text)
    if root is None:
        raise PatchError("not-a-list", "the patch file has no content; DSH wants at least an empty list: []")
    sources = tuple(_source(row, row.config, text) for row in rows(root, text) if row.config is not None)
    usable = [source for source in sources if not source.disabled] or list(sources)
    best = [source for source in usable if source.form == BETTER] or usable
    chosen = best[-1] if best else None
    return Imported(sources, chosen, tuple(_warnings(sources, chosen)))


def _source(row: Row, config: Node, text: str) -> Source:
    raw = value_of(config, text)
    if raw is None:
        raw = {}  # `config:` with nothing behind it
    if not isinstance(raw, dict):
        what = "an expression" if isinstance(raw, Expression) else "no mapping"
        raise PatchError("odd-config", f"the config of {row.key} is {what}", line_of(config))
    first = {key: next(expressions_in(value), None) for key, value in raw.items()}
    expressions = tuple((key, found.source) for key, found in first.items() if found is not None)
    document = {key: value for key, value in raw.items() if first[key] is None}
    return Source(
        row.form, row.key, row.place, row.line, row.disabled, document, expressions, _judge(row.form, document)
    )


def _judge(form: Form, document: Document) -> tuple[Problem, ...]:
    if form == NATIVE:
        found = refusal(document)
        return (found,) if found is not None else ()
    return form_problems(document)


def loads(form: Form, document: Document) -> bool:
    """Whether a document can be resolved at all (`policy.resolve`); a better-compact one may still break a form rule."""
    return not (problems_of(document) if form == BETTER else refusal(document))


def _warnings(sources: tuple[Source, ...], chosen: Source | None) -> Iterator[Problem]:
    if len(sources) > 1 and chosen is not None:
        places = ", ".join(f"{source.key} (line {source.line})" for source in sources)
        yield Problem(
            "", "more-than-one-source", f"settings stand in more than one row: {places}; line {chosen.line} was taken", "warning"
        )  # fmt: skip
    if chosen is None:
        return
    if chosen.disabled:
        yield Problem("", "row-disabled", f"the row {chosen.key} (line {chosen.line}) is disabled", "warning")
    for key, source in chosen.expressions:
        yield Problem(key, "expression", f"{key} is computed by DSH ({source}); its value is unknown here", "warning")


# ---- finding the rows


def rows(root: SequenceNode, text: str) -> Iterator[Row]:
    """All rows of either form, in the order of the file: entries, inserted rows, members of groups and of presets."""
    for index, item in enumerate(root.value):
        place = f"[{index}]"
        inserted = member(item, "insert")
        if isinstance(inserted, SequenceNode):
            yield from _nested(inserted, f"{place}.insert", text)
        else:
            yield from _row(item, place, text, top=True)


def _nested(items: SequenceNode, place: str, text: str) -> Iterator[Row]:
    for index, item in enumerate(items.value):
        yield from _row(item, f"{place}[{index}]", text, top=False)


def _row(node: Node, place: str, text: str, *, top: bool) -> Iterator[Row]:
    if not isinstance(node, MappingNode):
        return
    config = member(node, "config")
    named = _named(_text(node, "id"), _text(node, "name"))
    if named is not None:
        off = member(node, "disabled")
        disabled = off is not None and not is_shared(off) and value_of(off, text) is True
        yield Row(named[0], named[1], place, line_of(node), top, node, config, disabled)
    elif isinstance(config, SequenceNode):
        yield from _nested(config, f"{place}.config", text)
    elif isinstance(config, MappingNode):
        plugins = member(config, "plugins")
        if isinstance(plugins, SequenceNode):
            yield from _nested(plugins, f"{place}.config.plugins", text)


def _text(node: MappingNode, name: str) -> str:
    value = member(node, name)
    return str(value.value) if isinstance(value, ScalarNode) else ""


def _named(ident: str, name: str) -> tuple[Form, str] | None:
    """(form, row key) of a row with this id and package name, or None for a foreign row."""
    if ident in ROW_KEYS:
        return BETTER, ident
    if ident == NATIVE or (not ident and name == NATIVE_PACKAGE):
        # a preset may mount better-compact's engine under the old id; it takes its settings from the other row
        return (NATIVE, NATIVE) if name in ("", NATIVE_PACKAGE) else None
    if name == NATIVE_PACKAGE:
        return NATIVE, ident
    package = next((package for package in PACKAGES if name == package or name.startswith(f"{package}/")), None)
    if name.endswith("/engine"):
        return None
    if ident == BETTER and (package is not None or not name):
        return BETTER, f"{package or PACKAGES[0]}#{BETTER}"
    return (BETTER, f"{PACKAGES[0]}#{BETTER}") if name == PACKAGES[0] else None


def native_part(document: Document) -> dict[str, object]:
    """What of a document may stand on a `compaction-basic` row, in the order of the keys."""
    return {key: document[key] for key in NATIVE_KEYS if key in document}
