"""Login and password forms: Django's own, with the product's fields and a limit of tries."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm, SetPasswordForm
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from dshweb.access.services import attempts


def _dress(form: Any) -> None:
    for field in form.fields.values():
        field.widget.attrs["class"] = "in"


class LoginForm(AuthenticationForm):
    too_many = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _dress(self)

    def clean(self) -> dict[str, Any]:
        """Counted before the password is looked at, so that being right does not help who tries too often."""
        name, address = self.cleaned_data.get("username") or "", attempts.address_of(self.request)
        if attempts.too_many(name, address):
            self.too_many = True
            raise ValidationError(_("Too many tries. Wait a quarter of an hour, or ask an admin for a login link."))
        try:
            cleaned = super().clean()
        except ValidationError:
            attempts.note_failure(name, address)
            raise
        attempts.forget(name, address)
        return cleaned


class PasswordForm(PasswordChangeForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _dress(self)


class FirstPassword(SetPasswordForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _dress(self)
