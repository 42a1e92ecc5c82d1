"""Vocabulary and policy of a team as versions, and the audit records made under them."""

from __future__ import annotations

from .policy import PolicyVersion, TermList, VocabularyTerm
from .record import Audit, Signal, Verdict

__all__ = ["Audit", "PolicyVersion", "Signal", "TermList", "Verdict", "VocabularyTerm"]
