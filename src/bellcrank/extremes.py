"""The decorator ``in_our_errors`` of public functions: overflow, lack of memory and arguments that are not models become a
BellcrankError.
"""

from __future__ import annotations

import functools
import numbers
import os
import traceback
from collections.abc import Callable
from math import isfinite
from typing import Any, ParamSpec, TypeGuard, TypeVar

from .errors import BellcrankError, StateError

PACKAGE = os.path.dirname(__file__)
P = ParamSpec("P")
R = TypeVar("R")


def in_our_errors(kind: type[BellcrankError]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A function that raises ``kind`` where numbers are too large, too small or too unequal for it, or memory ends; and
    StateError where its first argument, annotated as a Model, is something else."""

    def marked(function: Callable[P, R]) -> Callable[P, R]:
        takes_model = next(iter(function.__annotations__.items()), None) == ("model", "Model")

        @functools.wraps(function)
        def called(*arguments: P.args, **options: P.kwargs) -> R:
            if takes_model and (arguments or "model" in options):
                require_model(arguments[0] if arguments else options["model"], function.__name__)
            try:
                return function(*arguments, **options)
            except BellcrankError:
                raise
            except (ArithmeticError, ValueError, RecursionError, MemoryError) as error:
                reason = _reason(error)
                if reason is None or not _is_ours(error):
                    raise
                raise kind(f"{function.__name__}: {reason}") from error

        return called

    return marked


def is_finite_number(value: Any) -> TypeGuard[float]:
    """Whether it is a number, and one that floating-point numbers can hold."""
    if isinstance(value, bool):
        return False
    try:
        return isinstance(value, numbers.Real) and isfinite(value)
    except OverflowError:  # an integer of hundreds of digits
        return False


def require_model(model: Any, where: str) -> None:
    """Raises StateError if this is not a Model, with what to write instead."""
    from .model import Model

    if isinstance(model, Model):
        return
    if isinstance(model, str | os.PathLike):
        name = os.fspath(model)
        shown = name if "\n" not in name else "..."
        raise StateError(f'{where} takes a loaded model, not text or a path: give bc.load("{shown}")')
    if isinstance(getattr(model, "model", None), Model):
        raise StateError(f"{where} takes a model, not {_a(model)}: give its .model")
    raise StateError(f"{where} takes a model, not {_a(model)}: bc.load reads one")


def _a(x: Any) -> str:
    return "None" if x is None else f"an object of type {type(x).__name__}"


def _is_ours(error: Exception) -> bool:
    """Whether it comes from us, or from a library that we called: what a function of the user raises is the user's."""
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    own = [file for file in files if not any(f"{os.sep}{library}{os.sep}" in file for library in ("numpy", "scipy"))]
    return bool(own) and own[-1].startswith(PACKAGE)


def _reason(error: Exception) -> str | None:
    """The reason why a computation broke down; None for an error of another kind."""
    from numpy.linalg import LinAlgError

    if isinstance(error, MemoryError):
        return f"it takes more memory than there is ({error}). Ask for fewer samples, or for a smaller model."
    if isinstance(error, RecursionError):
        return "the model is nested too deeply."
    if isinstance(error, ArithmeticError | LinAlgError):
        return (
            f"the model's numbers are too large, too small or too unequal to compute with ({error}). "
            "Look for a wrong unit or a digit too many; check names the masses and lengths that are unusual."
        )
    return None
