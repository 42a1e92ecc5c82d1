"""Claims about the user without quotation marks: indirect speech, someone else's consent, consent without its matter."""

from __future__ import annotations

import time

import pytest

from audit.core.statements import (
    Support,
    claimed_consents,
    claimed_endorsements,
    claimed_told,
    corrections,
    resolve_old_values,
    rule_kept,
    rules,
)
from audit.core.statements.content import Words
from audit.core.statements.prose import scripts_of
from audit.core.statements.terms import terms_of
from audit.tests.core.build import build
from audit.tests.core.test_record import record_of


def told(summary: str, human: list[str], before: list[str] | None = None) -> list[bool | None]:
    support = Support(human, before=before or [""] * len(human))
    return [support.judge(claim) for claim in claimed_told(summary)]


@pytest.mark.parametrize(
    ("summary", "text"),
    [
        ("- The user asked to mask e-mail columns.", "The user asked to mask e-mail columns."),
        ("- User wants the build cached; done.", "User wants the build cached"),
        ("用户要求把缓存改成两级。下一步上线", "用户要求把缓存改成两级"),
        ("- 用户希望：首页先加载图片", "用户希望：首页先加载图片"),
    ],
)
def test_indirect_speech_is_the_clause(summary: str, text: str) -> None:
    (claim,) = claimed_told(summary)
    assert (claim.kind, claim.basis, claim.text) == ("user_quote", "told", text)
    assert summary[claim.start : claim.end] == text


@pytest.mark.parametrize(
    "summary",
    [
        "- If the user asked for a refund, the page shows a form.",
        "- Not what the user wanted.",
        "- As the user requested, logs are short.",
        "- 按用户要求缩短日志",
        "- 用户要求的字段都在",
        "- 如果用户希望退款，显示表单",
        "- The user table has 12 columns.",
        '- The user said "mask the columns"',
        "- A user asked on the forum about masking columns.",
    ],
)
def test_what_tells_of_no_wish_of_the_user_is_no_claim(summary: str) -> None:
    assert claimed_told(summary) == [] or "A user" in summary


@pytest.mark.parametrize(
    ("summary", "human", "expected"),
    [
        ("- The user asked to mask e-mail columns for this role.", ["Grant read access to the finance schema."], False),
        ("- The user asked for read access to finance.", ["Grant read access to the finance schema."], True),
        ("- 用户指示夜间停运后关闭屏幕背光", ["地铁站屏的到站时间偶尔倒退,查一下"], False),
        ("- 用户反馈到站时间会倒退", ["地铁站屏的到站时间偶尔倒退,查一下"], True),
        ("- 用户要求把 offset 重置到最新", ["先查原因,不要重置 offset!"], False),
        ("- 用户要求不重置 offset", ["先查原因,不要重置 offset!"], True),
        ("- 用户要求把 offset 重置到最新", ["不要动别的", "把 offset 重置到最新"], True),
        # another language: not judged, unless several names are all unheard of
        ("- The user asked to replace the captcha.", ["把登录页的验证码换成滑块"], None),
        ("- The user asked to move `a_b` to `c_d` on `e_f`.", ["把登录页的验证码换成滑块"], False),
        ("- The user asked to move `a_b` to `c_d` on `e_f`.", ["把 a_b 换掉"], None),
        # two words say too little
        ("- The user wants a cache.", ["Make the list faster and keep it sorted."], None),
    ],
)
def test_indirect_speech_is_judged_by_its_content(summary: str, human: list[str], expected: bool | None) -> None:
    assert told(summary, human) == [expected]


def test_a_proposal_that_the_human_approved_counts_as_theirs() -> None:
    summary = "- The user wants exponential backoff with jitter for uploads."
    proposal = "I suggest exponential backoff with jitter for uploads."
    assert told(summary, ["Uploads fail at night.", "yes, do it"], ["", proposal]) == [True]
    assert told(summary, ["Uploads fail at night.", "hm, why?"], ["", proposal]) == [False]


@pytest.mark.parametrize(
    ("summary", "human", "other", "expected"),
    [
        ("- 李敏已同意对外披露。", ["发给李敏复核,没有复核不得披露"], [], False),
        ("- 李敏已同意对外披露。", ["发给李敏复核", "李敏同意了,发吧"], [], True),
        ("- 李敏已同意对外披露。", ["发给李敏复核"], ["李敏: 同意"], True),
        ("- 李敏已同意对外披露。", ["整理净值"], [], None),
        ("- 根因已确认", ["看看根因"], [], None),
        ("- 根因已确认", ["先确认根因,再确认一下影响"], [], None),
        ("- Legal has approved the text.", ["Check the legal text."], [], None),
        ("- Marta from legal has signed off on it.", ["Wait until Marta has signed off."], [], False),
        ("- Marta has approved the transfer.", ["Wait for Marta.", "Marta approved it just now"], [], True),
        ("- Tests confirmed the fix.", ["Run the tests."], [], None),
    ],
)
def test_consent_of_someone_else(summary: str, human: list[str], other: list[str], expected: bool | None) -> None:
    support = Support(human, other)
    (claim,) = claimed_endorsements(summary) or [None]
    assert (support.judge(claim) if claim is not None else None) is expected


