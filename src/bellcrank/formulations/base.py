"""The interface of recursions: the body at which a step is taken, and the walk that takes the steps.

A step is a function ``step(body, message) -> message``. Outward, the message comes from the parent and goes to the
children; inward, it is the sum of what the children sent and goes to the parent. What a step keeps on the body
(``body.X = X``) is there in later passes. What is asked of a body in its own frame is in axes fixed to it, at its origin.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from ..constraints import Equation
from ..numbers import Number
from ..spatial import Force, Motion, RigidInertia, Symmetric, Transform, Vector

Message = TypeVar("Message")


class Body(Protocol):
    """A body and the joint that carries it."""

    @property
    def transform(self) -> Transform:
        """Pose of the body's frame in its parent's, at the coordinates q."""

    @property
    def directions(self) -> tuple[Motion, ...]:
        """S: motion of the body for each unit of v; none for a joint whose motion is prescribed."""

    @property
    def freedoms(self) -> tuple[Motion, ...]:
        """S of the joint itself, also where its motion is prescribed."""

    @property
    def efforts(self) -> tuple[Force, ...]:
        """E: wrench on the body for each unit of effort along the freedoms; S_i . E_j is 1 for i = j, else 0."""

    @property
    def velocity(self) -> Motion:
        """S v: motion of the body relative to its parent."""

    @property
    def bias(self) -> Motion:
        """The acceleration relative to the parent that is known: S' v, and S a of a prescribed motion, in the body's axes."""

    @property
    def attached(self) -> bool:
        """Whether force elements or closures are attached to the body."""

    def leave_known(self, acceleration: Motion) -> None:
        """Leave the acceleration that velocities bring about, in the ground's axes, for the closures: AttachedBody.known."""

    def direction_rates(self, v: Sequence[Number]) -> tuple[Motion, ...]:
        """S' in the body's axes at velocities v; none for a joint whose motion is prescribed."""

    @property
    def driven(self) -> bool:
        """Whether the motion of the joint is prescribed."""

    @property
    def rates(self) -> tuple[Number, ...]:
        """dq/dt."""

    @property
    def inertia(self) -> RigidInertia:
        """About the origin."""

    @property
    def center(self) -> Vector:
        """The centroid."""

    @property
    def central_inertia(self) -> Symmetric:
        """About the centroid."""

    @property
    def slide(self) -> Vector:
        """Displacement of the body's origin by the joint, in the axes in which the transform has its offset."""

    @property
    def carried_mass(self) -> Number:
        """Mass of the body with all that it carries."""

    @property
    def carried_moment(self) -> Vector:
        """First moment of the same about the body's origin, if what each joint carries were at that joint's point of rest."""

    @property
    def armature(self) -> tuple[Number, ...]:
        """Added to the diagonal of the joint's mass matrix."""

    @property
    def rotor(self) -> tuple[Number, ...]:
        """The armature that stores kinetic energy: not that of a user-defined state."""

    @property
    def effort(self) -> tuple[Number, ...]:
        """The joint's effort: the given one and that of the force elements on the joint."""

    @property
    def applied(self) -> Force:
        """Wrench of the force elements on the body, in its own frame."""

    @property
    def impulse(self) -> tuple[Force, Force]:
        """Impulse of the closures on the body, and its rate as the body moves, with the multipliers as they are."""

    @property
    def pushed(self) -> Force:
        """Wrench of the closures on the body, in its own frame."""

    @property
    def applied_world(self) -> Force:
        """Wrench of the force elements on the body, in the ground's axes, at the body's origin."""

    def input(self, name: str) -> tuple[Number, ...]:
        """The joint's entries of an input of the program ("v", "tau", "a", "p"), or of an output that was written before."""

    def output(self, name: str, values: Sequence[Number]) -> None:
        """The joint's, or the body's, entries of an output of the program."""

    def __getattr__(self, name: str) -> Any: ...

    def __setattr__(self, name: str, value: Any) -> None: ...


class AttachedBody(Protocol):
    """A body to which a closure is attached, in the ground's axes."""

    r: Vector  # its origin
    v: Vector  # velocity of the origin
    w: Vector
    rho: Vector  # centroid seen from the origin
    p: Vector  # the closure's point
    known: Motion | None  # acceleration that velocities bring about, if the program has left it (Body.leave_known)


