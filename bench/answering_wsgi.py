"""The product's WSGI application with a ninja call that does nothing, open to everybody (`bench.answering`)."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest
from django.urls import path
from ninja import NinjaAPI

from dshweb.wsgi import application  # sets Django up, which the next one needs

from dshweb import urls  # isort: skip

api = NinjaAPI(urls_namespace="ping", docs_url=None, openapi_url=None)


@api.get("/ping")
def ping(request: HttpRequest) -> dict[str, bool]:
    return {"ok": True}


addresses = api.urls  # made anew each time
for pattern in addresses[0]:
    pattern.callback = login_not_required(pattern.callback)
urls.urlpatterns.insert(0, path("p/", addresses))

__all__ = ["application"]
