"""``bellcrank sensitivity MODEL``: derivatives of outputs by parameters, and how tolerances of these spread them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from ..writing import refuse_to_replace
from .outcome import KEEP, print_json, reported, show
from .pairs import listed, tolerances_of
from .reading import MODEL, ModelFile, reads_model


@reads_model
def command(
    model: Annotated[ModelFile, MODEL],
    parameters: Annotated[list[str], typer.Option(help="Parameters: a path, or several separated by commas.")],
    outputs: Annotated[
        list[str] | None, typer.Option(help="Outputs: tip.x@end, max(tip.x); several separated by commas.")
    ] = None,
    analysis: Annotated[
        str, typer.Option(help="run, drive, equilibrium or modes; inverse_motion is available in Python.")
    ] = "run",
    duration: Annotated[float | None, typer.Option(help="Length of the run in s; the model's own if not given.")] = None,
    step: Annotated[float | None, typer.Option(help="Interval of the samples in s.")] = None,
    method: Annotated[str | None, typer.Option(help="Integrator of the run.")] = None,
    control: Annotated[str | None, typer.Option(help="Which errors control the steps: those of the state, or all.")] = None,
    coordinate: Annotated[str | None, typer.Option(help="For drive: the coordinate that is moved.")] = None,
    first: Annotated[float, typer.Option("--from", help="For drive: first value, rad or m.", show_default="-pi")] = -math.pi,
    last: Annotated[float, typer.Option("--to", help="For drive: last value.", show_default="pi")] = math.pi,
    count: Annotated[int, typer.Option(min=2, help="For drive: number of values.")] = 25,
    tolerance: Annotated[
        list[str] | None, typer.Option(help="Tolerance of a parameter: path=0.001, path=0.5% or 0.5% for all.")
    ] = None,
    differences: Annotated[bool, typer.Option(help="Also compute finite differences, and show them in the plot.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw the derivatives into this file.")] = None,
    tornado: Annotated[Path | None, typer.Option(help="Draw a tornado chart into this file; needs --tolerance.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write everything into this NetCDF file.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write outputs and derivatives as a CSV file.")] = None,
    keep: Annotated[bool, KEEP] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print outputs, derivatives and spreads as JSON.")] = False,
) -> None:
    """Print exact derivatives of outputs of MODEL, of a run or of an analysis, with respect to parameters."""
    with reported(as_json=as_json):
        import bellcrank as bc

        files = [path for path in (plot, tornado, out, csv) if path is not None]
        refuse_to_replace(files, keep=keep)
        if tornado is not None and not tolerance:
            raise bc.StateError("a tornado chart needs tolerances: give --tolerance path=0.001, or --tolerance 1% for all")
        given: dict[str, Any] = {"step": step, "method": method, "control": control, "coordinate": coordinate}
        given = {name: x for name, x in given.items() if x is not None} | {"analysis": analysis}
        if analysis == "drive":
            given["values"] = [first + k * (last - first) / (count - 1) for k in range(count)]
        loaded, names, wanted = model.load(), listed(parameters), listed(outputs or [])
        found = bc.sensitivity(loaded, names, wanted, duration, **given)
        others = bc.finite_differences(loaded, names, wanted, duration, **given) if differences else None
        spread = found.tolerances(tolerances_of(tolerance)) if tolerance else None
        if plot is not None:
            found.plot(path=plot, differences=others, keep=keep)
        if tornado is not None:
            found.tornado(tolerances=tolerances_of(tolerance or []), path=tornado, keep=keep)
        if out is not None:
            found.save(out, keep=keep)
        if csv is not None:
            found.to_csv(csv, keep=keep)
        if as_json:
            more = {} if spread is None else {"spread": spread.as_dict()}
            print_json(found.as_dict() | more | ({} if others is None else {"differences": others.as_dict()["outputs"]}))
            return
        show(found, as_json=False)
        if spread is not None:
            show(spread, as_json=False)
