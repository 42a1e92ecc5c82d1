"""Writing the saved settings into the profile's file, and reading the file into them. Both refuse when either side has moved on.

Rule: issue 5.9, DECISIONS 12. What came of it is said on the settings page, where both sides then stand as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from compaction.core.patch_export import CannotRoundTrip, Exported
from compaction.core.patch_yaml import PatchError
from compaction.core.problem import InvalidSettings
from compaction.models import Profile
from compaction.page import patch_words
from compaction.page.export import FORMS
from compaction.page.history import profile_of
from compaction.page.values import labels
from compaction.page.words import problem_words
from compaction.services import patch_file
from compaction.services.patch_lock import Locked
from compaction.services.settings import Conflict
from dshweb.access.callers import CallerRequest
from dshweb.access.services.log import note_access
from dshweb.text.lines import one_line
from dshweb.ui.query import number_in

_DIGEST = re.compile(r"[0-9a-f]{64}|absent")


@require_POST
def write(request: CallerRequest, pk: int) -> HttpResponse:
    """`form`, `digest` of the file and `revision` of the settings as they were looked at."""
    profile = _configured(request, pk)
    form = next((one for one in FORMS if one == request.POST.get("form")), None)
    if form is None:
        _say(request, messages.error, _("Choose which of the two rows to write; nothing was written."))
    elif _as_seen(request, profile):
        try:
            made = patch_file.write_out(profile, form, expected_digest=request.POST["digest"])
        except CannotRoundTrip as error:
            _say(
                request,
                messages.error,
                _(
                    "The file cannot be changed exactly, so it was left as it is. %(why)s Paste the row into it yourself: it stands below."
                )
                % {"why": patch_words.of_patch(error)},
            )
        except (patch_file.FileChanged, Locked, PatchError, OSError, ValueError) as error:
            _say(request, messages.error, _failure(error, _("Nothing was written.")))
        else:
            _tell(request, form, made)
            if made.changed:
                note_access(profile.team_id, "profile-written", str(profile), caller=request.caller)
    return _back(profile)


@require_POST
def read(request: CallerRequest, pk: int) -> HttpResponse:
    """`digest` and `revision` as `write`. The settings that were saved stay in the history."""
    profile = _configured(request, pk)
    if _as_seen(request, profile):
        path, seen = Path(profile.path), request.POST["digest"]
        try:
            found, saved = patch_file.read_into(profile, path, profile.revision, by=request.user, expected_digest=seen)
        except patch_file.NoSettings:
            _say(request, messages.error, _("The file has no row with compaction settings; nothing was saved."))
        except InvalidSettings as error:
            why = " ".join(str(problem_words(one)) for one in error.problems[:5])
            _say(
                request,
                messages.error,
                _("DSH would refuse the settings in the file; nothing was saved. %(why)s") % {"why": why},
            )
        except Conflict as conflict:
            _say(request, messages.error, _moved_on(conflict.actual))
        except (patch_file.FileChanged, PatchError, OSError, ValueError) as error:
            _say(request, messages.error, _failure(error, _("Nothing was saved.")))
        else:
            computed = labels(key for key, _source in found.chosen.expressions) if found.chosen else ""
            if saved.changes:
                _say(
                    request,
                    messages.success,
                    _("Read from the file and saved as revision %(n)d. The settings before it stay in the history.")
                    % {"n": saved.profile.revision},
                )
            else:
                _say(request, messages.info, _("The file holds what is saved here; nothing changed."))
            if computed:
                _say(
                    request,
                    messages.warning,
                    _("Computed by DSH, so unknown here and left out: %(keys)s.") % {"keys": computed},
                )
    return _back(profile)


def _configured(request: CallerRequest, pk: int) -> Profile:
    profile = profile_of(request.caller, pk)
    if not request.caller.may_configure(profile.team_id):
        raise PermissionDenied
    return profile


def _as_seen(request: CallerRequest, profile: Profile) -> bool:
    """Whether the form is one of this page and of the settings as they stand; says so when not."""
    if not profile.path:
        _say(request, messages.error, _("The profile names no file on this server; nothing was written."))
    elif not _DIGEST.fullmatch(request.POST.get("digest", "")):
        _say(
            request,
            messages.error,
            _("The form does not say which file was looked at; nothing was written. Look again."),
        )
    elif number_in(request.POST.get("revision", "")) != profile.revision:
        _say(request, messages.error, _moved_on(profile.revision))
    else:
        return True
    return False


def _moved_on(revision: int) -> str:
    return _(
        "Somebody saved other settings in between: they are at revision %(n)d now. Neither the settings nor the file were"
        " changed; both stand below as they are."
    ) % {"n": revision}


def _failure(error: Exception, nothing: str) -> str:
    """What went wrong, in words that name no path."""
    if isinstance(error, patch_file.FileChanged):
        why = _("The file was changed by others after you looked at it. Both sides stand below as they are now.")
    elif isinstance(error, Locked):
        why = (
            _("Another process (%(pid)d) holds the profile's folder; try again when it is done.")
            % {"pid": error.holder}
            if error.holder
            else _("Another process holds the profile's folder; try again when it is done.")
        )
    elif isinstance(error, PatchError):
        why = patch_words.of_patch(error)
    elif isinstance(error, OSError):
        why = patch_words.of_system(error)
    else:
        why = _("The saved settings cannot stand in such a file.")
    return f"{nothing} {why}"


def _tell(request: CallerRequest, form: str, made: Exported) -> None:
    where = {"form": form, "line": made.line}
    if made.changed:
        _say(
            request,
            messages.success,
            _("Written into the file: row %(form)s, line %(line)d. Restart the DSH profile to have them applied.")
            % where,
        )
    else:
        _say(
            request,
            messages.info,
            _("The file already said so (row %(form)s, line %(line)d); it was not touched.") % where,
        )
    if made.kept:
        _say(
            request,
            messages.warning,
            _("Computed by DSH and left as they are: %(keys)s.") % {"keys": labels(made.kept)},
        )
    if made.left_out:
        _say(
            request,
            messages.warning,
            _("Not known to this row and left out: %(keys)s.") % {"keys": labels(made.left_out)},
        )


def _say(request: CallerRequest, how: Callable[..., None], words: str) -> None:
    """For the next page: at its top, and in the card the reader comes back to."""
    how(request, one_line(words), extra_tags="export")


def _back(profile: Profile) -> HttpResponse:
    return HttpResponseRedirect(f"{reverse('profile-settings', args=[profile.pk])}#export-file")
