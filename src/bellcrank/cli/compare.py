"""``bellcrank compare MODEL``: one model in all formulations, in MuJoCo and in Pinocchio."""

from __future__ import annotations

from typing import Annotated

import typer

from .outcome import reported, show
from .reading import MODEL, ModelFile, reads_model


@reads_model
def command(
    model: Annotated[ModelFile, MODEL],
    states: Annotated[int, typer.Option(help="Random states at which accelerations are compared.")] = 20,
    duration: Annotated[
        float | None, typer.Option(help="Duration of the runs in seconds.", show_default="the model's, 1 at most")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the random states.")] = 0,
    no_peers: Annotated[bool, typer.Option("--no-peers", help="Leave out MuJoCo and Pinocchio.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False,
) -> None:
    """Compare accelerations, energy and closure over a run, and time per evaluation.

    MuJoCo and Pinocchio are included if they are installed and support MODEL.
    """
    with reported(as_json=as_json):
        import bellcrank as bc

        found = bc.compare(model.load(), states=states, duration=duration, seed=seed, peers=not no_peers)
        show(found, as_json=as_json)
