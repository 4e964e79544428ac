"""What a recursion may ask for: the body at which a step is taken, and the walk that takes the steps.

A step is a function ``step(body, message) -> message``. Outward, the message comes from the parent and goes to the
children; inward, it is the sum of what the children sent and goes to the parent. What a step keeps on the body
(``body.X = X``) is there in later passes. What is asked of a body in its own frame is in axes fixed to it, at its origin.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, TypeVar

from ..constraints import Equation
from ..numbers import Number
from ..spatial import Force, Matrix, Motion, RigidInertia, Symmetric, Transform, Vector

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
    def held(self) -> bool:
        """Whether force elements or closures hold the body."""

    def leave_known(self, acceleration: Motion) -> None:
        """Leave the acceleration that velocities bring about, in the ground's axes, for the closures: Held.known."""

    def direction_rates(self, v: Sequence[Number]) -> tuple[Motion, ...]:
        """S' in the body's axes at velocities v; none for a joint whose motion is prescribed."""

    @property
    def driven(self) -> bool:
        """Its motion is prescribed."""

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
        """How far the joint has moved the body's origin, in the axes in which the transform has its offset."""

    @property
    def carried_mass(self) -> Number:
        """Of the body with all that it carries."""

    @property
    def carried_moment(self) -> Vector:
        """First moment of the same about the body's origin, if what each joint carries were at that joint's point of rest."""

    @property
    def armature(self) -> tuple[Number, ...]:
        """Added to the diagonal of the joint's mass matrix."""

    @property
    def rotor(self) -> tuple[Number, ...]:
        """The same, where it stores kinetic energy: not that of a state of the user's own."""

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
        """The same in the ground's axes, still at the body's origin."""

    def input(self, name: str) -> tuple[Number, ...]:
        """The joint's entries of an input of the program ("v", "tau", "a", "p"), or of an output that was written before."""

    def output(self, name: str, values: Sequence[Number]) -> None:
        """The joint's, or the body's, entries of an output of the program."""

    def __getattr__(self, name: str) -> Any: ...

    def __setattr__(self, name: str, value: Any) -> None: ...


class Held(Protocol):
    """A body that a closure holds, in the ground's axes."""

    r: Vector  # its origin
    v: Vector  # velocity of the origin
    w: Vector
    rho: Vector  # centroid seen from the origin
    p: Vector  # the closure's point
    known: Motion | None  # acceleration that velocities bring about, if the program has left it (Body.leave_known)


class Closure(Protocol):
    """What closes a loop: equations between two bodies, with accelerations taken at the closure's points."""

    @property
    def i(self) -> Held: ...

    @property
    def j(self) -> Held: ...

    @property
    def equations(self) -> Sequence[Equation]: ...


Carried = tuple[Force, Force, Number]  # an equation's rows on the two bodies, where they are taken hold of; right-hand side


class Row(Protocol):
    """One equation on its way inward."""

    def own(self, body: Any) -> Sequence[Number]:
        """Coefficients that the equation has on the body's own coordinates: those of a coupler."""

    def leave(self, body: Any, values: Sequence[Number], bound: Number, known: Number) -> None:
        """Leave ``values`` at the body's joint, and take ``known`` from the right-hand side.

        ``bound`` is the square of what the values could at most be.
        """


class Placed(NamedTuple):
    """A body seen from the base of its node, in the base's axes: pose, velocity and known acceleration at the base's origin
    (whose own velocity counts as zero), and the directions in which its joint moves it."""

    R: Matrix
    p: Vector
    V: Motion
    c: Motion
    s: tuple[Motion, ...]


class NodeClosure(Protocol):
    """A closure inside a node. Places are those of the node's bodies; -1 is the base."""

    a: int
    b: int
    path_a: Sequence[int]  # joints between the two bodies, on a's side
    path_b: Sequence[int]
    rows: int
    kept: Sequence[int]  # equations that are not redundant
    checked: Sequence[int]  # equations whose agreement with the motion is checked: those left out, unless they say nothing

    @property
    def scales(self) -> Sequence[Number]:
        """What makes the equations comparable: all in metres."""

    def turn(self, a: Placed, b: Placed) -> tuple[tuple[Number, ...], ...]:
        """Turns multipliers of the first three equations, if they are along axes of the base, to axes of the world."""

    def output(self, name: str, values: Sequence[Number]) -> None:
        """Entries of an output for the closure's equations."""

    def view(self, a: Placed, b: Placed) -> Closure: ...

    def factors(self) -> list[Number]:
        """Coefficients that the equation has on the node's coordinates themselves: those of a coupler."""


