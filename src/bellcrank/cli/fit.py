"""``bellcrank fit STUDY DATA.csv``: parameters of a study from measured curves, with confidence intervals."""

from __future__ import annotations

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
    data: Annotated[
        Path | None, typer.Argument(metavar="[DATA]", help="A CSV file of measured curves.", show_default="the study's")
    ] = None,
    starts: Annotated[int | None, STARTS] = None,
    seed: Annotated[int | None, SEED] = None,
    method: Annotated[str | None, METHOD] = None,
    resume: Annotated[bool, RESUME] = False,
    out: Annotated[Path, OUT] = Path("."),
    keep: Annotated[bool, KEEP] = False,
    as_json: Annotated[bool, JSON] = False,
    no_plot: Annotated[bool, NO_PLOT] = False,
) -> None:
    """Fit the parameters of STUDY to measured curves: print them with confidence intervals, write the model with them.

    Ctrl-C ends the search with the best fit so far. Exit codes: 0 good, 1 not converged, 2 bad input.
    """
    with reported(as_json=as_json, study=True):
        import bellcrank as bc

        wanted = with_options(bc.load_study(study), {"starts": starts, "seed": seed, "method": method})
        files = prepared(out, keep=keep, resume=resume, plot=not no_plot)
        with best_so_far() as progress:
            found = bc.fit(wanted, data, record=out / RECORD, resume=resume, progress=progress)
        finish(found, files, keep=keep, as_json=as_json)
