"""``bellcrank assemble MODEL``: positions and velocities that all loops agree with."""

from __future__ import annotations

from typing import Annotated

import typer

from .outcome import print_json, reported


def command(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file, or the name of a model of the gallery.")],
    values: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A coordinate that must have this value (rad, m).")
    ] = None,
    time: Annotated[float, typer.Option("--time", help="Time in s, for prescribed motions.")] = 0.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the state as JSON.")] = False,
) -> None:
    """Close the loops of MODEL and print how far its coordinates had to move.

    Exit code 2 if they do not close: the message names the loop and its gap, or how far a coordinate can go.
    """
    with reported(as_json=as_json):
        import bellcrank as bc

        found = bc.assemble(bc.load(model), _numbers(values or []) or None, t=time)
        if as_json:
            print_json(found.as_dict())
        else:
            typer.echo(str(found))


def _numbers(pairs: list[str]) -> dict[str, float]:
    """NAME=VALUE as a mapping."""
    found = {}
    for pair in pairs:
        name, equals, value = pair.rpartition("=")
        try:
            found[name] = float(value)
        except ValueError:
            equals = ""
        if not equals:
            raise typer.BadParameter(f"{pair!r} is not NAME=VALUE with a number, such as crank=0.7", param_hint="--set")
    return found
