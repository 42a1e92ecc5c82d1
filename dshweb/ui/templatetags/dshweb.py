"""Template tags and filters of all pages: numbers with units, times, icons, text of logs made harmless.

Unknown (None) is a dash that a screen reader calls "unknown", never 0. Filters that give HTML escape their input.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django import template
from django.templatetags.static import static
from django.utils import formats, timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dshweb.text.lines import cut, visible

register = template.Library()

GAP = "\N{NARROW NO-BREAK SPACE}"


@register.simple_tag
def unknown() -> SafeString:
    return format_html('<span role="img" aria-label="{}" title="{}">—</span>', _("unknown"), _("unknown"))


@register.simple_tag
def icon(name: str) -> SafeString:
    """A decorative drawing; the word beside it says the same."""
    return format_html(
        '<svg class="i" aria-hidden="true"><use href="{}#{}"></use></svg>', static("img/icons.svg"), name
    )


@register.simple_tag
def gauge(part: int | None, whole: int | None) -> SafeString:
    """A bar of part / whole; the numbers stand beside it. Empty when there is nothing to measure."""
    if part is None or not whole:
        return mark_safe("")
    width = max(0, min(100, round(100 * part / whole)))
    return format_html(
        '<svg class="gauge" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">'
        '<rect width="100" height="6"></rect><rect class="{}" width="{}" height="6"></rect></svg>',
        "whole" if part >= whole else "part",
        width,
    )


@register.filter
def grouped(value: int | None) -> str:
    """16384 → 16 384 (narrow no-break spaces); None → the dash."""
    return unknown() if value is None else f"{value:,}".replace(",", GAP)


@register.filter
def percent(value: float | None) -> str:
    """0.5 → 50 %. Rounded down, so that 100 % means all; less than 1 % is said as such, so that 0 % means nothing."""
    if value is None:
        return unknown()
    return f"<{GAP}1{GAP}%" if 0 < value < 0.01 else f"{int(value * 100 + 1e-9)}{GAP}%"


@register.filter
def score(value: float | None) -> str:
    """Two digits, rounded down: 0.99 never reads as 1.00."""
    return unknown() if value is None else f"{int(value * 100 + 1e-9) / 100:.2f}"


@register.filter
def tokens(value: int | None) -> str:
    if value is None:
        return unknown()
    return ngettext("%(n)s token", "%(n)s tokens", value) % {"n": grouped(value)}


@register.filter
def size(value: int | None) -> str:
    """Bytes in decimal units, one digit: 12.4 MB."""
    if value is None:
        return unknown()
    amount = float(value)
    for name in ("B", "kB", "MB", "GB"):
        if amount < 1000 or name == "GB":
            break
        amount /= 1000
    return f"{int(amount)}{GAP}{name}" if name == "B" else f"{amount:.1f}{GAP}{name}"


@register.filter
def amount(value: int | None, unit: str = "") -> str:
    """A task's count with its unit; bytes as sizes."""
    if value is None:
        return unknown()
    if unit == "bytes":
        return size(value)
    words = {
        "logs": ngettext("%(n)s log", "%(n)s logs", value),
        "files": ngettext("%(n)s file", "%(n)s files", value),
        "sessions": ngettext("%(n)s session", "%(n)s sessions", value),
        "compactions": ngettext("%(n)s compaction", "%(n)s compactions", value),
    }
    return words[unit] % {"n": grouped(value)} if unit in words else f"{grouped(value)} {unit}".strip()


@register.filter
def speed(value: float | None, unit: str = "") -> str:
    """Units a second."""
    if value is None:
        return unknown()
    if unit == "bytes":
        return _("%(amount)s a second") % {"amount": size(round(value))}
    return _("%(n).1f a second") % {"n": value}


@register.filter
def duration(seconds: float | None) -> str:
    """24 ms, 1.2 s, 3 min 5 s, 2 h 4 min."""
    if seconds is None:
        return unknown()
    if seconds < 1:
        return _("%(n)d ms") % {"n": round(seconds * 1000)}
    if seconds < 60:
        return _("%(n).1f s") % {"n": seconds}
    whole = round(seconds)
    if whole < 3600:
        return _("%(m)d min %(s)d s") % {"m": whole // 60, "s": whole % 60}
    return _("%(h)d h %(m)d min") % {"h": whole // 3600, "m": whole % 3600 // 60}


@register.filter
def milliseconds(value: int | None) -> str:
    return duration(None if value is None else value / 1000)


@register.filter
def ago(value: datetime | None) -> SafeString | str:
    """How long ago, with the absolute time on hover (in the reader's zone once the script has run, else in TIME_ZONE)."""
    return unknown() if value is None else _time(value, _relative(value))


@register.filter
def stamp(value: datetime | None) -> SafeString | str:
    """The absolute time, in words."""
    return unknown() if value is None else _time(value, _absolute(value))


@register.filter
def clock(value: datetime | None) -> SafeString | str:
    """The time of day; the day is on hover."""
    return unknown() if value is None else _time(value, timezone.localtime(value).strftime("%H:%M:%S"))


def _time(value: datetime, words: str) -> SafeString:
    iso = value.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return format_html('<time datetime="{}" title="{}">{}</time>', iso, _absolute(value), words)


def _absolute(value: datetime) -> str:
    moment = timezone.localtime(value)
    zone = moment.tzname() or ""
    return _("%(date)s, %(time)s %(zone)s") % {
        "date": formats.date_format(moment, _("j M Y")),
        "time": moment.strftime("%H:%M:%S"),
        "zone": f"UTC{zone}" if zone[:1] in "+-" else zone,  # zones without letters of their own are "+08"
    }


def _relative(value: datetime) -> str:
    seconds = (timezone.now() - value).total_seconds()
    if seconds < -60 or seconds > 30 * 86400:
        return formats.date_format(timezone.localtime(value), _("j M Y"))
    if seconds < 60:
        return _("just now")
    if seconds < 3600:
        return _("%(n)d min ago") % {"n": seconds // 60}
    if seconds < 86400:
        return _("%(n)d h ago") % {"n": seconds // 3600}
    days = int(seconds // 86400)
    return ngettext("%(n)d day ago", "%(n)d days ago", days) % {"n": days}


@register.filter
def seen(text: str | None) -> str:
    """Text of a log as it may stand on a page: no ANSI escapes, hidden characters visible. Escaped by the template."""
    return visible(str(text or ""))


@register.filter
def short(text: str | None, limit: int = 120) -> str:
    """The first `limit` characters, made visible, with … when there was more."""
    shown, hidden = cut(visible(str(text or "")), limit)
    return f"{shown}…" if hidden else shown


@register.filter
def tail(text: str | None, limit: int = 90) -> str:
    """The last `limit` characters, made visible, with … when there was more before: of a path the end tells most."""
    whole = visible(str(text or ""))
    return whole if len(whole) <= limit else f"…{whole[-limit:]}"


@register.filter
def at(mapping: dict[Any, Any] | None, key: Any) -> Any:
    """`mapping[key]` or None."""
    return mapping.get(key) if mapping else None
