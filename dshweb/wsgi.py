"""WSGI entry point. Synchronous on purpose: Django's views were 7 to 17 times slower under ASGI here."""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dshweb.settings")

application = get_wsgi_application()
