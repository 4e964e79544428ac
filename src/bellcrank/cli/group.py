"""The commands as a whole: behaviour that all of them share, whatever happens to the streams that they write to."""

from __future__ import annotations

import os
import sys
from typing import Any, get_args

from typer.core import TyperGroup

from .outcome import BAD_INPUT, say

VALUES = {float: "NUMBER", int: "NUMBER", str: "TEXT"}  # what the help calls the value of an option, by its type


class Commands(TyperGroup):
    """Characters that stdout has no code for are replaced; a stdout that takes no more is an error in words."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        command = super().get_command(ctx, cmd_name)
        for parameter in [] if command is None else command.params:
            if parameter.metavar is None and parameter.opts[0].startswith("-"):
                parameter.metavar = _value_of(parameter)
        return command

    def get_help_option(self, ctx: Any) -> Any:
        return plain_help(super().get_help_option(ctx))

    def main(self, *arguments: Any, **options: Any) -> Any:
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(errors="replace")
        try:
            try:
                return super().main(*arguments, **options)
            finally:
                sys.stdout.flush()
        except BrokenPipeError:
            _discard_output()
            sys.exit(1)
        except OSError as error:
            _discard_output()
            say("error", f"cannot write to {error.filename or 'stdout'}: {error.strerror or error}", "red")
            sys.exit(BAD_INPUT)


def plain_help(option: Any) -> Any:
    """--help takes no value, and its description names none."""
    if option is not None:
        option.metavar = ""
    return option


def _value_of(parameter: Any) -> str | None:
    """A word for the value of an option: none for a switch; None where the types of Python say it well."""
    if getattr(parameter, "is_flag", False):
        return ""
    annotation = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    return VALUES.get((get_args(annotation) or (annotation,))[0])


def _discard_output() -> None:
    """Discards what is left in the buffer: Python would try to write it once more when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
