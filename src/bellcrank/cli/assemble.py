"""``bellcrank assemble MODEL``: positions and velocities that all loops agree with."""

from __future__ import annotations

from typing import Annotated

import typer

from .outcome import print_json, reported, write
from .pairs import named_numbers
from .reading import MODEL, ModelFile, reads_model

FORM = "NAME=VALUE"


@reads_model
def command(
    model: Annotated[ModelFile, MODEL],
    q: Annotated[
        list[str] | None,
        typer.Option(metavar=FORM, help="A coordinate that must have this value (rad, m); may be repeated."),
    ] = None,
    v: Annotated[
        list[str] | None,
        typer.Option(metavar=FORM, help="A velocity that must have this value (rad/s, m/s); may be repeated."),
    ] = None,
    hold: Annotated[
        list[str] | None, typer.Option(help="A coordinate or joint that keeps its initial value; may be repeated.")
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(help="Largest opening of a loop that is accepted, in m.", show_default="1e-10 of the typical length"),
    ] = None,
    time: Annotated[float, typer.Option("--time", help="Time in s, for prescribed motions.")] = 0.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the state as JSON.")] = False,
) -> None:
    """Close the loops of MODEL and print the changes of its coordinates.

    Exit code 2 if they do not close: the message names the loop and its gap, or how far a coordinate can go.
    """
    with reported(as_json=as_json):
        import bellcrank as bc

        values, speeds = named_numbers(q, "--q", FORM), named_numbers(v, "--v", FORM)
        found = bc.assemble(model.load(), values or None, speeds or None, hold=hold or None, t=time, tolerance=tolerance)
        if as_json:
            print_json(found.as_dict())
        else:
            write(str(found))
