"""The words of the access log: what an action is called on pages. Unknown ones are shown as they stand."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

LABELS = {
    "read-original": _("read an unmasked original"),
    "session-deleted": _("deleted a session"),
    "token-made": _("made a token"),
    "token-revoked": _("revoked a token"),
    "login-link-made": _("made a login link"),
    "login-link-used": _("came in by login link"),
    "account-changed": _("changed an account"),
    "member-added": _("added a member"),
    "member-changed": _("changed a member's rights"),
    "member-removed": _("removed a member"),
    "team-made": _("made the team"),
    "team-changed": _("changed the team's settings"),
    "profile-file-named": _("changed which file a profile names"),
    "profile-written": _("wrote settings into a profile's file"),
    "log-exported": _("exported this log"),
}


def label(action: str) -> str:
    return str(LABELS.get(action, action))
