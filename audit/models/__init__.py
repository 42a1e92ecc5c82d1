"""Vocabulary and policy of a team as versions, and the audit records made under them."""

from __future__ import annotations

from .fact import Fact, MarkedText
from .policy import PolicyVersion, TermList, VocabularyTerm
from .record import Audit, Signal, Verdict
from .review import Review, ReviewVerdict

__all__ = [
    "Audit",
    "Fact",
    "MarkedText",
    "PolicyVersion",
    "Review",
    "ReviewVerdict",
    "Signal",
    "TermList",
    "Verdict",
    "VocabularyTerm",
]
