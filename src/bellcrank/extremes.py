"""What arithmetic and memory cannot do, in our own errors: public functions are marked with ``in_our_errors``."""

from __future__ import annotations

import functools
import os
import traceback
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from .errors import BellcrankError

PACKAGE = os.path.dirname(__file__)
P = ParamSpec("P")
R = TypeVar("R")


def in_our_errors(kind: type[BellcrankError]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A function that raises ``kind`` where numbers are too large, too small or too unequal for it, or memory ends."""

    def marked(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def called(*arguments: P.args, **options: P.kwargs) -> R:
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


def _is_ours(error: Exception) -> bool:
    """Whether it comes from us, or from a library that we called: what a function of the user raises is the user's."""
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    own = [file for file in files if not any(f"{os.sep}{library}{os.sep}" in file for library in ("numpy", "scipy"))]
    return bool(own) and own[-1].startswith(PACKAGE)


def _reason(error: Exception) -> str | None:
    """Why a computation broke down; None for an error of another kind."""
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
