"""``bellcrank check MODEL``: what a model is made of, and what is unusual about it."""

from __future__ import annotations

from typing import Annotated

import typer

from .outcome import print_json, reported, tell
from .reading import MODEL, ModelFile, reads_model


@reads_model
def command(
    model: Annotated[ModelFile, MODEL],
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """List bodies, joints, forces, inputs and measures of MODEL, and say what is unusual.

    Exit codes: 0 the model can be read, whatever is unusual about it; 2 it cannot.
    """
    with reported(as_json=as_json):
        import bellcrank as bc

        report = bc.check(model.load())
        if as_json:
            print_json(report.as_dict())
        else:
            tell(str(report))
