"""Who wrote a message: `source.kind` as it stands, and the kind it has in format v4. Rule: SESSION-LOG §8."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import msgspec

HUMAN: Final = "user"
CHECKPOINT: Final = "compact-checkpoint"

# Producers that v0-v3 wrap as `plugin` and whose name is the v4 kind (STATE-EVENTS §9).
_FIRST_PARTY: Final = frozenset({
    "runtime-context", "time-context", "agent-instructions", "skill-invocation", "skill-catalog", "model-selection",
    "working-directory", "user-approval", "ptc-mode", "tool-registry", "agent-message", "subagent-settled",
    "team-message", "user-question-reply", "goal", "plan-mode", "schedule", "session-reference", "webhook", "tool-jobs",
    "tool-goal", "repeat-tool-reminder",
})  # fmt: skip
_RENAMED: Final = {
    "compact": CHECKPOINT,
    "tools-code-mode": "ptc-mode",
    "tools-ptc": "ptc-mode",
    "dsh-compaction-basic": "compact-basic",
}
_SYSTEM_PROMPT: Final = "@deepseek-ai/dsh-system-prompt"


class Author(msgspec.Struct, frozen=True):
    """`stated` is `source.kind` as it stands ("" when there is none), `plugin` the wrapped producer's name or "".

    `kind` is what v4 calls the same producer; a third party's is `plugin:<name>`.
    """

    stated: str
    plugin: str
    kind: str

    @property
    def is_human(self) -> bool:
        """Typed by a person. In a child session the parent's task counts too, the log cannot tell them apart."""
        return is_human(self.stated)

    @property
    def is_checkpoint(self) -> bool:
        """Written by a compaction in place of what it shadowed."""
        return self.kind == CHECKPOINT


def is_human(kind: str) -> bool:
    """Whether a `source.kind` means a person: `user` and nothing else (field report FR-008)."""
    return kind == HUMAN


def author_of(source: Any, *, system: bool = False) -> Author:
    """Author by a message's `source` member, whatever it is. `system`: the message is a system message."""
    if not isinstance(source, dict):
        return Author("", "", "")
    stated = source.get("kind")
    stated = stated if isinstance(stated, str) else ""
    if stated != "plugin":
        return _author(stated, "", system)
    name = source.get("plugin")
    return _author(stated, name if isinstance(name, str) else "", system)


@lru_cache(maxsize=512)
def _author(stated: str, name: str, system: bool) -> Author:  # noqa: FBT001
    """A log has few authors and names them in every message."""
    if stated != "plugin":
        return Author(stated, "", stated)
    if name == _SYSTEM_PROMPT:
        return Author(stated, name, "system-prompt" if system else "runtime-context")
    if name in _FIRST_PARTY:
        return Author(stated, name, name)
    return Author(stated, name, _RENAMED.get(name, f"plugin:{name}"))
