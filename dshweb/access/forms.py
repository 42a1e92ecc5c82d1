"""Login and password forms: Django's own, with the product's fields and a limit of tries."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm, SetPasswordForm
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from dshweb.access.services import attempts

TOO_MANY = _("Too many tries. Wait a quarter of an hour, or ask an admin for a login link.")


class Dressed:
    """Fields look as everywhere, and say of themselves whether they are wrong and what explains them."""

    fields: dict[str, forms.Field]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            if not isinstance(field.widget, (forms.CheckboxInput, forms.RadioSelect, forms.CheckboxSelectMultiple)):
                field.widget.attrs["class"] = "in"


class LoginForm(Dressed, AuthenticationForm):
    too_many = False

    def clean(self) -> dict[str, Any]:
        """Counted before the password is looked at, so that being right does not help who tries too often."""
        name, address = self.cleaned_data.get("username") or "", attempts.address_of(self.request)
        if not attempts.take(name, address):
            self.too_many = True
            raise ValidationError(TOO_MANY)
        cleaned = super().clean()
        attempts.forget(name, address)
        return cleaned


class PasswordForm(Dressed, PasswordChangeForm):
    """Who sits down at an open browser may not guess the old password for ever either."""

    def __init__(self, *args: Any, address: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._address = address

    def clean_old_password(self) -> str:
        name = f"\0change:{self.user.pk}"
        if not attempts.take(name, self._address):
            raise ValidationError(TOO_MANY)
        old = super().clean_old_password()
        attempts.forget(name, self._address)
        return old


class FirstPassword(Dressed, SetPasswordForm):
    def __init__(self, *args: Any, address: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
