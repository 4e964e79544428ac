"""``bellcrank convert A B``: a model in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..wording import counted
from .outcome import KEEP, reported, write
from .reading import ModelFile, reads_model


@reads_model
def command(
    model: Annotated[
        ModelFile, typer.Argument(metavar="A", help="A model file (TOML, MJCF, URDF), or a model of the gallery.")
    ],
    target: Annotated[Path, typer.Argument(metavar="B", help="What to write: .toml, .xml or .mjcf (MJCF), or .urdf.")],
    partial: Annotated[bool, typer.Option("--partial", help="Leave out what the format of B cannot express.")] = False,
    keep: Annotated[bool, KEEP] = False,
) -> None:
    """Read the model A and write it as B, in the format that B's ending names.

    Exit codes: 0 success, 2 A cannot be read, or B cannot be written.
    """
    with reported(as_json=False):
        import bellcrank as bc

        loaded = model.load()
        bc.save(loaded, target, keep=keep, partial=partial)
        size = f"{counted(loaded.body_count, 'body', 'bodies')}, {counted(loaded.nv, 'coordinate')}"
        write(f"{target}: {loaded.name}, {size}")
