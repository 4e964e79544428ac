"""What every command has in common: exit codes, messages, JSON for machines.

0 good, 1 the run stopped early (what there is was saved), 2 bad input or a stdout that cannot be written, 130 interrupted.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import typer

from ..errors import BellcrankError, BellcrankWarning, Interrupted, SimulationError
from ..wording import OPTIONS, STUDY, in_terms_of

KEEP = typer.Option("--keep", help="Do not replace existing files; report an error instead.")

STOPPED_EARLY = 1
BAD_INPUT = 2
INTERRUPTED = 130


@contextmanager
def reported(*, as_json: bool, study: bool = False) -> Iterator[None]:
    """Turn Bellcrank's errors into a message and an exit code, and its warnings into lines on stderr.

    ``study``: the command works on a study file, where options of runs are written.
    """
    with warnings.catch_warnings(), in_terms_of(STUDY if study else OPTIONS):
        warnings.simplefilter("always", BellcrankWarning)
        warnings.showwarning = lambda message, *_, **__: say("warning", str(message), "yellow")
        try:
            yield
        except BellcrankError as error:
            report_error(str(error), as_json=as_json)
            stopped = STOPPED_EARLY if isinstance(error, SimulationError) else BAD_INPUT
            raise typer.Exit(INTERRUPTED if isinstance(error, Interrupted) else stopped) from error
        except KeyboardInterrupt:
            report_error("interrupted", as_json=as_json)
            raise typer.Exit(INTERRUPTED) from None


def report_error(message: str, *, as_json: bool) -> None:
    """For machines as JSON on stdout, for people on stderr."""
    if as_json:
        print_json({"error": message})
    else:
        say("error", message, "red")


def print_json(value: Mapping[str, Any]) -> None:
    """One JSON object on stdout."""
    typer.echo(json.dumps(value, indent=2, allow_nan=False))


def show(found: Any, *, as_json: bool) -> None:
    """Shows a result: for machines as JSON, for people as a table."""
    if as_json:
        print_json(found.as_dict())
        return
    from ..terminal import PlainConsole

    PlainConsole().print(found)


def write(text: str) -> None:
    """A text for people, on stdout."""
    from ..characters import visible

    print(visible(text))  # typer.echo writes UTF-8 to a stdout of ASCII


def say(what: str, message: str, color: str) -> None:
    """A message for people, on stderr."""
    from ..characters import visible

    typer.echo(f"{typer.style(f'{what}:', fg=color, bold=True)} {visible(message)}", err=True)
