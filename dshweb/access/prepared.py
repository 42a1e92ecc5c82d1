"""A query whose SQL Django makes once, for answers that are given thousands of times: making it costs more than asking.

    by_digest = Prepared(lambda digest: ApiToken.unscoped.filter(digest=digest).values_list("pk", "scopes"), str)
    by_digest.rows("…")

Only for equality with the parameters: the SQL of a query depends on its shape, not on their values (None apart).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from django.db import connection
from django.db.models import QuerySet


class Prepared:
    """`build` makes a `values_list` queryset of its parameters; `kinds` says for each of them whether it is str or int."""

    def __init__(self, build: Callable[..., QuerySet[Any, Any]], *kinds: type[str] | type[int]) -> None:
        self._build, self._kinds = build, kinds
        self._made = threading.local()  # a compiler holds its thread's connection

    def rows(self, *values: str | int) -> list[Any]:
        """The rows, each a sequence in the order of the `values_list`."""
        made = getattr(self._made, connection.vendor, None)
        if made is None:
            made = self._make()
            setattr(self._made, connection.vendor, made)
        sql, params, compiler, converters = made
        with connection.cursor() as cursor:
            cursor.execute(sql, [values[one.at] if isinstance(one, _Place) else one for one in params])
            found = cursor.fetchall()
        return list(compiler.apply_converters(found, converters)) if converters else list(found)

    def _make(self) -> tuple[str, list[Any], Any, Any]:
        stand_ins = [f"\x02{n}" if kind is str else 1_000_000_000_000_000 + n for n, kind in enumerate(self._kinds)]
        compiler = self._build(*stand_ins).query.get_compiler(connection=connection)
        sql, params = compiler.as_sql()
        converters = compiler.get_converters([column[0] for column in compiler.select])
        return sql, [_Place(stand_ins.index(one)) if one in stand_ins else one for one in params], compiler, converters


class _Place:
    """Where a parameter goes."""

    def __init__(self, at: int) -> None:
        self.at = at
