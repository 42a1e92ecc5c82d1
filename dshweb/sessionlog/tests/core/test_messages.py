"""Messages of every format in one shape."""

from __future__ import annotations

import pytest

from dshweb.sessionlog.core.authors import author_of, is_human
from dshweb.sessionlog.core.toolargs import arguments_text

from .logs import assistant, log_bytes, read, result, row, user


def message(*rows):
    return read(log_bytes(rows)).messages[-1]


def texts(m):
    return [(b.source, b.text) for b in m.blocks]


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ({"kind": "user"}, "user"),
        ({"kind": "plugin", "plugin": "compact"}, "compact-checkpoint"),
        ({"kind": "plugin", "plugin": "tools-ptc"}, "ptc-mode"),
        ({"kind": "plugin", "plugin": "dsh-compaction-basic"}, "compact-basic"),
        ({"kind": "plugin", "plugin": "time-context"}, "time-context"),
        ({"kind": "plugin", "plugin": "mine"}, "plugin:mine"),
        ({"kind": "plugin", "plugin": "@deepseek-ai/dsh-system-prompt"}, "runtime-context"),
        ({"kind": "never-seen"}, "never-seen"),
        ({"kind": 7}, ""),
        (None, ""),
        ("user", ""),
    ],
)
def test_authors_keep_their_name_and_get_the_later_one(source, kind):
    author = author_of(source)
    assert author.kind == kind
    assert author.is_human == (kind == "user")
    if isinstance(source, dict) and isinstance(source["kind"], str):
        assert author.stated == source["kind"]


def test_the_system_prompts_producer_depends_on_the_role():
    assert (
        author_of({"kind": "plugin", "plugin": "@deepseek-ai/dsh-system-prompt"}, system=True).kind == "system-prompt"
    )


def test_only_user_is_human():
    assert [k for k in ("user", "user-question-reply", "goal", "User", "") if is_human(k)] == ["user"]


def test_an_assistant_message_in_pieces():
    m = message(assistant(0, [
        {"type": "reasoning", "text": "think"}, {"type": "text", "text": "say"},
        {"type": "tool-call", "id": "c1", "name": "read", "arguments": '{"file_path":"C:\\\\a.txt","n":3}'},
    ], usage={"inputTokens": 1}))  # fmt: skip
    assert texts(m) == [("reasoning", "think"), ("assistant", "say"), ("tool_args", "read\nfile_path\nC:\\a.txt\nn")]
    assert [b.index for b in m.blocks] == [0, 1, 2]
    assert (m.calls, m.provider, m.model, m.usage) == ((("c1", "read"),), "p", "m", {"inputTokens": 1})


def test_a_tool_result_knows_its_tool():
    call = assistant(0, [{"type": "tool-call", "id": "c1", "name": "bash", "arguments": "{}"}])
    m = message(call, result(1, "c1", "out"))
    assert (m.call_id, m.tool, m.is_error, m.placeholder) == ("c1", "bash", False, None)
    assert [(b.source, b.label) for b in m.blocks] == [("tool_result", "bash")]


def test_results_of_older_formats_are_unwrapped():
    inner = {"type": "tool-result", "toolCallId": "c9", "isError": True, "content": [{"type": "text", "text": "old"}]}
    data = {
        "turn": 2,
        "step": 3,
        "message": {"role": "user", "content": [inner], "source": {"kind": "tool", "callId": "c9"}},
    }
    m = message(row(0, "tool/result", data, surfaceOp="append"))
    assert (m.call_id, m.is_error, m.role, m.turn, m.step, texts(m)) == (
        "c9", True, "user", 2, 3, [("tool_result", "old")])  # fmt: skip


@pytest.mark.parametrize(
    ("message_id", "error", "placeholder"),
    [
        ("interrupted-tool-result-c-4", None, "interrupted"),
        ("forked-tool-result-c-4", None, "forked"),
        ("x", {"code": "TOOL_OUTCOME_UNKNOWN"}, "unknown_outcome"),
        ("x", {"code": "TOOL_NOT_STARTED"}, "not_started"),
        ("x", {"code": "FS_NOT_FOUND"}, None),
    ],
)
def test_placeholders_are_named(message_id, error, placeholder):
    data = result(0, "c", "x", message_id=message_id)
    if error:
        data["data"]["error"] = error
    assert message(data).placeholder == placeholder


def test_images_and_files_are_opaque_but_their_names_are_text():
    content = [
        {"type": "image", "source": {"kind": "blob"}},
        {"type": "file", "name": "plan.pdf"},
        {"type": "text", "text": "see"},
    ]
    m = message(row(0, "user/message", {"content": content, "source": {"kind": "user"}}, surfaceOp="append"))
    assert m.opaque_blocks == 2
    assert texts(m) == [("human", "plan.pdf"), ("human", "see")]


def test_output_kept_elsewhere_is_noticed():
    assert message(result(0, "c", "x" * 2000 + "\n[Full output saved to /tmp/out.txt]")).externalized
    assert not message(result(0, "c", "saved the file")).externalized


def test_user_messages_carry_the_open_turn():
    log = read(
        log_bytes([user(0, "a"), row(1, "turn/start", {"turn": 4}), user(2, "b"), row(3, "turn/end"), user(4, "c")])
    )
    assert [m.turn for m in log.messages] == [None, 4, None]


@pytest.mark.parametrize("content", [None, 7, {"type": "text"}, [None, 7, "x", [[]]], [{"type": "text", "text": 7}]])
def test_odd_content_gives_no_text_and_no_error(content):
    m = message(row(0, "user/message", {"content": content, "source": {"kind": "user"}}, surfaceOp="append"))
    assert m.blocks == ()
    assert m.mapped == (content is None or isinstance(content, list))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ('{"a":["x",{"b":"y"}],"c":1}', "a\nx\nb\ny\nc"),
        ('{"command":"cat /srv/a.log","cut', '{"command":"cat /srv/a.log","cut'),
        (r'{"p":"C:\\Users\\a","q":"one\ntwo \"q\"', '{"p":"C:\\Users\\a","q":"one\ntwo "q"'),
        ({"k": "v"}, "k\nv"),
        (None, ""),
        ("", ""),
    ],
)
def test_tool_arguments_as_text(arguments, text):
    assert arguments_text(arguments) == text


def test_deep_arguments_do_not_recurse():
    value: object = "end"
    for _ in range(50_000):
        value = [value]
    assert arguments_text(value) == "end"
