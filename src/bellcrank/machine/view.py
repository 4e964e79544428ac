"""A body as the formulations see it, over any number: the signature's constants, and data read by the executor."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from ..formulations import Program
from ..joints import JOINTS_BY_KEY, JointData
from ..numbers import Number
from ..plan import SLOTS, Signature
from ..spatial import Force, FullTurn, Matrix, Motion, PlaneTurn, RigidInertia, Symmetric, Transform, Vector


class View(ABC):
    """Implements formulations.Body; executors say how data, inputs, outputs and kept values are reached."""

    def __init__(self, signature: Signature):
        self.__dict__["_signature"] = signature
        self.__dict__["_constants"] = dict(signature.constants)
        self.__dict__["_joint"] = JOINTS_BY_KEY[signature.joint]

    @abstractmethod
    def _data(self, slot: int) -> Number: ...

    @abstractmethod
    def input(self, name: str) -> tuple[Number, ...]: ...

    @abstractmethod
    def output(self, name: str, values: Sequence[Number]) -> None: ...

    @abstractmethod
    def _effort_source(self) -> str | None:
        """Where the joint's effort is read: "tau", "effort" where force elements add to it, None where there is none."""

    @abstractmethod
    def _forces(self) -> bool:
        """Whether anything but gravity acts, in this program."""

    @abstractmethod
    def _applied(self) -> list[Number]:
        """Wrench of the force elements: moment, then force, in the ground's axes."""

    @abstractmethod
    def _impulses(self) -> list[Number]:
        """Impulse of the closures: moment, force; then the rates of both; in the ground's axes."""

    @abstractmethod
    def leave_state(self, numbers: Sequence[Number]) -> None:
        """Leave pose and velocity where the force elements read them."""

    @abstractmethod
    def leave_known(self, acceleration: Motion) -> None:
        """Leave the acceleration that velocities bring about, in the ground's axes, where the closures read it."""

    @abstractmethod
    def _keep(self, name: str, value: Any) -> None: ...

    @abstractmethod
    def _recall(self, name: str) -> Any: ...

    def __setattr__(self, name: str, value: Any) -> None:
        if hasattr(type(self), name) or name in self.__dict__:
            raise AttributeError(f"a body has its own {name!r}: keep the value under another name")
        self._keep(name, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._recall(name)

    def _values(self, name: str, count: int | None = None) -> list[Number]:
        constants = self._constants
        return [constants[k] if k in constants else self._data(k) for k in SLOTS[name][:count]]

    @property
    def _joint_data(self) -> JointData:
        pitch = self._values("pitch")[0] if self._joint.needs_pitch else 0.0
        if self._signature.style == "full":
            return JointData(pitch=pitch)
        return JointData(self._values("rest_angle")[0], PlaneTurn("z", *self._values("rest")), pitch)

    @property
    def transform(self) -> Transform:
        slide, turns = self._joint.motion(self.input("q"), self._joint_data)
        offset = Vector(*self._values("offset"))
        if self._signature.style == "plane":
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
        return self._signature.driven

    @property
    def watched(self) -> bool:
        """Its state is asked for, by force elements or closures."""
        return self._signature.touched

    @property
    def touched(self) -> bool:
        """Force elements or given multipliers act on it."""
        return self._signature.touched and self._forces()

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
        source = self._effort_source()
        return (0.0,) * self._joint.nv if source is None else self.input(source)

    @property
    def applied_world(self) -> Force:
        if not self.touched:
            return Force.zero()
        numbers = self._applied()
        return Force(Vector(*numbers[:3]), Vector(*numbers[3:]))

    @property
    def applied(self) -> Force:
        return self._in_own_axes(self._applied()) if self.touched else Force.zero()

    @property
    def pushed(self) -> Force:
        return self._in_own_axes(self._applied()) if self.watched else Force.zero()

    @property
    def impulse(self) -> tuple[Force, Force]:
        if not self.watched:
            return Force.zero(), Force.zero()
        numbers = self._impulses()
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
        if self._signature.style == "plane":
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


def _combined(start: Motion, directions: tuple[Motion, ...], amounts: Sequence[Number]) -> Motion:
    for S, amount in zip(directions, amounts, strict=True):
        start = start + S * amount
    return start


def effort_source(program: Program, summed: bool) -> str | None:
    """``summed``: force elements or closures add to the given efforts."""
    if summed:
        return "effort"
    return "tau" if "tau" in program.inputs else None


def input_size(signature: Signature, name: str) -> int:
    joint = JOINTS_BY_KEY[signature.joint]
    return joint.nq if name == "q" else joint.nv
