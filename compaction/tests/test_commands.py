"""`manage.py settings`: check, export, import."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from compaction.core.document import Op
from compaction.core.patch_rows import read_patch
from compaction.models import Profile, SettingsRevision
from compaction.services.profiles import default_of
from compaction.services.settings import mutate

pytestmark = pytest.mark.django_db
GOOD = "- id: compaction-basic\n  config:\n    thresholdRatio: 0.7\n"


def run(*args: object) -> str:
    out = StringIO()
    call_command("settings", *map(str, args), stdout=out, stderr=out)
    return out.getvalue()


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "cordis.patch.yml"
    path.write_text(GOOD)
    return path


@pytest.fixture
def profile(people, file) -> Profile:
    made = default_of(people.team)
    mutate(made, (Op("set", "mode", "native"), Op("set", "retainTokens", 9)), 0, by=people.alice)
    Profile.unscoped.filter(pk=made.pk).update(path=str(file))
    return Profile.unscoped.get(pk=made.pk)


def test_check_says_what_a_file_sets(file):
    assert run("check", file) == "line 1: compaction-basic\n  thresholdRatio: 0.7\nno errors\n"
    body = json.loads(run("check", "--json", file))
    assert (body["chosen"], body["sources"][0]["document"], body["sources"][0]["loads"]) == (
        0,
        {"thresholdRatio": 0.7},
        True,
    )


def test_check_without_a_row_is_fine(file):
    file.write_text("[]\n")
    assert "defaults" in run("check", file)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- id: compaction-basic\n  config: { tresholdRatio: 0.7 }\n", "tresholdRatio"),
        ("- id: dsh-better-compact\n  config: { thresholdRatio: 1 }\n", "1 error in"),
        ("- id: dsh-better-compact\n  config: { thresholdRatio: 1, mode: x }\n", "2 errors in"),
        (
            "- id: compaction-basic\n  config: { modelPolicies: [{ provider: p, model: m, maxToken: 3 }] }\n",
            'modelPolicies[0].maxToken: unknown key "maxToken"',
        ),
        ("- a\n", "cordis.patch.yml: line 1"),
        ("- {", "line"),
        ("- id: compaction-basic\n  config:\n    auto: false\n   x: 1\n", "line 4: from here on it is no YAML"),
        ("", "no content"),
    ],
)
def test_check_fails_with_the_key_or_the_line(file, text, said):
    file.write_text(text)
    out = StringIO()
    with pytest.raises(CommandError) as caught:
        call_command("settings", "check", str(file), stdout=out)
    assert said in f"{out.getvalue()}{caught.value}"


def test_check_of_no_file_fails(tmp_path):
    with pytest.raises(CommandError, match="no file"):
        run("check", tmp_path / "no.yml")


def test_hostile_text_of_a_file_stays_on_its_line(file):
    file.write_text('- id: compaction-basic\n  config: { "a\\u001b[2J\\nb": 1 }\n')
    out = StringIO()
    with pytest.raises(CommandError):
        call_command("settings", "check", str(file), stdout=out)
    assert "\x1b" not in out.getvalue()


def test_export_prints_rows_that_can_be_read_again(profile):
    for form, document in (
        ("dsh-better-compact", {"mode": "native", "retainTokens": 9}), ("compaction-basic", {"retainTokens": 9}),
    ):  # fmt: skip
        text = run("export", "default", "--team", "ours", "--form", form)
        assert read_patch(text).chosen.document == document
    both = run("export", profile.pk, "--team", "ours")
    assert both.count("- id:") == 2
    assert json.loads(run("export", "default", "--team", "ours", "--json"))["revision"] == 1


def test_export_writes_the_file_the_profile_names(profile, file):
    assert "line 1" in run("export", "default", "--team", "ours", "--form", "compaction-basic", "--write")
    assert read_patch(file.read_text()).chosen.document == {"retainTokens": 9}
    assert "already" in run("export", "default", "--team", "ours", "--form", "compaction-basic", "--write")
    file.write_text(GOOD)
    with pytest.raises(CommandError, match="changed by others"):
        run("export", "default", "--team", "ours", "--form", "compaction-basic", "--write")


@pytest.mark.parametrize("options", [["--write"], ["--write", "--form", "compaction-basic"]])
def test_write_needs_a_form_and_a_file(people, options):
    with pytest.raises(CommandError, match="--form") as caught:
        run("export", "default", "--team", "ours", *options)
    assert caught.value.returncode == 2


@pytest.mark.parametrize("document", [{"gone": 1}, {"retainRatio": 0.1, "retainTokens": 5}])
@pytest.mark.parametrize("options", [[], ["--form", "compaction-basic", "--write"]])
def test_a_document_that_no_longer_fits_is_not_exported(profile, file, document, options):
    Profile.unscoped.filter(pk=profile.pk).update(document=document)
    with pytest.raises(CommandError, match=r"gone|exclude each other"):
        run("export", "default", "--team", "ours", *options)
    assert file.read_text() == GOOD


def test_import_takes_a_file_over_at_the_revision_it_was_told(profile, file):
    with pytest.raises(CommandError, match="revision 1, not 0"):
        run("import", "default", "--team", "ours", "--revision", 0)
    file.write_text("- a\n")
    with pytest.raises(CommandError, match=r"cordis\.patch\.yml: line 1: .*; nothing was saved"):
        run("import", "default", "--team", "ours", "--revision", 1)
    file.write_text(GOOD)
    assert "revision 2" in run("import", "default", file, "--team", "ours", "--revision", 1)
    assert Profile.unscoped.get(pk=profile.pk).document == {"mode": "native", "thresholdRatio": 0.7}
    assert SettingsRevision.unscoped.get(profile=profile, revision=2).origin == "imported"


def test_a_profile_that_is_not_there_is_named_with_those_that_are(profile):
    with pytest.raises(CommandError, match=rf"no profile is called 'nix' .* {profile.pk} default"):
        run("export", "nix", "--team", "ours")
    Profile.unscoped.create(team=profile.team, name="default", machine="b")
    with pytest.raises(CommandError, match="more than one"):
        run("export", "default", "--team", "ours")
    assert run("export", profile.pk, "--team", "ours")


def test_profiles_of_other_teams_are_not_found(profile, people):
    with pytest.raises(CommandError, match="no profile"):
        run("export", profile.pk, "--team", "theirs")


def test_json_of_hostile_values_is_json_in_any_terminal(file):
    file.write_text('- id: compaction-basic\n  config: { thresholdRatio: .nan, summarizationModel: "\\ud800" }\n')
    out = StringIO()
    with pytest.raises(CommandError):
        call_command("settings", "check", "--json", str(file), stdout=out, stderr=out)
    out.getvalue().encode()
    body = json.loads(out.getvalue(), parse_constant=pytest.fail)
    assert body["sources"][0]["document"] == {"thresholdRatio": None, "summarizationModel": "\ud800"}
