"""Bytes of logs to send, and what they are called."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
CORPUS = ROOT / "tests" / "data" / "corpus"
BYTES = next((CORPUS / "repeated-compaction").rglob("*.zstd")).read_bytes()
OTHER = next((CORPUS / "tools-en").rglob("*.zstd")).read_bytes()
FOLDER, NAME = "session-1", "session.v4.jsonl.zstd"
