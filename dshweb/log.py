"""How log lines look."""

from __future__ import annotations

import logging


class Brief(logging.Formatter):
    """One line, no traceback: for what strangers can cause at will, e.g. requests with a made-up Host."""

    def format(self, record: logging.LogRecord) -> str:
        brief = logging.makeLogRecord(record.__dict__ | {"exc_info": None, "exc_text": None})
        return super().format(brief)
