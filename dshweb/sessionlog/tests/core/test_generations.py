"""Names of logs and folders."""

from __future__ import annotations

import pytest

from dshweb.sessionlog.core.generations import choose, decode_name, is_log_name, parse_log_name, project_label


@pytest.mark.parametrize(
    ("name", "version", "compressed", "exact"),
    [
        ("session.jsonl", 0, False, True),
        ("session.jsonl.zstd", 0, True, True),
        ("session.v4.jsonl.zstd", 4, True, True),
        ("session.v12.jsonl", 12, False, True),
        ("a.b.session.v4.jsonl.zstd", 4, True, False),
        ("a.session.jsonl", 0, False, False),
        ("seq-gap.v4.jsonl", 4, False, False),
    ],
)
def test_names_of_logs(name, version, compressed, exact):
    log = parse_log_name(name)
    assert (log.version, log.compressed, log.exact) == (version, compressed, exact)


@pytest.mark.parametrize(
    "name",
    ["session.lock", "requests.jsonl", "session.v4.jsonl.gz", "session.v.jsonl", "mysession.jsonl", "session.jsonl.zstd.bak",
     "SESSION.jsonl", ".v4.jsonl", "session.v4.json", "session\n.v4x.jsonl"],
)  # fmt: skip
def test_other_names_are_not_logs(name):
    assert not is_log_name(name)


def test_a_long_name_is_read_in_linear_time():
    assert not is_log_name("session.v4" * 100_000)
    assert not is_log_name(".session" * 100_000 + ".v" + "4" * 100_000)


def test_escapes_of_folder_names():
    assert decode_name("srv-~6F14~793A~0020app~007E1") == "srv-演示 app~1"
    assert decode_name("~D83D~DE00 ~D83D ~zz") == "😀 \ufffd ~zz"
    assert project_label("--srv-demo-app--") == "srv-demo-app"
    assert [project_label(name) for name in ("_no-cwd", "--", "---", "x")] == [None] * 4


def test_no_logs_no_choice():
    assert choose([]).newest is None
