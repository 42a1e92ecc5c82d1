"""The estimator against Node itself: `JSON.stringify`, string length and the table of COMPACTION §3 in JavaScript."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compaction.core.estimate import Unpriced, message_tokens, system_tokens, tools_tokens
from compaction.core.text import json_units, parse, restringified
from dshweb.text.js import stringify
from dshweb.text.js import utf16_len as units

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")


def _object(members):
    return "{" + ",".join(f"{key}: {value}" for key, value in members) + "}"


numbers = st.from_regex(r"-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)
strings = st.text(st.characters(exclude_categories=()), max_size=30).map(json.dumps)
keys = strings | st.sampled_from(['"__proto__"', '"10"', '"2"', '"-1"', '"01"', '"4294967295"', '"length"'])
values = st.recursive(
    numbers | strings | st.sampled_from(["null", "true", "false", "1e400", "-0", "1e21", "5e-324"]),
    lambda inner: (
        st.lists(inner, max_size=4).map(lambda parts: "[" + ", ".join(parts) + "]")
        | st.lists(st.tuples(keys, inner), max_size=4).map(_object)
    ),
    max_leaves=12,
)


def _block(kind, **members):
    return st.tuples(*members.values()).map(
        lambda parts: _object(
            [('"type"', json.dumps(kind)), *((json.dumps(k), v) for k, v in zip(members, parts, strict=True))]
        )
    )


plain_blocks = (
    _block("text", text=strings)
    | _block("reasoning", text=strings)
    | _block("tool-call", id=strings, name=strings, arguments=strings)
    | _block("image", mediaType=strings, offloaded=st.sampled_from(["true", "false"]), size=numbers)
    | _block("file", file=values, name=strings)
    | _block("tool-addition", tool=values)
    | _block("later", what=values)
    | _block("text", txt=strings)
)
contents = st.lists(
    plain_blocks
    | _block("tool-result", content=st.lists(plain_blocks, max_size=3).map(lambda p: "[" + ",".join(p) + "]")),
    max_size=4,
).map(lambda parts: "[" + ",".join(parts) + "]")


class Node:
    def __init__(self):
        script = Path(__file__).with_name("node_estimator.js")
        self.process = subprocess.Popen([NODE, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, kind, text):
        self.process.stdin.write(f'{{"kind": "{kind}", "value": {text}}}\n')
        self.process.stdin.flush()
        return parse(self.process.stdout.readline().encode())


@pytest.fixture(scope="module")
def node():
    node = Node()
    yield node
    node.process.stdin.close()
    node.process.wait(5)
    node.process.stdout.close()


def priced(price, *args, **kwargs):
    try:
        return price(*args, **kwargs)
    except Unpriced:
        return None


@given(text=values)
@settings(max_examples=120, deadline=None)
def test_json_and_its_length_are_nodes(node, text):
    written, length = node.ask("json", text)
    value = parse(text.encode())
    assert stringify(value) == restringified(text.encode()) == written
    assert json_units(value) == length


@given(text=strings)
@settings(max_examples=80, deadline=None)
def test_string_lengths_are_nodes(node, text):
    assert units(parse(text.encode())) == node.ask("text", text)


@given(text=contents)
@settings(max_examples=120, deadline=None)
def test_messages_cost_what_the_table_says_in_javascript(node, text):
    content = parse(text.encode())
    assert priced(message_tokens, content) == node.ask("message", text)
    assert priced(message_tokens, content, wrapped=True) == node.ask("wrapped", text)
    assert priced(system_tokens, content) == node.ask("system", text)


@given(text=st.lists(values, max_size=3).map(lambda parts: "[" + ",".join(parts) + "]"))
@settings(max_examples=50, deadline=None)
def test_tool_declarations_cost_what_the_table_says_in_javascript(node, text):
    assert tools_tokens(parse(text.encode())) == node.ask("tools", text)
