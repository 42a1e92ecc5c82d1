"""The pressure formula as it stands beside the chart: every term with its value and where that came from, and which bound won.

Rule: issue 5.4, DECISIONS 16, COMPACTION §2; field reports 016, 017: a default never beats a set value unsaid.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from compaction.core.diagnose import Diagnostic
from compaction.core.formula import NoSpec, Spec
from compaction.core.policy import Policy
from compaction.core.session_facts import SessionFacts
from compaction.page.words import (
    RESERVE_ORIGINS,
    WINNERS,
    Link,
    diagnostic_words,
    label,
    links,
    origin_words,
    worded,
)
from dshweb.text import js
from dshweb.ui.templatetags.dshweb import grouped

PLAIN = "floor(min(W × ratio, W − O − headroom))"


@dataclass(frozen=True, slots=True)
class Term:
    """One letter of the formula. `value` None: unknown. `control`: the field that changes it, if one does."""

    symbol: str
    name: str
    value: str | None
    origin: str
    control: Link | None = None
    is_set: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the working. `value` None: it could not be worked out. `won`: the bound that made the trigger."""

    symbols: str
    numbers: str
    value: str | None
    won: bool = False
    name: str = ""


@dataclass(frozen=True, slots=True)
class Formula:
    """`why`: there is no trigger, and why; `overrode`: a default beat a set value, said plainly."""

    plain: str
    terms: tuple[Term, ...]
    lines: tuple[Line, ...]
    trigger: int | None
    winner: str
    overrode: str
    why: str
    controls: tuple[Link, ...]


def told(
    worked_out: Spec | NoSpec | None, policy: Policy | None, facts: SessionFacts | None, window: int | None
) -> Formula | None:
    """The formula for what is known; None without settings that resolve. `window`: inspect's, where there is no spec."""
    if policy is None:
        return None
    at = worked_out if isinstance(worked_out, Spec) else None
    known = dict(worked_out.terms) if isinstance(worked_out, NoSpec) else {}
    w = at.window if at else window
    budget = at.message_budget if at else _whole(known.get("messageBudget"))
    o = at.reserve.tokens if at else (w - budget if w is not None and budget is not None else None)
    why, controls, overrode = "", links(()), ""
    if isinstance(worked_out, NoSpec):
        why, controls = diagnostic_words(
            Diagnostic(worked_out.code, worked_out.message, "error", worked_out.controls), worked_out, None, policy
        )
    elif at and at.default_overrode:
        key = "headroomTokens" if at.default_overrode == "thresholdRatio" else "thresholdRatio"
        overrode, controls = diagnostic_words(Diagnostic("default-won", "", "warning", (key,)), at, None, policy)
    return Formula(
        PLAIN, _terms(policy, w, o, at, facts), _lines(policy, w, o, at, known), at.threshold if at else None,
        worded(WINNERS, at.winner) if at else "", overrode, why, controls,
    )  # fmt: skip


def _terms(
    policy: Policy, w: int | None, o: int | None, at: Spec | None, facts: SessionFacts | None
) -> tuple[Term, ...]:
    ratio, headroom, keep = policy.threshold_ratio, policy.headroom_tokens, policy.retention
    kept = "retainTokens" if keep.form == "tokens" else "retainRatio"
    reserve = at.reserve.origin if at else _reserve_origin(o, facts)
    return (
        Term("W", _("context window"), _shown(w), _window_origin(w, facts)),
        _setting("ratio", "thresholdRatio", js.number(ratio.value), ratio.origin, ratio.scope),
        Term("O", _("output reserve"), _shown(o), worded(RESERVE_ORIGINS, reserve) if reserve else ""),
        _setting("headroom", "headroomTokens", str(grouped(headroom.value)), headroom.origin, headroom.scope),
        _setting(
            "retain", kept, js.number(keep.value) if keep.form == "ratio" else str(grouped(int(keep.value))), keep.origin, keep.scope
        ),
    )  # fmt: skip


def _setting(symbol: str, key: str, value: str, origin: str, scope: str) -> Term:
    return Term(symbol, label(key), value, origin_words(origin, scope), links((key,))[0], origin == "set")


def _reserve_origin(o: int | None, facts: SessionFacts | None) -> str:
    """Without a spec: the request goes before the adapter; a 0 nobody told is left without a word."""
    if o is None:
        return "" if facts is None else "unknown"
    if facts is not None and facts.route.max_tokens == o:
        return "request"
    return "adapter" if o > 0 else ""


def _window_origin(w: int | None, facts: SessionFacts | None) -> str:
    """The catalogue goes before the log (COMPACTION §18)."""
    if w is None and facts is None:
        return _("of the model a session runs on")
    if w is None:
        return _("neither the model routes nor the log say")
    logged = facts.route.window if facts else None
    if logged == w:
        return _("as the log says")
    if logged is None:
        return _("from the model routes")
    return _("from the model routes; the log says %(n)s") % {"n": grouped(logged)}


def _lines(
    policy: Policy, w: int | None, o: int | None, at: Spec | None, known: dict[str, int | float]
) -> tuple[Line, ...]:
    unknown = "?"
    window, reserve = _shown(w) or unknown, _shown(o) or unknown
    ratio, headroom = js.number(policy.threshold_ratio.value), str(grouped(policy.headroom_tokens.value))
    share = at.ratio_term if at else known.get("ratioTerm")
    rest = at.pressure_budget if at else _whole(known.get("pressureBudget"))
    budget = at.message_budget if at else _whole(known.get("messageBudget"))
    winner = at.winner if at else ""
    lines = [
        Line("W × ratio", f"{window} × {ratio}", _fraction(share), winner in ("ratio", "both")),
        Line("W − O − headroom", f"{window} − {reserve} − {headroom}", _shown(rest), winner in ("headroom", "both")),
    ]
    keep = at.retain if at else _whole(known.get("retain"))
    if policy.retention.form == "tokens":
        lines.append(Line("retain", "", str(grouped(int(policy.retention.value))), name=_("retained tail")))
    else:
        numbers = f"{_shown(budget) or unknown} × {js.number(policy.retention.value)}"
        lines.append(Line("floor((W − O) × retain)", numbers, _shown(keep), name=_("retained tail")))
    return tuple(lines)


def _whole(value: int | float | None) -> int | None:
    return None if value is None else int(value)


def _shown(value: int | None) -> str | None:
    return None if value is None else str(grouped(value)).replace("-", "−")


def _fraction(value: float | None) -> str | None:
    """The bound before the floor: with two digits, cut off, where it is no whole number."""
    if value is None:
        return None
    whole = int(value)
    hundredths = int((value - whole) * 100)
    rest = f".{hundredths:02d}".rstrip("0") if hundredths else ""
    return f"{grouped(whole)}{rest}"
