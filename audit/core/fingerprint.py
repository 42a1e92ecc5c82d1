"""Fingerprints that keep incomparable results apart: of a vocabulary, and of everything that configures an audit."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from typing import Any

from audit.core.policy import Policy, Vocabulary


def _digest(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:12]


def vocabulary_fp(vocabulary: Vocabulary) -> str:
    """`v<version>:<12 hex>` over the sorted, NFC-normalised lists (COMPACTION-AUDIT §2)."""
    lists = {
        name: sorted({unicodedata.normalize("NFC", term) for term in terms})
        for name, terms in (("keep", vocabulary.keep), ("drop", vocabulary.drop), ("scope", vocabulary.scope))
    }
    return f"v{vocabulary.fp_version}:{_digest(lists)}"


def config_fp(policy: Policy) -> str:
    """12 hex over all of the policy: thresholds, switches, vocabulary, the masking pattern list's version."""
    return _digest(
        {
            "checkCompliance": policy.check_compliance,
            "extendedClasses": policy.extended_classes,
            "criticalNumberCount": policy.critical_number_count,
            "maxFactsPerCategory": policy.max_facts_per_category,
            "familyMin": policy.family_min,
            "toolOnlyMax": policy.tool_only_max,
            "pathMarkers": sorted(set(policy.path_markers)),
            "vocabulary": [vocabulary_fp(policy.vocabulary), policy.vocabulary.error],
            "masking": policy.masking,
        }
    )