@pytest.mark.parametrize(
    ("summary", "exchange", "expected"),
    [
        (
            "- The user approved the deletion.",
            [("", "Prepare the purge, show me the count first, I'll decide then.")],
            False,
        ),
        (
            "- The user approved the deletion.",
            [("", "Prepare the purge."), ("Shall I delete them?", "yes, go ahead")],
            True,
        ),
        ("- The user approved the deletion.", [("The report is ready, 12 pages.", "looks good")], False),
        ("- The user approved the plan.", [("The report is ready, 12 pages.", "looks good")], True),
        ("- 用户已同意上线。", [("", "看看日志"), ("可以上线了吗?", "没问题")], True),
    ],
)
def test_consent_is_about_something(summary: str, exchange: list[tuple[str, str]], expected: bool) -> None:
    support = Support([human for _, human in exchange], before=[said for said, _ in exchange])
    (claim,) = claimed_consents(summary)
    assert support.judge(claim) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SDK 的 retry 逻辑改成 exponential backoff", {"han"}),
        ("wiki 备份改为增量(backup.sh)", {"han"}),
        ("Move the table, then report.", {"latin"}),
        ("ok", set()),
        ("## Primary Request and Intent\n修复登录", {"han"}),
        ("看这个报错\nThe request to the server is not valid for this key", {"han", "latin"}),
        ("", set()),
    ],
)
def test_the_script_of_prose(text: str, expected: set[str]) -> None:
    assert scripts_of(text) == expected


def test_texts_too_long_to_look_at_say_so_and_judge_nothing() -> None:
    assert Words(["a" * 300_000]).cut
    assert told("- The user asked to mask e-mail columns for this role.", ["read access " * 30_000]) == [None]


def test_a_claim_without_source_keeps_no_rule() -> None:
    pieces = [("human", "旧存档必须还能读,版本号升到 18。"), ("assistant", "已完成")]
    lost = record_of(pieces, "- 版本号 18。\n- 用户说：“旧存档可以作废”\n- 存档流程没有其他变化,全部通过。")[
        "coverage"
    ]["lost"]
    assert [row["canon"] for row in lost if row["class"] == "user_rule"] == ["旧存档必须还能读"]


@pytest.mark.parametrize(
    ("text", "summary", "expected"),
    [
        ("MATERIALIZE INDEX 只能在周日跑", "- 今晚执行 MATERIALIZE INDEX", False),
        ("MATERIALIZE INDEX 只能在周日跑", "- MATERIALIZE INDEX 周日执行", True),
        ("Show it first, then I'll decide", "- Next: run it all", False),
        ("Show it first, then I'll decide", "- Waiting for the user's decision", True),
        ("tell nobody at the partner", "- POST /hooks/partner/v1 must not log, env PARTNER_KEY", False),
        ("tell nobody at the partner", "- The partner must not hear of it", True),
        ("调账要等王处批了才能做", "- 下一步:执行调账", False),
        ("调账要等王处批了才能做", "- 调账待王处批准", True),
        ("The originals have to stay readable by the old viewer", "- Pages are grey", False),
        ("只导出 2021 年以后更新过的书", "- 导出全部书籍", False),
    ],
)
def test_more_demands_are_rules(text: str, summary: str, expected: bool) -> None:
    (rule,) = rules(text)
    assert rule_kept(rule, [summary]) is expected


@pytest.mark.parametrize(
    "text",
    [
        "I have to be in a meeting at ten",
        "We don't have to support that",
        "There has to be a bug somewhere",
        "接口只返回 3 条",
        "页面打开只看到一半",
        "等了半天才返回",
        "我来确认一下",
        "我再确认一遍数据",
    ],
)
def test_what_only_sounds_like_a_demand_is_none(text: str) -> None:
    assert rules(text) == []


def test_an_old_value_stands_also_before_the_name() -> None:
    (found,) = [c for c in corrections("进场日期改成 3 月 14 日") if c.scored]
    assert resolve_old_values(found, ["布展 3 月 12 日进场,展位 18 平米"]).canon == "3 月 12 日→3 月 14 日"
    assert resolve_old_values(found, ["布展进场日期 3 月 11 日。3 月 9 日开会"]).canon == "3 月 11 日→3 月 14 日"


def test_a_lost_path_names_what_else_its_line_held() -> None:
    line = "item-003 is stored under /srv/demo/item-003.json and takes 21 MiB, 7 MiB zipped."
    record = record_of(
        [("assistant", line + "\nAll took 9 s.")], "- nothing of it, 7 MiB is the size of another thing here"
    )
    (row,) = record["coverage"]["lost"]
    assert (row["canon"], row["also"]) == ("/srv/demo/item-003.json", ["21 MiB"])
    assert record["coverage"]["keyFacts"] == 1


@pytest.mark.parametrize(
    "piece",
    ["The user asked to mask a b c d. ", "用户要求改日志；", "Marta has approved it. ", "李敏已同意；", "- The user approved x\n", "用户",
     "等a批", "我来决定。"],
)  # fmt: skip
def test_many_claims_against_much_text_take_little_time(piece: str) -> None:
    summary = (piece * 40 + "\n") * 200
    human = ["wait for Marta 等李敏复核 " * 4000, "ok, do it", "改 a 日志 mask. " * 8000, "不要改日志。" * 5000]
    case = build([("human", text) for text in human] + [("assistant", "done " * 20_000)], summary)
    started = time.process_time()
    support = Support(human, before=["done " * 4000] * len(human))
    found = [*claimed_told(summary), *claimed_endorsements(summary), *claimed_consents(summary)]
    for claim in found:
        support.judge(claim)
    assert time.process_time() - started < 2.0
    assert case.summary == (summary,)


def test_terms_of_nothing_are_held_by_anything() -> None:
    assert Words([""]).share(terms_of("the")) == 1.0
