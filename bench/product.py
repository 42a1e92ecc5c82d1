"""Data folders for measured runs of the product, and the runs themselves as child processes."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from bench.measure import Run, child

ROOT = Path(__file__).resolve().parents[1]
OWN = ("DATABASE_URL", "REDIS_URL", "DEBUG", "SECRET_KEY")


def variables(data: Path, **more: str) -> dict[str, str]:
    """The environment of a product with default settings and its data under `data`."""
    kept = {key: value for key, value in os.environ.items() if key not in OWN and not key.startswith("DSHWEB_")}
    return kept | {"DSHWEB_DATA_DIR": str(data), "LOG_LEVEL": "ERROR", "PYTHONDONTWRITEBYTECODE": "1"} | more


@cache
def _migrated() -> tempfile.TemporaryDirectory[str]:
    """An empty, migrated data folder, made once a run; it goes when the run ends."""
    folder = tempfile.TemporaryDirectory(prefix="dshweb-bench-data-")
    child([sys.executable, str(ROOT / "manage.py"), "migrate", "--verbosity", "0"], variables(Path(folder.name)))
    return folder


@contextmanager
def data_folder() -> Iterator[Path]:
    """A migrated data folder of its own, removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="dshweb-bench-", ignore_cleanup_errors=True) as folder:
        data = Path(folder) / "data"
        shutil.copytree(_migrated().name, data)
        yield data


def run(data: Path, *arguments: str, timeout: float = 300) -> tuple[Run, dict[str, Any]]:
    """One `bench.ours` run: the process as a whole, and what it says of the work."""
    done = child([sys.executable, "-m", "bench.ours", *arguments], variables(data), cwd=ROOT, timeout=timeout)
    return done, json.loads(done.output.splitlines()[-1])
