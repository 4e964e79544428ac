"""Operations on the pin-joint chain as published, and as counted here: Naudet, Lefeber & Terze, table 1, with our rows below.

The chain: n revolute joints with general twists and offsets, full inertia tensors, the base frame on the first joint.
Counted as operations.py says; the papers do not all tell what they count.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..model import Model, generators
from ..numbers import Operations
from .operations import Count, count_chain


@dataclass(frozen=True)
class PaperRow:
    """One algorithm; ``remark`` says what is special about the count."""

    algorithm: str
    count: Count
    published: bool
    remark: str = ""


def _published(algorithm: str, additions: tuple[int, int], multiplications: tuple[int, int], remark: str = "") -> PaperRow:
    per_body, offset = (Operations(*pair) for pair in zip(additions, multiplications, strict=True))
    return PaperRow(algorithm, Count(algorithm, per_body, offset), True, remark)


PUBLISHED = (
    _published("Featherstone", (275, -18), (336, -220)),
    _published("Vukobratovic", (231, -294), (249, -272)),
    _published("Valasek", (206, -345), (226, -343)),
    _published("Rein", (195, -247), (216, -317), "printed 411n-669"),
    _published("Naudet", (178, -230), (185, -245), "momenta"),
)

_PLAIN = (
    "articulated_body",
    "reference_point:centroid",
    "reference_point:joint",
    "reference_point:origin",
    "canonical_momenta:joint",
    "canonical_momenta:origin",
)
_WITHOUT_GRAVITY = ("articulated_body", "canonical_momenta:joint", "canonical_momenta:origin")
_PERPENDICULAR = ("articulated_body", "canonical_momenta:joint")


def paper_table() -> tuple[PaperRow, ...]:
    """The published rows, then ours: with gravity, without, and with perpendicular axes."""
    chain = generators.pin_joint_chain
    rows = [PaperRow(name, count_chain(chain, name), False) for name in _PLAIN]
    rows += [PaperRow(name, count_chain(chain, name, gravity=False), False, "no gravity") for name in _WITHOUT_GRAVITY]
    rows += [PaperRow(name, count_chain(_perpendicular, name), False, "perpendicular") for name in _PERPENDICULAR]
    return (*PUBLISHED, *rows)


def _perpendicular(n: int) -> Model:
    return generators.pin_joint_chain(n, perpendicular=True)
