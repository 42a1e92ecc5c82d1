"""AUDIT-REFINEMENTS §2.6: which lines of a tool result state something."""

from __future__ import annotations

import time

import pytest

from audit.core.stated import stated_lines

FILLER = "".join(f"filler line without any label number {n}\n\n" for n in range(8))


def shown(text: str) -> list[str]:
    return [line.text for line in stated_lines(text)]


@pytest.mark.parametrize(
    "line",
    [
        "- target: pg-prod-02:5433",
        "* 预计 3.2 GB,约 45 分钟",
        "负责人：张伟 3 人",
        "port = 8443",
        "12: mem: 1536 MB",
        "12→mem: 1536 MB",
        "config file: /etc/api/app.toml",
        '  "trace": "a8f5f167f44f4964",',
        "path=/srv/app/x.py",
        "1. first step 30 s",
    ],
)
def test_bullets_and_labels_state(line: str) -> None:
    assert line in shown(FILLER + line + "\n" + FILLER)


@pytest.mark.parametrize(
    "line",
    [
        "-rw-r--r-- 1 dev dev 1000 Nov 12 10:00 src/mod_a.py",
        "2026-11-01 10:00:01 INFO batch took 312ms",
        "src/x.py:42: something 3 s",
        "(took: 3 s)",
        "[note: 3 s]",
        "<path>/srv/a.py</path>",
        "downloading: [=====>     ] 45%",
        "drwxr-xr-x 2 root root 4096 Nov 12 10:00 docs",
        "see https://example.com/a/b.md",
        "label: " + "x" * 400,
    ],
)
def test_listings_logs_framing_and_progress_do_not(line: str) -> None:
    assert line not in shown(FILLER + line + "\n" + FILLER)


def test_every_line_of_a_short_block_states() -> None:
    assert shown("container 4c01db0b339c up\n\nticket OPS-77") == ["container 4c01db0b339c up", "ticket OPS-77"]


def test_lines_of_one_shape_do_not_state() -> None:
    lines = [f"worker {n}: done in {n * 7} ms" for n in range(3)]
    assert shown("\n".join([*lines, "total: 21 ms"])) == ["total: 21 ms"]


def test_offsets_lead_to_the_line() -> None:
    text = FILLER + "port: 8443\n"
    (line,) = [one for one in stated_lines(text) if one.text == "port: 8443"]
    assert text[line.start : line.start + len(line.text)] == line.text


def test_code_is_seen() -> None:
    lines = {line.text: line.code for line in stated_lines("    limit = min(page_size, 200)\ndef f(n=5):\nport: 8443")}
    assert lines["def f(n=5):"]
    assert not lines["port: 8443"]


@pytest.mark.parametrize(
    "unit", ["a", "a:", "=", "-", " ", "(", "0", "a(", '"a', "\t", "f" * 399 + "\n", "a: 1\n", "[="]
)
def test_one_megabyte_of_the_worst_takes_under_a_second(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    start = time.perf_counter()
    stated_lines(text)
    stated_lines("\n".join(text[at : at + 400] for at in range(0, len(text), 400)))
    assert time.perf_counter() - start < 2
