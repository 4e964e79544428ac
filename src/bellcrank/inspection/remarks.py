"""What is unusual about a model: legal, but often a mistake. A new remark is a function and its name in KINDS."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..errors import AssemblyError, BellcrankError
from ..model.element import ELEMENTS
from ..model.parameters.expressions import derived
from ..model.parameters.overshoot import motion_tables, overshooting
from ..run.checks.jumps import jumping
from ..wording import together
from . import units
from .starting import compiled, position

if TYPE_CHECKING:
    from ..model import Model, Table
    from .stiffness import Speeds

EQUATIONS = 2000  # that close loops; beyond, the multipliers take longer than a look at a model should
APART = 1e4  # ratio of masses
FAR = 20  # times the usual distance of the model
FLAT = 1e-9  # of the largest inertia of the body
PERIODS = 1e4  # of the fastest vibration, or times of the fastest decay, in a run

IDLE = ("rest", "velocity", "lower", "upper", "length", "world", "side", "cylinder", "inside", "linear", "exponent", "radius")
# values with which alone an element does nothing
DOING = {kind: tuple(name for name in values if name not in IDLE) for kind, values in ELEMENTS.items()}


def remarks(model: Model, speed: Speeds) -> list[str]:
    """All that is unusual, in sentences."""
    found = [text for kind in (*KINDS, *units.KINDS) for text in kind(model)]
    return found + list(_fast(model, speed))


def _freedom(model: Model) -> Iterator[str]:
    if model.nv == len(model.state_places):
        yield "nothing is free to move: every joint is fixed or driven"


def _masses(model: Model) -> Iterator[str]:
    for name, mass in zip(model.body_names[: model.body_count], model.mass, strict=False):
        if mass == 0 and not model.kinematic:
            yield f'body "{name}" has no mass'
    heavy = np.flatnonzero(model.mass > 0)
    if not heavy.size:
        return
    most, least = heavy[np.argmax(model.mass[heavy])], heavy[np.argmin(model.mass[heavy])]
    if model.mass[most] > APART * model.mass[least]:
        yield (
            f'the masses are very different: body "{model.body_names[most]}" has {model.mass[most]:.3g} kg, '
            f'"{model.body_names[least]}" {model.mass[least]:.3g} kg'
        )


def _inertias(model: Model) -> Iterator[str]:
    values, vectors = np.linalg.eigh(model.inertia)
    for name, mass, principal, axes in zip(model.body_names, model.mass, values, vectors, strict=True):
        flat = np.flatnonzero(principal <= FLAT * principal[-1])
        if not mass:
            continue
        if len(flat) == 3:
            yield f'body "{name}" is a point: it has mass and no inertia'
        elif len(flat):
            yield f'body "{name}" has no inertia about the direction {_vector(axes[:, flat[0]])}'


def _distances(model: Model) -> Iterator[str]:
    """Centres far from the joint that carries them, compared with all arms of the model."""
    arms = np.linalg.norm(model.center, axis=1)
    offsets = np.linalg.norm(model.position, axis=1)
    lengths = np.concatenate([arms, offsets[np.asarray(model.parents) >= 0]])
    usual = float(np.median(lengths[lengths > 0])) if (lengths > 0).any() else 0.0
    for name, joint, arm in zip(model.body_names, model.joint_names, arms, strict=True):
        if arm > FAR * usual:
            yield f'the centre of body "{name}" is {arm:.3g} m from its joint "{joint}"; {usual:.3g} m is usual here'


def _idle_elements(model: Model) -> Iterator[str]:
    for e in model.elements[: model.force_count]:
        doing = DOING[e.kind]
        if e.table is None and not e.live and not any(e.values[name] for name in doing):
            yield f'{e.kind} "{e.name}" does nothing: its {_listed(doing)} {"is" if len(doing) == 1 else "are"} zero'
        elif e.kind in ("spring_damper", "bushing", "turning_spring") and e.body_a == e.body_b:
            body = "ground" if e.body_a < 0 else model.body_names[e.body_a]
            yield f'{e.kind} "{e.name}" does nothing: both of its ends are on "{body}"'


def _unread_inputs(model: Model) -> Iterator[str]:
    read = {e.input for e in model.elements if e.kind == "joint_input"}
    named = {
        name for measure in model.all_measures if measure.kind == "expression" for name in derived(measure.expression).names
    }
    for k, name in enumerate(model.inputs):
        if k not in read and name not in named:
            yield f'nothing uses the input "{name}"'


def _stops(model: Model) -> Iterator[str]:
    for e in model.elements:
        if e.kind != "joint_stop" or e.joint < 0 or model.driven[e.joint]:
            continue
        at, lower, upper = position(model)[model.q_index[e.joint] + e.dof], e.values["lower"], e.values["upper"]
        if not lower <= at <= upper:
            limits = f"{lower:.4g} to {upper:.4g}"
            yield f'joint "{model.joint_names[e.joint]}" starts at {at:.4g}, beyond its stop "{e.name}" ({limits})'


def _creeping(model: Model) -> Iterator[str]:
    """Smooth friction: under a part s of its effort it moves at velocity * s / sqrt(1 - s^2)."""
    smooth = [e for e in model.elements if e.kind == "bearing_friction" or (e.kind == "joint_friction" and e.values["effort"])]
    if smooth:
        names = together([f'"{e.name}"' for e in smooth[:3]] + ([f"{len(smooth) - 3} more"] if len(smooth) > 3 else []))
        speed = max(e.values["velocity"] for e in smooth) / np.sqrt(3)
        yield (
            f"friction {names} is smooth and does not hold: under half of its effort it creeps at {speed:.2g} m/s or rad/s. "
            "Give it a stiffness instead of a velocity if it has to hold"
        )


def _tables(model: Model) -> Iterator[str]:
    """Tables of time that end before the run does."""
    if model.duration is None:
        return
    timed: list[tuple[str, Table | None]] = [(f'"{e.name}"', e.table) for e in model.elements if e.kind == "joint_effort"]
    for what, table in [*timed, *motion_tables(model)]:
        if table and table.outside == "error" and (table.x[0] > 0 or table.x[-1] < model.duration):
            yield (
                f"the table of {what} goes from {table.x[0]:g} to {table.x[-1]:g} s, the run from 0 to {model.duration:g} s: "
                'it will stop there, unless outside = "clamp"'
            )


def _overshoot(model: Model) -> Iterator[str]:
    yield from overshooting(model)


def _jumps(model: Model) -> Iterator[str]:
    if model.duration is not None:
        yield from jumping(model, 0.0, model.duration)


def _names(model: Model) -> Iterator[str]:
    """Names that are easily confused."""
    forces = (e.name for e in model.elements[: model.force_count])
    names = [*model.body_names[: model.body_count], *model.joint_names, *forces, *model.inputs]
    names += [m.name for m in model.measures]
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.lower().replace("_", "").replace("-", ""), name)
        if other != name:
            yield f'the names "{other}" and "{name}" are easily confused'


def _start(model: Model) -> Iterator[str]:
    """Whether the equations of motion have an answer where the run begins."""
    if model.closure_index[-1] > EQUATIONS or model.kinematic:
        return
    try:
        v = model.assembled_start.v if model.closures else model.given_v
        compiled(model).acceleration(position(model), v)
    except AssemblyError:  # which LoopReport reports
        return
    except BellcrankError as error:
        yield f"the run cannot start: {error}"


def _fast(model: Model, speed: Speeds) -> Iterator[str]:
    if model.duration is None:
        return
    if speed.vibration:
        hertz = speed.vibration.rate / (2 * np.pi)
        if hertz * model.duration > PERIODS:
            yield (
                f'"{speed.vibration.element}" is very stiff for the mass that it moves: it vibrates at about {hertz:.2g} Hz, '
                f"{hertz * model.duration:.1g} times in the {model.duration:g} s of a run"
            )
    if speed.decay and speed.decay.rate * model.duration > PERIODS:
        yield (
            f'"{speed.decay.element}" damps very strongly for the mass that it moves: motions die out in about '
            f"{1 / speed.decay.rate:.1g} s, a run takes {model.duration:g} s"
        )


KINDS: tuple[Callable[[Model], Iterator[str]], ...] = (
    _freedom, _masses, _inertias, _distances, _idle_elements, _unread_inputs, _stops, _creeping, _tables,
    _overshoot, _jumps, _names, _start,
)  # fmt: skip


def _vector(axis: np.ndarray) -> str:
    axis = axis * np.sign(axis[np.argmax(np.abs(axis))]) + 0.0
    return f"({', '.join(f'{round(float(x), 3) + 0.0:g}' for x in axis)})"


def _listed(names: tuple[str, ...]) -> str:
    return together(names if len(names) <= 3 else (*names[:2], f"{len(names) - 2} more values"))
