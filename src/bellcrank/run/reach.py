"""Prescribed lengths and coordinates of closures: how far they move the start, and where they are at the end of their reach.

A driven closure k is at the end of its reach where the motions that the other equations allow do not change what it drives:
with N the null space of the others' rows, G_k N = 0. The mechanism is then at a toggle of its drive.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..assembly.loops import Loops
from ..assembly.start import design
from ..assembly.words import length_words, unit_of
from ..dynamics.dynamics import Dynamics
from ..errors import warn
from ..model import Closure, Model
from ..results.driven import law_values
from ..spatial.rank import null_space

if TYPE_CHECKING:
    from ..results import Run

Array = NDArray[np.float64]

DRAWN = 1e-6  # of a length: a law that begins nearer to the drawn one keeps it
STILL = 5e-3  # of the typical length for one radian: a drive that moves less is at the end of its reach
LARGEST = 1_000_000  # entries of G
LENGTHS = {"distance": "length", "point_on_plane": "offset"}


def warn_of_moved_start(model: Model, start: dict[str, Array]) -> None:
    moved = moved_from_drawing(model, start["q"], float(start["t"]))
    if moved:
        warn(f"model {model.name!r}: {moved}.")


def with_reach(dynamics: Dynamics, run: Run, problem: str) -> str:
    """The reason why a run stopped: a drive that is at the end of its reach, whatever else was noticed."""
    if not len(run.values("time")):
        return problem
    last = run.final_state()
    ended = at_end_of_reach(dynamics, last.q, last.t)
    when = problem.partition(": ")[0]
    return f"{when}: {ended}. What was computed until then is kept." if ended else problem


def moved_from_drawing(model: Model, q: Array, t: float) -> str:
    """Driven lengths that differ from the drawn ones, and how far that moves the start q; empty where none does.

    A model made from arrays, without a spec, does not know how it was drawn.
    """
    differing = list(_differing(model, t))
    if model.spec is None or not differing:
        return ""
    moved = np.abs(q - design(model))
    order = [k for k in np.argsort(-moved) if moved[k] > 1e-9][:3]
    parts = [
        f"{model.q_names[k]!r} by {(q - design(model))[k]:+.4g} {unit_of(model, model.q_names[k])}".rstrip() for k in order
    ]
    return f"{'; '.join(differing)}. This moves the start{': ' + ', '.join(parts) if parts else ''}"


def _differing(model: Model, t: float) -> Iterator[str]:
    for closure in model.closures:
        if closure.motion is None or closure.kind not in LENGTHS:
            continue
        asked, drawn = _asked(closure, t), closure.value
        if np.isfinite(asked) and abs(asked - drawn) > DRAWN * max(abs(drawn), abs(asked)):
            what = f"the driven {LENGTHS[closure.kind]} of {closure.name!r}"
            yield f"{what} is {asked:.6g} m at t = {t:g} s and {drawn:.6g} m as drawn"


def at_end_of_reach(dynamics: Dynamics, q: Array, t: float) -> str:
    """The driven closure that cannot go on from here, in words; empty where there is none."""
    return "; ".join(_ended(Loops(dynamics), q, t)) if dynamics.model.closures else ""


def _ended(loops: Loops, q: Array, t: float) -> Iterator[str]:
    model = loops.model
    driven = [k for k, closure in enumerate(model.closures) if closure.motion is not None]
    if not driven or len(loops.rows) * model.nv > LARGEST or not np.isfinite(q).all():
        return
    G = loops.J(q, t)
    for k in driven:
        closure, own = model.closures[k], np.arange(*model.closure_index[[k, k + 1]])
        rows = own[-1:] if closure.joint is None else own
        others = np.delete(G, own, axis=0)
        left = null_space(others, loops.tolerance)
        if left.shape[1] and np.abs(G[rows] @ left).max(initial=0.0) < STILL * loops.length:
            yield _words(closure, t)


def _words(closure: Closure, t: float) -> str:
    if closure.kind not in LENGTHS:
        return f"the motion of {closure.name!r} is at the end of its reach: nothing that moves follows it there"
    now, later = _asked(closure, t), _asked(closure, t + 1e-6)
    more = "" if later == now else f", and its law asks for {'more' if later > now else 'less'}"
    return f"the driven {LENGTHS[closure.kind]} of {closure.name!r} is at the end of its reach, {length_words(now)}{more}"


def _asked(closure: Closure, t: float) -> float:
    assert closure.motion is not None
    return float(law_values(closure.motion.laws[0], np.array([t]))[0])
