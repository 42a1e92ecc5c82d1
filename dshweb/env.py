"""Settings from the environment: typed, listed in one table, failing loudly.

Every setting of the product is read through `Env`, which remembers name, kind, default and meaning; the
configuration table in the README is checked against that list by a test. A value may also be given as a file
(`NAME_FILE`), as container secrets are.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


class BadSetting(Exception):
    """A value in the environment that cannot be used. The message names the variable and what would be accepted."""


@dataclass(frozen=True)
class Declared:
    name: str
    kind: str
    default: str
    meaning: str


TRUE, FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off", ""}


class Env:
    """Reads typed values from a mapping and keeps the list of what was declared."""

    def __init__(self, source: Mapping[str, str] | None = None) -> None:
        self._source = os.environ if source is None else source
        self.declared: list[Declared] = []

    def _raw(self, name: str, kind: str, default: str, meaning: str) -> str:
        self.declared.append(Declared(name, kind, default, meaning))
        path = self._source.get(f"{name}_FILE")
        if path:
            if name in self._source:
                raise BadSetting(f"{name} and {name}_FILE are both set; keep one")
            try:
                return Path(path).read_text(encoding="utf-8").strip()
            except OSError as error:
                raise BadSetting(f"{name}_FILE: cannot read {path}: {error.strerror}") from error
        return self._source.get(name, default)

    def text(self, name: str, default: str, meaning: str) -> str:
        return self._raw(name, "text", default, meaning)

    def path(self, name: str, default: Path, meaning: str, *, shown: str) -> Path:
        value = self._raw(name, "path", "", meaning)
        self.declared[-1] = Declared(name, "path", shown, meaning)
        return Path(value).expanduser().absolute() if value else default

    def flag(self, name: str, *, default: bool, meaning: str) -> bool:
        value = self._raw(name, "yes/no", "yes" if default else "no", meaning).lower()
        if value in TRUE:
            return True
        if value in FALSE:
            return False
        raise BadSetting(f"{name}={value!r}: say yes or no")

    def choice(self, name: str, default: str, choices: Sequence[str], meaning: str) -> str:
        """One of `choices`, in whatever case it is given."""
        value = self._raw(name, "text", default, meaning)
        found = next((one for one in choices if one.casefold() == value.casefold()), None)
        if found is None:
            raise BadSetting(f"{name}={value!r}: one of {', '.join(choices)}")
        return found

    def zone(self, name: str, default: str, meaning: str) -> str:
        """The name of a time zone this machine knows."""
        value = self._raw(name, "text", default, meaning)
        try:
            ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise BadSetting(f"{name}={value!r}: not a known time zone; say UTC, Asia/Shanghai, …") from None
        return value

    def number(self, name: str, default: int, meaning: str, *, least: int = 0) -> int:
        value = self._raw(name, "number", str(default), meaning)
        try:
            number = int(value)
        except ValueError:
            raise BadSetting(f"{name}={value!r}: not a whole number") from None
        if number < least:
            raise BadSetting(f"{name}={number}: at least {least}")
        return number

    def words(self, name: str, default: str, meaning: str) -> list[str]:
        return [word.strip() for word in self._raw(name, "list", default, meaning).split(",") if word.strip()]


def only_sends(arguments: Sequence[str]) -> bool:
    """Whether this is `manage.py push`: it sends logs from a machine on which nothing of the product shall be left."""
    return len(arguments) > 1 and Path(arguments[0]).name == "manage.py" and arguments[1] == "push"


def database(url: str, default: Path) -> dict[str, object]:
    """Django's DATABASES entry for `url`; an empty one means SQLite at `default`.

    SQLite runs in WAL mode with immediate transactions, so that a writer waits for another instead of failing late.
    """
    if not url:
        return _sqlite(str(default))
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        return _sqlite(unquote(parts.path[1:] if parts.path.startswith("//") else parts.path))
    if parts.scheme in {"postgres", "postgresql"}:
        return {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": unquote(parts.path.lstrip("/")),
            "USER": unquote(parts.username or ""),
            "PASSWORD": unquote(parts.password or ""),
            "HOST": unquote(parts.hostname or ""),
            "PORT": str(parts.port or ""),
            "OPTIONS": dict(parse_qsl(parts.query)),
            "CONN_MAX_AGE": 60,
        }
    raise BadSetting(f"DATABASE_URL: {parts.scheme!r} is not known; use sqlite:///path or postgresql://…")


def _sqlite(path: str) -> dict[str, object]:
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": path,
        "CONN_MAX_AGE": 60,  # opening it anew for each request costs more than most requests
        "OPTIONS": {
            "timeout": 30,
            "transaction_mode": "IMMEDIATE",
            "init_command": (
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY;"
                "PRAGMA cache_size=-16000; PRAGMA journal_size_limit=67108864"
            ),
        },
    }


def secret_key(given: str, folder: Path) -> str:
    """The given key, or one made once and kept in `folder` (readable by the owner only)."""
    if given:
        if len(given) < 32:
            raise BadSetting("SECRET_KEY: at least 32 characters")
        return given
    path = folder / "secret_key"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        import secrets

        # Two processes may start at once: only one may win, and nobody may read half a key.
        draft = folder / f".secret_key.{os.getpid()}"
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w") as stream:
            stream.write(secrets.token_urlsafe(48))
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text().strip()
