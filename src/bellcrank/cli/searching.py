"""What optimize and fit have in common: their files, their progress, and how they end."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from ..errors import StateError
from ..wording import together
from ..writing import refuse_to_replace
from .outcome import STOPPED_EARLY, print_json, write

MODEL, PICTURE, RECORD = "better.toml", "study.png", "evaluations.jsonl"
PATIENCE, EVERY = 1.0, 0.2  # seconds

STUDY = typer.Argument(metavar="STUDY", help="A study file, or the name of a study of the gallery.")
STARTS = typer.Option(min=1, help="Number of initial designs.", show_default="the study's")
SEED = typer.Option(min=0, help="Seed of the random initial designs.", show_default="the study's")
METHOD = typer.Option(help="L-BFGS-B, SLSQP, trust-constr, least_squares or auto.", show_default="the study's")
RESUME = typer.Option("--resume", help="Continue from the evaluations in the folder.")
OUT = typer.Option("--out", "--output-dir", help="Folder for the results.", file_okay=False)
JSON = typer.Option("--json", help="Print the result as JSON.")
NO_PLOT = typer.Option("--no-plot", help=f"Do not draw {PICTURE}.")


def with_options(study: Any, given: dict[str, Any]) -> Any:
    """The study with another way of searching."""
    return replace(study, search=replace(study.search, **{name: x for name, x in given.items() if x is not None}))


def prepared(out: Path, *, keep: bool, resume: bool, plot: bool) -> list[Path]:
    """The files that will be written, in a folder that is there."""
    files = [out / MODEL, *([out / PICTURE] if plot else []), out / RECORD]
    refuse_to_replace([file for file in files if not (resume and file.name == RECORD)], keep=keep)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StateError(f"cannot make the folder {out}: {error.strerror}") from error
    return files


@contextmanager
def best_so_far() -> Iterator[Callable[[int, float], None]]:
    """A line on a terminal with the evaluations and the best cost, after a second; it is wiped at the end."""
    stream, began = sys.stderr, time.perf_counter()
    last, shown = [0.0], stream.isatty()

    def report(count: int, cost: float) -> None:
        now = time.perf_counter() - began
        if shown and now > PATIENCE and now - last[0] > EVERY:
            last[0] = now
            stream.write(f"\r\x1b[K{count} evaluations, best cost {cost:.6g}")
            stream.flush()

    try:
        yield report
    finally:
        if last[0]:
            stream.write("\r\x1b[K")
            stream.flush()


def finish(found: Any, files: list[Path], *, keep: bool, as_json: bool) -> None:
    """Write the model and the picture, print the result; the exit code of a search that did not come to its end is 1."""
    import bellcrank as bc

    for file in files:
        if file.name == MODEL:
            bc.save(found.model, file, keep=keep)
        elif file.name == PICTURE:
            found.plot(file)
    names = [str(file) for file in files]
    if as_json:
        print_json(found.as_dict() | {"files": names})
    else:
        write(str(found))
        write(f"wrote {together(names)}")
    if not found.success:
        raise typer.Exit(STOPPED_EARLY)
