"""Cutting and inserting in a text by positions, and where a YAML node's own characters end.

Rule: the positions are ruamel.yaml's marks, which reach past comments and blank lines for block collections.
"""

from __future__ import annotations

from dataclasses import dataclass

from ruamel.yaml.nodes import CollectionNode, MappingNode, Node


@dataclass(frozen=True, slots=True)
class Splice:
    """Characters `start` to `end` become `new`."""

    start: int
    end: int
    new: str


class Splices:
    """Edits of one text, collected first and applied together; they must not overlap."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._found: list[Splice] = []

    def replace(self, start: int, end: int, new: str) -> None:
        """Replace characters in place."""
        self._found.append(Splice(start, end, new))

    def insert(self, at: int, new: str) -> None:
        """Insert at a position, after edits that end there."""
        self._found.append(Splice(at, at, new))

    def replace_lines(self, start: int, end: int, new: str) -> None:
        """Replace whole lines, `end` standing before the line end; nothing new removes that line end too."""
        if not new:
            rest = self.text[end : end + 2]
            end += 2 if rest == "\r\n" else 1 if rest[:1] == "\n" else 0
        self._found.append(Splice(start, end, new))

    def apply(self) -> str:
        """The edited text. Raises ValueError when two edits overlap."""
        parts: list[str] = []
        at = 0
        for splice in sorted(self._found, key=lambda splice: (splice.start, splice.end)):
            if splice.start < at:
                raise ValueError("two edits of one place")
            parts += [self.text[at : splice.start], splice.new]
            at = splice.end
        return "".join([*parts, self.text[at:]])


def content_end(node: Node) -> int:
    """The position behind a node's last own character, without comments and blank lines after it."""
    while isinstance(node, CollectionNode) and node.value and not node.flow_style:
        if isinstance(node, MappingNode):
            key, value = node.value[-1]
            node = key if is_empty(value) else value
        else:
            node = node.value[-1]
    return int(node.end_mark.index)


def is_empty(node: Node) -> bool:
    """Whether a value has no characters at all, as in `key:`; its mark then may stand on a later line."""
    return bool(node.start_mark.index == node.end_mark.index)


def value_span(text: str, key: Node, value: Node) -> tuple[int, int]:
    """Where a value stands; for an empty one the place behind the colon of its key."""
    if not is_empty(value):
        return int(value.start_mark.index), int(value.end_mark.index)
    at = text.find(":", int(key.end_mark.index)) + 1
    return at, at


def newline_of(text: str) -> str:
    """The line end that a text uses first."""
    at = text.find("\n")
    return "\r\n" if at > 0 and text[at - 1] == "\r" else "\n"


def line_end(text: str, at: int) -> int:
    """The end of the line that a position stands on, before its line break."""
    end = text.find("\n", at)
    if end < 0:
        return len(text)
    return end - 1 if end > at and text[end - 1] == "\r" else end


def own_line_start(text: str, node: Node) -> int:
    """The start of the line of a node that stands alone at its front (only spaces before it)."""
    return text.rfind("\n", 0, int(node.start_mark.index)) + 1
