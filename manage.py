#!/usr/bin/env python3
"""Django's command line for dshweb: `python manage.py serve --demo` shows the product."""

from __future__ import annotations

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dshweb.settings")
    from django.core.management import execute_from_command_line

    from dshweb.env import BadSetting

    try:
        execute_from_command_line(sys.argv)
    except BadSetting as error:
        sys.exit(f"manage.py: {error}")


if __name__ == "__main__":
    main()
