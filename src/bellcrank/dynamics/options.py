"""Options of compile(): formulations, variants and stabilisation by their names, and errors for anything else."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..errors import StateError
from ..formulations import CANONICAL, CLOSED, FORMULATIONS, Program
from ..wording import argument

VARIANTS = ("block", "body", "rcr", "acs", "gcl")


class Variant(NamedTuple):
    """A variant of coordinate_reduction that runs in Python, the names of its dependent coordinates, and two bodies between
    which "gcl" puts a fictitious joint."""

    name: str
    dependents: tuple[str, ...] | None = None
    fictitious: tuple[str, str] | None = None


def checked_variant(
    formulation: str, variant: str | None, dependents: Sequence[str] | None, fictitious: Sequence[str] | None = None
) -> Variant | None:
    """A variant that runs in Python; None for compiled code."""
    if variant is None and dependents is None and fictitious is None:
        return None
    if formulation != "coordinate_reduction":
        what = "variant, dependents and fictitious are options of formulation 'coordinate_reduction'"
        raise StateError(f"{what}, not of {formulation!r}")
    if fictitious is not None and (variant != "gcl" or len(fictitious) != 2):
        raise StateError(f"variant={variant!r}, fictitious={fictitious!r}: give two bodies, with variant 'gcl'")
    if variant not in VARIANTS or (dependents is not None and variant != "acs"):
        raise StateError(f"variant={variant!r}, dependents={dependents!r}: use {', '.join(VARIANTS)}; dependents go with 'acs'")
    if variant == "block":
        return None
    bodies = None if fictitious is None else (str(fictitious[0]), str(fictitious[1]))
    return Variant(variant, None if dependents is None else tuple(dependents), bodies)


def stabilisation(baumgarte: tuple[float, float] | None) -> tuple[float, float]:
    """2 alpha and beta^2."""
    if baumgarte is None:
        return 0.0, 0.0
    try:
        alpha, beta = (float(x) for x in baumgarte)
    except (TypeError, ValueError):
        alpha = beta = np.nan
    if not (0 <= alpha < np.inf and 0 <= beta < np.inf):
        raise StateError(f"baumgarte is {baumgarte!r}: give two numbers alpha and beta in 1/s, zero or more")
    return 2 * alpha, beta * beta


def choose(formulation: str, reference: str | None, *, closed: bool) -> tuple[str, Program]:
    """The program of a formulation by name and option, and the name of what was chosen."""
    formulation = str(formulation)
    known = CLOSED if closed else FORMULATIONS | CLOSED
    families = ["auto", *dict.fromkeys(key.partition(":")[0] for key in (*known, *CANONICAL))]
    with_reference = {"reference_point": "origin", "multipliers": "joint", "canonical_momenta": "joint"}
    asked = formulation
    if formulation == "auto":
        formulation = "coordinate_reduction" if closed else "articulated_body"
    if closed and formulation == "canonical_momenta":
        if reference is not None:
            given = argument("reference", reference)
            raise StateError(f"{given} is an option of formulation 'canonical_momenta' for trees, not for closed loops")
        return formulation, CLOSED["coordinate_reduction"]  # accelerations by the elimination by which the momenta go
    if closed and formulation in {key.partition(":")[0] for key in FORMULATIONS}:
        raise StateError(
            f"formulation {formulation!r} is for trees, and this model has closed loops: use {', '.join(families)}"
        )
    if reference is not None and formulation not in with_reference:
        options = ", ".join(repr(name) for name in with_reference)
        raise StateError(f"{argument('reference', reference)} is an option of formulations {options}, not of {asked!r}")
    name = formulation
    if formulation in with_reference:
        name = f"{formulation}:{reference or with_reference[formulation]}"
    if name not in known:
        if formulation in with_reference:
            references = [repr(key.partition(":")[2]) for key in known if key.partition(":")[0] == formulation]
            raise StateError(
                f"{argument('reference', reference)} is unknown: use {', '.join(references[:-1])} or {references[-1]}"
            )
        near = difflib.get_close_matches(formulation, families, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise StateError(f"there is no formulation {formulation!r}{hint}: use one of {', '.join(families)}")
    return name, known[name]
