"""Record the session "Move job settings to TOML" of the demo: a real DeepSeek Harness, headless, answered by a scripted model.

    pip install deepseek-harness-runtime-bin==0.2.1rc2          # in an environment to throw away
    python demo/record.py PATH/TO/deepseek-harness-sdk-runtime-linux-x64 OUT

The harness runs with its own settings but for the model, which has a window of 131 072 tokens. It works in /srv/demo-app,
whose content is replaced; its home is temporary. Every tool call is carried out; what the model says is in
record_script.json, the files it finds are there and drawn up here. OUT gets the folder `sessions`; no recorded log is edited.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "harness"))
from fake_provider import FakeProvider, Request  # noqa: E402

WORKSPACE = Path("/srv/demo-app")
MODEL, WINDOW, RESERVED = "deepseek-chat", 131_072, 16_384
JOBS = {
    "billing": ("daily", "monthly", "refunds", "taxes"),
    "catalog": ("prices", "stock", "sync"),
    "crm": ("contacts", "consents", "segments"),
    "fleet": ("positions", "routes", "service"),
    "hr": ("absences", "payroll", "roster"),
    "orders": ("archive", "export", "intake", "returns"),
    "web": ("clicks", "funnel", "search", "sessions"),
}
NOUNS: tuple[str, ...] = (
    "account",
    "batch",
    "branch",
    "carrier",
    "channel",
    "contract",
    "country",
    "customer",
    "discount",
    "invoice",
    "item",
)
NOUNS += ("market", "order", "origin", "partner", "price", "region", "route", "store", "supplier", "term", "unit")
ENDS = {
    "at": "timestamp",
    "code": "text",
    "count": "integer",
    "date": "date",
    "flag": "boolean",
    "hash": "text",
    "id": "integer",
}
ENDS |= {"name": "text", "note": "text", "rank": "integer", "rate": "decimal(9,4)", "total": "decimal(12,2)"}
NOTES = (
    "agreed with the {0} team, see the handbook",
    "the old {0} reader wants this one first",
    "empty for rows from before the merger",
    "do not sort: {0} relies on the order",
    "kept for the yearly {0} report",
)


def job(group: str, name: str) -> str:
    """The INI file of one job: who runs it and when, where rows come from and go to, and how each column is read."""
    rng = random.Random(f"{group}-{name}")  # noqa: S311 — nothing secret is drawn
    pick = rng.choice
    rows = [
        f"; {group}-{name}: {pick(NOTES).format(group)}",
        "[job]",
        f"name = {group}-{name}",
        f"owner = {group}-data",
        f"enabled = {pick(('yes', 'yes', 'no'))}",
        "date_format = %Y-%m-%d",
        "[schedule]",
        f"cron = {rng.randrange(60)} {rng.randrange(24)} * * {pick(('*', '1-5', '6'))}",
        f"timeout = {pick((30, 45, 90, 120))}s",
        f"jitter = {pick((250, 500, 750))}ms",
        "[retry]",
        f"attempts = {rng.randrange(2, 9)}",
        f"backoff = {pick((200, 400, 1500))}ms",
        "[source]",
        f"table = {group}.{name}_raw",
        f"page_rows = {rng.randrange(2, 40) * 250}",
        "[sink]",
        f"folder = out/{group}/{name}",
        f"rotate = {pick(('daily', 'weekly'))}",
        "[metrics]",
        "port = 9100",
        f"labels = {group}, {name}, {pick(('batch', 'stream'))}",
        "[columns]",
    ]
    nouns = sorted(rng.sample(NOUNS, rng.randrange(3, 7)))
    for at, (noun, end) in enumerate(((noun, end) for noun in nouns for end in ENDS), 1):
        if at % 12 == 1:
            rows.append(f"; {noun}: {pick(NOTES).format(group)}")
        must = "required" if end in ("at", "code", "id") else "optional"
        rows.append(f"{noun}_{end} = {ENDS[end]}, from {group}.{name}_raw as {noun}_{end}, {must}, spaces trimmed")
    return "\n".join(rows) + "\n"


class Metered(FakeProvider):
    """Counts tool calls too, and finds in its cache what the session has sent before: after a compaction, only the head."""

    def usage_for(self, request: Request, output_chars: int) -> dict[str, int]:
        body = request.body
        prompt = (
            sum(len(json.dumps(body.get(part) or [], ensure_ascii=False)) for part in ("system", "tools", "messages"))
            // 4
        )
        before = self._sent_size.get("chat", 0)
        same = (
            min(before, prompt - 600) if request.kind == "compaction" or prompt >= before else self._sent_size["head"]
        )
        cached = max(0, same) // 64 * 64
        if request.kind == "chat":
            self._sent_size |= {"chat": prompt, "head": len(json.dumps([body.get("system"), body.get("tools")])) // 4}
        said = output_chars + sum(len(json.dumps(one)) for one in (request.step or {}).get("tool_calls", ()))
        return {"input": prompt - cached, "output": max(1, said // 4), "cache_read": cached, "cache_write": 0}


def settings() -> list[dict[str, Any]]:
    model = {"id": MODEL, "name": MODEL, "contextWindow": WINDOW, "systemPromptUpdate": "in-history"}
    return [
        {"id": "llm-deepseek", "config": {"defaultContextWindow": WINDOW, "maxTokens": RESERVED, "models": [model]}},
        {"id": "agent-default-model", "config": {"provider": "deepseek-official", "model": MODEL}},
        {"id": "session-log-deepseek", "disabled": True},
    ]


def lay_out(files: dict[str, list[str]]) -> None:
    shutil.rmtree(WORKSPACE, ignore_errors=True)
    written = {name: "\n".join(lines) + "\n" for name, lines in files.items()}
    written |= {f"jobs/{group}-{name}.ini": job(group, name) for group, names in JOBS.items() for name in names}
    for name, text in written.items():
        (WORKSPACE / name).parent.mkdir(parents=True, exist_ok=True)
        (WORKSPACE / name).write_text(text, encoding="utf-8")


def record(dsh: str, out: Path) -> None:
    script = json.loads((HERE / "record_script.json").read_text(encoding="utf-8"))
    lay_out(script["files"])
    with tempfile.TemporaryDirectory() as temporary, Metered() as fake:
        home = Path(temporary, "home")
        patch = Path(temporary, "patch.yml")
        patch.write_text(json.dumps(settings()))
        environ = {"PATH": "/usr/bin:/bin", "HOME": temporary, "LANG": "C.UTF-8", "TZ": "UTC", "DSH_HOME": str(home)}
        environ |= {"DSH_TELEMETRY_MODE": "DISABLED", "DSH_PERMISSION_MODE": "danger-full-access"}
        environ |= {"DEEPSEEK_BASE_URL": fake.base_url, "DEEPSEEK_API_KEY": "fake-key"}
        session: list[str] = []
        fake.extend({"kind": "title", "text": "\n".join(script["title"])})
        fake.extend({"kind": "compaction", "text": "\n".join(script["compaction"]), "delay_ms": 7_400})
        for turn in script["turns"]:
            fake.extend(*({"delay_ms": 350, **step} for step in turn["steps"]))
            told = [dsh, "--profile", "headless", "--patch", str(patch), "--json", *session, turn["task"]]
            done = subprocess.run(told, cwd=WORKSPACE, env=environ, capture_output=True, text=True, timeout=300)  # noqa: S603
            rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
            found = next((row["sessionId"] for row in rows if row.get("type") == "session"), None)
            if done.returncode or found is None or fake.unscripted:
                raise SystemExit(f"{turn['task']!r}: exit {done.returncode}\n{done.stderr[-2000:]}")
            session = ["--session-id", found]
        if fake.remaining() or fake.count("compaction") != 1:
            raise SystemExit(f"answers left: {fake.remaining()}; requests: {fake.state()['requests']}")
        shutil.copytree(
            home / "sessions", out / "sessions", ignore=shutil.ignore_patterns("*.lock"), dirs_exist_ok=True
        )


if __name__ == "__main__":
    record(str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]))
