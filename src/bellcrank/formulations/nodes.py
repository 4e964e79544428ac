"""The interface of nodes for recursions. A node is a group of joints with their bodies, and the closures among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from ..numbers import Number
from ..spatial import Force, Matrix, Motion, Vector
from .base import Closure


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
        """Factors that make the equations comparable: all in metres."""

    def turn(self, a: Placed, b: Placed) -> tuple[tuple[Number, ...], ...]:
        """Turns multipliers of the first three equations, if they are along axes of the base, to axes of the world."""

    def output(self, name: str, values: Sequence[Number]) -> None:
        """Entries of an output for the closure's equations."""

    def view(self, a: Placed, b: Placed) -> Closure: ...

    def factors(self) -> list[Number]:
        """Coefficients that the equation has on the node's coordinates themselves: those of a coupler."""


class Node(Protocol):
    """Some joints with the bodies that they carry, relative to a base (plan.nodes.blocks). What a step keeps stays for later
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
        """The number among the node's coordinates of the k-th one of a joint."""

    @property
    def spin(self) -> Vector:
        """Angular velocity of the base."""

    @property
    def tolerance(self) -> Number:
        """An equation is redundant if what it adds to the others is less than this part of what it could add."""

    @property
    def known_acceleration(self) -> Motion:
        """The known acceleration of the base: against gravity for the ground, zero for a base that moves."""

    @property
    def base_acceleration(self) -> Motion: ...

    def borrowed(self, k: int) -> Placed: ...

    def lend(self, place: int, at: Placed) -> None: ...

    def send_spin(self, place: int, w: Vector) -> None: ...

    def felt(self, place: int) -> Any:
        """Sum of what other nodes report to one of the bodies, in its own frame: inertia, bias force."""

    def report(self, inertia: Any, force: Force) -> None:
        """Sends the node's message to its base."""

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
        """Pose of the parent of the link, seen from the base of the loop."""

    def pose_of_end(self, closing: int, side: int) -> Placed: ...

    def send_pose(self, at: Placed) -> None: ...

    def start_equation(self, slot: int, right: Number, on_base: Force) -> None: ...

    def hold(self, closing: int, side: int, slot: int, wrench: Force) -> None: ...

    def row(self, slot: int) -> Force:
        """An equation on the acceleration of the link's body."""

    def carry_row(self, slot: int, wrench: Force) -> None:
        """Sends a row to the parent of the link."""

    def take_known(self, known: Sequence[Number]) -> None:
        """Subtracts known terms from the right-hand sides of all equations."""

    def right_hand_side(self, slot: int) -> Number: ...

    def row_on_base(self, slot: int) -> Force: ...

    def factor(self) -> list[list[Number]]:
        """R, as it is by now."""

    def send_factor(self, R: Sequence[Sequence[Number]]) -> None: ...

    def send_multiplier(self, slot: int, x: Number) -> None: ...

    def multiplier(self, slot: int) -> Number: ...

    def note_direction(self, slot: int, values: Sequence[Number]) -> None:
        """Notes the direction of an equation among the link's coordinates."""

    def note_pivots(self, pivots: Sequence[Number]) -> None: ...

    # of a node of a block with a clique tree

    has_parent: bool  # on another node
    children: int  # children
    separator: int  # the first of the coordinates, shared with the parent
    shared: Sequence[Sequence[int]]  # coordinates that each of the children shares
    form_sizes: Sequence[int]  # of their y
    form_rows: Sequence[int]  # coordinates of which they report how y moves them: shared ones, then perhaps their own
    reported: int  # the same of ours
    equations: Sequence[int]  # of the closures, then of condensed forms that must agree: those that are not redundant
    kept_unknowns: int  # size of our y

    in_memory: bool  # its matrices are in memory (machine.nodes.in_memory), otherwise unrolled (spatial.matrices)

    def zeros(self, rows: int, columns: int) -> Any:
        """A matrix."""

    def empty(self, rows: int, columns: int) -> Any:
        """A matrix that will be filled."""

    def matrix(self, entries: Sequence[Sequence[Number]], columns: int) -> Any: ...

    def condensed_form(self, k: int, T: tuple[int, int], H: tuple[int, int]) -> tuple[Any, Any]:
        """The condensed form that a child has reported, matrices of given shapes; a square H is symmetric."""

    def report_condensed_form(self, T: Any, H: Any) -> None:
        """x = T (y; 1); a square H is symmetric, and its entry for (1; 1) does not matter."""

    def send_unknowns(self, k: int, values: Any) -> None:
        """Sends a column of unknowns to a child."""

    def given_unknowns(self, size: int) -> Any: ...

    def __getattr__(self, name: str) -> Any: ...

    def __setattr__(self, name: str, value: Any) -> None: ...
