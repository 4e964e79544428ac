"""``bellcrank equilibrium MODEL``: a position of rest, and whether it is stable."""

from __future__ import annotations

from typing import Annotated

import typer

from .outcome import reported, show
from .pairs import named_numbers
from .reading import MODEL, ModelFile, reads_model


@reads_model
def command(
    model: Annotated[ModelFile, MODEL],
    seek: Annotated[
        str,
        typer.Option(help="stable: a stable equilibrium, found from the model's start; nearest: the nearest one of any kind."),
    ] = "stable",
    q0: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Start of the search (rad, m), instead of the model's start; may be repeated."),
    ] = None,
    max_iterations: Annotated[int, typer.Option(help="Largest number of steps of the search.")] = 200,
    time: Annotated[float, typer.Option("--time", help="Time in s, for prescribed motions and tables.")] = 0.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the position, reactions and forces as JSON.")] = False,
) -> None:
    """Print a position in which MODEL stays at rest.

    Exit code 2 if there is none, or it is not found; the message names what is not balanced.
    """
    with reported(as_json=as_json):
        import bellcrank as bc

        loaded, begin = model.load(), named_numbers(q0, "--q0", "NAME=VALUE")
        start = bc.assemble(loaded, begin, t=time).q if begin else None
        found = bc.equilibrium(loaded, q0=start, seek=seek, t=time, max_iterations=max_iterations)  # type: ignore[arg-type]
        show(found, as_json=as_json)
