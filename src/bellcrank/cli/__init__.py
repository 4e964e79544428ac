"""The command line: ``bellcrank COMMAND``.

Each command has a file with a function ``command``; a new one is that file and its name in COMMANDS. Commands hold no
numerics and import Bellcrank inside, so that ``bellcrank --help`` answers at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import Annotated

import typer

from .group import Commands
from .reading import Command

GROUPS = {
    "Simulate and show": ("run", "check", "draw", "view", "models"),
    "Analyse": ("assemble", "drive", "equilibrium", "modes", "response"),
    "Design": ("sensitivity", "optimize", "fit", "sweep"),
    "Compare": ("compare", "methods", "ops"),
    "Files and installation": ("convert", "schema", "info"),
}
COMMANDS = tuple(name for names in GROUPS.values() for name in names)

main = typer.Typer(
    name="bellcrank",
    cls=Commands,
    help="Dynamics of mechanisms: simulate model files and examine the results.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        import bellcrank as bc

        typer.echo(f"bellcrank {bc.__version__}")
        raise typer.Exit


@main.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, metavar="", help="Print the version and exit.")
    ] = False,
) -> None:
    """Dynamics of mechanisms: simulate model files and examine the results."""


for _group, _names in GROUPS.items():
    for _name in _names:
        main.command(_name, cls=Command, rich_help_panel=_group)(import_module(f"bellcrank.cli.{_name}").command)
