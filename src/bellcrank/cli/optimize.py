"""``bellcrank optimize STUDY``: the best design of a study; writes better.toml, study.png and evaluations.jsonl."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from .outcome import KEEP, reported
from .searching import (
    JSON,
    METHOD,
    NO_PLOT,
    OUT,
    RECORD,
    RESUME,
    SEED,
    STARTS,
    STUDY,
    best_so_far,
    finish,
    prepared,
    with_options,
)


def command(
    study: Annotated[str, STUDY],
    starts: Annotated[int | None, STARTS] = None,
    seed: Annotated[int | None, SEED] = None,
    method: Annotated[str | None, METHOD] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, tcp://...:8786, for searches from several starts.")
    ] = None,
    resume: Annotated[bool, RESUME] = False,
    out: Annotated[Path, OUT] = Path("."),
    keep: Annotated[bool, KEEP] = False,
    as_json: Annotated[bool, JSON] = False,
    no_plot: Annotated[bool, NO_PLOT] = False,
    flatness: Annotated[
        bool | None,
        typer.Option(
            help="How far each parameter can be moved until the cost rises by 1 %, by a gradient for each.",
            show_default="where that takes no more gradients than the search",
        ),
    ] = None,
) -> None:
    """Find the best design of STUDY: print it, and write the model with the new numbers, a picture, and all evaluations.

    Ctrl-C ends the search with the best design so far. Exit codes: 0 good, 1 not converged, 2 bad input.
    """
    with reported(as_json=as_json, study=True):
        import bellcrank as bc

        wanted = with_options(bc.load_study(study), {"starts": starts, "seed": seed, "method": method})
        files = prepared(out, keep=keep, resume=resume, plot=not no_plot)
        with best_so_far() as progress:
            found = bc.optimize(wanted, record=out / RECORD, resume=resume, progress=progress, scheduler=scheduler)
        if flatness or (flatness is None and found.success and len(found.names) <= found.gradients):
            with suppress(KeyboardInterrupt):
                found.flatness  # noqa: B018  which the result then reports
        finish(found, files, keep=keep, as_json=as_json)
