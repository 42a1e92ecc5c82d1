"""The message catalogues: our compiler agrees with gettext's reader, and nothing is left untranslated."""

from __future__ import annotations

import gettext
import re
import shutil
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import pytest
from django.conf import settings

from dshweb.ui.catalogues import BadCatalogue, compile_all, compiled, parse

ROOT = Path(settings.BASE_DIR)
PO = ROOT / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.po"
SAMPLE = """
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"
"Plural-Forms: nplurals=1; plural=0;\\n"

# a comment
#, python-format
msgid "%(n)d log"
msgid_plural "%(n)d logs"
msgstr[0] "%(n)d 份日志"

msgctxt "verb"
msgid "read"
msgstr "读"

msgid "two "
"lines\\n"
msgstr "两行"

#, fuzzy
msgid "guessed"
msgstr "猜"

msgid "empty"
msgstr ""

#~ msgid "gone"
#~ msgstr "无"
"""


def test_a_compiled_catalogue_reads_as_it_was_written():
    found = gettext.GNUTranslations(BytesIO(compiled(parse(SAMPLE))))
    assert found.ngettext("%(n)d log", "%(n)d logs", 5) == "%(n)d 份日志"
    assert found.pgettext("verb", "read") == "读"
    assert found.gettext("two lines\n") == "两行"
    for left_out in ("guessed", "empty", "gone"):
        assert found.gettext(left_out) == left_out


def test_our_compiler_agrees_with_polib_on_our_catalogue():
    polib = pytest.importorskip("polib")
    theirs = gettext.GNUTranslations(BytesIO(polib.pofile(str(PO)).to_binary()))._catalog
    ours = gettext.GNUTranslations(BytesIO(compiled(parse(PO.read_text()))))._catalog
    assert {key: text for key, text in ours.items() if key} == {key: text for key, text in theirs.items() if key}


@pytest.mark.parametrize("bad", ['msgid "a', "msgid a", 'msgstr[x] "a"', '"loose" "x'])
def test_a_broken_catalogue_is_named_with_its_line(bad):
    with pytest.raises(BadCatalogue, match=r"zh\.po, line 2"):
        parse("\n" + bad, "zh.po")


def test_only_changed_catalogues_are_compiled_anew(tmp_path):
    source, target = tmp_path / "locale", tmp_path / "made"
    po = source / "zh_Hans" / "LC_MESSAGES" / "django.po"
    po.parent.mkdir(parents=True)
    po.write_text(SAMPLE)
    assert len(compile_all(source, target)) == 1
    assert compile_all(source, target) == []
    po.write_text(SAMPLE.replace("读", "阅读"))
    (made,) = compile_all(source, target)
    assert gettext.GNUTranslations(made.open("rb")).pgettext("verb", "read") == "阅读"


def test_every_message_is_translated_with_the_same_placeholders():
    for entry in parse(PO.read_text()):
        assert entry.complete, f"line {entry.line}: {entry.id!r}"
        if entry.id:
            wanted = set(re.findall(r"%\(\w+\)|</?\w+|\bhttps?:", entry.plural or entry.id))
            for text in entry.texts.values():
                assert set(re.findall(r"%\(\w+\)|</?\w+|\bhttps?:", text)) == wanted, f"line {entry.line}: {entry.id!r}"


def test_no_message_of_the_code_is_missing(tmp_path):
    if not shutil.which("xgettext"):
        pytest.skip("xgettext is not installed: the catalogue was not compared with the code")
    for name in ("dshweb", "audit", "compaction", "templates"):
        ignore = shutil.ignore_patterns("tests", "__pycache__", "core")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignore)
    (tmp_path / "locale").mkdir()
    command = [sys.executable, "-m", "django", "makemessages", "-l", "zh_Hans", "--no-location", "-v0"]
    subprocess.run(
        command,
        cwd=tmp_path,
        check=True,
        capture_output=True,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(tmp_path)},
    )
    used = {entry.key for entry in parse((tmp_path / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.po").read_text())}
    have = {entry.key for entry in parse(PO.read_text())}
    assert used - have == set(), "run makemessages and translate"
    assert have - used == set(), "no longer used: run makemessages"


def test_only_named_words_of_findings_are_used():
    text = PO.read_text().lower() + "".join(path.read_text().lower() for path in (ROOT / "templates").rglob("*.html"))
    for word in ("fabricat", "hallucinat", "invented", "捏造", "编造", "幻觉"):
        assert word not in text


def test_words_are_marked_by_names_that_gettext_knows():
    """Under another name a string is found by nobody and stays English."""
    alias = re.compile(r"\b\w*gettext\w* as (?!_(?:,|$|\)))(\w+)", re.MULTILINE)
    sources = [path for app in ("audit", "compaction", "dshweb") for path in (ROOT / app).rglob("*.py")]
    assert {path.name: alias.findall(path.read_text()) for path in sources if alias.search(path.read_text())} == {}
