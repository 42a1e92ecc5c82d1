"""Fact extraction on the specification's tables and on rows of our own, written as `class canon; class canon`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audit.core.facts import Fact, extract

EXAMPLES = json.loads((Path(__file__).parents[3] / "tests/data/audit/audit-examples.json").read_text(encoding="utf-8"))
SHORT = {"abs_path": "abs", "file_path": "rel", "number_unit": "num", "hex_hash": "hex"}


def told(facts: list[Fact]) -> str:
    return "; ".join(f"{SHORT.get(f.cls, f.cls)} {f.canon}" for f in facts)


@pytest.mark.parametrize("row", EXAMPLES, ids=lambda r: str(r["n"]))
def test_examples_of_the_specification(row: dict) -> None:
    got = [{"class": f.cls, "canon": f.canon} for f in extract(row["text"], extended=False)]
    assert got == row["facts"]


# AUDIT-REFINEMENTS §2.9, the rows about facts.
REFINED = [
    (r"E:\abc资料\run.ps1", r"abs e:\abc资料\run.ps1"),
    ("支持新建/编辑/删除", ""),
    ("1.x/2.x", ""),
    ("shard-2055 workers", ""),
    (r"D:\a\...\b.txt", ""),
    ("见 说明书/概述.md", "rel 说明书/概述.md"),
    ("conf=src/x.yaml", "rel src/x.yaml"),
    (
        "/logs/session-1090fa52-58f8-4c98-a426-a3eb02954016/a.jsonl",
        "abs /logs/session-1090fa52-58f8-4c98-a426-a3eb02954016/a.jsonl; uuid 1090fa52-58f8-4c98-a426-a3eb02954016",
    ),
    ("file:///D:/%E8%B5%84%E6%96%99/a.txt", r"abs d:\资料\a.txt"),
    ("查看/var/log和/etc/hosts", "abs /var/log; abs /etc/hosts"),
    ("/srv/a.py和b.py", "abs /srv/a.py; rel b.py"),
    ("好的,256 MiB", "num 256 MiB"),
    ("48 tests, 9568 node", "num 48 test"),
    ("--port 3180", "port 3180"),
    ("localhost:6379", "ip localhost:6379"),
    ("index.js:519:10", "rel index.js"),
    ("commit 7be1c04d9a, DeadBeef1, 4294967296", "hex 7be1c04d9a"),
    ("v1.2.3, v2, V4-Pro, tool-1.4.2.zip", "version 1.2.3; rel tool-1.4.2.zip"),
    ("color:#999, PR #812, D-17, UTF-8", "ticket #812; ticket D-17"),
]

# Ours: what people and tools write around facts.
OURS = [
    ('  File "/usr/lib/python3.11/x.py", line 12, in <module>', "abs /usr/lib/python3.11/x.py"),
    ("-rw-r--r-- 1 dev dev 1000 Nov 12 10:00 src/mod_a.py", "datetime 10:00; rel src/mod_a.py"),
    ("- 目标库: pg-prod-02:5433", "ip pg-prod-02:5433"),
    ("日志 D:\\网关\\2026-10.log(18.4 MB),好", "abs d:\\网关\\2026-10.log; num 18.4 MB"),
    ("on mq-2.internal:5672; user@mq-1.internal:5671", "ip mq-2.internal:5672; ip mq-1.internal:5671"),
    ("23:30-01:00, at 9:05", "datetime 23:30; datetime 01:00; datetime 09:05"),
    ("branch release/2026-11, feature/login-page", "rel release/2026-11; rel feature/login-page"),
    ("either fix/bug or feat/x, read/write", ""),
    ("billing@example.com, $1,250.00 a month, cap €900", "num 1250 USD; num 900 EUR"),
    ("端口用 7001,日志保留 14 天", "port 7001; num 14 day"),
    ("./output/图表/柱状图.png", "rel ./output/图表/柱状图.png"),
    ("base path /v2/accounts, 600 requests per minute", "abs /v2/accounts; num 600 request"),
    ("`src/**/test.py`, **/etc/hosts**, **README.md**, __src/a.py__", "abs /etc/hosts; rel README.md; rel src/a.py"),
    ("res.json({}); console.log(x); self.conf; np.log", ""),
    ("GET /users/<id>/edit, /users/{id}/edit, /api/v1/orders/:id", "abs /users/{id}/edit; abs /api/v1/orders"),
    ("see @src/main.py, not @types/node/index.d.ts", "rel src/main.py"),
    ("git@github.com:org/repo.git, user@host:/srv/x.py", "abs /srv/x.py"),
    ("README.md/CHANGELOG.md", "rel README.md; rel CHANGELOG.md"),
    ("$HOME/x.py ${ROOT}/y/z.py %APPDATA%\\foo\\x.txt", ""),
    (r"\\nfoo\\nbar, \\\\srv\\share\\a.txt", r"abs \\srv\share\a.txt"),
    ("16 GB,8 核,3 副本,8 个 worker,5 个节点", "num 16 GB; num 8 core; num 3 replica; num 8 worker; num 5 node"),
    ("100 万条记录,3 名用户,重试 2 次", "num 100万 record; num 3 user; num 2 time"),
    ("3个人, 2 周一, 第 3 次, i % 2, 5%s, %20", "num 3 人"),
    ("36.5℃, -5°C, 5 °F", "num 36.5 °C; num -5 °C; num 5 °F"),
    ("$3k, $5 million, ¥3万, USD 20, 20 美元", "num 3k USD; num 5M USD; num 3万 元; num 20 USD; num 20 USD"),
    ("awk '{print $1}' f", ""),
    ("the 1990s, 4 x A100, 1e3 ms, 3x3", ""),
    ("curl/8.1.2 python-3.11.0 foo@1.2.3 PostgreSQL 16.3", "version 8.1.2; version 3.11.0; version 1.2.3"),
    ("12:34:56:78, 16:9, 25:00", ""),
    ("2026-11-02T03:14:00Z, 2026/1/5", "datetime 2026-11-02 03:14:00; datetime 2026-01-05"),
    ("2026年11月30日 10:30, 30 November 2026", "datetime 2026-11-30 10:30; datetime 2026-11-30"),
    ("11月3日", "datetime 11-03"),
    ('{"port": 8080, "PORT": "9090"}', "port 8080; port 9090"),
    ("support 8080, report 9090, exporter 7070", ""),
    ("在 8443 端口", "port 8443"),
    ("/srv/a.log\\nsrc/x.py", "abs /srv/a.log; rel src/x.py"),
    ("│   ├── src/index.ts", "rel src/index.ts"),
    ("<path>/etc/x.conf</path>, <root>/src/x.py", "abs /etc/x.conf"),
    ("2>/dev/null", ""),
    ("docker/Dockerfile and .env", "rel docker/Dockerfile; rel .env"),
    ('"/usr/bin/python script.py" "/etc/hosts is missing"', "abs /usr/bin/python; rel script.py; abs /etc/hosts"),
    ("修改 src/a.py(第 3 行)", "rel src/a.py"),
    ("docs/x.md#install", "rel docs/x.md"),
    ("404 错误, 12 个错误", "num 12 error"),
    ("CVE-2026-12345, OPS-4821, eu-west-1, AES-256", "ticket CVE-2026-12345; ticket OPS-4821"),
    ("sha a8f5f167f44f4964e6c998dee827110c", "hex a8f5f167f44f4964e6c998dee827110c"),
    ("５０ 个文件,超时３０秒", "num 50 file; num 30 s"),
    ("| hnsw | 84 ms | 3.1 GB |", "num 84 ms; num 3.1 GB"),
    ("https://h/a/b.py?x=3ms 和 /etc/fstab", "abs /etc/fstab"),
    ("//cdn/x.js // src/y.ts", "rel src/y.ts"),
    ("(-5 ms), [-7 ms], x]-8 ms, 5-10 files", "num -5 ms; num -7 ms; num 10 file"),
]


@pytest.mark.parametrize(("text", "facts"), REFINED + OURS, ids=lambda v: v[:40])
def test_rows(text: str, facts: str) -> None:
    assert told(extract(text)) == facts


def test_extended_classes_are_left_out_on_request_but_still_hide_their_digits() -> None:
    text = "v1.2.3 MB, 10:30 min, 3 files"
    assert told(extract(text, extended=False)) == "num 3 file"
    assert "version 1.2.3" in told(extract(text))


def test_markers_of_a_policy_extend_the_list() -> None:
    assert extract("modules/core") == []
    assert told(extract("modules/core", markers=("modules",))) == "rel modules/core"


def test_a_text_is_cut_at_one_mebibyte() -> None:
    from audit.core.facts import MAX_BLOCK, was_cut

    text = "x" * (MAX_BLOCK - 10) + " 3 files" + "\n4 files /etc/hosts"
    assert was_cut(text)
    assert told(extract(text)) == "num 3 file"
    assert not was_cut("x" * MAX_BLOCK)


def test_offsets_point_into_the_text_as_given() -> None:
    text = "cafe\u0301 见\u200b /srv/re\u0301sume\u0301.txt，超\ufeff时３０\u200b秒"
    facts = extract(text)
    assert [text[f.start : f.end] for f in facts] == ["/srv/re\u0301sume\u0301.txt", "３０\u200b秒"]
    assert facts[0].canon == "/srv/résumé.txt"
