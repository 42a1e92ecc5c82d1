"""What humans demanded (corrections, rules) and what a summary claims that they said (rules, quotes, consent).

Leaf side: pass ONE human message text at a time; a notice stored under the user role is not a human text (FR-008).
Summary side: `claimed_*` list the claims, `Support` / `supported` check them against the leaves.
Rules: COMPACTION-AUDIT §4, AUDIT-REFINEMENTS §2.5 and §2.6; field reports FR-001, FR-002, FR-004, FR-008.
"""

from __future__ import annotations

from audit.core.statements.claims import claimed_consents, claimed_quotes, claimed_rules
from audit.core.statements.corrections import corrections
from audit.core.statements.corrections_kept import correction_kept, correction_scorable, resolve_old_values
from audit.core.statements.endorsed import claimed_endorsements
from audit.core.statements.headings import unread
from audit.core.statements.model import Claim, Correction, Rule
from audit.core.statements.rules import rules
from audit.core.statements.rules_kept import effort, rule_kept
from audit.core.statements.support import Support, supported
from audit.core.statements.told import claimed_told

__all__ = [
    "Claim",
    "Correction",
    "Rule",
    "Support",
    "claimed_consents",
    "claimed_endorsements",
    "claimed_quotes",
    "claimed_rules",
    "claimed_told",
    "correction_kept",
    "correction_scorable",
    "corrections",
    "effort",
    "resolve_old_values",
    "rule_kept",
    "rules",
    "supported",
    "unread",
]
