"""The command line as a whole."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from bellcrank.cli import COMMANDS

HEAVY = ("xarray", "scipy", "matplotlib", "llvmlite")


def test_version_is_printed(cli):
    assert cli("--version").stdout == "bellcrank 1.2.3\n"


def test_without_a_command_help_is_shown(cli):
    assert "Usage" in cli().output


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(cli, command):
    result = cli(command, "--help")
    assert result.exit_code == 0
    assert command in cli("--help").stdout


def test_an_unknown_command_is_bad_input(cli):
    assert cli("fly").exit_code == 2


def test_help_loads_nothing_heavy():
    """What --help loads is what one waits for."""
    code = (
        "import sys, bellcrank.cli\n"
        "try: bellcrank.cli.main(['--help'])\n"
        f"except SystemExit: print('loaded', [name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = [name for name in HEAVY if f"'{name}'" in done.stdout.split("loaded")[-1]]
    assert heavy == []


def test_studies_load_no_pictures_before_one_is_asked_for():
    """Processes of a sweep import them too."""
    code = f"import sys, bellcrank.studies; print([x for x in {HEAVY!r} + ('scipy.integrate',) if x in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"xarray", "matplotlib", "scipy.integrate"} & set(ast.literal_eval(done.stdout))


def test_the_package_runs_as_a_module():
    done = subprocess.run([sys.executable, "-m", "bellcrank.cli", "--help"], capture_output=True, text=True, check=True)
    assert "Usage: bellcrank" in done.stdout
