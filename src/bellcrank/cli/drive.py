"""``bellcrank drive MODEL COORDINATE``: an input through its range, what follows, and where it cannot go on."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from ..writing import refuse_to_replace
from .outcome import KEEP, STOPPED_EARLY, reported, say, show
from .reading import MODEL, ModelFile, reads_model


@reads_model
def command(
    model: Annotated[ModelFile, MODEL],
    coordinate: Annotated[str, typer.Argument(metavar="COORDINATE", help="The coordinate that is moved.")],
    first: Annotated[float, typer.Option("--from", help="First value, rad or m.", show_default="-pi")] = -math.pi,
    last: Annotated[float, typer.Option("--to", help="Last value.", show_default="pi")] = math.pi,
    count: Annotated[int, typer.Option(min=2, help="Number of values.")] = 25,
    hold: Annotated[list[str] | None, typer.Option(help="A coordinate that is held.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the motion into this file.")] = None,
    keep: Annotated[bool, KEEP] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print positions, velocities and accelerations as JSON.")] = False,
) -> None:
    """Move COORDINATE of MODEL through a range with its loops closed; print coordinates, toggles and change points."""
    with reported(as_json=as_json):
        import bellcrank as bc

        refuse_to_replace([plot] if plot else [], keep=keep)
        loaded, interrupted = model.load(), None
        try:
            found = bc.drive(loaded, coordinate, _range(first, last, count), hold=hold or ())
        except bc.SimulationError as error:
            found, interrupted = error.run, error
        if plot is not None:
            found.plot(plot, keep=keep)
        show(found, as_json=as_json)
        if interrupted is not None:
            say("error", str(interrupted), "red")
            raise typer.Exit(STOPPED_EARLY)


def _range(first: float, last: float, count: int) -> list[float]:
    step = (last - first) / (count - 1)
    return [first + k * step for k in range(count)]
