"""The product's settings with task kinds made for tests: for worker processes that tests start."""

from dshweb.settings import *  # noqa: F403

TASK_MODULES = ["tests.task_kinds"]
