"""The peers that are no dependency: AgentsView and orjson, installed on demand into an environment in the cache.

AgentsView gets a home, data folder and DSH home of its own: nothing is left behind. `daemon stop` ends what it starts.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.corpora import cache
from bench.measure import ChildFailedError, Run, child

AGENTSVIEW = "agentsview==0.46.1"
ORJSON = "orjson"


class UnavailableError(Exception):
    """A peer could not be installed (no package index in reach)."""


def environment() -> Path:
    """The folder of programs of the peers' virtual environment; made once, then kept in the cache."""
    folder = cache() / f"peers-{sys.version_info.major}.{sys.version_info.minor}"
    ready = folder / "ready"
    if not ready.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        needs = [AGENTSVIEW, ORJSON, "zstandard"]
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *needs]
        try:
            child([sys.executable, "-m", "venv", str(folder)], os.environ)
            child(pip, os.environ)
        except (ChildFailedError, OSError) as error:
            raise UnavailableError(f"could not install {AGENTSVIEW}: {str(error).splitlines()[-1]}") from error
        ready.touch()
    return folder / "bin"


def python() -> str:
    return str(environment() / "python")


@dataclass(frozen=True)
class AgentsView:
    """One AgentsView with a home of its own under `home`; `logs` is a DSH home."""

    home: Path
    logs: Path

    def variables(self, **more: str) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not re.search("AGENTSVIEW|DSH|_DIR$|_HOME$", key)}
        places = {
            "XDG_CONFIG_HOME": "config",
            "XDG_DATA_HOME": "data",
            "XDG_CACHE_HOME": "cache",
            "XDG_STATE_HOME": "state",
        }
        own = {key: str(self.home / name) for key, name in places.items()}
        own |= {
            "HOME": str(self.home),
            "AGENTSVIEW_DATA_DIR": str(self.home / "agentsview"),
            "DSH_HOME": str(self.logs),
        }
        return kept | own | {"TELEMETRY_ENABLED": "0", "DO_NOT_TRACK": "1"} | more

    def run(self, *arguments: str, **variables: str) -> Run:
        return child([str(environment() / "agentsview"), *arguments], self.variables(**variables))

    def sync(self) -> tuple[Run, int, int]:
        """One offline `sync`: the run, sessions and messages it says it holds afterwards."""
        run = self.run("sync", AGENTSVIEW_NO_DAEMON="1")
        held = re.search(r"Database: (\d+) sessions, (\d+) messages", run.output)
        if held is None or " failed" in run.output:
            raise ChildFailedError(f"agentsview sync: {run.output}")
        return run, int(held[1]), int(held[2])

    @property
    def database(self) -> Path:
        return self.home / "agentsview" / "sessions.db"

    def stop(self) -> None:
        subprocess.run(
            [str(environment() / "agentsview"), "daemon", "stop"],
            env=self.variables(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=60,
            check=False,
        )


@contextmanager
def agentsview(logs: Path) -> Iterator[AgentsView]:
    """A fresh AgentsView over the DSH home `logs`, removed afterwards."""
    environment()
    with tempfile.TemporaryDirectory(prefix="dshweb-agentsview-", ignore_cleanup_errors=True) as folder:
        viewer = AgentsView(Path(folder), logs)
        try:
            yield viewer
        finally:
            viewer.stop()
