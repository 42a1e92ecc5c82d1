"""Forms of the pages of people, teams and tokens: they check shape; the services decide."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from dshweb.access.forms import Dressed
from dshweb.access.models import Membership, Role, Scope, Team, User, Visibility
from dshweb.access.services.teams import RESERVED
from dshweb.text.lines import one_line

# What a scope lets a program do. One that nothing uses yet has no words here and is not offered.
SCOPE_WORDS = {
    Scope.READ: _("Look at sessions, compactions, audits and tasks. Masked text only."),
    Scope.INGEST: _("Send logs in and have them audited. What a collector needs."),
    Scope.REVIEW: _("Confirm and dismiss signals, in your name."),
    Scope.ENGINE: _("Save compaction settings of the team's profiles, in your name."),
}
ROLE_WORDS = {
    Role.VIEWER: _("Reads everything of the team; changes nothing."),
    Role.MEMBER: _("Also brings logs in and asks for audits."),
    Role.ADMIN: _("Also manages members, tokens and settings, reads unmasked originals and deletes sessions."),
}
VISIBILITY_WORDS = {
    Visibility.TEAM: _("Every member reads what was said in every session."),
    Visibility.OWNER: _("Others see numbers and audits' counts, but no titles, texts or paths."),
}
LIFETIMES = [
    ("7", _("in a week")),
    ("30", _("in 30 days")),
    ("90", _("in 90 days")),
    ("365", _("in a year")),
    ("", _("no end")),
]


def plain(text: str) -> None:
    """A name is what it looks like: no hidden characters, no escapes."""
    if one_line(text) != text:
        raise forms.ValidationError(_("Without hidden characters, please: a name is what one sees."))


class TokenForm(Dressed, forms.Form):
    """`members`: the memberships of the person, each a team the token may be for."""

    name = forms.CharField(
        label=_("Name"), max_length=80, validators=[plain], help_text=_("Where it is used, e.g. “laptop” or “CI”.")
    )
    team = forms.ChoiceField(label=_("Team"))
    scopes = forms.MultipleChoiceField(
        label=_("What it may do"), choices=[(scope.value, scope.label) for scope in SCOPE_WORDS],
        error_messages={"required": _("Choose at least one; a token that may do nothing is of no use.")},
    )  # fmt: skip
    lifetime = forms.ChoiceField(label=_("Ends"), choices=LIFETIMES, required=False)

    def __init__(self, members: list[Membership], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.teams = {row.team.slug: row.team for row in members}
        self.fields["team"].choices = [(slug, team.name) for slug, team in self.teams.items()]  # type: ignore[attr-defined]

    def clean_team(self) -> Team:
        return self.teams[self.cleaned_data["team"]]

    @property
    def expires_at(self) -> datetime | None:
        days = self.cleaned_data["lifetime"]
        return timezone.now() + timedelta(days=int(days)) if days else None


class RightsForm(Dressed, forms.Form):
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices)
    can_review = forms.BooleanField(label=_("may review signals"), required=False)


class MemberForm(RightsForm):
    username = forms.CharField(label=_("Name to log in with"), max_length=150)
    new = forms.ChoiceField(choices=[("", ""), ("new", "")], required=False)

    def clean_username(self) -> str:
        """In the one form that the login looks names up in, however it was typed."""
        return str(User.normalize_username(self.cleaned_data["username"]))


class TeamForm(Dressed, forms.Form):
    name = forms.CharField(label=_("Name"), max_length=120, validators=[plain])
    content_visibility = forms.ChoiceField(label=_("Who sees session content"), choices=Visibility.choices)


class NewTeamForm(Dressed, forms.Form):
    name = forms.CharField(label=_("Name"), max_length=120, validators=[plain])
    slug = forms.SlugField(
        label=_("Short name"),
        max_length=50,
        help_text=_("For addresses and commands: letters, digits, hyphens. It stays."),
    )

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"]
        if slug in RESERVED or Team.objects.filter(slug__iexact=slug).exists():
            raise forms.ValidationError(_("This short name is taken."))
        return slug
