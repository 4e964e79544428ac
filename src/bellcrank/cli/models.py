"""``bellcrank models``: the models that come with Bellcrank."""

from __future__ import annotations

from typing import Annotated

import typer

from .outcome import print_json, reported, show


def command(as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False) -> None:
    """List the models of the gallery, which every command finds by name."""
    with reported(as_json=as_json):
        import bellcrank as bc

        rows = []
        for name, path in bc.gallery().items():
            model = bc.load(path)
            rows.append(
                {
                    "name": name,
                    "bodies": model.body_count,
                    "coordinates": model.nv,
                    "loops": len(model.closures),
                    "title": model.name,
                }
            )
        if as_json:
            print_json({"models": rows})
            return
        from rich.table import Table
        from rich.text import Text

        table = Table()
        for heading in rows[0]:
            words = heading in ("name", "title")
            table.add_column(heading, justify="left" if words else "right", no_wrap=heading == "name")
        for row in rows:
            table.add_row(*[Text(str(item)) for item in row.values()])
        show(table, as_json=False)
