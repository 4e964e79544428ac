"""``bellcrank response MODEL``: what steady oscillations, or a random road, do to the measures of a mechanism at rest."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..writing import refuse_to_replace
from .outcome import KEEP, reported, show
from .reading import MODEL, ModelFile, reads_model


@reads_model
def command(
    model: Annotated[ModelFile, MODEL],
    excite: Annotated[
        list[str] | None, typer.Option(help="An input, a driven joint, or 'tau of JOINT'; all inputs and drives unless given.")
    ] = None,
    output: Annotated[list[str] | None, typer.Option(help="A measure or a path; all measures unless given.")] = None,
    first: Annotated[float | None, typer.Option("--from", help="First frequency in Hz; chosen by the modes.")] = None,
    last: Annotated[float | None, typer.Option("--to", help="Last frequency in Hz.")] = None,
    count: Annotated[int, typer.Option(min=2, help="Number of frequencies between them.")] = 400,
    road: Annotated[str | None, typer.Option(help="Class of a random road, A to H, under the one excitation.")] = None,
    speed: Annotated[float, typer.Option(help="Speed on the road in m/s.")] = 20.0,
    plot: Annotated[Path | None, typer.Option(help="Draw magnitudes and phases, or spectra, into this file.")] = None,
    keep: Annotated[bool, KEEP] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the response as JSON.")] = False,
) -> None:
    """Print the frequency response of MODEL about its equilibrium, or its response to a random road."""
    with reported(as_json=as_json):
        import bellcrank as bc

        refuse_to_replace([plot] if plot else [], keep=keep)
        if (first is None) != (last is None):
            raise bc.StateError("give both --from and --to, or neither")
        frequencies = None
        if first is not None and last is not None:
            if not 0 < first < last:
                raise bc.StateError(f"--from {first:g} --to {last:g}: frequencies must be more than zero and increase")
            frequencies = [first * (last / first) ** (k / (count - 1)) for k in range(count)]
        found = bc.frequency_response(model.load(), excite, output, frequencies)
        shown = found if road is None else found.spectrum(bc.road_spectrum(road, speed))
        if plot is not None:
            shown.plot(plot, keep=keep)
        show(shown, as_json=as_json)
