"""One exception tree: where, what, the value, and the remedy, in the user's own names."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .characters import visible


class BellcrankError(Exception):
    """Base of every error that Bellcrank raises on purpose."""

    def __init__(self, message: str = "") -> None:
        super().__init__(visible(str(message)))


class ModelError(BellcrankError, ValueError):
    """A model, or a model file, that cannot be: all of its problems are listed at once."""


class StudyError(BellcrankError, ValueError):
    """A study, or a study file, that cannot be carried out: all of its problems are listed at once."""


class StateError(BellcrankError, ValueError):
    """An argument of the wrong kind, shape or value: q, v, tau, a name, an option."""


class DynamicsError(BellcrankError, ArithmeticError):
    """The equations of motion have no finite answer at this state."""


class NoAdjointError(StateError):
    """The adjoint of a run cannot differentiate this; forward derivatives can: mode="forward"."""


class MissedEventError(StateError):
    """An event of which an output speaks does not happen in a run, or is only touched."""


class AssemblyError(BellcrankError, ArithmeticError):
    """Loops that do not close, or velocities that they do not agree with. ``q`` is the nearest configuration found."""

    def __init__(self, message: str, q: Any = None) -> None:
        super().__init__(message)
        self.q = q


class SimulationError(BellcrankError):
    """A run that ended early. What was computed until then is in ``run``."""

    def __init__(self, message: str, run: Any = None) -> None:
        super().__init__(message)
        self.run = run


class Interrupted(SimulationError):
    """A run that Ctrl-C ended. What was computed until then is in ``run``."""


@contextmanager
def interrupts_pass() -> Iterator[None]:
    """Around a run inside something longer: what ends the run ends that too."""
    try:
        yield
    except Interrupted as error:
        raise KeyboardInterrupt from error


class MissingExtraError(BellcrankError, ImportError):
    """An optional package is not installed; the message names the install command."""


class BellcrankWarning(UserWarning):
    """Base of every warning that Bellcrank gives."""


class StiffnessWarning(BellcrankWarning):
    """A run takes short steps to stay stable, not for accuracy; the message names a method that need not."""


class AccuracyWarning(BellcrankWarning):
    """A result is less accurate than its tolerance promises; the message says by how much, and what to do about it."""


class _CollectedWarnings(threading.local):
    """Warnings of a thread that are collected instead of given."""

    texts: list[str] | None = None


_heard = _CollectedWarnings()


@contextmanager
def kept_warnings() -> Iterator[list[str]]:
    """Collects the warnings of this thread: for runs among many, which are reported together."""
    before, _heard.texts = _heard.texts, []
    try:
        yield _heard.texts
    finally:
        _heard.texts = before


def warn(message: str, kind: type[BellcrankWarning] = BellcrankWarning) -> None:
    """A warning at the line outside this package from which it was called, however deep inside it arises."""
    message = visible(message)
    if _heard.texts is not None:
        _heard.texts.append(message)
        return
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, kind, stacklevel=level)
