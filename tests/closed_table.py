"""The closed mechanisms that every formulation must move rightly, each with a state and the answers of the reference."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from bellcrank.model import Model

from . import closed_reference as ref
from .closed import CLOSING, DRIVEN, doubled, random_closed
from .closed_linkages import bennett, bricard, four_bar, ladder, n_four_bar, parallelogram, spatial_ladder
from .closed_states import moving

Make = Callable[[], Model]

# One closure of each kind alone, with every force element on it that it takes.
EACH_KIND: dict[str, Make] = {kind: lambda kind=kind: random_closed(8, 10, (kind,), loads=True) for kind in (*CLOSING, *DRIVEN)}  # type: ignore[misc]

COUPLED: dict[str, Make] = {
    "loops that share bodies": lambda: random_closed(9, 3, ("revolute", "spherical", "distance"), loads=True),
    "multi-dof joints close loops": lambda: random_closed(11, 2, ("universal", "cylindrical", "planar"), loads=True),
    "a slider, a screw and a weld close loops": lambda: random_closed(13, 1, ("prismatic", "screw", "fixed"), loads=True),
    "guided points and a gear": lambda: random_closed(
        9, 1, ("point_on_line", "point_on_plane", "coupler", "distance"), loads=True
    ),
    "axes at right angles": lambda: random_closed(
        9, 1, ("perpendicular", "perpendicular", "spherical"), free_root=True, loads=True
    ),
    "loops on a floating base": lambda: random_closed(9, 3, ("revolute", "universal", "distance"), free_root=True, loads=True),
    "loops on driven bases": lambda: random_closed(12, 2, ("spherical", "cylindrical", "coupler"), driven=0.25, loads=True),
    "driven closures": lambda: random_closed(13, 2, ("driven revolute", "driven distance", "driven coupler"), loads=True),
    "driven sliders and screws": lambda: random_closed(
        16, 2, ("driven prismatic", "driven cylindrical", "driven screw"), loads=True
    ),
    "driven platforms": lambda: random_closed(16, 2, ("driven universal", "driven planar", "driven free"), loads=True),
    "driven closures on driven bases": lambda: random_closed(
        14, 1, ("driven spherical", "driven point_on_plane", "spherical"), free_root=True, driven=0.2, loads=True
    ),
    "spatial ladder": lambda: spatial_ladder(3),
    "four-bar pinned in its plane": lambda: four_bar("point_on_line"),
}

REDUNDANT: dict[str, Make] = {
    "four-bar of hinges": four_bar,
    "four-bar with a ball": lambda: four_bar("spherical"),
    "four-bars in a row": lambda: n_four_bar(5),
    "parallelogram with more cranks": lambda: parallelogram(2, "point_on_line"),
    "ladder of hinges": lambda: ladder(4),
    "every closure twice": lambda: doubled(random_closed(9, 3, ("revolute", "spherical", "distance"), loads=True)),
    "Bennett": bennett,
    "Bricard": bricard,
}

MECHANISMS = COUPLED | REDUNDANT
ALL = EACH_KIND | MECHANISMS


class Case(NamedTuple):
    model: Model
    state: dict[str, Any]
    expected: ref.Closed


@cache
def case(name: str, seed: int = 1) -> Case:
    """A mechanism of the table, moving."""
    model = ALL[name]()
    state = moving(model, seed, reach=0.3)
    return Case(model, state, ref.closed(model, state))
