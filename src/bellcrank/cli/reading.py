"""What every command that reads a model has in common: MODEL, other numbers in it, and the choices of the importers.

They are declared once, as the parameters of ``_reading``; ``reads_model`` adds them to a command, which gets a ModelFile.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from .group import plain_help
from .outcome import BAD_INPUT, print_json
from .pairs import named_numbers, named_texts, numbers

if TYPE_CHECKING:
    from ..model import Model

UsageError: Any = typer.BadParameter.__base__  # of click, or of the one inside typer

MODEL = typer.Argument(metavar="MODEL", help="A model file, or the name of a model of the gallery.")


class Command(TyperCommand):
    """A command whose help lists the values that ``load`` knows: they are looked up only then, since that takes a while."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """With ``--json`` a wrong option, too, is reported as JSON."""
        as_json = "--json" in args
        try:
            return super().make_context(info_name, args, parent, **extra)
        except UsageError as error:
            if not as_json:
                raise
            print_json({"error": error.format_message()})
            raise typer.Exit(BAD_INPUT) from error

    def get_help_option(self, ctx: Any) -> Any:
        return plain_help(super().get_help_option(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        from ..io.options import CHOICES

        for parameter in self.params:
            if parameter.name in CHOICES:
                parameter.metavar = f"[{'|'.join(CHOICES[parameter.name])}]"
        super().format_help(ctx, formatter)


def _of_importers(*names: str, **given: Any) -> Any:
    return typer.Option(*names, rich_help_panel="MJCF and URDF files", **given)


def _reading(
    *,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Change a number of the model, such as rod.mass=2; may be repeated."),
    ] = None,
    base: Annotated[str | None, _of_importers(help="URDF: whether the base is fixed or free.")] = None,
    fixed: Annotated[str | None, _of_importers(help="Whether bodies that are fixed to others are merged or kept.")] = None,
    massless: Annotated[str | None, _of_importers(help="URDF: treatment of joints that move no mass.")] = None,
    broken_inertia: Annotated[
        str | None, _of_importers(help="URDF: treatment of masses and inertias that no body can have.")
    ] = None,
    keyframe: Annotated[str | None, _of_importers(help="MJCF: the keyframe to start from.", show_default="the first")] = None,
    packages: Annotated[
        list[str] | None, _of_importers(metavar="NAME=FOLDER", help="URDF: the folder of a package; may be repeated.")
    ] = None,
    gravity: Annotated[
        str | None, _of_importers(metavar="X,Y,Z", help="URDF: gravity in m/s2.", show_default="0,0,-9.81")
    ] = None,
    allow_outside: Annotated[bool, _of_importers("--allow-outside", help="Open files outside the model's folder.")] = False,
) -> tuple[list[str], dict[str, Any]]:
    """The numbers to change, and the options of ``load`` that were given."""
    options: dict[str, Any] = {"base": base, "fixed": fixed, "massless": massless, "broken_inertia": broken_inertia}
    options |= {"keyframe": keyframe, "allow_outside": allow_outside or None}
    options["packages"] = named_texts(packages, "--packages", "NAME=FOLDER") or None
    options["gravity"] = None if gravity is None else numbers(gravity, "--gravity", 3)
    return changes or [], {name: value for name, value in options.items() if value is not None}


@dataclass(frozen=True)
class ModelFile:
    """A model as it was named on the command line; it is read when it is needed, and problems are reported then."""

    path: str
    given: dict[str, Any]

    def load(self) -> Model:
        import bellcrank as bc

        changes, options = _reading(**self.given)
        wanted = named_numbers(changes, "--set", "PATH=VALUE")
        model: Model = bc.load(self.path, **options)
        return model.with_parameters(wanted) if wanted else model


def reads_model(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose parameter ``model`` is a ModelFile, and on the command line a name with the options of reading it."""
    own, shared = inspect.signature(command, eval_str=True), inspect.signature(_reading, eval_str=True).parameters

    @functools.wraps(command)
    def called(**given: Any) -> None:
        reading = {name: given.pop(name) for name in shared}
        path = given.pop("model")
        command(model=None if path is None else ModelFile(path, reading), **given)

    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own.parameters.values()]
    called.__signature__ = own.replace(parameters=[*map(_as_text, parameters), *shared.values()])  # type: ignore[attr-defined]
    return called


def _as_text(parameter: inspect.Parameter) -> inspect.Parameter:
    """A ModelFile as the text that typer expects."""
    if parameter.name != "model":
        return parameter
    optional = parameter.default is None
    (info,) = parameter.annotation.__metadata__
    return parameter.replace(annotation=Annotated[str | None if optional else str, info])
