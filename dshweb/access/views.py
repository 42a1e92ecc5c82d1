"""Getting in and out: password, one-time link, logout, change of password."""

from __future__ import annotations

import time
from typing import Any

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LoginView, LogoutView, PasswordChangeView, redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse, reverse_lazy
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from dshweb.access.forms import FirstPassword, LoginForm, PasswordForm
from dshweb.access.models import User
from dshweb.access.services import attempts, links
from dshweb.access.services.log import note_of_account

CAME_BY_LINK = "came_by_link"
LINK_SECONDS = 30 * 60


class Login(LoginView):
    template_name = "access/login.html"
    authentication_form = LoginForm
    redirect_authenticated_user = True

    def form_invalid(self, form: Any) -> HttpResponse:
        """A refused login is 200 with the form; one that came too often is 429."""
        answer = self.render_to_response(self.get_context_data(form=form), status=429 if form.too_many else 200)
        if form.too_many:
            answer.headers["Retry-After"] = str(attempts.WINDOW_SECONDS)
        return answer


@login_not_required
def admin_login(request: HttpRequest) -> HttpResponse:
    """The admin sends here who may not see it: to the one login, or, logged in already, away."""
    if request.user.is_authenticated:
        raise PermissionDenied
    return redirect_to_login(request.GET.get("next") or reverse("admin:index"))


class Logout(LogoutView):
    http_method_names = ["post", "options"]


@never_cache
@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def login_link(request: HttpRequest, secret: str) -> HttpResponse:
    """GET shows whom the link lets in and a button; only POST uses it up (scanners of mails and chats fetch links)."""
    user = links.use(secret) if request.method == "POST" else links.peek(secret)
    if user is None or request.method != "POST":
        answer = render(request, "access/link.html", {"person": user}, status=200 if user else 404)
        # the address is the secret; "no-referrer" would make a browser post the form with "Origin: null", which is refused
        answer.headers["Referrer-Policy"] = "origin"
        return answer
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    request.session[CAME_BY_LINK] = int(time.time())
    note_of_account(user, "login-link-used", by=user)
    return redirect("password_change")


class Password(PasswordChangeView):
    """Who came by link a moment ago, or has no password yet, sets one without an old one. All other logins end."""

    template_name = "access/password.html"
    success_url = reverse_lazy("account")

    def without_old(self) -> bool:
        user, came = self.request.user, self.request.session.get(CAME_BY_LINK)
        lately = isinstance(came, int) and 0 <= time.time() - came <= LINK_SECONDS
        return lately or not (isinstance(user, User) and user.has_usable_password())

    def get_form_class(self) -> type[Any]:
        return FirstPassword if self.without_old() else PasswordForm

    def get_form_kwargs(self) -> dict[str, Any]:
        return super().get_form_kwargs() | {"address": attempts.address_of(self.request)}

    def form_valid(self, form: Any) -> HttpResponse:
        answer = super().form_valid(form)
        self.request.session.pop(CAME_BY_LINK, None)
        links.end(form.user)
        messages.success(self.request, _("The password was changed. Every other browser of yours was logged out."))
        return answer
