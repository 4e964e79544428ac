"""``bellcrank view MODEL`` or ``bellcrank view run.nc``: the mechanism in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import SimulationError
from .outcome import KEEP, reported, say, write
from .reading import ModelFile, reads_model

if TYPE_CHECKING:
    from ..model import Model
    from ..results import Run

RUN = ".nc"  # ending of the files of runs


@reads_model
def command(
    model: Annotated[
        ModelFile, typer.Argument(metavar="MODEL|RUN", help="A model file, a model of the gallery, or the file of a run.")
    ],
    duration: Annotated[float | None, typer.Option(help="Seconds to simulate a model.", show_default="the model's")] = None,
    step: Annotated[float | None, typer.Option(help="Seconds between samples.", show_default="the model's")] = None,
    html: Annotated[Path | None, typer.Option(help="Write one HTML file instead, which plays without a server.")] = None,
    speed: Annotated[float, typer.Option(help="Speed of the HTML file: 0.5 plays at half speed.")] = 1.0,
    port: Annotated[int, typer.Option(help="Port of the server; the next free one, if it is taken.")] = 8080,
    host: Annotated[
        str, typer.Option(help="Address of the server; 127.0.0.1 is reached from this machine alone.")
    ] = "127.0.0.1",
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
    keep: Annotated[bool, KEEP] = False,
) -> None:
    """Show MODEL with sliders for its numbers, or play RUN: forces, traces and plots beside it. Ctrl-C ends it."""
    given = {name: value for name, value in {"duration": duration, "step": step}.items() if value is not None}
    with reported(as_json=False):
        what = _loaded(model)
        if html is not None:
            write(f"wrote {_simulated(what, given).write_html(html, speed=speed, keep=keep)}")
            return
        page = what.view(host=host, port=port, open_browser=browser, **given)
        write(f"serving {page.url}, until Ctrl-C")
        page.wait()


def _loaded(model: ModelFile) -> Any:
    import bellcrank as bc

    return bc.load_run(model.path) if Path(model.path).suffix == RUN else model.load()


def _simulated(what: Model | Run, given: dict[str, Any]) -> Run:
    import bellcrank as bc

    if isinstance(what, bc.Run):
        return what
    try:
        return bc.simulate(what, **given)
    except SimulationError as error:
        if error.run is None or error.run.interrupted:
            raise
        say("warning", str(error), "yellow")
        run: Run = error.run
        return run