class Node(Protocol):
    """Some joints with the bodies that they carry, relative to a base (plan.blocks). What a step keeps stays for later
    passes, as on a body. Places count the node's own bodies, then those that other nodes lend; -1 is the base."""

    bodies: Sequence[Any]
    borrows: int
    carriers: Sequence[int]  # places of own bodies on which other nodes hang
    lends: Sequence[int]  # places of own bodies that other nodes borrow
    closures: Sequence[NodeClosure]
    dofs: Sequence[Any]
    outward: Sequence[int]  # places, parents first
    on_ground: bool  # the base is ground
    condensed: bool  # a node of the clique tree of a block
    abreast: bool  # one of many equal ones, whose own part is done several at a time

    def above(self, place: int) -> int:
        """Place of the parent body."""

    def dof(self, place: int, k: int) -> int:
        """Which of the node's coordinates the k-th one of a joint is."""

    @property
    def spin(self) -> Vector:
        """Angular velocity of the base."""

    @property
    def tolerance(self) -> Number:
        """An equation is redundant if what it adds to the others is less than this part of what it could add."""

    @property
    def known_acceleration(self) -> Motion:
        """Of ground: against gravity; zero for a base that moves."""

    @property
    def base_acceleration(self) -> Motion: ...

    def borrowed(self, k: int) -> Placed: ...

    def lend(self, place: int, at: Placed) -> None: ...

    def send_spin(self, place: int, w: Vector) -> None: ...

    def felt(self, place: int) -> Any:
        """Sum of what other nodes report to one of the bodies, in its own frame: inertia, bias force."""

    def report(self, inertia: Any, force: Force) -> None:
        """To the base."""

    def report_pivot(self, pivot: Number) -> None: ...

    def report_errors(self, error: Number, residual: Number) -> None: ...

    def send_acceleration(self, place: int, motion: Motion) -> None: ...

    def slides(self, dof: int) -> bool:
        """Whether a coordinate of one of the node's own joints is a length."""

    def note_rows(self, directions: Sequence[Sequence[Number]], pivots: Sequence[Number]) -> None:
        """Leave, for each equation that is kept, the direction in which it constrains and how much of it is new."""

    def joint_values(self, name: str, whole: bool = False) -> list[Number]:
        """Entries of an output that were written before, for the node's coordinates; zero for those of the separator, unless
        the ``whole`` node is asked for."""

    def output_joints(self, name: str, values: Sequence[Number]) -> None:
        """Entries of an output for the node's coordinates, but for those that a node further in knows."""

    # of a link, a joint of a long loop (long_loops)

    link: Any  # plan.long_loops.links.LinkShape, or None
    closing: Sequence[NodeClosure]  # closures that are evaluated at the link; its other end is -1 (base), 0 (own body) or 1

    @property
    def spin_of_loop(self) -> Vector:
        """Angular velocity of the base of the loop."""

    @property
    def pose_of_parent(self) -> Placed:
        """Of the parent of the link, seen from the base of the loop."""

    def pose_of_end(self, closing: int, side: int) -> Placed: ...

    def send_pose(self, at: Placed) -> None: ...

    def start_equation(self, slot: int, right: Number, on_base: Force) -> None: ...

    def hold(self, closing: int, side: int, slot: int, wrench: Force) -> None: ...

    def row(self, slot: int) -> Force:
        """An equation on the acceleration of the link's body."""

    def carry_row(self, slot: int, wrench: Force) -> None:
        """To the parent of the link."""

    def take_known(self, known: Sequence[Number]) -> None:
        """From the right-hand sides of all equations."""

    def right_hand_side(self, slot: int) -> Number: ...

    def row_on_base(self, slot: int) -> Force: ...

    def factor(self) -> list[list[Number]]:
        """R, as it is by now."""

    def send_factor(self, R: Sequence[Sequence[Number]]) -> None: ...

    def send_multiplier(self, slot: int, x: Number) -> None: ...

    def multiplier(self, slot: int) -> Number: ...

    def note_direction(self, slot: int, values: Sequence[Number]) -> None:
        """Of an equation among the link's coordinates."""

    def note_pivots(self, pivots: Sequence[Number]) -> None: ...

    # of a node of a block with a clique tree

    has_parent: bool  # on another node
    children: int  # children
    separator: int  # the first of the coordinates, shared with the parent
    shared: Sequence[Sequence[int]]  # coordinates that each of the children shares
    form_sizes: Sequence[int]  # of their y
    equations: Sequence[int]  # of the closures, then of condensed forms that must agree: those that are not redundant
    kept_unknowns: int  # size of our y

    in_memory: bool  # its matrices are in memory (machine.nodes.in_memory), otherwise unrolled (spatial.matrices)

    def zeros(self, rows: int, columns: int) -> Any:
        """A matrix."""

    def empty(self, rows: int, columns: int) -> Any:
        """A matrix that will be filled."""

    def matrix(self, entries: Sequence[Sequence[Number]], columns: int) -> Any: ...

    def condensed_form(self, k: int, T: tuple[int, int], H: tuple[int, int]) -> tuple[Any, Any]:
        """What a child has reported, matrices of given shapes; a square H is symmetric."""

    def report_condensed_form(self, T: Any, H: Any) -> None:
        """x = T (y; 1); a square H is symmetric, and its entry for (1; 1) does not matter."""

    def send_unknowns(self, k: int, values: Any) -> None:
        """To a child: a column."""

    def given_unknowns(self, size: int) -> Any: ...

    def __getattr__(self, name: str) -> Any: ...

    def __setattr__(self, name: str, value: Any) -> None: ...


