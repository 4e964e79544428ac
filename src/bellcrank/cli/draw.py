"""``bellcrank draw MODEL``: a picture of a mechanism."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .outcome import KEEP, reported, write
from .pairs import named_numbers
from .reading import MODEL, ModelFile, reads_model

FORM = "NAME=VALUE"


@reads_model
def command(
    model: Annotated[ModelFile, MODEL],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The file: PNG, SVG or PDF.", show_default="the model's name, .png")
    ] = None,
    view: Annotated[str, typer.Option(metavar="[auto|front|top|side|iso]", help="Direction of view.")] = "auto",
    q: Annotated[
        list[str] | None,
        typer.Option(
            metavar=FORM, help="A coordinate to be set to this value (rad, m), with the loops closed; may be repeated."
        ),
    ] = None,
    as_drawn: Annotated[
        bool, typer.Option("--as-drawn", help="Draw the design position, with the gaps of loops that do not close.")
    ] = False,
    names: Annotated[bool, typer.Option(help="Write the names of joints, bodies and points.")] = True,
    time: Annotated[float, typer.Option("--time", help="Time in s, for prescribed motions.")] = 0.0,
    keep: Annotated[bool, KEEP] = False,
) -> None:
    """Draw MODEL in its start position: bodies, joints by their symbols, loops in colours, springs, gravity, scale.

    Exit code 2 if its loops do not close; --as-drawn shows where they are open.
    """
    with reported(as_json=False):
        loaded = model.load()
        file = out or Path(f"{Path(model.path).stem}.png")
        loaded.draw(file, q=named_numbers(q, "--q", FORM) or None, view=view, names=names, as_drawn=as_drawn, t=time, keep=keep)
        write(f"wrote {file}")
