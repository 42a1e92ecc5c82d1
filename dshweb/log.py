"""How log lines look."""

from __future__ import annotations

import logging
import re

# the address of a login link is a way in, and so is a token
SECRET = re.compile(r"(/login/link/|dshw_)[\w-]+")


class Line(logging.Formatter):
    """A record with its traceback, without secrets: Django logs the address of what it refused."""

    def format(self, record: logging.LogRecord) -> str:
        return SECRET.sub(r"\1…", super().format(record))


class Brief(Line):
    """One line, no traceback: for what strangers can cause at will, e.g. requests with a made-up Host."""

    def format(self, record: logging.LogRecord) -> str:
        brief = logging.makeLogRecord(record.__dict__ | {"exc_info": None, "exc_text": None})
        return super().format(brief)
