"""The closed list of units and counted nouns, English and Chinese, and what each is folded to (COMPACTION-AUDIT §4,
AUDIT-REFINEMENTS §2.3). Values are never converted; only spellings are."""

from __future__ import annotations

import re

from audit.core.facts.chars import words

# Canons that count things; a generic counter of the same number equals each of them.
GENERIC = words("个 条 项 份 台 人 段 期 time 张 篇 笔 家 户 套 名 位")

# canon -> English spellings, compared in lower case. Singular is allowed (`30 second timeout`).
_MEASURES = {
    "KB": "kb", "MB": "mb", "GB": "gb", "TB": "tb", "PB": "pb",
    "KiB": "kib", "MiB": "mib", "GiB": "gib", "TiB": "tib",
    "KB/s": "kb/s kbyte/s", "MB/s": "mb/s", "GB/s": "gb/s", "KiB/s": "kib/s", "MiB/s": "mib/s", "GiB/s": "gib/s",
    "Kbps": "kbps kbit/s", "Mbps": "mbps mbit/s", "Gbps": "gbps gbit/s",
    "ns": "ns nanosecond nanoseconds", "us": "us µs microsecond microseconds", "ms": "ms msec millisecond milliseconds",
    "s": "s sec secs second seconds", "min": "min mins minute minutes", "h": "h hr hrs hour hours",
    "day": "day days", "week": "week weeks", "month": "month months", "year": "year years yr yrs",
    "%": "% percent pct", "pp": "pp",
    "px": "px pixel pixels", "Hz": "hz", "kHz": "khz", "MHz": "mhz", "GHz": "ghz",
    "km": "km", "cm": "cm", "mm": "mm", "kg": "kg", "mg": "mg", "kWh": "kwh", "mAh": "mah", "µA": "µa ua μa", "mA": "ma",
    "mV": "mv", "kW": "kw", "kΩ": "kω kohm", "Ω": "ω ohm", "dB": "db", "dBm": "dbm", "ppm": "ppm",
    "°C": "°c ℃", "°F": "°f ℉",
    "x": "x", "qps": "qps", "tps": "tps", "rps": "rps", "fps": "fps", "rpm": "rpm", "iops": "iops",
    "元": "rmb cny yuan", "USD": "usd dollar dollars", "EUR": "eur euro euros", "GBP": "gbp",
}  # fmt: skip

# Counted English nouns, singular; must be plural behind a number other than 1 unless joined by `-`.
_NOUNS = (
    "byte token line file time test row record item user request error commit node replica worker thread connection retry"
    " attempt point core job case failure column table event message turn batch ticket server package function"
    " run pod instance shard partition image document entry key query host machine container device task session warning"
    " endpoint iteration epoch sample module class process vulnerability gpu cpu card goroutine coroutine example finding"
    " participant entity migration hit grant cent reader writer consumer producer broker cluster region branch tag"
).split()
_NOUN_CANON = {"char": ("char", "character"), "页": ("page",), "步": ("step",), "轮": ("round",), "人": ("person",)}
_IRREGULAR = {"person": "people", "replica": "replicas", "index": "indexes"}
# canon -> Chinese nouns; behind a classifier (个 条 台 …) or directly, unless listed in _NEEDS_CLASSIFIER.
_ZH_NOUNS = {
    "test": "测试用例 测试", "case": "用例 案例", "record": "记录", "item": "条目", "user": "用户", "request": "请求", "error": "错误",
    "commit": "提交", "node": "节点", "replica": "副本", "worker": "工作进程 工作线程", "thread": "线程", "process": "进程",
    "connection": "连接", "retry": "重试", "attempt": "尝试", "core": "核心 核", "job": "作业", "task": "任务", "failure": "失败",
    "column": "列 字段", "table": "表", "event": "事件", "message": "消息", "batch": "批次", "ticket": "工单", "server": "服务器",
    "package": "软件包 包", "function": "函数", "页": "页面", "步": "步骤", "shard": "分片", "partition": "分区", "instance": "实例",
    "container": "容器", "endpoint": "接口", "module": "模块", "host": "主机", "machine": "机器", "session": "会话",
    "warning": "警告 告警", "image": "图片 镜像", "document": "文档", "sample": "样本", "query": "查询", "device": "设备", "key": "键",
    "token": "词元", "char": "字符", "byte": "字节", "file": "文件", "line": "行", "pod": "Pod", "point": "点",
}  # fmt: skip
_NEEDS_CLASSIFIER = words("条目 提交 重试 尝试 任务 作业 失败 列 表 包 键 点 案例 用例 事件 消息 文档 图片 镜像 接口 模块 主机 机器 会话 查询 设备")

WORDS: dict[str, tuple[str, bool]] = {}  # lower-case word -> (canon, may stand behind any number)
COUNTED: set[str] = set()
for _canon, _spellings in _MEASURES.items():
    for _w in _spellings.split():
        WORDS[_w] = (_canon, True)


def _noun(canon: str, singular: str) -> None:
    plural = _IRREGULAR.get(singular) or (
        singular[:-1] + "ies" if singular.endswith("y") and singular[-2] not in "aeiou" else
        singular + ("es" if singular.endswith(("s", "sh", "ch", "x")) else "s")
    )  # fmt: skip
    COUNTED.add(canon)
    WORDS[plural] = (canon, True)
    WORDS.setdefault(singular, (canon, False))


for _n in _NOUNS:
    _noun(_n, _n)
for _canon, _singulars in _NOUN_CANON.items():
    for _n in _singulars:
        _noun(_canon, _n)
