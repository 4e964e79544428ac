"""``bellcrank run MODEL``: simulate a model, print its summary, write run.nc, run.png and, if asked, run.csv."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..defaults import TOLERANCE
from ..errors import SimulationError, StateError
from ..wording import together
from ..writing import refuse_to_replace
from .outcome import KEEP, STOPPED_EARLY, print_json, reported, say, show, write
from .pairs import named_texts
from .progress import progress_bar
from .reading import MODEL, ModelFile, reads_model

if TYPE_CHECKING:
    from ..model import Model
    from ..results import Run

DATA, PICTURE, TABLE = "run.nc", "run.png", "run.csv"
OPTIONS = (  # of simulate
    "duration", "step", "method", "formulation", "reference", "rtol", "atol", "max_step", "max_steps", "projection",
    "on_singular", "rank_tolerance", "variant",
)  # fmt: skip


@reads_model
def command(
    model: Annotated[ModelFile, MODEL],
    duration: Annotated[float | None, typer.Option(help="Seconds to simulate.", show_default="the model's")] = None,
    step: Annotated[float | None, typer.Option(help="Seconds between samples.", show_default="the model's")] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="auto (dopri5, or radau where a run is stiff), dopri5, dop853, rk4, radau, bdf; implicit_midpoint, midpoint4, "
            "gauss4; rattle, reaction_taylor.",
            show_default="auto",
        ),
    ] = None,
    formulation: Annotated[
        str | None,
        typer.Option(
            help="Equations of motion: articulated_body, reference_point, mass_matrix for trees; coordinate_reduction, "
            "multipliers for closed loops; canonical_momenta for both.",
            show_default="auto",
        ),
    ] = None,
    reference: Annotated[
        str | None, typer.Option(help="Reference point of that formulation: centroid, joint or origin.")
    ] = None,
    rtol: Annotated[float | None, typer.Option(help="Relative tolerance.", show_default=f"{TOLERANCE:g}")] = None,
    atol: Annotated[float | None, typer.Option(help="Absolute tolerance.", show_default=f"{TOLERANCE:g}")] = None,
    max_step: Annotated[float | None, typer.Option(help="Longest step, in seconds.", show_default="none, or --step")] = None,
    max_steps: Annotated[int | None, typer.Option(help="Largest number of steps.", show_default="1e8")] = None,
    projection: Annotated[
        str | None,
        typer.Option(
            help="Projection onto closed loops after each step: minimum_norm, mass or none.", show_default="minimum_norm"
        ),
    ] = None,
    on_singular: Annotated[
        str | None, typer.Option(help="At a singular configuration: stop, pass or warn.", show_default="stop")
    ] = None,
    variant: Annotated[
        str | None,
        typer.Option(help="Of coordinate_reduction: block (compiled); in Python rcr, acs, gcl, body.", show_default="block"),
    ] = None,
    dependents: Annotated[
        str | None, typer.Option(metavar="NAME,...", help="Dependent coordinates, with --variant acs.")
    ] = None,
    fictitious: Annotated[
        str | None, typer.Option(metavar="BODY,BODY", help="Where --variant gcl puts a fictitious joint.")
    ] = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input", metavar="NAME=VALUE|FILE", help="An input of the model: a number, or a CSV file with times and values."
        ),
    ] = None,
    rank_tolerance: Annotated[
        float | None, typer.Option(help="Relative size below which a constraint counts as redundant.", show_default="1e-7")
    ] = None,
    out: Annotated[Path, typer.Option("--out", "--output-dir", help="Folder for the results.", file_okay=False)] = Path("."),
    keep: Annotated[bool, KEEP] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    no_plot: Annotated[bool, typer.Option("--no-plot", help="Do not draw run.png.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Also write the table run.csv.")] = False,
) -> None:
    """Simulate MODEL, print a summary, write run.nc and run.png.

    Exit codes: 0 success, 1 the run stopped early (the results until then were saved), 2 bad input.
    """
    given = locals()
    options = {name: given[name] for name in OPTIONS if given[name] is not None}
    options |= {name: given[name].split(",") for name in ("dependents", "fictitious") if given[name] is not None}
    files = [out / DATA, *([] if no_plot else [out / PICTURE]), *([out / TABLE] if csv else [])]
    with reported(as_json=as_json):
        loaded = model.load()
        options |= _inputs(inputs)
        _prepare(files, keep=keep)
        run = _simulate(loaded, options)
        _write(run, files, keep=keep)
        _report(run, files, as_json=as_json)
        if run.stopped:
            raise typer.Exit(STOPPED_EARLY)


def _inputs(pairs: list[str] | None) -> dict[str, Any]:
    """Inputs that were given: numbers, and files for what is none."""
    found: dict[str, float | Path] = {}
    for name, value in named_texts(pairs, "--input", "NAME=VALUE or NAME=FILE").items():
        try:
            found[name] = float(value)
        except ValueError:
            found[name] = Path(value)
    return {"inputs": found} if found else {}


def _prepare(files: list[Path], *, keep: bool) -> None:
    """Find out before the simulation, not after it, whether its results can be written."""
    refuse_to_replace(files, keep=keep)
    folder = files[0].parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StateError(f"cannot make the folder {folder}: {error.strerror}") from error


def _simulate(model: Model, options: dict[str, Any]) -> Run:
    """The run, also when it stopped early."""
    import bellcrank as bc

    try:
        with progress_bar() as progress:
            run: Run = bc.simulate(model, **options, progress=progress)
    except SimulationError as error:
        if error.run is None:
            raise
        run = error.run
    return run


def _write(run: Run, files: list[Path], *, keep: bool) -> None:
    writers: dict[str, Callable[..., object]] = {DATA: run.save, PICTURE: run.plot, TABLE: run.to_csv}
    for file in files:
        writers[file.name](file, keep=keep)


def _report(run: Run, files: list[Path], *, as_json: bool) -> None:
    summary = run.summary()
    if as_json:
        print_json(summary.as_dict() | {"files": [str(file) for file in files]})
        return
    show(summary, as_json=False)
    write(f"wrote {together([str(file) for file in files])}")
    if run.stopped:
        say("stopped early", run.stopped, "red")
