"""Admin of tasks and workers: to look at, to cancel, to try again."""

from __future__ import annotations

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from dshweb.access.admin_tools import ReadOnlyAdmin
from dshweb.tasks import services
from dshweb.tasks.models import OPEN, Task, Worker


@admin.register(Task)
class TaskAdmin(ReadOnlyAdmin):
    list_display = ["id", "kind", "label", "team", "state", "progress", "attempts", "created_at", "finished_at"]
    list_filter = ["state", "kind", "team"]
    list_select_related = ["team"]
    search_fields = ["label", "error"]
    actions = ["cancel_tasks", "retry_tasks"]

    @admin.display(description=_("progress"))
    def progress(self, task: Task) -> str:
        total = "—" if task.total is None else str(task.total)
        return f"{task.done} / {total} {task.unit}"

    @admin.action(description=_("Cancel"), permissions=["act"])
    def cancel_tasks(self, request: HttpRequest, tasks: QuerySet[Task]) -> None:
        count = sum(services.cancel(task) for task in tasks)
        messages.success(request, gettext("%d tasks cancelled or told to stop.") % count)

    @admin.action(description=_("Try again"), permissions=["act"])
    def retry_tasks(self, request: HttpRequest, tasks: QuerySet[Task]) -> None:
        ended = [task for task in tasks if task.state not in OPEN]
        for task in ended:
            services.retry(task, request.user)  # type: ignore[arg-type]
        messages.success(request, gettext("%d tasks queued anew.") % len(ended))


@admin.register(Worker)
class WorkerAdmin(ReadOnlyAdmin):
    """Workers serve all teams; their names say nothing about any."""

    list_display = ["name", "started_at", "seen_at"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Worker]:
        return admin.ModelAdmin.get_queryset(self, request)
