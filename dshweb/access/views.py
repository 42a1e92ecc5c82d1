"""Getting in and out: password, one-time link, logout, change of password."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LoginView, LogoutView, PasswordChangeView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from dshweb.access.forms import FirstPassword, LoginForm, PasswordForm
from dshweb.access.models import User
from dshweb.access.services import links


class Login(LoginView):
    template_name = "access/login.html"
    authentication_form = LoginForm
    redirect_authenticated_user = True

    def form_invalid(self, form: Any) -> HttpResponse:
        """A refused login is 200 with the form; one that came too often is 429."""
        return self.render_to_response(self.get_context_data(form=form), status=429 if form.too_many else 200)


class Logout(LogoutView):
    http_method_names = ["post", "options"]


@never_cache
@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def login_link(request: HttpRequest, secret: str) -> HttpResponse:
    """GET shows whom the link lets in and a button; only POST uses it up (scanners of mails and chats fetch links)."""
    if request.method != "POST":
        user = links.peek(secret)
        return render(request, "access/link.html", {"person": user}, status=200 if user else 404)
    user = links.use(secret)
    if user is None:
        return render(request, "access/link.html", {"person": None}, status=404)
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return redirect("home" if user.has_usable_password() else "password_change")


class Password(PasswordChangeView):
    """Who came by link and has no password yet sets one without an old one."""

    template_name = "access/password.html"
    success_url = reverse_lazy("home")

    def get_form_class(self) -> type[Any]:
        user = self.request.user
        return PasswordForm if isinstance(user, User) and user.has_usable_password() else FirstPassword

    def form_valid(self, form: Any) -> HttpResponse:
        answer = super().form_valid(form)
        messages.success(self.request, _("The password was changed."))
        return answer