WORDS |= {
    "tok": ("token", True),
    "toks": ("token", True),
    "reqs": ("request", True),
    "chars": ("char", True),
    "char": ("char", False),
}
COUNTED |= {"台", "份", "条", "个", "项", "段", "期", "x"} - {"x"}
COUNTED |= GENERIC | set(_ZH_NOUNS)

# Chinese measures: spelling -> (canon, what must not follow, as a regular expression without quantifiers).
_ZH_MEASURES: list[tuple[str, str, str]] = [
    ("纳秒", "ns", ""), ("微秒", "us", ""), ("毫秒", "ms", ""), ("秒钟", "s", ""), ("秒", "s", "杀"), ("分钟", "min", ""),
    ("个小时", "h", ""), ("个钟头", "h", ""), ("小时", "h", ""), ("个工作日", "workday", ""), ("个自然日", "day", ""),
    ("天", "day", "[空津气猫文然真使]"), ("个星期", "week", ""), ("星期", "week", "[一二三四五六日天]"), ("个周", "week", ""),
    ("周", "week", "[一二三四五六日末边围期报年]"), ("个月", "month", ""), ("年", "year", "[级轻份底初末代会货糕]"), ("个季度", "quarter", ""),
    ("字节", "byte", ""), ("个字节", "byte", ""), ("字符", "char", "串"), ("个字符", "char", "串"), ("个汉字", "char", ""), ("个字", "char", "[段节典符体幕号面母]"),
    ("字", "char", "[段典体幕号面母串]"), ("行", "line", "[业动为程政星]"), ("次", "time", "[要序元方级品]"), ("倍", "x", ""),
    ("百分点", "pp", ""), ("个百分点", "pp", ""), ("像素", "px", ""), ("赫兹", "Hz", ""), ("千米", "km", ""), ("公里", "km", ""), ("厘米", "cm", ""),
    ("毫米", "mm", ""), ("米", "m", "[饭粉]"), ("千克", "kg", ""), ("公斤", "kg", ""), ("毫克", "mg", ""), ("克", "g", "[服制隆]"), ("吨", "t", ""),
    ("摄氏度", "°C", ""), ("度", "度", "[假过量]"), ("美元", "USD", ""), ("美金", "USD", ""), ("欧元", "EUR", ""), ("英镑", "GBP", ""), ("人民币", "元", ""),
    ("块钱", "元", ""), ("元", "元", "[素组旦宵件]"), ("人次", "人次", ""), ("个人", "人", "[信资数中化]"), ("人", "人", "[民工类员均家生]"),
    ("页", "页", "[码脚眉]"), ("步", "步", "[进伐行]"), ("轮", "轮", "[廓播询胎]"), ("核", "core", "[心对查实]"), ("道", "道", "[路理具]"),
]  # fmt: skip
_ZH_GENERIC: list[tuple[str, str]] = [
    ("个", "[体性别]"), ("条", "[件款形]"), ("项", ""), ("份", ""), ("台", "[湾北阶风式]"), ("段", ""), ("期", "[间待望限货权末中初]"),
    ("张", "[力]"), ("篇", "[幅]"), ("笔", "[记者]"), ("家", "[庭]"), ("户", "[口]"), ("套", "[餐件]"), ("名", "[称字单]"), ("位", "[置数]"),
]  # fmt: skip

CLASSIFIER = "[个条项台份张名位次笔封套道]"
_zh_noun_map = {w: c for c, ws in _ZH_NOUNS.items() for w in ws.split()}
_by_length = sorted(_zh_noun_map, key=lambda w: (-len(w), w))
_direct = [w for w in _by_length if w not in _NEEDS_CLASSIFIER and w not in ("行", "字节", "字符", "核")]
_measures = sorted(_ZH_MEASURES, key=lambda r: (-len(r[0]), r[0]))

ZH_CANON: dict[str, str] = {}


def _alternatives() -> str:
    parts = []
    for spelling, canon, never in (r for r in _measures if len(r[0]) > 1):
        ZH_CANON[spelling] = canon
        parts.append(spelling + (f"(?!{never})" if never else ""))
    nouns = "|".join(
        w
        + {"表": "(?![示格达面])", "文件": "(?!夹)", "包": "(?![括含])", "核": "(?![对查实])", "点": "(?![击开])"}.get(
            w, ""
        )
        for w in _by_length
    )
    parts.append(f"{CLASSIFIER} ?(?P<noun>{nouns})")
    parts.append(f"(?P<direct>{'|'.join(_direct)})(?![夹数率])")
    for spelling, canon, never in (r for r in _measures if len(r[0]) == 1):
        ZH_CANON[spelling] = canon
        parts.append(spelling + (f"(?!{never})" if never else ""))
    for spelling, never in _ZH_GENERIC:
        ZH_CANON[spelling] = spelling
        parts.append(spelling + (f"(?!{never})" if never else ""))
    return "|".join(parts)


ZH_UNIT = re.compile(f"(?:{_alternatives()})")
ZH_FIRST = (
    frozenset(m[0][0] for m in _ZH_MEASURES)
    | frozenset(w[0] for w in _by_length)
    | frozenset(g[0] for g in _ZH_GENERIC)
)
ZH_FIRST |= frozenset("封千万亿百")


def zh_canon(m: re.Match[str]) -> str:
    """Canon of a match of ZH_UNIT."""
    noun = m.group("noun") or m.group("direct")
    return _zh_noun_map[noun] if noun else ZH_CANON[m.group()]
