"""``bellcrank info``: versions, processor, cache, and which extras are installed; for reports of problems."""

from __future__ import annotations

from typing import Annotated

import typer

from .outcome import reported, show


def command(as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False) -> None:
    """Print the versions in use, the processor that code is compiled for, the cache folder, and the installed extras."""
    import bellcrank as bc

    with reported(as_json=as_json):
        show(bc.info(), as_json=as_json)
