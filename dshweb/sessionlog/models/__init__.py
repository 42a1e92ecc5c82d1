"""Projections of stored logs. Everything here can be made anew from the logs' bytes (`manage.py rebuild`)."""

from __future__ import annotations

from .compaction import Compaction, Outcome, Trigger
from .log import Frame, LogFile, LogStatus
from .masking import MaskPattern
from .message import Message
from .session import AuditResult, Session
from .source import DELETED, Source, SourceFile

__all__ = [
    "DELETED",
    "AuditResult",
    "Compaction",
    "Frame",
    "LogFile",
    "LogStatus",
    "MaskPattern",
    "Message",
    "Outcome",
    "Session",
    "Source",
    "SourceFile",
    "Trigger",
]
