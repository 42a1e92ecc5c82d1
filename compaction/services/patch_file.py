"""Settings from a `cordis.patch.yml` and into it. The file is touched only under DSH's lock, and only as we know it.

Rule: INTEGRATION (b), DECISIONS 12 and 13. The sha256 of the file's bytes guards the writing of the file; the revision of our
document has nothing to do with it.
"""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from compaction.core.keys import ENHANCED_KEYS
from compaction.core.patch_export import Exported, write_patch
from compaction.core.patch_rows import NATIVE, Form, Imported, read_patch
from compaction.core.patch_yaml import MAX_CHARS, PatchError
from compaction.models import Profile
from compaction.services import settings
from compaction.services.patch_lock import beside, held
from dshweb.access.models import User

ABSENT = "absent"
_MODE = 0o600


@dataclass(frozen=True, slots=True)
class PatchFile:
    """`text` None: there is no file. `digest`: sha256 of its bytes, or "absent"."""

    text: str | None
    digest: str


class FileChanged(Exception):
    """The file is another one than it was when we last looked; nothing was written."""

    def __init__(self, path: Path, expected: str, actual: str) -> None:
        super().__init__(
            f"{path} was changed by others since it was last read here; nothing was written. Look at it, then read it again."
        )
        self.expected, self.actual = expected, actual


class NoSettings(Exception):
    """The file holds no row with compaction settings."""


def read(path: Path) -> PatchFile:
    """The file as it is. Raises PatchError for what is no text or too large, OSError for what cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return PatchFile(None, ABSENT)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):  # a folder cannot even be made a file of Python
        os.close(descriptor)
        raise PatchError("not-a-file", f"{path} is no file")
    with os.fdopen(descriptor, "rb") as file:
        raw = file.read(4 * MAX_CHARS + 1)
    if len(raw) > 4 * MAX_CHARS:
        raise PatchError("too-large", f"the patch file has more than {MAX_CHARS} characters")
    try:
        return PatchFile(raw.decode("utf-8"), _digest(raw))
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise PatchError("not-utf8", "the patch file is not UTF-8", line) from error


def read_into(
    profile: Profile, path: Path, expected_revision: int, *, by: User | None, expected_digest: str | None = None
) -> tuple[Imported, settings.Saved]:
    """Replaces the profile's settings with those of the file. A `compaction-basic` row says nothing of the keys that
    better-compact adds: they stay as saved.

    Values that DSH computes (`!!js`) are unknown here and left out; the warnings of `Imported` name them. Raises PatchError,
    NoSettings, InvalidSettings (the harness would refuse them), Conflict, FileChanged (`expected_digest`: of the file the
    caller saw), OSError.
    """
    file = read(path)
    if expected_digest and file.digest != expected_digest:
        raise FileChanged(path, expected_digest, file.digest)
    if file.text is None:
        raise FileNotFoundError(2, "there is no such file", str(path))
    found = read_patch(file.text)
    if found.chosen is None:
        raise NoSettings(f"{path} has no row with compaction settings")
    unspoken = ENHANCED_KEYS if found.chosen.form == NATIVE else ()
    saved = settings.replace(profile, found.chosen.document, expected_revision, by=by, unspoken=unspoken)
    if profile.path == str(path):
        _remember(profile, file.digest)
    return found, saved


def write_out(profile: Profile, form: Form, *, expected_digest: str | None = None) -> Exported:
    """Writes the profile's saved settings to the row of that form in its file.

    `expected_digest` is that of the file the caller saw; None: as we last read or wrote it, and whatever it is when we
    never looked. Raises ValueError without a path, FileChanged, Locked, PatchError and CannotRoundTrip, OSError.
    """
    if not profile.path:
        raise ValueError("the profile names no file on this server")
    path = Path(profile.path)
    with held(path.parent):
        profile = Profile.unscoped.get(pk=profile.pk)
        before = read(path)
        expected = expected_digest or profile.file_digest
        if expected and expected != before.digest and (expected_digest or not _stands(before, profile, form)):
            raise FileChanged(path, expected, before.digest)
        made = write_patch(before.text, profile.document, form)
        if made.changed:
            _replace(path, made.text.encode("utf-8"), before.digest)
        _remember(profile, _digest(made.text.encode("utf-8")))
    return made


def _stands(before: PatchFile, profile: Profile, form: Form) -> bool:
    """Whether a file unlike the one we remember holds what we would write: of a writer killed before it could remember."""
    try:
        return not write_patch(before.text, profile.document, form).changed
    except PatchError:
        return False


def _remember(profile: Profile, digest: str) -> None:
    Profile.unscoped.filter(pk=profile.pk).update(file_digest=digest)
    profile.file_digest = digest


def _digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def _replace(path: Path, raw: bytes, expected: str) -> None:
    """Puts new bytes in the file's place in one step; it keeps its mode, 0600 for a new one. A link stays a link.

    Raises FileChanged when somebody who does not know of the lock, such as an editor, has just written.
    """
    target = Path(os.path.realpath(path))
    fresh = target.with_name(beside(target.name))
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, _MODE)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(raw)
            _like(target, descriptor)
            file.flush()
            os.fsync(descriptor)
        if (now := read(path).digest) != expected:
            raise FileChanged(path, expected, now)
        fresh.rename(target)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _like(target: Path, descriptor: int) -> None:
    try:
        old = target.stat()
    except FileNotFoundError:
        os.fchmod(descriptor, _MODE)
        return
    new = os.fstat(descriptor)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        try:
            os.fchown(descriptor, old.st_uid, old.st_gid)
        except PermissionError as error:  # only root may give files away; who owned it could be locked out of it
            words = "its owner and group cannot be kept by this user; nothing was written"
            raise PermissionError(error.errno, words, str(target)) from error
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
