"""`python -m audit.evaluate [FILES…]`: precision and recall of the audit on labelled cases, with what went wrong.

Without files: every `cases-*.json` under tests/data/audit-cases. Exit 1 when a file cannot be read, else 0.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from audit.core.evaluate import Tally, evaluate

CASES = Path(__file__).resolve().parent.parent / "tests" / "data" / "audit-cases"


def main(arguments: Sequence[str]) -> int:
    """Print the table for each file and for all of them."""
    files = [Path(name) for name in arguments] or sorted(CASES.glob("cases-*.json"))
    cases = []
    for path in files:
        try:
            loaded = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            sys.stderr.write(f"{path}: {error}\n")
            return 1
        cases += loaded
        _print(path.name, evaluate(loaded).overall)
    report = evaluate(cases)
    for name, tally in sorted(report.by_class.items()):
        _print("  " + name, tally)
    _print("overall", report.overall)
    for line in report.wrong:
        sys.stdout.write(line + "\n")
    return 0


def _print(name: str, tally: Tally) -> None:
    shown = ["-" if value is None else f"{value:.3f}" for value in (tally.precision, tally.recall)]
    counts = (
        f"{tally.rows} rows right, {tally.false_alarms} false alarms, {tally.labels} labels hit, {tally.misses} missed"
    )
    sys.stdout.write(f"{name:32} precision {shown[0]:>5}  recall {shown[1]:>5}  ({counts})\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
