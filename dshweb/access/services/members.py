"""Who belongs to a team and with which rights. Only admins of the team get here; every change is in the access log.

Always: the team keeps an admin who can log in. Two admins who demote each other at once: the team's row is locked
first, so that the second sees what the first did.
Never: an admin of one team becomes somebody who counts elsewhere too. Whoever makes a login link for an account can log
in as it, so links are only for accounts that the team itself made and that belong to no other team (`why_no_link`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from dshweb.access.models import Membership, Role, Team, User
from dshweb.access.services import links, tokens
from dshweb.access.services.log import note_access


class Refused(ValueError):
    """A change that is not made; the message says why, in the reader's language."""


@contextmanager
def _locked(row: Membership) -> Iterator[None]:
    """`row` as it is now, and stays while nobody else changes members of its team. Raises Refused when it is gone."""
    with transaction.atomic():
        Team.objects.select_for_update().get(pk=row.team_id)
        try:
            row.refresh_from_db(fields=["role", "can_review"])
        except Membership.DoesNotExist:
            raise Refused(_("%(person)s is no member any more.") % {"person": row.user}) from None
        yield


def rights(role: str, *, can_review: bool) -> str:
    """Rights as the access log names them."""
    return f"{role}{' + review' if can_review else ''}"


def add(team: Team, user: User, role: str, *, can_review: bool, by: User) -> Membership:
    """An existing person becomes a member. Raises Refused when already one.

    Login links for an account of another team end: whoever made one there would see what this team sees.
    """
    try:
        with transaction.atomic():
            if user.home_id not in (None, team.pk):
                links.end(user)
            row = Membership.objects.create(team=team, user=user, role=Role(role), can_review=can_review)
            note_access(team, "member-added", f"{user}: {rights(role, can_review=can_review)}", user=by)
    except IntegrityError:
        raise Refused(_("%(person)s is a member already.") % {"person": user}) from None
    return row


def add_new(team: Team, username: str, role: str, *, can_review: bool, by: User) -> tuple[Membership, str]:
    """A new account of this team, without a password, and the secret of its login link. Raises Refused."""
    try:
        UnicodeUsernameValidator()(username)
        User._meta.get_field("username").run_validators(username)
    except ValidationError as error:
        raise Refused(" ".join(error.messages)) from None
    taken = Refused(_("There is an account of this name already; add it as an existing person, or choose another."))
    if User.objects.filter(username__iexact=username).exists():
        raise taken
    try:
        with transaction.atomic():
            user = User(username=username, home=team)
            user.set_unusable_password()
            user.save()
            row = add(team, user, role, can_review=can_review, by=by)
            return row, _link(team, user, by)
    except IntegrityError:
        raise taken from None


def change(row: Membership, role: str, *, can_review: bool, by: User) -> bool:
    """Give these rights. False: they were so. Raises Refused for the last admin."""
    with _locked(row):
        before, after = rights(row.role, can_review=row.can_review), rights(role, can_review=can_review)
        if before == after:
            return False
        if role != Role.ADMIN:
            _keep_an_admin(row)
        row.role, row.can_review = Role(role), can_review
        row.save(update_fields=["role", "can_review"])
        note_access(row.team, "member-changed", f"{row.user}: {before} → {after}", user=by)
        return True


def remove(row: Membership, by: User) -> None:
    """The person sees nothing of the team any more; their tokens for it end for good. Raises Refused for the last admin."""
    with _locked(row):
        _keep_an_admin(row)
        tokens.revoke_all(row.team_id, row.user_id, by)
        note_access(row.team, "member-removed", f"{row.user}: {rights(row.role, can_review=row.can_review)}", user=by)
        row.delete()


def _keep_an_admin(row: Membership) -> None:
    others = Membership.objects.filter(team=row.team_id, role=Role.ADMIN, user__is_active=True).exclude(pk=row.pk)
    if row.role == Role.ADMIN and not others.exists():
        raise Refused(
            _("%(person)s is the only admin of the team. Make somebody else admin first.") % {"person": row.user}
        )


def new_link(row: Membership, by: User) -> str:
    """The secret of a new login link; earlier ones end. Raises Refused with the reason of `why_no_link`."""
    reason = why_no_link(row.user, by)
    if reason:
        raise Refused(reason)
    with transaction.atomic():
        return _link(row.team, row.user, by)


def _link(team: Team, user: User, by: User) -> str:
    note_access(team, "login-link-made", str(user), user=by)
    return links.make(user)


def why_no_link(person: User, by: User, *, inactive: bool = False) -> str:
    """Why `by` may not let `person` in by a new link; empty when it is allowed. `inactive`: switched off is no reason."""
    if not person.is_active and not inactive:
        return _("The account is switched off.")
    if person.pk == by.pk:
        return _("You are logged in. With a link somebody at your open browser could set another password.")
    if by.is_superuser:
        return ""
    if person.is_superuser or person.is_staff:
        return _("This person runs the server; whoever has a login link for the account could do so too.")
    run = Membership.objects.filter(user=by, role=Role.ADMIN).values("team")
    if person.home_id is None or not run.filter(team=person.home_id).exists():
        return _("The account was not made by a team you are admin of; it may be used for more than this team.")
    if Membership.objects.filter(user=person).exclude(team__in=run).exists():
        return _("The person belongs to other teams too; with a login link you would see what those teams see.")
    return ""
