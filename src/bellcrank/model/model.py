"""The frozen model: one row per joint and the body that it carries, in the order of the model file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import ModelError
from ..joints import Joint
from ..wording import counted
from .closure import Closure
from .element import Element
from .measures.columns import columns_of
from .measures.measure import Measure
from .motion import PrescribedMotion
from .source import Limits, Source
from .verify import verify

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..assembly import Assembly
    from ..inspection import Report
    from ..viewer.browser.page import Page
    from .parameters.written import Written
    from .spec.spec import Spec

Array = NDArray[np.float64]
Index = NDArray[np.intp]
LISTS = (
    "joint_names", "body_names", "parents", "joints", "motions", "elements", "inputs", "measures", "signals", "closures",
    "limits", "held_q", "held_v", "turned",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Model:
    """A mechanism as arrays (SI), all axes parallel to the world's in the design position.

    field        shape     meaning
    parents      n         row of the parent body, -1 = ground; a parent may come later than its child
    position     (n,3)     joint point minus the parent body's origin (ground's is the world's); zero for a free joint
    mass         (n,)
    center       (n,3)     centre of mass minus the body's origin, which is at its inboard joint's point
    inertia      (n,3,3)   about the centre of mass
    armature     (nv,)     added to the diagonal of the mass matrix
    gravity      (3,)
    given_q      (nq,)     the start as it was written, with loops that need not close; quaternions w, x, y, z of unit length
    given_v      (nv,)
    duration     s         None: the caller of ``simulate`` must say
    step         s         interval of the samples; None: the caller's choice
    motions      n, or ()  of driven joints, None for the others; a driven joint has no entries in q and v
    elements               force elements
    closures               what closes loops: joints cut out of them, rods, guided points, couplers
    inputs                 names of the values that the caller gives for a run
    measures               outputs that the user defined
    signals                measures of the formulas that force elements have
    limits       n, or ()  of joints, kept and not simulated; None for joints without
    held_q       names     of joints whose coordinates keep their given values when the loops are closed
    held_v       names     of joints whose velocities do
    turned       n, or ()  whether the user wrote the joint from its far side: its parent is the body that it carries here
    source                 of an imported model: what is not simulated, and how other programs write its states
    written                what the user wrote, which ``spec`` gives; None for a model made from arrays

    The start that satisfies the loops follows from the given one: ``initial_q`` and ``initial_v``.

    Arrays are copied and read-only. Everything that is impossible is listed in one ModelError.
    """

    name: str
    joint_names: tuple[str, ...]
    body_names: tuple[str, ...]
    parents: tuple[int, ...]
    joints: tuple[Joint, ...]
    position: Array
    mass: Array
    center: Array
    inertia: Array
    armature: Array
    gravity: Array
    given_q: Array
    given_v: Array
    duration: float | None = None
    step: float | None = None
    motions: tuple[PrescribedMotion | None, ...] = ()
    elements: tuple[Element, ...] = ()
    inputs: tuple[str, ...] = ()
    measures: tuple[Measure, ...] = ()
    signals: tuple[Measure, ...] = ()
    closures: tuple[Closure, ...] = ()
    limits: tuple[Limits | None, ...] = ()
    held_q: tuple[str, ...] = ()
    held_v: tuple[str, ...] = ()
    source: Source | None = None
    turned: tuple[bool, ...] = ()
    written: Written | None = field(default=None, init=False, repr=False)  # set by build; a changed copy of a model has none

    has_variables = False  # whether numbers of it depend on a design

    def __post_init__(self) -> None:
        for name in LISTS:
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for name, array in verify(self).items():
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @property
    def spec(self) -> Spec | None:
        """What the user wrote; None for a model made from arrays."""
        return None if self.written is None else self.written.spec

    def __repr__(self) -> str:
        return f'Model("{self.name}": {counted(self.body_count, "body", "bodies")}, nq = {self.nq}, nv = {self.nv})'

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and copy: without what is found again when it is asked for."""
        found = {name for name in vars(self) if isinstance(getattr(type(self), name, None), cached_property)}
        return {name: value for name, value in vars(self).items() if name not in found}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)  # neither pickle nor deepcopy remembers it
            object.__setattr__(self, name, value)

    def check(self, *, rank_tolerance: float | None = None) -> Report:
        """The parts of the model, and anything unusual about it; ``print`` it. ``rank_tolerance``: see compile."""
        from ..inspection import check  # goes upward

        return check(self, rank_tolerance=rank_tolerance)

    def draw(
        self,
        path: str | Path | None = None,
        *,
        q: ArrayLike | Mapping[str, float] | None = None,
        view: str = "auto",
        names: bool = True,
        as_drawn: bool = False,
        t: float = 0.0,
        keep: bool = False,
    ) -> Figure:
        """A picture of the mechanism, written to ``path`` (PNG, SVG, PDF by its ending) if one is given.

        q         the state: by names, and the loops are closed; or an array, drawn unchanged, with open loops marked; else the
                  model's start
        view      "front", "top", "side" or "iso"; "auto" looks at a planar mechanism along the normal of its plane
        names     whether names of joints, bodies and points are written
        as_drawn  the design position instead, as the model file has it, without closing the loops
        t         s, for prescribed motions
        keep      an existing file is an error, and not replaced
        """
        from ..viewer.pictures.picture import draw_model  # goes upward, as check does

        return draw_model(self, path, q=q, view=view, names=names, as_drawn=as_drawn, t=t, keep=keep)

    @cached_property
    def stictions(self) -> tuple[int, ...]:
        """Rows of the elements that are friction that holds; each has an anchor, which a run keeps."""
        return tuple(k for k, element in enumerate(self.elements) if element.kind == "joint_stiction")

    @cached_property
    def bearings(self) -> tuple[Element, ...]:
        """Friction that grows with the load of its joint; the load is an input, which ``simulate`` finds."""
        return tuple(e for e in self.elements if e.kind == "bearing_friction")

    @property
    def input_width(self) -> int:
        """Numbers that machine code takes as inputs: those of the user, then the anchors."""
        return len(self.inputs) + len(self.stictions)

    def input_of(self, element: Element) -> int:
        """The number of the input that an element reads; -1 if none."""
        if element.kind != "joint_stiction":
            return element.input
        return len(self.inputs) + [self.elements[k].name for k in self.stictions].index(element.name)

    def view(self, *, host: str = "127.0.0.1", port: int = 8080, open_browser: bool = True, **options: Any) -> Page:
        """The mechanism in the browser, with sliders for its numbers, each change of which is simulated at once.

        host, port    address of the page: only this machine can open it, unless another address is given
        open_browser  whether the page is opened in the browser of this machine
        options       of ``simulate``: duration, step, method ...

        The page is served while the program runs: ``page.wait()`` keeps it running, ``page.close()`` ends it.
        """
        from ..viewer.browser.page import view  # goes upward, as check does

        return view(self, host=host, port=port, open_browser=open_browser, **options)

    @property
    def initial_q(self) -> Array:
        """The initial coordinates, (nq,): those given, and with closed loops the assembled ones, at t = 0.

        Raises AssemblyError, with what stays open and by how much, where the loops cannot be closed.
        """
        return self.given_q if not self.closures else self.assembled_start.warned().q

    @property
    def initial_v(self) -> Array:
        """The velocities at the start, (nv,), with which the loops stay closed."""
        return self.given_v if not self.closures else self.assembled_start.warned().v

    @cached_property
    def assembled_start(self) -> Assembly:
        """The given start, its loops closed when it is first asked for; a changed copy of the model assembles its own."""
        from ..assembly import initial_assembly  # goes upward, as check does

        return initial_assembly(self)

    def to_mujoco(
        self, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None, *, tau: ArrayLike | None = None
    ) -> Any:
        """qpos, and qvel, qacc, qfrc of what else is given, as MuJoCo has them for this model's MJCF (docs/robots.md).

        One array if only q is given, else a tuple in the order q, v, a, tau. All may have leading dimensions.
        """
        return _states("mujoco", self).there(q, v, a, tau)

    def from_mujoco(
        self,
        qpos: ArrayLike,
        qvel: ArrayLike | None = None,
        qacc: ArrayLike | None = None,
        *,
        tau: ArrayLike | None = None,
    ) -> Any:
        """The inverse of to_mujoco: q, and v, a, tau of what else is given."""
        return _states("mujoco", self).here(qpos, qvel, qacc, tau)

    def to_pinocchio(
        self, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None, *, tau: ArrayLike | None = None
    ) -> Any:
        """q, and v, a, tau of what else is given, as Pinocchio has them for this model's URDF (docs/robots.md)."""
        return _states("pinocchio", self).there(q, v, a, tau)

    def from_pinocchio(
        self, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None, *, tau: ArrayLike | None = None
    ) -> Any:
        """The inverse of to_pinocchio: q, and v, a, tau of what else is given."""
        return _states("pinocchio", self).here(q, v, a, tau)

    @cached_property
    def closure_index(self) -> Index:
        """First equation of each closure; shape (closures + 1,), the last entry is the number of equations."""
        starts = np.cumsum([0, *(closure.rows for closure in self.closures)]).astype(np.intp)
        starts.setflags(write=False)
        return starts

    @cached_property
    def closing_names(self) -> tuple[str, ...]:
        """Coordinates of the joints that close loops: they follow from q, and are not in it."""
        closing = [(closure.name, closure.joint) for closure in self.closures if closure.joint is not None]
        return _entries(closing, [joint.q_names for _, joint in closing])

    @property
    def n(self) -> int:
        """Number of joints, and of the bodies that they carry."""
        return len(self.joints)

    @property
    def kinematic(self) -> bool:
        """Whether it was imported for kinematics alone: joints move nothing that has mass, and have no acceleration."""
        return self.source is not None and bool(self.source.undetermined)

    @cached_property
    def driven(self) -> NDArray[np.bool_]:
        """Joints whose motion is prescribed; shape (n,)."""
        driven = np.array([motion is not None for motion in self.motions] or [False] * self.n, dtype=bool)
        driven.setflags(write=False)
        return driven

    @cached_property
    def nq(self) -> int:
        return sum(self._counts("nq"))

    @cached_property
    def nv(self) -> int:
        return sum(self._counts("nv"))

    @cached_property
    def q_index(self) -> Index:
        """First entry of each joint in q; 0, without meaning, for a driven joint; shape (n,)."""
        return self._starts("nq")

    @cached_property
    def v_index(self) -> Index:
        """First entry of each joint in v; 0, without meaning, for a driven joint; shape (n,)."""
        return self._starts("nv")

    @cached_property
    def q_names(self) -> tuple[str, ...]:
        """``shoulder`` for a joint of one coordinate, ``base.x`` for one of several."""
        return _entries(self.moving_joints, [joint.q_names for _, joint in self.moving_joints])

    @cached_property
    def v_names(self) -> tuple[str, ...]:
        return _entries(self.moving_joints, [joint.v_names for _, joint in self.moving_joints])

    @cached_property
    def neutral_q(self) -> Array:
        """Every joint at zero: the design position, except that a free body's origin is at its parent's."""
        q = np.array([x for _, joint in self.moving_joints for x in joint.neutral], dtype=float)
        q.setflags(write=False)
        return q

    @cached_property
    def state_places(self) -> tuple[int, ...]:
        """Entries of v that are user-defined states: the last ones; they have none in q."""
        return tuple(int(at) for at, joint in zip(self.v_index, self.joints, strict=True) if not joint.mechanical)

    @property
    def body_count(self) -> int:
        """Rows that carry a body; those of user-defined states come after them."""
        return self.n - len(self.state_places)

    @property
    def force_count(self) -> int:
        """Elements that are forces; the rates of user-defined states come after them."""
        return len(self.elements) - len(self.state_places)

    @property
    def state_names(self) -> tuple[str, ...]:
        return tuple(self.v_names[at] for at in self.state_places)

    @property
    def all_measures(self) -> tuple[Measure, ...]:
        """Measures and signals."""
        return (*self.measures, *self.signals)

    @cached_property
    def measure_names(self) -> tuple[str, ...]:
        """Columns of the measures; of a vector ``tip.x``, ``tip.y``, ``tip.z``."""
        return tuple(name for name, _ in self._measure_columns)

    @cached_property
    def measure_units(self) -> tuple[str, ...]:
        """Their units; "" where one is not known."""
        return tuple(unit for _, unit in self._measure_columns)

    @property
    def _measure_columns(self) -> list[tuple[str, str]]:
        return [column for measure in self.measures for column in columns_of(self, measure)]

    @cached_property
    def parameters(self) -> Mapping[str, float]:
        """Every number that the user wrote, by path: ``parameters.L1``, ``lower_arm.mass``, ``tip.x`` (parameters.py)."""
        from .parameters.parameters import parameters_of

        return MappingProxyType({} if self.spec is None else parameters_of(self.spec))

    def with_parameters(self, changes: Mapping[str, float]) -> Model:
        """The model with other numbers, all formulas evaluated again; raises ModelError for a path that is not a parameter."""
        from .parameters.changing import changed_model

        if self.written is None:
            raise ModelError(f'"{self.name}" was made from arrays and has no parameters. Use dataclasses.replace.')
        return changed_model(self, self.written, changes)

    @property
    def moving_joints(self) -> list[tuple[str, Joint]]:
        """Names and joints that are not driven, whose coordinates are those of q."""
        rows = zip(self.joint_names, self.joints, self.driven.tolist(), strict=True)
        return [(name, joint) for name, joint, driven in rows if not driven]

    def _counts(self, field: str) -> list[int]:
        return [0 if driven else getattr(joint, field) for joint, driven in zip(self.joints, self.driven.tolist(), strict=True)]

    def _starts(self, field: str) -> Index:
        starts = np.where(self.driven, 0, np.cumsum([0, *self._counts(field)])[:-1]).astype(np.intp)
        starts.setflags(write=False)
        return starts


def _states(program: str, model: Model) -> Any:
    from ..io.exchange.states import mujoco_states, pinocchio_states  # goes upward, as check does

    return mujoco_states(model) if program == "mujoco" else pinocchio_states(model)


def _entries(moving: list[tuple[str, Joint]], suffixes: list[tuple[str, ...]]) -> tuple[str, ...]:
    pairs = zip(moving, suffixes, strict=True)
    return tuple(f"{name}.{suffix}" if suffix else name for (name, _), of_joint in pairs for suffix in of_joint)
