"""Filters of `/api/docs`: texts of the OpenAPI document in the reader's language, types with links to their shapes."""

from __future__ import annotations

import re
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

register = template.Library()


@register.filter
def said(text: str) -> str:
    """A text of the document, translated where the catalogue knows it."""
    return gettext(text) if text else ""


@register.filter
def prose(text: str) -> SafeString:
    """Paragraphs; `code` between backticks. Everything else is escaped."""
    if not text:
        return mark_safe("")
    return format_html_join("\n", "<p>{}</p>", ((_code(gettext(part)),) for part in text.split("\n\n")))


@register.filter
def kind(one: Any) -> SafeString:
    """A dshweb.api.reference.Kind, the name of its shape as a link."""
    if not one.shape:
        return format_html('<code class="xs">{}</code>', one.words)
    before, _name, after = one.words.partition(one.shape)
    link = format_html('<a href="#{}">{}</a>', anchor(one.shape), one.shape)
    return format_html('<code class="xs">{}{}{}</code>', before, link, after)


@register.filter
def place(where: str) -> str:
    """Where a parameter stands."""
    return {
        "path": gettext("address"),
        "query": gettext("query"),
        "header": gettext("header"),
        "cookie": gettext("cookie"),
    }.get(where, where)


@register.filter
def anchor(name: str) -> str:
    return "shape-" + re.sub(r"\W+", "-", name).strip("-")


@register.filter
def afterv1(path: str) -> SafeString:
    """The address behind `/api/v1`, which may be broken after each slash."""
    parts = (path.partition("/v1")[2] or path).split("/")[1:]
    return format_html_join("", "/<wbr>{}", ((part,) for part in parts))


def _code(text: str) -> SafeString:
    parts = re.split(r"`([^`]+)`", text)
    return format_html_join(
        "", "{}", ((format_html("<code>{}</code>", part) if n % 2 else part,) for n, part in enumerate(parts))
    )
