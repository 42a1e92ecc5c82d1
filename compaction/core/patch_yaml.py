"""`cordis.patch.yml` as a tree that still knows where in the text everything stands.

Rule: INTEGRATION (b) «Patch grammar» and DSH's own loader. ruamel.yaml finds the structure and the positions; what a
scalar means is decided here, by DSH's rules (`patch_scalars`). Hostile files end in `PatchError`, never in a hang.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

from compaction.core.patch_scalars import Expression, read_plain
from dshweb.text.js import stringify

MAX_CHARS = 128 * 1024  # ruamel's own parser reads some 50 KB/s; real files have a few KB
MAX_MARKS = 10_000  # dashes, colons, commas, brackets that may start or end a value; a large real file has some 1,000
MAX_DEPTH = 60
MAX_BRACKETS = 200  # open brackets in the text, those in texts and comments counted too
MAX_NODES = 50_000
_ODD_BREAK = re.compile("[\x85\u2028\u2029]")
_MARK = re.compile(r"[\[{]|[-?:,](?=[\s\[\]{}]|$)|,")
_TAG = re.compile(r"(?:&\S+\s+)?!")
_COLLECTIONS = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")
_JS = "tag:yaml.org,2002:js"


class PatchError(ValueError):
    """The file cannot be read or cannot be changed. `line` counts from 1; None: the file as a whole. `message` is without it."""

    def __init__(self, code: str, message: str, line: int | None = None) -> None:
        super().__init__(f"line {line}: {message}" if line is not None else message)
        self.code = code
        self.message = message
        self.line = line


def compose(text: str) -> SequenceNode | None:
    """The tree of a patch file: a sequence of mappings; None for a file without any content.

    Raises PatchError where DSH would not start either: broken YAML, several documents, no sequence, an entry that is no
    mapping, a key twice in one mapping; and for what we do not follow (too large, too deep, an alias inside itself, line
    breaks of YAML 1.1, which are ordinary characters to DSH but not to our reader).
    """
    _look_at_text(text)
    try:
        yaml = YAML(typ="safe", pure=True)
        yaml.composer.warn_double_anchors = False  # the later one counts, here as in js-yaml
        root = yaml.compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise PatchError(
            "not-yaml",
            f"from here on it is no YAML ({error.problem or 'unreadable'}): look at indentation, quotes and colons",
            mark.line + 1 if mark is not None else None,
        ) from error
    except ReaderError as error:
        raise PatchError(
            "not-yaml", f"the character U+{error.character:04X} is not allowed", _line_at(text, error.position)
        ) from error
    except (YAMLError, ValueError) as error:
        raise PatchError("not-yaml", str(error).splitlines()[0]) from error
    except RecursionError as error:
        raise PatchError("too-deep", "the patch file is nested too deeply") from error
    if root is None:
        return None
    if not isinstance(root, SequenceNode):
        raise PatchError("not-a-list", "the patch file must be a list of rows", line_of(root))
    for item in root.value:
        if not isinstance(item, MappingNode):
            raise PatchError("not-a-row", "each entry of the patch file must be a mapping", line_of(item))
    _check(root)
    return root


def _look_at_text(text: str) -> None:
    """What is refused before any reader sees it."""
    if len(text) > MAX_CHARS:
        raise PatchError("too-large", f"the patch file has more than {MAX_CHARS} characters")
    if (odd := _ODD_BREAK.search(text)) is not None:
        raise PatchError(
            "odd-line-break",
            f"the character U+{ord(odd[0]):04X} is a line break to some YAML readers and not to DSH; take it out",
            _line_at(text, odd.start()),
        )
    if sum(1 for _ in _MARK.finditer(text)) > MAX_MARKS:
        raise PatchError("too-large", f"the patch file holds more than {MAX_MARKS} values")
    if _depth_of_brackets(text) > MAX_BRACKETS:
        raise PatchError("too-deep", f"the patch file has more than {MAX_BRACKETS} brackets open at once")


def _depth_of_brackets(text: str) -> int:
    """An upper bound for the flow depth, so that a file of brackets is refused before anyone walks down it."""
    depth = deepest = 0
    for match in re.finditer(r"[\[{\]}]", text):
        depth = depth + 1 if match[0] in "[{" else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest


def _check(root: Node) -> None:
    """Each node once per place it stands in: keys unique, not too many, not too deep, no alias inside itself."""
    seen = 0
    todo: list[tuple[Node, int]] = [(root, 0)]
    while todo:
        node, depth = todo.pop()
        seen += 1
        if seen > MAX_NODES or depth > MAX_DEPTH:
            raise PatchError(
                "too-deep", f"more than {MAX_NODES} values or {MAX_DEPTH} levels (aliases counted where they stand)"
            )
        if isinstance(node, MappingNode):
            names: set[str] = set()
            for key, value in node.value:
                name = key_of(key)
                if name in names:
                    raise PatchError("key-twice", f"the key {name!r} stands twice in one mapping", line_of(key))
                names.add(name)
                todo.append((value, depth + 1))
        elif isinstance(node, SequenceNode):
            todo += [(item, depth + 1) for item in node.value]


def _line_at(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def line_of(node: Node) -> int:
    """The line a node starts on, counted from 1."""
    return int(node.start_mark.line) + 1


def key_of(node: Node) -> str:
    """A mapping key as JavaScript has it: always text. Raises PatchError for a key that is no scalar."""
    if not isinstance(node, ScalarNode) or str(node.tag) == _JS:
        raise PatchError("odd-key", "a key must be a single word", line_of(node))
    value = read_plain(str(node.value)) if node.style is None else str(node.value)
    return value if isinstance(value, str) else _key_text(value)


def _key_text(value: object) -> str:
    """`String(value)` in JavaScript, for a key that looks like a number, a flag or null."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return stringify(value)


def entries(node: MappingNode) -> Iterator[tuple[str, Node, Node]]:
    """(name, key node, value node) of a mapping, in order."""
    for key, value in node.value:
        yield key_of(key), key, value


def member(node: Node, name: str) -> Node | None:
    """The value under a key; None when there is none (or the node is no mapping)."""
    if isinstance(node, MappingNode):
        for found, _, value in entries(node):
            if found == name:
                return value
    return None


def value_of(node: Node, text: str) -> object:
    """A node as plain Python: dict, list, scalars, and `Expression` for `!!js`.

    Raises PatchError for a tag that DSH does not know, naming the line. The tree must come from `compose`.
    """
    if isinstance(node, ScalarNode):
        return _scalar(node, text)
    if str(node.tag) not in _COLLECTIONS:
        raise PatchError("unknown-tag", f"the tag {node.tag} is not read here", line_of(node))
    if isinstance(node, MappingNode):
        return {name: value_of(value, text) for name, _, value in entries(node)}
    return [value_of(item, text) for item in node.value]


def _scalar(node: ScalarNode, text: str) -> object:
    value = str(node.value)
    if str(node.tag) == _JS:
        return Expression(value)
    if _TAG.match(text, node.start_mark.index, node.end_mark.index):
        if str(node.tag) == "tag:yaml.org,2002:str":
            return value
        raise PatchError("unknown-tag", f"the tag {node.tag} is not read here", line_of(node))
    return read_plain(value) if node.style is None else value


def is_shared(node: Node) -> bool:
    """Whether a node carries an anchor, so that it may stand in other places too."""
    return node.anchor is not None