class Closure(Protocol):
    """A closure: equations between two bodies, with accelerations taken at the closure's points."""

    @property
    def i(self) -> AttachedBody: ...

    @property
    def j(self) -> AttachedBody: ...

    @property
    def equations(self) -> Sequence[Equation]: ...


Carried = tuple[Force, Force, Number]  # an equation's rows on the two bodies, at the points of attachment; right-hand side


class Row(Protocol):
    """One equation on its way inward."""

    def own(self, body: Any) -> Sequence[Number]:
        """Coefficients that the equation has on the body's own coordinates: those of a coupler."""

    def leave(self, body: Any, values: Sequence[Number], bound: Number, known: Number) -> None:
        """Leave ``values`` at the body's joint, and take ``known`` from the right-hand side.

        ``bound`` is the square of what the values could at most be.
        """


class Walk(Protocol):
    """The walk over the bodies: a Python loop, or a loop in machine code."""

    @property
    def gravity(self) -> Vector:
        """Gravity in the axes of the ground."""

    def outward(self, step: Callable[[Any, Message], Message], base: Message) -> None:
        """A pass from the ground to the tips; ``base`` is the message that the ground sends."""

    def inward(self, step: Callable[[Any, Message], Message | None], leaf: Message) -> None:
        """A pass from the tips to the ground; ``leaf`` is the sum of no messages. A step that returns None sends nothing."""

    def paths_to_ground(self, step: Callable[[Any, Any, Message], Message], start: str, like: Message) -> None:
        """For each degree of freedom, from its body's parent to ground: ``step(body, column, message)``.

        The first message is read from the output ``start``; ``column.put(body, values)`` writes into the row and the
        column of the degree of freedom, at the body's own degrees of freedom.
        """

    @property
    def length(self) -> Number:
        """A length that is typical of the model: what scales displacements against angles."""

    @property
    def baumgarte(self) -> tuple[Number, Number]:
        """2 alpha and beta^2; zero unless asked for."""

    def closures(self, step: Callable[[Any], Sequence[Carried]]) -> None:
        """For each closure: its equations, with a right-hand side, as they are carried inward."""

    def push_multipliers(self) -> None:
        """Multipliers that are an output push on the bodies from now on (``body.pushed``); wrenches may be an output too."""

    def clear(self, name: str) -> None:
        """Set an output with an entry for each degree of freedom to zero."""

    def push_impulses(self) -> None:
        """Multipliers that are an output are impulses of the closures from now on, reversed (``body.impulse``)."""

    @property
    def has_links(self) -> bool:
        """Whether there are long loops."""

    @property
    def bases_move(self) -> bool:
        """Whether nodes with closures hang on bodies: their axes are not the ground's (NodeClosure.turn)."""

    def closure_states(self) -> None:
        """Leave the positions of the bodies to which closures are attached."""

    def carry_equations(self, step: Callable[[Any, Any, Force], Force]) -> None:
        """Carry each equation from the bodies that it holds to ground: ``step(body, row, f)``."""

    def orthonormalise(self) -> None:
        """Make what the equations left orthonormal, row by row; find redundant ones and multipliers; joints get ``push``."""

    def output_equations(self, name: str, *fields: str) -> None:
        """Write fields of every equation to an output: "error", "rate", "right", "multiplier", "pivot", "residual"."""

    def nodes(self, step: Callable[[Any], None], *, inward: bool = False) -> None:
        """Take a step at every node, from ground outward or back inward."""

    def nodes_abreast(self, step: Callable[[Any], None]) -> None:
        """Take a step, which neither sends nor waits for what this pass sends, at the nodes that are ``abreast``; several at a
        time."""

    @property
    def checks(self) -> bool:
        """Whether equations were left out of nodes that could disagree with the others."""

    @property
    def loaded(self) -> bool:
        """Whether force elements act."""

    def apply_forces(self) -> None:
        """Evaluate the force elements now: for a program that is ``late``, because it finds the velocities itself."""

    @property
    def asked(self) -> frozenset[str]:
        """The quantities that measures need besides states: "a" (accelerations of bodies), and outputs of passes."""

    def leave_states(self) -> None:
        """Leave where the bodies are that measures are of, unless force elements or closures have had that done."""

    def measure(self) -> None:
        """Find the measures, and put them out."""

    def openings(self) -> None:
        """Put out the numbers that change their sign where forces begin, end, or have kinks."""

    def solve(self, matrix: str, right: str, into: str) -> None:
        """Dense symmetric positive definite solve between outputs, by LDL^T."""
