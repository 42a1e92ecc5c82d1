"""Changing the settings on one row of a patch file: key by key where they stand in block style.

Rule: INTEGRATION (b): comments and `!!js` scalars stay. What cannot be changed without losing either raises PatchError.
"""

from __future__ import annotations

import re

from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from compaction.core.document import same
from compaction.core.keys import ALL_KEYS, PAIR, RETENTION
from compaction.core.patch_rows import Row
from compaction.core.patch_scalars import has_expression, write_flow, write_pair
from compaction.core.patch_splice import (
    Splices,
    content_end,
    is_empty,
    line_end,
    newline_of,
    own_line_start,
    value_span,
)
from compaction.core.patch_yaml import PatchError, entries, is_shared, line_of, value_of


def add_settings(text: str, row: Row, wanted: dict[str, object]) -> str:
    """First pass: the wanted keys that a block-style config does not have yet, put below its last one."""
    _refuse_shared(row)
    config = row.config
    if not isinstance(config, MappingNode) or config.flow_style or not config.value:
        return text
    check_computed(text, config, wanted)
    present = {name for name, _, _ in entries(config)}
    column = config.value[0][0].start_mark.column
    added = [line for key in wanted if key not in present for line in write_pair(key, wanted[key], column)]
    if not added:
        return text
    last = config.value[-1][1]
    if isinstance(last, ScalarNode) and last.style in ("|", ">"):
        raise PatchError("block-scalar", "the last setting runs over several lines", line_of(last))
    splices, newline = Splices(text), newline_of(text)
    splices.insert(line_end(text, content_end(config)), newline + newline.join(added))
    return splices.apply()


def change_settings(text: str, row: Row, wanted: dict[str, object]) -> tuple[str, tuple[str, ...]]:
    """Second pass: other values, keys to take out, and configs that are absent, empty or in braces.

    Returns the text and the keys that keep their expression.
    """
    _refuse_shared(row)
    splices, config = Splices(text), row.config
    kept: tuple[str, ...] = ()
    if config is None:
        _add_config(splices, row, wanted)
    elif isinstance(config, MappingNode):
        kept = check_computed(text, config, wanted)
        if config.flow_style:
            _rewrite_flow(splices, config, wanted, kept)
        else:
            _edit_block(splices, config, wanted, kept)
    elif isinstance(config, ScalarNode) and value_of(config, text) is None:
        key = next(key for name, key, _ in entries(row.node) if name == "config")
        _put(splices, key, config, write_flow(wanted))
    else:
        raise PatchError("odd-config", f"the config of {row.key} is no mapping", line_of(config))
    return splices.apply(), kept


def config_lines(wanted: dict[str, object], column: int) -> list[str]:
    """`config:` with the settings below it, in block style, from a column on."""
    pad = " " * column
    if not wanted:
        return [f"{pad}config: {{}}"]
    return [f"{pad}config:", *(line for key, value in wanted.items() for line in write_pair(key, value, column + 2))]


def check_computed(text: str, config: MappingNode, wanted: dict[str, object]) -> tuple[str, ...]:
    """The keys whose `!!js` value stays, because the document does not set them. A clash, or a key that is no setting, raises."""
    computed: list[str] = []
    for name, key, value in entries(config):
        if name not in ALL_KEYS:
            raise PatchError("unknown-key", f"{name} is no setting; take it out by hand first", line_of(key))
        if not has_expression(value_of(value, text)):
            continue
        others = next((set(pair) for pair in (RETENTION, PAIR) if name in pair), {name})
        if others & set(wanted):
            raise PatchError("expression", f"{name} is computed by an expression; it is not overwritten", line_of(key))
        computed.append(name)
    return tuple(computed)


def _refuse_shared(row: Row) -> None:
    if any(map(is_shared, _all_nodes(row.node))):
        raise PatchError("anchor", f"the row {row.key} uses anchors or aliases", row.line)


def _all_nodes(node: Node) -> list[Node]:
    found: list[Node] = [node]
    for item in found:
        if isinstance(item, MappingNode):
            found += [part for pair in item.value for part in pair]
        elif isinstance(item, SequenceNode):
            found += item.value
    return found


def _put(splices: Splices, key: Node, value: Node, new: str) -> None:
    """A new value in the place of an old one, which may be empty; then a space goes before it."""
    start, end = value_span(splices.text, key, value)
    splices.replace(start, end, f" {new}" if is_empty(value) else new)


def _add_config(splices: Splices, row: Row, wanted: dict[str, object]) -> None:
    if row.node.flow_style:
        splices.insert(content_end(row.node.value[-1][1]), f", config: {write_flow(wanted)}")
        return
    newline = newline_of(splices.text)
    lines = config_lines(wanted, row.node.start_mark.column)
    splices.insert(line_end(splices.text, content_end(row.node)), newline + newline.join(lines))


def _rewrite_flow(splices: Splices, config: MappingNode, wanted: dict[str, object], kept: tuple[str, ...]) -> None:
    text, start, end = splices.text, config.start_mark.index, config.end_mark.index
    if same({name: value_of(value, text) for name, _, value in entries(config) if name not in kept}, wanted):
        return
    if kept or "#" in text[start:end]:
        raise PatchError(
            "flow-config", "the settings stand in braces together with expressions or comments", line_of(config)
        )
    splices.replace(start, end, write_flow(wanted))


def _edit_block(splices: Splices, config: MappingNode, wanted: dict[str, object], kept: tuple[str, ...]) -> None:
    text, newline = splices.text, newline_of(splices.text)
    column = config.value[0][0].start_mark.column
    for name, key, value in entries(config):
        if name in kept or (name in wanted and same(value_of(value, text), wanted[name])):
            continue
        start, end = own_line_start(text, key), line_end(text, content_end(key if is_empty(value) else value))
        lines_run = "\n" in text[start:end]
        if isinstance(value, ScalarNode) and (lines_run or value.style in ("|", ">")):
            raise PatchError("block-scalar", f"{name} runs over several lines", line_of(value))
        commented = not lines_run and "#" in text[value_span(text, key, value)[1] : end]
        plain = isinstance(value, ScalarNode) and not isinstance(wanted.get(name), dict | list | tuple)
        if name in wanted and (plain or commented):  # what stands behind it on its line stays there
            _put(splices, key, value, write_flow(wanted[name]))
            continue
        if lines_run and "#" in text[start:end]:
            raise PatchError("comment", f"there may be comments inside {name}; they would be lost", line_of(key))
        lines = write_pair(name, wanted[name], column) if name in wanted else []
        splices.replace_lines(start, end, newline.join(lines))
    if not kept and not wanted:
        splices.insert(_colon_before(text, config.value[0][0].start_mark.index) + 1, " {}")


def _colon_before(text: str, at: int) -> int:
    """The colon of `config:` above the first setting; comments behind and below it left aside."""
    while True:
        start = text.rfind("\n", 0, at) + 1
        line = re.sub(r"(?:^|\s)#.*$", "", text[start:at])
        if ":" in line:
            return start + line.rindex(":")
        if start == 0:
            raise PatchError("odd-config", "the place of the settings was not found")
        at = start - 1
