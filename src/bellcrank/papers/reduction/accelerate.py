"""Accelerations of a closed mechanism by one of Critchley & Anderson's variants, in plain numpy: to compare and to teach."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...errors import StateError
from ...model import Model
from ...spatial.rank import rank
from ...wording import argument
from . import acs, body, forces, gcl, rcr
from .opened import Opened, graph, open_loops
from .report import Choice, Reduced
from .state import GROUND, Array, Mechanism, at_state
from .tree import Recursion, solve

THRESHOLDS = {"rcr": 1e-7, "acs": 1e-7, "gcl": 1e-3, "body": 1e-2}


def accelerate(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None = None,
    *,
    t: float = 0.0,
    inputs: ArrayLike | None = None,
    variant: str = "body",
    dependents: Sequence[str] | None = None,
    fictitious: tuple[str, str] | None = None,
    threshold: float | None = None,
) -> Reduced:
    """Accelerations and multipliers at one state, with the coordinates that were taken as dependent.

    variant     dependent coordinates
    rcr         the last ones of each loop
    acs         those named in ``dependents``, of all loops; without names, by pivoting
    gcl         the last ones of each loop, loops turned round or given a fictitious joint where that is singular
    body        directions of joints, found by pivoting body by body; for any mechanism

    fictitious: two bodies of a loop between which gcl is to put a joint, whether the loop needs it or not.
    threshold: the smallest pivot of a dependent coordinate, between 0 and 1. Below it rcr and acs stop with an error, gcl looks
    for another representation, body puts the decision off.
    """
    if variant not in THRESHOLDS:
        raise StateError(f'there is no variant "{variant}". Choose from {", ".join(THRESHOLDS)}.')
    if dependents is not None and variant != "acs":
        raise StateError(
            f'dependents were named for variant "{variant}", which finds its own. Use {argument("variant", "acs")}.'
        )
    if fictitious is not None and variant != "gcl":
        raise StateError(f'a fictitious joint was asked for with variant "{variant}". Use {argument("variant", "gcl")}.')
    least = THRESHOLDS[variant] if threshold is None else threshold
    if not 0 < least < 1:
        raise StateError(f"the threshold is {least}. Give a number between 0 and 1.")
    mechanism = at_state(model, *_checked(model, q, v, tau), float(t), _inputs(model, inputs))
    if variant == "body":
        return body.accelerations(mechanism, least)
    _refuse_couplers(mechanism, variant)
    if variant == "gcl":
        found = gcl.accelerations(mechanism, least, _rows(mechanism, fictitious))
        return _reduced(variant, mechanism, found.a, found.choices, found.remarks)
    opened = open_loops(mechanism, graph(mechanism))
    a, choices = by_loops(opened, variant, dependents, least)
    return _reduced(variant, mechanism, a, choices, _directions(opened))


def by_loops(
    opened: Opened, variant: str, dependents: Sequence[str] | None, threshold: float, base_rule: str = "symmetric"
) -> tuple[Array, list[Choice]]:
    """RCR or ACS on opened loops that share no bodies; ``base_rule``: see rcr.Inboard."""
    _refuse_shared_bodies(opened, variant)
    choices: list[Choice] = []
    if dependents is not None:
        _check_names(opened, dependents)

    def reduce_loop(work: Recursion, number: int) -> Any:
        chain = rcr.Chain(work, number)
        if variant == "rcr":
            chosen = rcr.last(chain)
        else:
            chosen = acs.chosen(chain) if dependents is None else acs.named(chain, dependents)
            _check_count(chain, chosen)
        dependence = rcr.closure(chain, chosen, threshold)
        choices.extend(dependence.choices)
        return (rcr.Rcr if variant == "rcr" else acs.Acs)(chain, dependence, chosen, base_rule)

    return solve(opened, reduce_loop).by_coordinate(), choices


def _reduced(variant: str, mechanism: Mechanism, a: Array, choices: list[Choice], remarks: tuple[str, ...]) -> Reduced:
    G = forces.jacobian(mechanism)
    own = tuple(choices)
    residual = float(np.linalg.norm(G @ a - forces.right_side(mechanism)))
    return Reduced(variant, a, forces.multipliers(mechanism, a), own, rank(G), residual, remarks)


def _directions(opened: Opened) -> tuple[str, ...]:
    return tuple(
        f'loop "{loop.name}": {opened.body_name(loop.base)}, '
        + ", ".join(opened.mechanism.name(body) for body in loop.bodies[1:])
        + f", and back over {loop.name}"
        for loop in opened.loops
    )


# What cannot be -----------------------------------------------------------------------------------------------------------


def _checked(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike | None) -> tuple[Array, Array, Array]:
    given = {"q": (q, model.nq), "v": (v, model.nv), "tau": (np.zeros(model.nv) if tau is None else tau, model.nv)}
    found = []
    for name, (values, size) in given.items():
        array = np.asarray(values, dtype=float)
        if array.shape != (size,):
            raise StateError(f"{name} has the shape {array.shape}. Give one state, of shape ({size},).")
        if not np.isfinite(array).all():
            raise StateError(f"{name} has entries that are not finite: {array}.")
        found.append(array)
    return found[0], found[1], found[2]


def _inputs(model: Model, inputs: ArrayLike | None) -> Array:
    values = np.zeros(model.input_width) if inputs is None else np.asarray(inputs, dtype=float)
    if values.shape != (model.input_width,):
        raise StateError(f"inputs have the shape {values.shape}. The model has {len(model.inputs)}: {', '.join(model.inputs)}.")
    return values


def _rows(mechanism: Mechanism, names: tuple[str, str] | None) -> tuple[int, int] | None:
    if names is None:
        return None
    place = {"ground": GROUND} | {body.name: k for k, body in enumerate(mechanism.bodies)}
    unknown = [name for name in names if name not in place]
    if unknown or len(names) != 2 or names[0] == names[1]:
        raise StateError(f"a fictitious joint is between two different bodies, not {names}. Choose from {', '.join(place)}.")
    return place[names[0]], place[names[1]]


def _refuse_couplers(mechanism: Mechanism, variant: str) -> None:
    couplers = [tie.name for tie in mechanism.ties if tie.terms]
    if couplers:
        raise StateError(
            f'variant "{variant}" closes loops of bodies, and {", ".join(couplers)} couples coordinates. '
            f"Use {argument('variant', 'body')}."
        )


def _refuse_shared_bodies(opened: Opened, variant: str) -> None:
    owner: dict[int, str] = {}
    for loop in opened.loops:
        for k in loop.chain:
            if k in owner:
                raise StateError(
                    f'variant "{variant}" takes loops one by one, and the loops "{owner[k]}" and "{loop.name}" share '
                    f'{opened.body_name(k)}. Use {argument("variant", "gcl")} or "body".'
                )
            owner[k] = loop.name


def _check_names(opened: Opened, dependents: Sequence[str]) -> None:
    known = [name for loop in opened.loops for k in loop.chain for name in opened.links[k].coordinates]
    unknown = [name for name in dependents if name not in known]
    if unknown:
        raise StateError(
            f"{', '.join(map(str, unknown))} cannot be dependent: no loop has such a coordinate. "
            f"Choose from {', '.join(known)}."
        )


def _check_count(chain: rcr.Chain, chosen: set[int]) -> None:
    if len(chosen) != chain.rank:
        names = ", ".join(chain.name(k) for k in sorted(chosen))
        others = ", ".join(chain.name(k) for k in chain.moving if k not in chosen)
        raise StateError(
            f'loop "{chain.loop.name}" has {chain.rank} independent equations, and {len(chosen)} dependent coordinates: '
            f"{names}. Those of the closing joint always are. The others are {others}."
        )
