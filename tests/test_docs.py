"""What the documents state is so: settings, policies, commands, headings, formats, figures, the sample record, links.

The tables that are compared stand between comments such as `<!-- settings -->` and `<!-- /settings -->`.
"""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from io import StringIO
from pathlib import Path
from typing import Any, get_args

import pytest
from django.core.management import call_command, get_commands, load_command_class

from audit.core import schema
from audit.core.evaluate import case_of, evaluate
from audit.core.policy import Policy
from audit.core.record import audit
from audit.models import PolicyVersion
from audit.services.policy import EDITABLE
from audit.words import KINDS, REASONS, SOURCES
from dshweb.settings import env

ROOT = Path(__file__).resolve().parent.parent
READMES = ["README.md", "README.zh.md"]
CORPUS = ROOT / "tests" / "data" / "corpus"
CASES = ROOT / "tests" / "data" / "audit-cases"
OUR_APPS = ("dshweb", "audit", "compaction")
# The recorder notes versions of older harnesses in words; everything else was written by the one it ran with.
RECORDED_WITH = "0.2.1-rc.2"


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def part(text: str, name: str) -> str:
    """What stands between `<!-- name -->` and `<!-- /name -->`, which must be there once."""
    found = re.findall(rf"<!-- {name} -->\n(.*?)<!-- /{name} -->", text, re.DOTALL)
    assert len(found) == 1, f"{len(found)} parts named {name}"
    return str(found[0])


def table(text: str) -> list[list[str]]:
    """Cells of a Markdown table's body."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def prose(text: str) -> str:
    """The text without fenced blocks."""
    return re.sub(r"^ *```.*?^ *```$", "", text, flags=re.DOTALL | re.MULTILINE)


def headings(text: str) -> list[int]:
    return [len(marks) for marks in re.findall(r"^(#+) ", prose(text), re.MULTILINE)]


def tracked(*patterns: str) -> list[Path]:
    done = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, check=False)
    if done.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in done.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


def settings_of(text: str) -> dict[str, str]:
    return {row[0].strip("`"): row[2].strip("`").replace("–", "") for row in table(text)}


def declared() -> dict[str, str]:
    return {row.name: row.default for row in env.declared}


def test_the_command_prints_every_setting():
    out = StringIO()
    call_command("settings_table", stdout=out)
    assert settings_of(out.getvalue()) == declared()
    assert all(row.meaning for row in env.declared)
    assert part(read("README.md"), "settings") == out.getvalue()


@pytest.mark.parametrize("name", READMES)
def test_the_readme_has_every_setting_with_its_default(name):
    assert settings_of(part(read(name), "settings")) == declared()


@pytest.mark.parametrize("name", READMES)
def test_the_readme_has_every_policy_with_its_default(name):
    shown = {row[0].strip("`"): row[1] for row in table(part(read(name), "policy"))}
    said = {True: "yes" if name == "README.md" else "是", False: "no" if name == "README.md" else "否"}
    defaults = {field: PolicyVersion._meta.get_field(field).default for field in EDITABLE}
    assert shown == {field: said[value] if isinstance(value, bool) else str(value) for field, value in defaults.items()}
    assert all(getattr(Policy(), field) == value for field, value in defaults.items())


def ours() -> set[str]:
    """Names of the commands that are ours, not Django's."""
    return {name for name, app in get_commands().items() if str(app).split(".")[0] in OUR_APPS}


@pytest.mark.parametrize("name", READMES)
def test_every_command_of_ours_is_in_the_readme_with_options_that_exist(name):
    rows = table(part(read(name), "commands"))
    calls = [row[0].strip("`").split(" ", 1) for row in rows]
    assert {call[0] for call in calls} == ours()
    for call in calls:
        parser = load_command_class(get_commands()[call[0]], call[0]).create_parser("manage.py", call[0])
        parsers = [parser, *(one for action in parser._actions for one in getattr(action.choices, "values", list)())]
        known = {option for one in parsers for action in one._actions for option in action.option_strings}
        assert set(re.findall(r"--[a-z-]+", call[1] if len(call) > 1 else "")) <= known, call[0]


def test_every_command_of_ours_explains_itself_with_an_example():
    for name in ours():
        told = load_command_class(get_commands()[name], name).create_parser("manage.py", name).format_help()
        assert re.search(rf"Example:\s+(?:python\s+)?manage\.py\s+{name}\b", told), name


