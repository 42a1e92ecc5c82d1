#!/usr/bin/env python3
"""Django's command line for dshweb: `python manage.py serve --demo` shows the product."""

from __future__ import annotations

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dshweb.settings")
    from django.core.management import execute_from_command_line
    from django.db import OperationalError

    from dshweb.env import BadSetting

    try:
        execute_from_command_line(sys.argv)
    except BadSetting as error:
        sys.exit(f"manage.py: {error}")
    except (OperationalError, OSError) as error:  # a full disk, missing rights, a database that is away: no bug of ours
        if "--traceback" in sys.argv:
            raise
        what = "the database cannot be used: " if isinstance(error, OperationalError) else ""
        sys.exit(f"manage.py: {what}{' '.join(str(error).split())}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:  # somebody pressed Ctrl-C, and knows it
        sys.exit(130)
