"""``bellcrank modes MODEL``: frequencies, damping and shapes of small motions."""

from __future__ import annotations

from typing import Annotated

import typer

from .outcome import reported, show
from .reading import MODEL, ModelFile, reads_model


@reads_model
def command(
    model: Annotated[ModelFile, MODEL],
    about: Annotated[str, typer.Option(help="State: equilibrium (found from the model's start) or start.")] = "equilibrium",
    time: Annotated[float, typer.Option("--time", help="Time in s, for prescribed motions and tables.")] = 0.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the modes, with all shapes, as JSON.")] = False,
) -> None:
    """Print the modes of MODEL: how it moves after a small disturbance."""
    with reported(as_json=as_json):
        import bellcrank as bc

        found = bc.modes(model.load(), about, t=time)
        show(found, as_json=as_json)
