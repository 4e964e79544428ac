"""``bellcrank ops [MODEL]``: operations that each formulation takes, counted as in the papers' tables."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ..errors import StateError
from ..wording import counted
from .outcome import print_json, reported
from .reading import ModelFile, reads_model

ACCOUNT = """\
Above: Naudet, Lefeber & Terze, table 1 (Rein's total is misprinted there: its columns give 411n-564). Below: counted here, \
fitted for n >= 4, with gravity unless said otherwise.
The chain has n revolute joints, general twists and offsets, full inertia tensors, and its base frame on the first joint. \
Negations and what depends on parameters alone are free; what no result needs, and products with structural zeros, are left \
out. A division and a sine with its cosine come on top for each body.
canonical_momenta gives v and dp/dt from q and p, the others accelerations from q and v. About the origin there are no shifts \
from body to body, but turning all inertias into the ground's axes costs more than the shifts save once zeros are used."""


@reads_model
def command(
    model: Annotated[
        ModelFile | None,
        typer.Argument(metavar="[MODEL]", help="A model file or a gallery model; without it, chains are counted."),
    ] = None,
    joint: Annotated[str, typer.Option(help="Joint of the chains: revolute, prismatic, spherical or free.")] = "revolute",
    paper: Annotated[
        bool, typer.Option("--paper", help="The pin-joint chain beside published counts (Naudet, Lefeber & Terze, table 1).")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the counts as JSON.")] = False,
) -> None:
    """Count additions, multiplications and divisions of one evaluation.

    With MODEL: of each formulation on it, without its force elements. Without MODEL: per body of a chain of one kind of joint
    (for revolute joints the papers' pin-joint chain: general twists and offsets, full inertia tensors, gravity), and the total
    for n bodies, fitted for n >= 4. An evaluation gives accelerations from q and v; of canonical_momenta v and dp/dt, from q
    and p.
    """
    with reported(as_json=as_json):
        if paper:
            if model is not None or joint != "revolute":
                raise StateError("--paper counts the papers' chain of revolute joints: give it without MODEL and --joint")
            _paper(as_json)
        elif model is None:
            _chains(joint, as_json)
        else:
            _model(model, as_json)


def _chains(joint: str, as_json: bool) -> None:
    import bellcrank as bc

    table = bc.count_table(joint)
    rows = {name: {**count.per_body._asdict(), "total": count.total} for name, count in table.items()}
    point = {name: table[f"reference_point:{name}"].per_body.multiplications for name in ("centroid", "joint", "origin")}
    saved = {name: point["centroid"] - point[name] for name in ("joint", "origin")}
    if as_json:
        print_json({"joint": joint, "counts": rows, "multiplications_saved_over_centroid": saved})
        return
    _print(f"Operations per body, chain of {joint} joints", rows, "n bodies")
    typer.echo(
        f"Of Kang & Yoon's three reference points, the origin saves {saved['origin']} multiplications a body over the centroid"
        f" and the joint point {saved['joint']}, as counted here with structural zeros left out.\n"
        "The paper gives 36 + 6n for the origin, shifting before joints are eliminated; n: the joint's degrees of freedom."
    )


def _paper(as_json: bool) -> None:
    import bellcrank as bc

    table = bc.paper_table()
    if as_json:
        print_json({"rows": [_paper_row(row) for row in table]})
        return
    from rich.table import Table

    from ..terminal import PlainConsole

    shown = Table(title="Operations on the pin-joint chain of n bodies", title_justify="left")
    for heading in ("algorithm", "add", "mul", "total", "remark"):
        shown.add_column(
            heading, justify="left" if heading in ("algorithm", "remark") else "right", no_wrap=heading != "remark"
        )
    for row, following in zip(table, (*table[1:], None), strict=True):
        count = row.count
        last = following is not None and row.published != following.published
        shown.add_row(row.algorithm, count.additions, count.multiplications, count.total, row.remark, end_section=last)
    console = PlainConsole(highlight=False)
    console.print(shown)
    console.print(ACCOUNT)


def _paper_row(row: Any) -> dict[str, Any]:
    keys = {"algorithm": row.algorithm, "published": row.published, "remark": row.remark}
    lines = {"additions": row.count.additions, "multiplications": row.count.multiplications, "total": row.count.total}
    return keys | lines


def _model(file: ModelFile, as_json: bool) -> None:
    import bellcrank as bc

    model = file.load()
    rows = {}
    for formulation, count in bc.count_operations(model).items():
        rows[formulation] = {**count._asdict(), "total": count.total}
    if as_json:
        print_json({"model": model.name, "bodies": model.body_count, "coordinates": model.nv, "counts": rows})
    else:
        size = f"{counted(model.body_count, 'body', 'bodies')}, {counted(model.nv, 'coordinate')}"
        _print(f"Operations of one evaluation, {model.name}: {size}", rows, "total")


def _print(title: str, rows: dict[str, dict[str, Any]], last: str) -> None:
    from rich.table import Table

    from ..terminal import PlainConsole

    table = Table(caption="func: a sine with its cosine, a square root", caption_justify="left")
    table.add_column("formulation", no_wrap=True)
    for heading in ("add", "mul", "div", "func", last):
        table.add_column(heading, justify="right")
    for name, row in rows.items():
        table.add_row(name, *[str(x) for x in row.values()])
    console = PlainConsole()
    console.print(title, style="bold", highlight=False)
    console.print(table)
