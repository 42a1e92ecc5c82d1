"""Facts of hostile text: no exception, valid offsets, the same answer twice, linear time."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.core.facts import (
    MAX_FACTS,
    Haystack,
    aliases,
    altered,
    bare_number,
    extract,
    label_before,
    near,
    needle,
    occurs,
    occurs_in,
    scan,
    shape,
    was_cut,
)

PIECES = st.sampled_from(
    [
        *"/\\.:-_~@#$%*()[]{}<>=,;'\"` \n\t0129aZxé汉和文件，。（）１％\u200b\ufeff\u0301\x00\ud800…",
        *("src/", "a.py", "C:\\", "\\\\", "://", "file://", "http://", "1,024", " MB", "秒", "个", "万", "v1.2.3"),
        *("10.0.0.1", ":8080", "port ", "端口", "#12", "OPS-1", "2026-11-30", "10:30", "8fa3c21d", "/etc/", "..."),
        *("1090fa52-58f8-4c98-a426-a3eb02954016", "Program Files", "$5", "USD ", "3 files", "]("),
    ]
)
TEXTS = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=40).map("".join))


@settings(max_examples=400, deadline=None)
@given(TEXTS)
def test_any_text_gives_valid_facts_twice_the_same(text: str) -> None:
    facts = extract(text)
    assert facts == extract(text)
    assert facts == sorted(facts, key=lambda f: (f.start, f.end, f.cls))
    for f in facts:
        assert 0 <= f.start < f.end <= len(text)
        assert f.canon
        assert occurs(f, text)
        assert occurs_in(f, text)
        assert needle(f) != ""
        assert shape(f)
        label_before(text, f.start)
        bare_number(f, text)
        assert not altered(f, f)
        near(f, facts)
    aliases(facts, "/repo")


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_core_facts_do_not_depend_on_the_extended_classes(text: str) -> None:
    core = ("uuid", "abs_path", "file_path", "number_unit")
    assert [f for f in extract(text) if f.cls in core] == extract(text, extended=False)


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_the_canon_of_a_uuid_is_its_own_canon(text: str) -> None:
    for f in extract(text):
        if f.cls == "uuid":
            assert [g.canon for g in extract(f.canon)] == [f.canon]


@pytest.mark.parametrize(
    "text",
    [
        "/a//b/c.txt",
        "src/app/(group)/[id]/page.tsx",
        "C:\\Users\\A\\b.txt",
        "\\\\srv\\Share\\x.md",
        "说明书/概述.md",
        "~/notes/todo.md",
        "a.py和b.py",
    ],
)
def test_the_canon_of_a_path_is_its_own_canon(text: str) -> None:
    for f in extract(text):
        assert [g.canon for g in extract(f.canon)] == [f.canon]


def units(text: str) -> list[str]:
    return text.split(" ")


HOSTILE = [
    *units(
        "/ a/ . .a .py 汉 汉/ 汉.py 1 1, 1,111 1.1 1- 1: 11:11 A A- A-1 A_ 0a 0x abcd- \\ a\\ a\\b/ C:\\ C:/ :// http://"
    ),
    *units(
        "file:/// s3://a a@b: \"/ '/a ( /a( []( ]( port port:1 端口 #1 $1 1ms 1个 5万 a.b:11 a- a-b:1234 1.2.3-rc.1."
    ),
    *units("</a> <a>/ */ **/a.py _ a= =/ $/ ~/ ../ a\u200b e\u0301 \u0301 １ 1月1日 2026年 2026-11-30 /etc/a和 id1234"),
    *units("在/etc/hosts和src/a.py里 /数据/报告.md和 /(a)[b]{c} /a#L1 \\\\a\\b __a/b__ a.py/b.py/ data:a/b; mailto:"),
    *units("@ @a/ $1, - +/ 个 12345678-1234-1234-1234-123456789ab- May Nov1 \x00 Program·Files\\"),
    *("1 ", "1 ms ", " #1", "$1 ", "a.py ", "/a/b ", '"/a b', "C:\\a ", "`/ ", "port ", "mailto:a ", "file:///a "),
    # Found by trying random mixtures: the first was quadratic, the others have many places for several scans.
    *("端口\\\\汉", "e\u03011", "\\秒/\t1月1日\x00", ".C:\\/a(0a/a#L1\\", "$1xport;\ufeff1,024/_/]("),
    *("0a-b:1234/数据/报告.md和", "a\u200b~1.2.3-rc.1.**/a.py", "\n1.1#1files0x1f端口/a/b 端口11:111-"),
]


def _seconds(unit: str, size: int) -> float:
    text = (unit * (size // len(unit) + 1))[:size]
    start = time.process_time()
    extract(text)
    return time.process_time() - start


@pytest.mark.parametrize("unit", HOSTILE)
def test_time_grows_with_the_size_only(unit: str) -> None:
    small = min(_seconds(unit, 30_000) for _ in range(2))
    # Four times the text: linear is 4, quadratic 16. Tiny times say nothing; a busy machine gets another try.
    assert any(_seconds(unit, 120_000) < max(9 * small, 0.25) for _ in range(3))


@pytest.mark.slow
@pytest.mark.parametrize("unit", HOSTILE)
def test_a_megabyte_of_the_worst_input_is_read_in_less_than_a_second(unit: str) -> None:
    assert min(_seconds(unit, 1_000_000) for _ in range(3)) < 1.0


@pytest.mark.parametrize(
    ("text", "most", "unread"),
    [
        ("1个" * 60_000, 50_000, 20_000),
        ("/a/b " * 50_000, 50_000, 0),
        ("/a/b 1个 " * 30_000, 50_000, 8 * 5_000 + 1),
        ("</a> " * 60_000, 0, 5 * 10_000 + 2),
        ("/" + "a" * (1 << 15), 0, 1),
        ("\\\\a\\b" * 20_000, 0, None),
        ("e\u0301 " * 10 + "1个" * 60_000, 50_000, 20_000),
        ("1 file " * ((1 << 20) // 70) + "x" * (1 << 20), (1 << 20) // 70, None),
        ("\u200bé" * 10, 0, 0),
    ],
    ids=range(9),
)
def test_what_lies_behind_a_bound_is_counted(text: str, most: int, unread: int | None) -> None:
    found = scan(text)
    assert len(found.facts) == most
    assert found.unread == unread if unread is not None else found.unread > 0
    assert was_cut(text) == (found.unread > 0)


def test_the_bound_leaves_the_facts_before_it_as_they_are() -> None:
    text = "/srv/a.py 3 files v1.2.3 OPS-1 10:30 " * 12_000
    found = scan(text)
    assert len(found.facts) == MAX_FACTS
    assert found.facts == extract(text[: len(text) - found.unread])
    assert found.unread == 37 * 2_000 + 1


def test_searching_for_a_fact_in_a_long_line_is_linear() -> None:
    (fact,) = extract("7 files")
    (path,) = extract("src/a.py")
    hay = Haystack("7 7 7 a.py a.py " * 60_000)
    start = time.process_time()
    assert not occurs_in(fact, hay)
    assert not occurs_in(path, hay)
    assert time.process_time() - start < 3.0
