"""`manage.py settings check|export|import`: compaction settings as they stand in a `cordis.patch.yml`."""

from __future__ import annotations

import json
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from compaction.core.patch_export import CannotRoundTrip, row_text
from compaction.core.patch_rows import BETTER, NATIVE, Form, Imported, Source, loads, read_patch
from compaction.core.patch_yaml import PatchError
from compaction.core.problem import InvalidSettings, Problem
from compaction.models import Profile
from compaction.services import patch_file
from compaction.services.patch_lock import Locked
from compaction.services.settings import Conflict
from dshweb.access.commands import TeamCommand
from dshweb.access.models import Team
from dshweb.text.js import stringify
from dshweb.text.lines import one_line

FORMS: tuple[Form, ...] = (BETTER, NATIVE)


class Command(TeamCommand):
    help = """Compaction settings and the cordis.patch.yml of a DSH profile.
check says what a file sets and what the rules say of it; it needs no profile. export prints a profile's saved settings as
rows to paste, and writes them into its file with --write. import takes a file's settings over as the saved ones.

Example:  manage.py settings check ~/.dsh/profiles/web/cordis.patch.yml
          manage.py settings export default
          manage.py settings import default ~/.dsh/profiles/web/cordis.patch.yml --revision 0"""

    def add_arguments(self, parser: ArgumentParser) -> None:
        kinds = parser.add_subparsers(dest="what", required=True, metavar="check|export|import")
        check = self._kind(kinds, "check", "validate a file", "settings check cordis.patch.yml")
        check.add_argument("file", metavar="FILE", type=Path, help="a cordis.patch.yml")
        export = self._kind(
            kinds, "export", "print a profile's rows", "settings export default --form compaction-basic"
        )
        export.add_argument("profile", metavar="PROFILE", help="name or number of a profile")
        export.add_argument("--form", choices=FORMS, help="only this row (both; needed with --write)")
        export.add_argument("--write", action="store_true", help="write the row into the file the profile names")
        take = self._kind(kinds, "import", "take a file's settings over", "settings import default FILE --revision 0")
        take.add_argument("profile", metavar="PROFILE", help="name or number of a profile")
        take.add_argument("file", metavar="FILE", type=Path, nargs="?", help="a cordis.patch.yml (the profile's own)")
        take.add_argument("--revision", type=int, required=True, help="revision the saved settings must be at")
        for one in (export, take):
            self.add_team(one, "the profile's team")

    def _kind(self, kinds: Any, name: str, help_: str, example: str) -> ArgumentParser:
        made = kinds.add_parser(
            name,
            help=help_,
            description=f"{help_}\n\nExample:  manage.py {example}",
            formatter_class=RawDescriptionHelpFormatter,
        )
        made.add_argument("--json", action="store_true", help="print the result as JSON")
        return made

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            {"check": self._check, "export": self._export, "import": self._import}[options["what"]](options)
        except CannotRoundTrip as error:
            self.stderr.write(f"The file cannot be changed exactly; paste this row yourself:\n{error.paste}")
            raise CommandError(str(error)) from error
        except InvalidSettings as error:
            raise CommandError(f"nothing was changed: {one_line(str(error))}") from error
        except (PatchError, patch_file.NoSettings, patch_file.FileChanged, Locked, OSError) as error:
            raise CommandError(one_line(str(error))) from error

    # ---- check

    def _check(self, options: dict[str, Any]) -> None:
        file = patch_file.read(options["file"])
        if file.text is None:
            raise CommandError(f"there is no file {options['file']}")
        try:
            found = read_patch(file.text)
        except PatchError as error:
            raise CommandError(one_line(f"{options['file']}: {error}")) from error
        wrong = [one for source in found.sources for one in source.problems if one.severity == "error"]
        refused = [source for source in found.sources if not loads(source.form, source.document)]
        if options["json"]:
            self.stdout.write(stringify(_found_json(found, file.digest)))  # NaN as null, halves of pairs escaped
        else:
            self._say(found)
        if wrong or refused:
            raise CommandError(f"{len(wrong)} {'error' if len(wrong) == 1 else 'errors'} in {options['file']}")

    def _say(self, found: Imported) -> None:
        for source in found.sources:
            chosen = " (taken)" if source is found.chosen and len(found.sources) > 1 else ""
            self.stdout.write(f"line {source.line}: {one_line(source.key)}{chosen}")
            for key, value in source.document.items():
                self.stdout.write(f"  {one_line(key)}: {one_line(json.dumps(value, ensure_ascii=False, default=str))}")
            self._problems(source.problems)
        self._problems(found.warnings)
        if not found.sources:
            self.stdout.write("no row with compaction settings: DSH goes by its defaults")
        elif not any(source.problems for source in found.sources):
            self.stdout.write("no errors")

    def _problems(self, problems: tuple[Problem, ...]) -> None:
        for one in problems:
            where = f"{one.path}: " if one.path not in one.message else ""
            self.stdout.write(f"  {one.severity}: {one_line(where + one.message)}")

    # ---- export and import

    def _export(self, options: dict[str, Any]) -> None:
        profile = self._profile(self.team(options["team"]), options["profile"])
        if options["write"]:
            self._write(profile, options)
            return
        forms = (options["form"],) if options["form"] else FORMS
        texts = {form: row_text(profile.document, form) for form in forms}
        if options["json"]:
            body = {"profile": profile.pk, "revision": profile.revision, "document": profile.document, "rows": texts}
            self.stdout.write(json.dumps(body, ensure_ascii=False))
            return
        for form, text in texts.items():
            if len(texts) > 1:
                what = "all keys, where that plugin is installed" if form == BETTER else "the harness's own keys"
                self.stdout.write(f"# {what}; use one of the two rows")
            self.stdout.write(text, ending="")

    def _write(self, profile: Profile, options: dict[str, Any]) -> None:
        if not options["form"] or not profile.path:
            raise CommandError("--write needs --form, and a profile that names its file (in the admin)", returncode=2)
        made = patch_file.write_out(profile, options["form"])
        if options["json"]:
            body = {"path": profile.path, "changed": made.changed, "line": made.line, "kept": made.kept}
            self.stdout.write(json.dumps(body | {"leftOut": made.left_out}, ensure_ascii=False))
            return
        self.stdout.write(
            f"{profile.path}: {f'written, the row is at line {made.line}' if made.changed else 'it stood so already'}"
        )
        if made.kept:
            self.stdout.write(f"computed by DSH and left as they are: {', '.join(made.kept)}")
        if made.left_out:
            self.stdout.write(f"not known to this row and left out: {', '.join(made.left_out)}")

    def _import(self, options: dict[str, Any]) -> None:
        profile = self._profile(self.team(options["team"]), options["profile"])
        path = options["file"] or (Path(profile.path) if profile.path else None)
        if path is None:
            raise CommandError("name a FILE: the profile names none", returncode=2)
        try:
            found, saved = patch_file.read_into(profile, path, options["revision"], by=None)
        except Conflict as conflict:
            raise CommandError(f"{conflict}; nothing was saved") from conflict
        except PatchError as error:
            raise CommandError(one_line(f"{path}: {error}; nothing was saved")) from error
        if options["json"]:
            body = {"profile": profile.pk, "revision": saved.profile.revision, "document": saved.profile.document}
            warnings = [_problem_json(one) for one in (*found.warnings, *saved.warnings)]
            self.stdout.write(json.dumps(body | {"warnings": warnings}, ensure_ascii=False))
            return
        self.stdout.write(f"{profile}: revision {saved.profile.revision}, {len(saved.changes)} settings changed")
        self._problems((*found.warnings, *saved.warnings))

    def _profile(self, team: Team, wanted: str) -> Profile:
        rows = Profile.objects.for_team(team)
        found = list(rows.filter(name=wanted)[:2])
        if not found and wanted.isascii() and wanted.isdigit() and len(wanted) < 19:
            found = list(rows.filter(pk=int(wanted)))
        if len(found) != 1:
            names = ", ".join(f"{row.pk} {row}" for row in rows.order_by("pk")[:20])
            said = "more than one profile is" if found else "no profile is"
            raise CommandError(f"{said} called {wanted!r} in the team {team.slug}; there are: {names}")
        return found[0]


def _problem_json(one: Problem) -> dict[str, Any]:
    return {"path": one.path, "code": one.code, "message": one.message, "severity": one.severity}


def _source_json(source: Source) -> dict[str, Any]:
    return {
        "form": source.form,
        "key": source.key,
        "line": source.line,
        "disabled": source.disabled,
        "document": source.document,
        "expressions": dict(source.expressions),
        "loads": loads(source.form, source.document),
        "problems": [_problem_json(one) for one in source.problems],
    }


def _found_json(found: Imported, digest: str) -> dict[str, Any]:
    return {
        "digest": digest,
        "chosen": found.sources.index(found.chosen) if found.chosen else None,
        "sources": [_source_json(source) for source in found.sources],
        "warnings": [_problem_json(one) for one in found.warnings],
    }
