"""Which function does which kind of task.

A function is registered beside the service it calls, in the `tasks.py` of its app or in a module named in
`settings.TASK_MODULES`:

    @task_kind("ingest")
    def ingest(progress: Progress, payload: dict) -> dict | None: ...

It may run more than once (a worker can die after its last line), so it must leave the same state when it does.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils.module_loading import autodiscover_modules

if TYPE_CHECKING:
    from dshweb.tasks.progress import Progress

Function = Callable[["Progress", dict[str, Any]], "dict[str, Any] | None"]

_functions: dict[str, Function] = {}


class UnknownKind(LookupError):
    """A task whose kind no installed code does, e.g. one left behind by another version."""


def task_kind(name: str) -> Callable[[Function], Function]:
    """Register the decorated function for tasks of kind `name`. Two functions for one kind raise ValueError."""

    def register(function: Function) -> Function:
        known = _functions.setdefault(name, function)
        if (known.__module__, known.__qualname__) != (function.__module__, function.__qualname__):
            raise ValueError(f"two functions for task kind {name!r}: {known.__module__} and {function.__module__}")
        _functions[name] = function
        return function

    return register


Background = Callable[[threading.Event], None]

_background: list[Background] = []


def background(function: Background) -> Background:
    """Register a function that runs in a thread of every worker until the event it is given is set."""
    if function not in _background:
        _background.append(function)
    return function


def backgrounds() -> list[Background]:
    """The functions that run beside a worker's tasks."""
    return list(_background)


def find(kind: str) -> Function:
    """The function of `kind`; the apps' task modules are imported when it is not known yet. Raises UnknownKind."""
    if kind not in _functions:
        load()
    try:
        return _functions[kind]
    except KeyError:
        raise UnknownKind(f"no code here does tasks of kind {kind!r}") from None


def load() -> None:
    """Import every module that registers kinds; a worker does it at start, so that its first task does not wait."""
    autodiscover_modules("tasks")
    for name in settings.TASK_MODULES:
        if find_spec(name):
            import_module(name)
