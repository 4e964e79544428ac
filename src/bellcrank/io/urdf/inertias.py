"""Masses and inertias of a URDF that no body can have, or that are missing: refused, unless they cannot matter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...model.geometry.physics import impossible
from ...model.order import outward_order
from ...model.spec.problems import names, refusal
from ...wording import argument
from ..exchange.imported import ImportedBody
from ..options import Options

NOTHING = 1e-16  # of the largest of the robot: what double arithmetic leaves of zero


@dataclass
class Inertias:
    """Links by what is wrong with their masses and inertias."""

    broken: list[str] = field(default_factory=list)  # no body can have them; taken as they are
    unknown: list[str] = field(default_factory=list)  # the file does not give them; they count as zero
    idle: list[str] = field(default_factory=list)  # either of them, where they cannot matter; they count as zero
    rounded: list[str] = field(default_factory=list)  # off by rounding; they count as zero

    @property
    def impossible(self) -> bool:
        return bool(self.broken or self.unknown)

    def remarks(self) -> Iterator[str]:
        """A line for each kind of change that was made."""
        for which, what in (
            (self.broken, "masses and inertias that no body can have"),
            (self.unknown, "masses and inertias that are missing, and count as zero"),
            (self.idle, "masses and inertias that are missing or that no body can have, of links where they cannot matter"),
            (self.rounded, "masses and inertias that are off by rounding, and count as zero"),
        ):
            if which:
                yield f"{what}: {names(which, 4)}"


def look_at_inertias(bodies: Sequence[ImportedBody], unknown: Mapping[str, str], options: Options) -> Inertias:
    """Sorts them, and sets those to zero that count as that; raises ModelError for what the user does not allow.

    ``unknown`` has the links whose masses or inertias the file does not give, with the reason.
    """
    mass, inertia = np.array([body.mass for body in bodies]), np.array([body.J for body in bodies])
    wrong = {i: text for i, text in impossible(mass, inertia) if bodies[i].name not in unknown}
    smallest_mass, smallest_inertia = (NOTHING * float(np.abs(x).max(initial=0.0)) for x in (mass, inertia))
    matters = list(_matters(bodies, options))
    found, lines = Inertias(), list[str]()
    for i, body in enumerate(bodies):
        if i not in wrong and body.name not in unknown:
            continue
        if not matters[i] or (matters[i] == "mass" and body.mass > 0):
            body.mass, body.J = (body.mass if matters[i] else 0.0), np.zeros((3, 3))
            found.idle.append(body.name)
        elif i in wrong and body.mass >= -smallest_mass and (body.mass < 0 or np.abs(body.J).max() <= smallest_inertia):
            body.mass, body.J = max(body.mass, 0.0), body.J if np.abs(body.J).max() > smallest_inertia else np.zeros((3, 3))
            found.rounded.append(body.name)
        else:
            (found.broken if i in wrong else found.unknown).append(body.name)
            lines.append(unknown.get(body.name) or f'{body.where}: link "{body.name}": {wrong[i]}')
    if lines and options.broken_inertia == "refuse":
        raise refusal(lines, f"To load it all the same, pass {argument('broken_inertia', 'allow')}.")
    return found


def _matters(bodies: Sequence[ImportedBody], options: Options) -> Iterator[str]:
    """What can matter of each: "" of one that stands on the ground, or of any if only kinematics is asked for; "mass" of one
    that slides and never turns; else "inertia" too.
    """
    found = [""] * len(bodies)
    for i in outward_order([body.parent for body in bodies]) if options.massless != "kinematics" else ():
        kinds = {joint.kind for joint in bodies[i].joints} - {"fixed"}
        inner = found[bodies[i].parent] if bodies[i].parent >= 0 else ""
        found[i] = "inertia" if inner == "inertia" or kinds - {"prismatic"} else "mass" if kinds else inner
    yield from found
