"""A body as the formulations see it: constants of its signature, data and inputs in arrays, and what steps keep on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..joints import JOINTS_BY_KEY, JointData
from ..kernels.executor import Integer
from ..kernels.llvm.several import Several
from ..kernels.messages import leaves
from ..numbers import Dual, Number
from ..plan import SLOTS, Signature
from ..spatial import Force, FullTurn, Matrix, Motion, PlaneTurn, RigidInertia, Symmetric, Transform, Vector
from .arrays import IMPULSE, WRENCH

if TYPE_CHECKING:
    from .walk import Walk

TANGENT = "'"  # behind the name of an array whose numbers carry tangents: the part that these are


class Body:
    """Implements formulations.Body, for the body of one case of the switch, at the walk's current index."""

    def __init__(self, signature: Signature, walk: Walk, index: Integer):
        self.__dict__.update(walk=walk, index=index, there={}, signature=signature, _workspace=walk.workspaces[signature])
        self.__dict__.update(_constants=walk.constants[signature], _joint=JOINTS_BY_KEY[signature.joint])

    # memory -------------------------------------------------------------------------------------------------------

    def entry(self, column: str) -> Integer:
        """An integer of this body's row of the table."""
        return self.walk.array("table")[self.index, column]

    def load(self, array: str, k: int) -> Number:
        """An entry of the data or of an input, read once in a case."""
        if not self.walk.e.folds:
            return self._read(array, k)
        return self.walk.e.once(self.origin(array, k), self.index, lambda: self._read(array, k))

    def _read(self, array: str, k: int) -> Number:
        if array in ("data", "d_data"):
            return self.data(k, tangents=array == "d_data")
        whole = array.removesuffix(TANGENT)
        place = self.entry("q" if whole in ("q", "d_q", "driven_q") else "v") + k
        if not self.walk.carries(whole):
            return self.walk.array(whole)[place]
        return self.walk.array(whole).part(place, tangents=array != whole)

    def number(self, array: str, k: int) -> Number:
        """A number of an array, with its tangents if it carries any."""
        value = self.load(array, k)
        changes = self.walk.tangents_of(array)
        if changes is not None:
            return Dual(value, [self.load(changes, k)])
        return Dual(value, [self.load(array + TANGENT, k)]) if self.walk.carries(array) else value

    def data(self, slot: int, tangents: bool = False) -> Number:
        return self.walk.array("d_data" if tangents else "data")[self.index, slot]

    def memory(self) -> str:
        """Address of what steps keep on this body, in machine code."""
        return str(self.walk.array("work").row(self.index))

    def slot(self, k: int) -> int:
        """The place of the k-th of these numbers."""
        return k

    def kept_number(self, k: int, wide: bool) -> str:
        e, rows = self.walk.e, self.walk.array("work")
        if isinstance(self.index, Several):
            return str(e.gathered([e.pointer(rows.row(i), k) for i in self.index.each]))
        return str((e.load_wide if wide else e.load)(self.memory(), self.slot(k)))

    def origin(self, array: str, k: int) -> tuple[Any, ...]:
        """Says where a number was read, so that it can be read again."""
        return array, k

    def input(self, name: str) -> tuple[Number, ...]:
        walk, size = self.walk, range(self._joint.nq if name == "q" else self._joint.nv)
        if self.driven:
            if name == "push":
                return ()
            name = f"driven_{name}"
        elif name in ("effort", "push") or not walk.e.folds:
            array, first = walk.array(name), self.entry("q" if name == "q" else "v")
            return tuple([array[first + k] for k in size])
        return tuple([self.number(name, k) for k in size])

    def output(self, name: str, values: Sequence[Number]) -> None:
        walk, kind = self.walk, self.walk.program.outputs[name]
        if kind == "v*v":
            first, out = self.entry("v"), walk.array(name)
            for k, x in enumerate(values):
                out[first + k // self._joint.nv, first + k % self._joint.nv] = x
            return
        per, _, size = kind.partition("*")
        start = self.entry({"body": "user", "q": "q"}.get(per, "v")) * int(size or 1)
        for k, x in enumerate(values):
            walk.output(name, start + k, x)

    def _of_attached(self, array: str, size: int) -> list[Number]:
        return [self.walk.array(array)[self.entry("state"), k] for k in range(size)]

    def leave_state(self, numbers: Sequence[Number]) -> None:
        """Leave pose and velocity where the force elements and closures read them."""
        for k, x in enumerate(numbers):
            self.walk.array("states")[self.entry("state"), k] = x

    def leave_known(self, acceleration: Motion) -> None:
        """Leave the acceleration that velocities bring about, in the ground's axes, where the closures read it."""
        for k, x in enumerate(leaves(acceleration)):
            self.walk.array("known")[self.entry("state"), k] = x

    # what steps keep ----------------------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        if hasattr(type(self), name) or name in self.__dict__:
            raise AttributeError(f"a body has its own {name!r}: keep the value under another name")
        self._workspace.keep(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._workspace.recall(self, name)

    # what is asked ------------------------------------------------------------------------------------------------

    def _values(self, name: str, count: int | None = None) -> list[Number]:
        if not self.walk.e.folds:
            return [self._constants[k] if k in self._constants else self.data(k) for k in SLOTS[name][:count]]
        return [self._value(k) for k in SLOTS[name][:count]]

    def _value(self, slot: int) -> Number:
        if slot in self._constants:
            return self._constants[slot]
        value = self.load("data", slot)
        varies = self.walk.of_design and slot in self.signature.varied
        return Dual(value, [self.load("d_data", slot)]) if varies else value

    @property
    def _joint_data(self) -> JointData:
        pitch = self._values("pitch")[0] if self._joint.needs_pitch else 0.0
        if self.signature.style == "full":
            return JointData(pitch=pitch)
        return JointData(self._values("rest_angle")[0], PlaneTurn("z", *self._values("rest")), pitch)

    @property
    def transform(self) -> Transform:
        slide, turns = self._joint.motion(self.input("q"), self._joint_data)
        offset = Vector(*self._values("offset"))
        if self.signature.style == "plane":
            before = (PlaneTurn("z", *self._values("gamma")), PlaneTurn("x", *self._values("alpha")))
            return Transform(before, offset + slide, turns)
        entries = self._values("turn")
        axes = Matrix(Vector(*entries[:3]), Vector(*entries[3:6]), Vector(*entries[6:]))
        offset = offset + (axes @ slide)
        if all(isinstance(x, float) for x in entries) and axes == Matrix.identity():
            return Transform((), offset, turns)
        for turn in turns:
            axes = turn.columns(axes)
        return Transform((), offset, (FullTurn(axes),))

    @property
    def driven(self) -> bool:
        return self.signature.driven

    @property
    def attached(self) -> bool:
        """Force elements or closures are attached to it, and so its state is stored."""
        return self.signature.attached

    @property
    def loaded(self) -> bool:
        """Force elements or given multipliers act on it."""
        return self.signature.attached and self.walk.forces

    @property
    def freedoms(self) -> tuple[Motion, ...]:
        return self._joint.directions(self.input("q"), self._joint_data)

    @property
    def directions(self) -> tuple[Motion, ...]:
        return () if self.driven else self.freedoms

    @property
    def efforts(self) -> tuple[Force, ...]:
        return self._joint.efforts(self.input("q"), self._joint_data)

    @property
    def velocity(self) -> Motion:
        return _combined(Motion.zero(), self.freedoms, self.input("v"))

    def direction_rates(self, v: Sequence[Number]) -> tuple[Motion, ...]:
        return () if self.driven else self._joint.direction_rates(self.input("q"), v, self._joint_data)

    @property
    def bias(self) -> Motion:
        bias = self._joint.bias(self.input("q"), self.input("v"), self._joint_data)
        return _combined(bias, self.freedoms, self.input("a")) if self.driven else bias

    @property
    def rates(self) -> tuple[Number, ...]:
        return () if self.driven else self._joint.rates(self.input("q"), self.input("v"))

    @property
    def effort(self) -> tuple[Number, ...]:
        if self.driven:
            return ()
        source = self.walk.effort_source
        return (0.0,) * self._joint.nv if source is None else self.input(source)

    @property
    def applied_world(self) -> Force:
        if not self.loaded:
            return Force.zero()
        numbers = self._of_attached("applied", WRENCH)
        return Force(Vector(*numbers[:3]), Vector(*numbers[3:]))

    @property
    def applied(self) -> Force:
        return self._in_own_axes(self._of_attached("applied", WRENCH)) if self.loaded else Force.zero()

    @property
    def pushed(self) -> Force:
        return self._in_own_axes(self._of_attached("applied", WRENCH)) if self.attached else Force.zero()

    @property
    def impulse(self) -> tuple[Force, Force]:
        if not self.attached:
            return Force.zero(), Force.zero()
        numbers = self._of_attached("impulses", IMPULSE)
        return self._in_own_axes(numbers[:6]), self._in_own_axes(numbers[6:])

    def _in_own_axes(self, numbers: Sequence[Number]) -> Force:
        inverse = self.world_axes.transpose()
        return Force(inverse @ Vector(*numbers[:3]), inverse @ Vector(*numbers[3:]))

    @property
    def inertia(self) -> RigidInertia:
        return RigidInertia(Symmetric(*self._values("J")), Vector(*self._values("mc")), self._values("m")[0])

    @property
    def center(self) -> Vector:
        return Vector(*self._values("center"))

    @property
    def central_inertia(self) -> Symmetric:
        return Symmetric(*self._values("Jc"))

    @property
    def slide(self) -> Vector:
        slide, _ = self._joint.motion(self.input("q"), self._joint_data)
        if self.signature.style == "plane":
            return slide
        entries = self._values("turn")
        return Matrix(Vector(*entries[:3]), Vector(*entries[3:6]), Vector(*entries[6:])) @ slide

    @property
    def carried_mass(self) -> Number:
        return self._values("carried_m")[0]

    @property
    def carried_moment(self) -> Vector:
        return Vector(*self._values("carried_mc"))

    @property
    def armature(self) -> tuple[Number, ...]:
        return () if self.driven else tuple(self._values("armature", self._joint.nv))

    @property
    def rotor(self) -> tuple[Number, ...]:
        return self.armature if self._joint.mechanical else ()


def _combined(start: Motion, directions: tuple[Motion, ...], amounts: Sequence[Number]) -> Motion:
    for S, amount in zip(directions, amounts, strict=True):
        start = start + S * amount
    return start
