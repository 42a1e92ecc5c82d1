"""Claims of a summary about its user."""

from __future__ import annotations

from audit.core.statements.model import Claim


def claimed_rules(summary_text: str) -> list[Claim]:
    """Rules that the summary states; kind `user_rule`."""
    return []


def claimed_quotes(summary_text: str) -> list[Claim]:
    """Words that the summary puts into the user's mouth; kind `user_quote`."""
    return []


def claimed_consents(summary_text: str) -> list[Claim]:
    """Lines that say the user agreed, without a quote; kind `user_consent`."""
    return []