@pytest.mark.parametrize("name", [*READMES, "AGENTS.md", "docs/calibration.md", "docs/record.md", "bench/README.md"])
def test_commands_in_the_text_exist(name):
    text = read(name)
    assert set(re.findall(r"manage\.py ([a-z_]+)", text)) <= set(get_commands())
    targets = set(re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z-]+)(?=[\s`])", "\n".join(re.findall(r"`[^`]+`", text)))) <= targets
    for module in re.findall(r"python -m ([a-z_.]+)", text):
        path = ROOT.joinpath(*module.split("."))
        assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), module


def test_both_readmes_have_the_same_headings_pictures_and_parts():
    english, chinese = map(read, READMES)
    assert headings(english) == headings(chinese)
    assert len(re.findall(r"!\[", english)) == len(re.findall(r"!\[", chinese))
    assert re.findall(r"<!-- (\w+) -->", chinese.replace("<!-- record -->", "")) == re.findall(
        r"<!-- (\w+) -->", english
    )


@pytest.mark.parametrize("name", READMES)
def test_the_supported_versions_are_those_of_the_recorded_logs(name):
    tested, plain = set(), set()
    for path in sorted(CORPUS.glob("*/facts.json")):
        facts = json.loads(path.read_text(encoding="utf-8"))
        version = re.search(r"DSH (\d+\.\d+\.\d+-rc\.\d+)", facts.get("scripted", ""))
        for log in facts["logs"]:
            tested.add((version[1] if version else RECORDED_WITH, str(log["formatVersion"])))
            plain.add(not log["path"].endswith(".zstd"))
    line = part(read(name), "supported")
    assert set(re.findall(r"DSH (\S+?) ?[(（](?:format|格式) ?(\d+)[)）]", line)) == tested
    assert plain == {True, False}


def test_the_changelog_begins_with_the_version_of_the_project():
    version = tomllib.loads(read("pyproject.toml"))["project"]["version"]
    newest = re.search(r"^## v(\S+)", read("CHANGELOG.md"), re.MULTILINE)
    assert newest is not None
    assert newest[1] == version


def test_no_file_holds_a_path_of_this_machine_or_the_address_of_a_registry():
    """Recorded and labelled test data is left out: paths in it are what the people of the recording typed."""
    here = [str(ROOT), str(ROOT.parent / "shared"), str(Path.home()) + "/"]
    registry = re.compile(
        r"://[^\s\"')]*(?:py"
        + r"pi|pythonhosted|npmjs|/sim"
        + r"ple\b)|--(?:extra-)?index"
        + r"-url|--find"
        + r"-links"
    )
    for path in tracked():
        if path.is_relative_to(ROOT / "tests" / "data"):
            continue
        text = path.read_bytes().decode("utf-8", "replace")
        assert [place for place in here if place in text] == [], path
        assert not registry.search(text), path


@pytest.mark.parametrize("path", tracked("*.md"), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_and_pictures_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(path.read_text(encoding="utf-8"))):
        if not target.startswith(("#", "https://", "http://")):
            assert (path.parent / target.split("#")[0]).exists(), target


def test_the_map_names_folders_and_files_that_exist():
    for name in set(re.findall(r"`((?:[\w.-]+/)+[\w.-]*)`", read("AGENTS.md"))) - {schema.SCHEMA}:
        found = [home / name for home in (ROOT, ROOT / "dshweb", ROOT / "dshweb/sessionlog", ROOT / "audit")]
        assert any(path.exists() for path in found), name


def keys(value: Any) -> set[str]:
    """Names of all members of a JSON value, without those of `classes`, which are fact classes."""
    if isinstance(value, list):
        return set().union(*map(keys, value))
    if not isinstance(value, dict):
        return set()
    return set(value).union(*(keys(inner) for name, inner in value.items() if name != "classes")) | (
        set().union(*map(keys, value["classes"].values())) if "classes" in value else set()
    )


def first_column(name: str) -> list[str]:
    return [row[0].strip("`") for row in table(part(read("docs/record.md"), name))]


def test_the_record_page_lists_the_classes_kinds_sources_and_reasons_there_are():
    classes = {row[0].strip("`"): float(row[1]) for row in table(part(read("docs/record.md"), "classes"))}
    assert classes == schema.CLASS_WEIGHT
    extended = {row[0].strip("`") for row in table(part(read("docs/record.md"), "classes")) if "extended:" in row[2]}
    assert extended == set(schema.EXTENDED_CLASSES)
    assert first_column("kinds") == list(get_args(schema.Kind))
    assert [row[1] for row in table(part(read("docs/record.md"), "kinds"))] == [
        str(KINDS[kind][0]) for kind in get_args(schema.Kind)
    ]
    assert sorted(first_column("reasons")) == sorted(REASONS)
    for source in SOURCES:
        assert f"`{source}`" in read("docs/record.md")


@pytest.mark.parametrize("name", ["docs/record.md", "README.zh.md"])
def test_every_field_of_a_record_is_explained(name):
    fields: set[str] = set()
    for labelled in json.loads((CASES / "cases-c.json").read_text(encoding="utf-8"))[:12]:
        fields |= keys(audit(case_of(labelled), Policy()))
    explained = set(re.findall(r"`(\w+)`", prose(read(name))))
    assert {"schema", "lastExchange", "foundElsewhere", "rowsCut"} <= fields
    assert fields - explained == set()


def printed_record(session_id: str) -> dict[str, Any]:
    """What `audit --json` prints for a session of the demo with one compaction."""
    (folder,) = (ROOT / "demo" / "sessions").glob(f"*/{session_id}")
    call_command("ingest", str(folder), stdout=StringIO())
    out = StringIO()
    call_command("audit", session_id, json=True, stdout=out)
    return dict(json.loads(out.getvalue()))


@pytest.mark.django_db
def test_the_sample_record_is_what_the_audit_of_the_demo_prints(data_dir):
    """When rules change: `manage.py ingest demo`, then put what `manage.py audit <its session> --json` prints there."""
    sample = first_json(part(read("README.zh.md"), "record"))
    printed = printed_record(sample["sessionId"])
    # the fingerprint changes with every masking pattern and says nothing to a reader
    assert {**printed, "configFp": ""} == {**sample, "configFp": ""}
    assert walked(read("README.zh.md")) == numbers_of(printed)


def first_json(text: str) -> dict[str, Any]:
    block = re.search(r"```json\n(.*?)```", text, re.DOTALL)
    assert block is not None
    return dict(json.loads(block[1]))


def numbers_of(record: dict[str, Any]) -> list[int]:
    """What the walk-through tells of a record: percent (cut, as pages do), verified, asserted, score, key facts, kept."""
    faith, cover = record["fidelity"], record["coverage"]
    percent, score = int(faith["rate"] * 100), int(cover["score"] * 100)
    return sorted([percent, faith["verified"], faith["asserted"], score, cover["keyFacts"], cover["kept"]])


def walked(text: str) -> list[int]:
    """The numbers of the walk-through's lines on fidelity and coverage."""
    lines = re.search(r"\*\*(?:Fidelity|忠实度).*?(?=\*\*(?:Compliance|合规))", text, re.DOTALL)
    assert lines is not None
    return sorted(int(number) for number in re.findall(r"\d+", lines[0].replace("0.", "")))


def covers(whole: Any, piece: Any) -> bool:
    """Whether `piece` is `whole` with members and list items left out."""
    if isinstance(piece, dict):
        return isinstance(whole, dict) and all(k in whole and covers(whole[k], v) for k, v in piece.items())
    if isinstance(piece, list) and piece and isinstance(piece[0], dict):
        return all(any(covers(item, wanted) for item in whole) for wanted in piece)
    return bool(whole == piece)


@pytest.mark.django_db
def test_the_shortened_record_is_a_piece_of_what_is_printed(data_dir):
    sample = first_json(read("README.md"))
    printed = printed_record(sample["sessionId"])
    assert covers(printed, sample)
    assert walked(read("README.md")) == numbers_of(printed)


def test_the_labelled_sets_reach_the_figures_that_are_stated():
    stated = {row[0]: (float(row[1]), float(row[2])) for row in table(part(read("docs/calibration.md"), "figures"))}
    sets = {
        path.stem.removeprefix("cases-"): json.loads(path.read_text("utf-8")) for path in CASES.glob("cases-*.json")
    }
    assert set(stated) == {*sets, "all"}
    for name, cases in {**sets, "all": [case for one in sorted(sets) for case in sets[one]]}.items():
        overall = evaluate(cases).overall
        precision, recall = stated[name]
        assert (overall.precision or 0) >= precision, name
        assert (overall.recall or 0) >= recall, name
