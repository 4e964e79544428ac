"""The parts of a model as rows, with remarks on what is unusual."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import DynamicsError
from ..extremes import in_our_errors
from .loops.mobility import LoopReport, inspect_loops
from .remarks import remarks
from .stiffness import Fastest, fastest

if TYPE_CHECKING:
    from ..model import Element, Measure, Model

GROUND = "ground"


@dataclass(frozen=True)
class BodyRow:
    name: str
    joint: str
    mass: float


@dataclass(frozen=True)
class JointRow:
    name: str
    kind: str
    parent: str
    child: str
    dof: int
    driven: bool
    closes: bool = False  # a loop: it has no coordinates of its own


@dataclass(frozen=True)
class ElementRow:
    name: str
    kind: str
    where: str


@dataclass(frozen=True)
class StateRow:
    name: str
    rate: str
    initial: float
    unit: str


@dataclass(frozen=True)
class MeasureRow:
    name: str
    kind: str


@dataclass(frozen=True)
class Report:
    """What a model is made of. ``coordinates``: entries of v; ``dof``: what closed loops leave of them.

    ``fastest_frequency`` (Hz) and ``fastest_decay`` (1/s), estimates at the start, may be None; ``loops`` is None for a tree.
    """

    model: str
    mass: float
    dof: int
    coordinates: int
    duration: float | None
    bodies: tuple[BodyRow, ...]
    joints: tuple[JointRow, ...]
    elements: tuple[ElementRow, ...]
    states: tuple[StateRow, ...]
    inputs: tuple[str, ...]
    measures: tuple[MeasureRow, ...]
    fastest_frequency: float | None
    fastest_decay: float | None
    remarks: tuple[str, ...]
    loops: LoopReport | None = None
    imported: str | None = None  # the file of another program that it came from
    changed: tuple[str, ...] = ()  # what was changed to say the same here
    not_simulated: tuple[str, ...] = ()  # what that file says besides

    def __str__(self) -> str:
        from ..terminal import PlainConsole
        from .tables import show

        console = PlainConsole(highlight=False)
        with console.capture() as capture:
            show(self, console)
        return capture.get().rstrip("\n")

    def as_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        return {name: _plain(value) for name, value in dataclasses.asdict(self).items()}


@in_our_errors(DynamicsError)
def check(model: Model, *, rank_tolerance: float | None = None) -> Report:
    """The parts of a model, and anything unusual about it; ``rank_tolerance``: what counts as redundant, as in compile."""
    ends, count = _written_ends(model), model.body_count
    rows = list(zip(model.joint_names, model.joints, ends, model.driven.tolist(), strict=True))[:count]
    bodies = zip(model.body_names[:count], model.joint_names, model.mass.tolist(), strict=False)
    speed = fastest(model)
    loops = inspect_loops(model, rank_tolerance=rank_tolerance)
    unusual = [*(loops.problems if loops else ()), *remarks(model, speed)]
    return Report(
        model=model.name,
        mass=float(model.mass.sum()),
        dof=model.nv - len(model.state_places) if loops is None else loops.mobility,
        coordinates=model.nv,
        duration=model.duration,
        bodies=tuple(BodyRow(*row) for row in bodies),
        joints=(*(JointRow(n, j.kind, *ends, 0 if driven else j.nv, driven) for n, j, ends, driven in rows), *_closing(model)),
        elements=tuple(ElementRow(e.name, _element_kind(e), _where(model, e)) for e in model.elements[: model.force_count]),
        states=tuple(_states(model)),
        inputs=model.inputs,
        measures=tuple(MeasureRow(m.name, _kind(model, m)) for m in model.measures),
        fastest_frequency=_rate(speed.vibration, 2 * math.pi),
        fastest_decay=_rate(speed.decay, 1.0),
        remarks=tuple(unusual),
        loops=loops,
        imported=None if model.source is None else f"{model.source.file} ({model.source.format.upper()})",
        changed=() if model.source is None else model.source.remarks,
        not_simulated=() if model.source is None else model.source.unsimulated,
    )


def _states(model: Model) -> Iterator[StateRow]:
    """User-defined states, with their rates as they were written."""
    formulas = {signal.name: f"={signal.expression}" for signal in model.signals}
    for at, element in zip(model.state_places, model.elements[model.force_count :], strict=True):
        name = model.v_names[at]
        rate = formulas.get(f"{name}.rate", f"{element.values['value']:g}")
        yield StateRow(name, rate, float(model.given_v[at]), model.joints[element.joint].v_units[0])


def _written_ends(model: Model) -> list[tuple[str, str]]:
    """Parent and child of each joint of the tree, as the user wrote them."""
    inner = [GROUND if p < 0 else model.body_names[p] for p in model.parents]
    turned = model.turned or (False,) * model.n
    return [(c, p) if far else (p, c) for p, c, far in zip(inner, model.body_names, turned, strict=True)]


def _closing(model: Model) -> Iterator[JointRow]:
    """Joints that close loops, rods, guided points and couplers."""
    for closure in model.closures:
        kind = closure.mesh or (closure.kind if closure.joint is None else closure.joint.kind)
        a, b = (GROUND if row < 0 else model.body_names[row] for row in (closure.body_a, closure.body_b))
        if closure.kind == "coupler":
            ends = [(action.body_a, action.body_b) for action in closure.actions if action.reports]
            a, b = (GROUND if row < 0 else model.body_names[row] for row in ends[0]) if ends else ("", "")
        dof = 0 if closure.joint is None or closure.motion is not None else closure.joint.nv
        yield JointRow(closure.name, kind, a, b, dof, closure.motion is not None, closes=True)


def _rate(fastest: Fastest | None, scale: float) -> float | None:
    return None if fastest is None else fastest.rate / scale


def _where(model: Model, element: Element) -> str:
    if element.terms:
        return f"joints {', '.join(model.joint_names[row] for row, _, _ in element.terms)}"
    if element.joint >= 0 or element.closure >= 0:
        closing = model.closures[element.closure] if element.joint < 0 else None
        joint = model.joints[element.joint] if closing is None else closing.joint
        assert joint is not None
        part = joint.v_names[element.dof]
        return f"joint {model.joint_names[element.joint] if closing is None else closing.name}" + (f".{part}" if part else "")
    names = [GROUND if row < 0 else model.body_names[row] for row in (element.body_a, element.body_b)]
    return f"on {names[0]}" if element.kind == "force" else f"{names[0]} to {names[1]}"


def _element_kind(element: Element) -> str:
    """The kind in the words of the model file: joint_spring is a spring, joint_effort and joint_input are motors."""
    if element.kind in ("joint_effort", "joint_input"):
        return "motor"
    return element.kind.removeprefix("joint_").replace("spring_damper", "spring and damper").replace("_", " ")


def _kind(model: Model, measure: Measure) -> str:
    """The kind in the words of the model file."""
    if measure.kind == "element":
        return f"force of {measure.element}"
    if measure.kind == "closure":
        return f"force of {model.closures[measure.closure].name}"
    if measure.kind == "drive":
        name = model.closures[measure.closure].name if measure.closure >= 0 else model.joint_names[measure.joint]
        return f"force of the drive of {name}"
    if measure.kind == "reaction":
        name = model.closures[measure.closure].name if measure.closure >= 0 else model.joint_names[measure.joint]
        return f"reaction of {name}"
    rate = " (rate)" if measure.part == "rate" or (measure.kind, measure.part) == ("coordinate", "v") else ""
    return "formula" if measure.kind == "expression" else f"{measure.kind}{rate}"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple | list) else value
