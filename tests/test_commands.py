"""The commands that work on a team's data: one clear line when they cannot."""

from __future__ import annotations

import pytest

from tests.processes import environment, manage


def one_line(run) -> str:
    """What a command says when it ends at once: one line."""
    assert run.stderr.strip().splitlines() == [run.stderr.strip()], run.stderr
    return run.stderr.strip()


@pytest.mark.parametrize(
    "command", [["audit"], ["ingest", "."], ["rebuild"], ["login_link", "admin"]], ids=lambda c: c[0]
)
def test_a_database_without_its_tables_is_named_with_the_way_out(command, tmp_path):
    run = manage(command, environment(tmp_path / "data"))
    assert run.returncode == 1
    assert "manage.py migrate" in one_line(run)


@pytest.mark.parametrize("port", ["99999", "65536", "-1"])
def test_a_port_that_is_none_is_refused(port, tmp_path):
    """The resolver takes it modulo 65536: `serve` listened somewhere else."""
    run = manage(["serve", f"--port={port}"], environment(tmp_path / "data"))
    assert run.returncode == 2
    assert f"--port {port}" in one_line(run)


@pytest.mark.django_db
@pytest.mark.parametrize("command", [["audit"], ["ingest", "."], ["rebuild"]], ids=lambda c: c[0])
def test_an_unknown_team_is_named(command):
    from django.core.management import CommandError, call_command

    with pytest.raises(CommandError, match="there is no team 'none'"):
        call_command(*command, "--team", "none")
