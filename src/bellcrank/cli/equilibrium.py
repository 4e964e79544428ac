"""``bellcrank equilibrium MODEL``: a position of rest, and whether it is stable."""

from __future__ import annotations

from typing import Annotated

import typer

from .outcome import print_json, reported


def command(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file, or the name of a model of the gallery.")],
    seek: Annotated[
        str, typer.Option(help="stable: go downhill from the model's start; nearest: the next equilibrium of any kind.")
    ] = "stable",
    time: Annotated[float, typer.Option("--time", help="Time in s, for prescribed motions and tables.")] = 0.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the position, reactions and forces as JSON.")] = False,
) -> None:
    """Print a position in which MODEL stays at rest.

    Exit code 2 if there is none, or it is not found; the message names what is not balanced.
    """
    with reported(as_json=as_json):
        import bellcrank as bc

        found = bc.equilibrium(bc.load(model), seek=seek, t=time)  # type: ignore[arg-type]
        if as_json:
            print_json(found.as_dict())
            return
        from rich.console import Console

        Console().print(found)