class Walk(Protocol):
    """The walk over the bodies: a Python loop, or a loop in machine code."""

    @property
    def gravity(self) -> Vector:
        """In the axes of ground."""

    def outward(self, step: Callable[[Any, Message], Message], base: Message) -> None:
        """From ground to the tips; ``base`` is what ground sends."""

    def inward(self, step: Callable[[Any, Message], Message | None], leaf: Message) -> None:
        """From the tips to ground; ``leaf`` is the sum of no messages. A step that returns None sends nothing."""

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
        """Leave where the bodies are that closures hold."""

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
        """What the measures need besides states: "a" (accelerations of bodies), and outputs of passes."""

    def leave_states(self) -> None:
        """Leave where the bodies are that measures are of, unless force elements or closures have had that done."""

    def measure(self) -> None:
        """Find the measures, and put them out."""

    def openings(self) -> None:
        """Put out the numbers that change their sign where forces begin, end, or have kinks."""

    def solve(self, matrix: str, right: str, into: str) -> None:
        """Dense symmetric positive definite solve between outputs, by LDL^T."""


def tangent_of(name: str) -> str:
    """What the tangents of an input, or of some data, are called."""
    return f"d_{name}"


@dataclass(frozen=True)
class Program:
    """A recursion with its inputs and outputs.

    Outputs are per degree of freedom ("v"), per coordinate ("q"), square ("v*v"), or a number of values per body, degree of
    freedom, driven degree of freedom, force element, closure or its equations ("body*12", "v*6", "drive*2", "element*3",
    "closure*6", "row*3", "row*v"). ``scratch`` outputs are not returned.

    With ``tangents`` it is done on dual numbers: the value once, and beside it so many tangents. Inputs that have any are
    followed by inputs of their tangents, "d_q" for "q"; outputs have theirs behind each number.
    """

    name: str
    run: Callable[[Any], None]
    inputs: tuple[str, ...]
    outputs: dict[str, str]
    scratch: tuple[str, ...] = ()
    forces: bool = False  # the model's force elements act
    late: bool = False  # but only when the recursion says so
    nodes: bool = False  # it walks over nodes, which must be planned
    optimisation: int = 3  # LLVM's level; 0 is compiled soon, for what is asked for now and then, not in loops
    tangents: int = 0
    of_design: bool = True  # tangents are those of the data too, where a design may change them

    def key(self) -> tuple[Any, ...]:
        """All that decides which code it needs, besides the structure of the model."""
        passes = self.scratch, self.forces, self.late, self.nodes, self.tangents, self.of_design
        return (self.name, self.inputs, *self.outputs.items(), *passes)

    def differentiated(self, along: Sequence[str], tangents: int, *, of_design: bool = True) -> Program:
        """The same on dual numbers, along some of its inputs, and of the data that a design may change unless it is said."""
        given = tuple(name for name in self.inputs if name in along)
        inputs = self.inputs + tuple(tangent_of(name) for name in given)
        name = f"{self.name}/d({','.join(given)})*{tangents}{'' if of_design else ' alone'}"
        return replace(self, name=name, inputs=inputs, tangents=tangents, of_design=of_design)
