"""``bellcrank sweep STUDY``: many runs over the parameters of a study, into a store from which a sweep can be continued."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from ..writing import refuse_to_replace
from .outcome import KEEP, print_json, reported, write
from .progress import shown_bar
from .searching import STUDY


def command(
    study: Annotated[str, STUDY],
    store: Annotated[
        Path | None, typer.Option(help="Folder for the results; an existing store is continued.", show_default="NAME.zarr")
    ] = None,
    design: Annotated[
        str | None,
        typer.Option(help="grid, list, random, latin_hypercube, sobol or saltelli.", show_default="the study's"),
    ] = None,
    runs: Annotated[int | None, typer.Option(min=1, help="Number of designs.", show_default="the study's")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the random numbers.", show_default="the study's")] = None,
    chunk: Annotated[int | None, typer.Option(help="Runs that are written together, a multiple of 64.")] = None,
    scheduler: Annotated[str | None, typer.Option(help="Address of a Dask scheduler: tcp://...:8786.")] = None,
    trajectories: Annotated[bool, typer.Option("--trajectories", help="Keep coordinates and velocities too.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw outputs over parameters into this file.")] = None,
    keep: Annotated[bool, KEEP] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the statistics as JSON.")] = False,
) -> None:
    """Simulate STUDY for many designs: print statistics of its outputs, and write all outputs into a store.

    Ctrl-C, or a crash, leaves the finished runs in the store, and the same command continues from there. A run that fails is a
    row with its reason. Exit codes: 0 good, 1 interrupted, 2 bad input.
    """
    with reported(as_json=as_json, study=True):
        import bellcrank as bc

        refuse_to_replace([] if plot is None else [plot], keep=keep)
        wanted = bc.load_study(study)
        folder = store or Path(f"{wanted.name}.zarr")
        with _bar() as progress:
            options: dict[str, Any] = {"design": design, "runs": runs, "seed": seed, "chunk": chunk}
            found = bc.sweep(wanted, store=folder, scheduler=scheduler, trajectories=trajectories, progress=progress, **options)
        if plot is not None:
            found.plot(plot, keep=keep)
        if as_json:
            print_json(found.as_dict())
        else:
            write(str(found.summary()))


@contextmanager
def _bar() -> Iterator[Callable[[Any], None]]:
    """A function to report how far a sweep is: runs that are done, their rate and the time left."""
    with shown_bar("runs", None) as update:
        yield lambda at: update(completed=at.done, total=at.count, description=f"{at.done} runs, {at.rate:.0f} a second")
