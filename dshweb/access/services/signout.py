"""Signing out everywhere: every login of a person ends at once, in one update.

A login carries a digest of the account (`User._get_session_auth_hash`). Counting `logins_ended` up changes it, so that
the next request of every other browser is nobody's; no stored session has to be found or read. Unused login links
end too: they would be a way back in.
"""

from __future__ import annotations

from django.db import transaction
from django.db.models import F

from dshweb.access.models import ApiToken, User
from dshweb.access.services import links, tokens


def everywhere(user: User, *, with_tokens: bool) -> int:
    """End all logins of `user`, and with `with_tokens` all their API tokens; how many tokens ended.

    `user` is brought up to date, so that the caller can keep one login (django.contrib.auth.update_session_auth_hash).
    """
    with transaction.atomic():
        User.objects.filter(pk=user.pk).update(logins_ended=F("logins_ended") + 1)
        links.end(user)
        ended = 0
        if with_tokens:
            for token in ApiToken.unscoped.select_related("team").filter(user=user, revoked_at=None):
                ended += tokens.revoke(token, user)
    user.refresh_from_db(fields=["logins_ended"])
    return ended
