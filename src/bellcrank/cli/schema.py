"""``bellcrank schema``: the JSON Schema of model files, for editors that complete and check them."""

from __future__ import annotations

from typing import Annotated

import typer

from .outcome import print_json, reported


def command(as_json: Annotated[bool, typer.Option("--json", help="Has no effect: the schema is JSON.")] = False) -> None:
    """Print the JSON Schema of model files."""
    with reported(as_json=as_json):
        import bellcrank as bc

        print_json(bc.schema())
