"""`python -m bench [NAMES…]`: measures the named goals (P1 … P21, a family such as decode; else all goals), prints a table."""

from __future__ import annotations

import argparse
import importlib
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bench.measure import Row, table

FAMILIES: dict[str, dict[str, str]] = {
    "decode": {"P1": "decode:p1", "P2": "decode:p2"},
    "import": {
        "P3": "imports:p3",
        "P4": "imports:p4",
        "P5": "imports:p5",
        "P6": "imports:p6",
        "P7": "imports:p7",
        "P8": "imports:p8",
    },
    "audit": {"P9": "audits:p9", "P11": "audits:p11"},
    "secrets": {"P10": "secrets:p10"},
    "answers": {"P18": "answers:p18"},
    "footprint": {"P21": "footprint:p21"},
    "streamed": {"P3S": "imports:p34s"},
}

EXTRA = {"streamed"}  # only when asked for


def main() -> int:
    names = {name: target for family in FAMILIES.values() for name, target in family.items()}
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(FAMILIES)}; {', '.join(names)}")
    parser.add_argument("--write", type=Path, metavar="FILE", help="also write the table to this file")
    options = parser.parse_args()
    wanted: dict[str, str] = {}
    for name in options.names or [family for family in FAMILIES if family not in EXTRA]:
        chosen = FAMILIES.get(name.lower()) or ({name.upper(): names[name.upper()]} if name.upper() in names else None)
        if chosen is None:
            parser.error(f"no such benchmark: {name}")
        wanted |= chosen
    rows: list[Row] = []
    began = time.monotonic()
    for target in dict.fromkeys(wanted.values()):
        start = time.monotonic()
        ids = ", ".join(name for name, other in wanted.items() if other == target)
        found = _measured(target, ids)
        rows += found
        for item in found:
            ratio = "-" if item.ratio is None else f"{item.ratio:.3g}x"
            print(
                f"{item.id}: {ratio} {item.verdict} {item.note} [{time.monotonic() - start:.0f} s]",
                file=sys.stderr,
                flush=True,
            )
    text = table(rows)
    foot = f"{platform.machine()}, CPython {platform.python_version()}, {time.monotonic() - began:.0f} s in all"
    print(f"{text}\n\n{foot}")
    if options.write:
        options.write.write_text(f"{text}\n\n{foot}\n")
    return 0


def _measured(target: str, ids: str) -> list[Row]:
    """The rows of one measurement. What cannot run is a row too, with the reason."""
    module, _, function = target.partition(":")
    try:
        measure: Callable[[], list[Row]] = getattr(importlib.import_module(f"bench.{module}"), function)
        return measure()
    except Exception as error:
        return [Row(ids, f"{module}", note=f"{type(error).__name__}: {str(error)[:300]}")]


if __name__ == "__main__":
    sys.exit(main())
