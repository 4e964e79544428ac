"""``bellcrank methods MODEL``: one model by several integrators: what they cost, its energy and momenta over long times."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..defaults import TOLERANCE
from ..writing import refuse_to_replace
from .outcome import KEEP, STOPPED_EARLY, reported, show
from .progress import progress_bar
from .reading import MODEL, ModelFile, reads_model


@reads_model
def command(
    model: Annotated[ModelFile, MODEL],
    duration: Annotated[float | None, typer.Option(help="Seconds to simulate.", show_default="the model's")] = None,
    step: Annotated[float | None, typer.Option(help="Seconds between samples.", show_default="the model's")] = None,
    max_step: Annotated[
        float | None, typer.Option(help="Step of the fixed-step methods, in seconds.", show_default="that of --step")
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(help="Names, separated by commas.", show_default="rk4,dopri5,dop853,implicit_midpoint,midpoint4,gauss4"),
    ] = None,
    rtol: Annotated[float, typer.Option(help="Relative tolerance of methods that adapt their step.")] = TOLERANCE,
    atol: Annotated[float, typer.Option(help="Absolute tolerance of methods that adapt their step.")] = TOLERANCE,
    plot: Annotated[Path | None, typer.Option(help="Draw the errors over time into this file.")] = None,
    keep: Annotated[bool, KEEP] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False,
) -> None:
    """Simulate MODEL by several methods; compare evaluations, time, energy errors and conserved momenta."""
    with reported(as_json=as_json):
        import bellcrank as bc

        loaded = model.load()
        refuse_to_replace([plot] if plot else [], keep=keep)
        wanted = {} if methods is None else {"methods": [name.strip() for name in methods.split(",")]}
        with progress_bar() as progress:
            found = bc.compare_methods(
                loaded, duration, step=step, max_step=max_step, rtol=rtol, atol=atol, progress=progress, **wanted
            )
        show(found, as_json=as_json)
        if plot is not None:
            found.plot(plot, keep=keep)
        if found.interrupted:
            raise typer.Exit(STOPPED_EARLY)
