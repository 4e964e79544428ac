"""``bellcrank convert A B``: a model in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .outcome import reported


def command(
    source: Annotated[str, typer.Argument(metavar="A", help="A model file (TOML, MJCF, URDF), or a model of the gallery.")],
    target: Annotated[Path, typer.Argument(metavar="B", help="What to write: .toml, .xml or .mjcf (MJCF), or .urdf.")],
    base: Annotated[str | None, typer.Option(help="URDF: fixed to ground, or free.", show_default="fixed")] = None,
    fixed: Annotated[str | None, typer.Option(help="Bodies fixed to others: merge or keep them.", show_default="merge")] = None,
    massless: Annotated[
        str | None, typer.Option(help="URDF: refuse joints that move no mass, or fix them.", show_default="refuse")
    ] = None,
    broken_inertia: Annotated[
        str | None, typer.Option(help="URDF: refuse inertias that no body can have, or allow them.", show_default="refuse")
    ] = None,
    keyframe: Annotated[str | None, typer.Option(help="MJCF: the keyframe to start from.", show_default="the first")] = None,
    allow_outside: Annotated[bool, typer.Option("--allow-outside", help="Open files outside the model's folder.")] = False,
    partial: Annotated[bool, typer.Option("--partial", help="Leave out what the format of B cannot say.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace B if it is there.")] = False,
) -> None:
    """Read the model A and write it as B, in the format that B's ending names.

    Exit codes: 0 good, 2 A cannot be read, or B cannot be written.
    """
    given = {
        "base": base,
        "fixed": fixed,
        "massless": massless,
        "broken_inertia": broken_inertia,
        "keyframe": keyframe,
        "allow_outside": allow_outside or None,
    }
    with reported(as_json=False):
        import bellcrank as bc

        model = bc.load(source, **{key: value for key, value in given.items() if value is not None})
        bc.save(model, target, force=force, partial=partial)
        typer.echo(f"{target}: {model.name}, {model.n} bodies, {model.nv} dof")
