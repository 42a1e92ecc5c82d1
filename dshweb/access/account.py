"""The pages of a person about itself: account, API tokens, signing out everywhere, leaving a team."""

from __future__ import annotations

from functools import lru_cache
from zoneinfo import available_timezones

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout, update_session_auth_hash
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dshweb.access import selectors
from dshweb.access.callers import CallerRequest
from dshweb.access.models import ApiToken, Membership
from dshweb.access.page_forms import SCOPE_WORDS, TokenForm
from dshweb.access.services import members, once, signout, tokens

REGIONS = ("Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific")


@lru_cache(maxsize=1)
def zones() -> list[str]:
    """Time zones by region and place, without the old names for them."""
    return ["UTC", *sorted(name for name in available_timezones() if name.partition("/")[0] in REGIONS)]


@never_cache
@require_safe
def account(request: CallerRequest) -> HttpResponse:
    live = sum(not row.ended for row in selectors.tokens_of(request.user))
    return render(request, "access/account.html", {
        "memberships": selectors.memberships(request.user), "live_tokens": live, "zones": zones(),
        "languages": settings.LANGUAGES, "has_password": request.user.has_usable_password(),
    })  # fmt: skip


@require_POST
def sign_out_everywhere(request: CallerRequest) -> HttpResponse:
    """Ends all logins; this one too with `here`, all tokens too with `tokens`."""
    ended = signout.everywhere(request.user, with_tokens="tokens" in request.POST)
    if "here" in request.POST:
        logout(request)
        return redirect("login")
    update_session_auth_hash(request, request.user)
    messages.success(request, _("Every other browser was logged out; unused login links ended."))
    if ended:
        messages.success(
            request, ngettext("%(n)d token was revoked.", "%(n)d tokens were revoked.", ended) % {"n": ended}
        )
    return redirect("account")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def token_list(request: CallerRequest) -> HttpResponse:
    """All own tokens and the form for one more, with the scopes of `?scope=` set. A new secret is in the answer to the form
    and nowhere else."""
    rows = selectors.memberships(request.user)
    first = selectors.home_first([row.team for row in rows], request.user)[:1]
    initial = {
        "lifetime": "90",
        "scopes": request.GET.getlist("scope") or ["read"],
        "team": first[0].slug if first else "",
    }
    form = TokenForm(rows, request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        if not once.first(request.POST.get("once", ""), request.user.pk):
            messages.warning(
                request,
                _("This form was sent before. Its token's secret is not shown again: revoke it and make another."),
            )
            return redirect("tokens")
        values = form.cleaned_data
        made, secret = tokens.make(values["team"], request.user, values["name"], values["scopes"], form.expires_at)
        address = request.build_absolute_uri("/").rstrip("/")
        return render(request, "access/token_made.html", {"token": made, "secret": secret, "server": address})
    return render(request, "access/tokens.html", {
        "form": form, "once": once.word(), "rows": selectors.tokens_of(request.user), "teams_of_mine": rows,
        "offered": [(scope.value, scope.label, words, [row for row in rows if not selectors.allows(row, scope)])
                    for scope, words in SCOPE_WORDS.items()],
    })  # fmt: skip


@require_POST
def token_revoke(request: CallerRequest, pk: int) -> HttpResponse:
    revoke(request, get_object_or_404(ApiToken.unscoped.select_related("team"), pk=pk, user=request.user))
    return redirect("tokens")


def revoke(request: CallerRequest, token: ApiToken) -> None:
    """Ends the token and says so on the next page."""
    if tokens.revoke(token, request.user):
        messages.success(
            request, _("“%(name)s” was revoked. Programs that use it are refused from now on.") % {"name": token.name}
        )
    else:
        messages.info(request, _("It had ended already."))


@require_POST
def leave(request: CallerRequest, slug: str) -> HttpResponse:
    team = selectors.team_of(request.caller, slug)
    row = get_object_or_404(Membership.objects.select_related("team", "user"), team=team, user=request.user)
    try:
        members.remove(row, by=request.user)
    except members.Refused as reason:
        messages.error(request, str(reason))
    else:
        messages.success(request, _("You left %(team)s. Your tokens for it were revoked.") % {"team": team.name})
    return redirect("account")
