"""Rules for the keys that better-compact adds: mode, reasoningEffort, cachePriority.

Rule: COMPACTION §11. They hold in both rule sets, are kept while mode is native, and may not stand in `modelPolicies`.
"""

from __future__ import annotations

from compaction.core.keys import MODES, Document
from compaction.core.problem import Problem, shown


def enhanced_problems(document: Document) -> tuple[Problem, ...]:
    """What is wrong with the enhanced keys of a document by themselves (no model catalogue needed)."""
    found: list[Problem] = []
    if "mode" in document and document["mode"] not in MODES:
        found.append(
            Problem("mode", "unknown-mode", f"mode must be one of {', '.join(MODES)}, not {shown(document['mode'])}", "error", MODES)
        )  # fmt: skip
    effort = document.get("reasoningEffort", "")
    if not isinstance(effort, str):
        found.append(Problem("reasoningEffort", "not-a-text", f"reasoningEffort must be a text, not {shown(effort)}"))
    cache = document.get("cachePriority", True)
    if not isinstance(cache, bool):
        found.append(Problem("cachePriority", "not-a-flag", f"cachePriority must be true or false, not {shown(cache)}"))
    return tuple(found)
