"""``bellcrank check MODEL``: what a model is made of, and what is unusual about it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .outcome import print_json, reported, write
from .reading import MODEL, ModelFile, reads_model

if TYPE_CHECKING:
    from ..model import Model


@reads_model
def command(
    model: Annotated[ModelFile, MODEL],
    picture: Annotated[
        Path | None, typer.Option(help="Also draw the model into this PNG, SVG or PDF file; see bellcrank draw.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """List bodies, joints, forces, inputs and measures of MODEL, and report what is unusual.

    Exit codes: 0 the model can be read, whatever is unusual about it; 2 it cannot.
    """
    with reported(as_json=as_json):
        import bellcrank as bc

        loaded = model.load()
        report = bc.check(loaded)
        if as_json:
            print_json(report.as_dict())
        else:
            write(str(report))
        if picture is not None:
            draw_as_it_is(loaded, picture)


def draw_as_it_is(model: Model, file: Path) -> None:
    """The model's start; where its loops do not close, the design position with their gaps."""
    import bellcrank as bc

    try:
        model.draw(file)
    except bc.AssemblyError:
        model.draw(file, as_drawn=True)
