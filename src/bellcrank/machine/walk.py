"""The walk over the bodies: a loop with a switch on the body's signature.

In machine code, what passes between a body and the next one in the walk stays in registers; only where the tree branches does
it go through memory. Entries of a message that are the same constant everywhere (the out-of-plane parts of a planar mechanism)
are found first, by rehearsing the steps until nothing changes, and fold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..formulations import Program
from ..formulations.program import tangent_of
from ..kernels.arrays import Array
from ..kernels.executor import Executor, Integer
from ..kernels.llvm.liveness import CellPlan
from ..kernels.messages import added
from ..numbers import Dual, Number
from ..plan import Plan, Signature
from ..spatial import Vector
from . import dense, loads
from .arrays import arrays_of
from .body import Body
from .closures import equations, multipliers
from .measuring import loops as measuring
from .nodes import walk as nodes
from .nodes.abreast import nodes_abreast, side_by_side
from .nodes.in_memory import Arena
from .nodes.messages import make_node_messages
from .patterns import Entries, Pattern, constant_everywhere, folded, whole_messages
from .workspace import make_workspace

Step = Callable[[Any, Any], Any]


class _Arrays(dict[str, Any]):
    """Arrays of an executor by their names, made when they are first asked for."""

    def __init__(self, e: Executor, declared: Mapping[str, Array]):
        self.e, self.declared = e, declared

    def __missing__(self, name: str) -> Any:
        made = self[name] = self.e.array(self.declared[name])
        return made


class Walk:
    """Implements formulations.Walk on an executor: runs the recursion, or writes its loops."""

    def __init__(self, e: Executor, plan: Plan, program: Program, memory: CellPlan | None = None):
        self.e: Any = e
        self.plan, self.program, self.memory = plan, program, memory or CellPlan()
        curved = program.late and plan.loads.closing.curves  # whose impulses make efforts
        self.forces = program.forces and bool(plan.loads.elements or "lambda" in program.inputs or curved)
        self.effort_source = "effort" if self.forces else "tau" if "tau" in program.inputs else None
        self.signatures = plan.signatures
        self.constants = {signature: dict(signature.constants) for signature in plan.signatures}
        self.workspaces: dict[Signature, Any] = {
            signature: make_workspace(e, ("body", k), self.memory) for k, signature in enumerate(plan.signatures)
        }
        self.walks: list[Entries] = []  # of each walk so far: which numbers of its messages vary
        self.message_width = 0
        self.visits_nodes = False
        self.dense = False  # all equations of closures at once, as the multipliers take them
        self.node_workspaces = nodes.fresh_workspaces(self)
        self.node_messages: Any = make_node_messages(self)
        self.arena = Arena(e)
        self._declared: Mapping[str, Array] = arrays_of(plan, program)
        self.array: Callable[[str], Any] = _Arrays(e, self._declared).__getitem__
        self.array("cursor")  # where the kernel begins, so that it stays in registers
        self._gravity = self._read_gravity()
        self.side_by_side = side_by_side(self)

    @property
    def gravity(self) -> Vector:
        """Read again where nodes are taken abreast: single numbers are not vectors."""
        return self._read_gravity() if self.side_by_side and self.e.lanes > 1 else self._gravity

    def _read_gravity(self) -> Vector:
        there, varies = self.plan.has_gravity, self.plan.varies
        return Vector(*[self.data("gravity", (0, k), varies("gravity", k)) if there[k] else 0.0 for k in range(3)])

    def carries(self, name: str) -> bool:
        """Whether numbers of an array have their tangents behind them."""
        return self.e.tangents > 0 and self._declared[name].active

    def data(self, name: str, place: Any, varied: bool) -> Number:
        """A number of the data, with its tangents where a design may change it."""
        value = self.array(name)[place]
        return Dual(value, [self.array(tangent_of(name))[place]]) if varied and self.of_design else value

    @property
    def of_design(self) -> bool:
        """Whether data that a design may change have tangents."""
        return bool(self.e.tangents) and self.program.of_design

    def run(self) -> None:
        for name, kind in self.program.outputs.items():
            if kind == "v*v":
                self._clear(name, self.e.count("nv") * self.e.count("nv"))
        if self.plan.loads.motions:
            loads.drive(self)
        if self.forces and not self.program.late:
            self.apply_forces()
        if "lambda" in self.program.inputs:
            self.closure_states()
            multipliers.push(self)
        self.program.run(self)

    @property
    def loaded(self) -> bool:
        return self.forces

    def apply_forces(self) -> None:
        loads.apply_forces(self)

    @property
    def asked(self) -> frozenset[str]:
        return self.plan.loads.measures.passes

    def leave_states(self) -> None:
        if not self.forces and "lambda" not in self.program.inputs and self.plan.loads.attached:
            loads.leave_states(self)

    def measure_early(self) -> None:
        measuring.measure_early(self)

    def measure_kinks(self) -> None:
        measuring.measure_kinks(self)

    def openings(self) -> None:
        loads.output_openings(self)

    def measure(self) -> None:
        measuring.measure_late(self)
        measuring.output_measures(self)

    def given(self, name: str, index: Integer) -> Number:
        """An entry of an input, with its tangent where that is an input too."""
        value, tangents = self.array(name)[index], self.tangents_of(name)
        return value if tangents is None else Dual(value, [self.array(tangents)[index]])

    def tangents_of(self, name: str) -> str | None:
        """The array of the changes of an input, where it has any."""
        found = tangent_of(name)
        return found if self.e.tangents and found in self.program.inputs else None

    def read(self, name: str, index: Integer) -> Number:
        """An entry of an input, or of an output that was written before, with its tangent if it has one."""
        return self.given(name, index)

    def output(self, name: str, place: Integer, x: Number) -> None:
        """An entry of an output, with its tangents."""
        self.array(name)[place] = x

    # passes -------------------------------------------------------------------------------------------------------

    def outward(self, step: Step, base: Any) -> None:
        def case(body: Body, carried: Any) -> Any:
            signature = body.signature
            if not signature.root and not signature.adjacent:
                carried = self._fetch(body, "parent_message", pattern)
            message = step(body, base if signature.root else carried)
            if signature.branch:
                self._store(body, "own_message", message, pattern)
            return None if signature.leaf else message

        pattern = self._pattern(step, base, starts=lambda s: s.root, ends=lambda s: s.leaf, only_zeros=False)
        self._loop(case, pattern, inward=False)

    def inward(self, step: Step, leaf: Any) -> None:
        def felt(body: Body, carried: Any) -> Any:
            if body.signature.leaf:
                return leaf
            return added(carried, self._fetch(body, "own_message", pattern)) if body.signature.branch else carried

        def case(body: Body, carried: Any) -> Any:
            message, signature = step(body, felt(body, carried)), body.signature
            if signature.root or signature.adjacent:
                return None if signature.root else message
            if not signature.opens:
                message = added(message, self._fetch(body, "parent_message", pattern))
            self._store(body, "parent_message", message, pattern)
            return None

        pattern = self._pattern(step, leaf, starts=lambda s: s.leaf, ends=lambda s: s.root, only_zeros=True)
        self._loop(case, pattern, inward=True)

    def _loop(self, case: Callable[[Body, Any], Any], pattern: Pattern, inward: bool) -> None:
        def at(i: Integer, carry: list[Number]) -> list[Number]:
            carried = pattern.message(carry)

            def arm(signature: Signature) -> list[Number]:
                message = case(Body(signature, self, i), carried)
                return pattern.nothing if message is None else pattern.varying(message)

            return self.at_body(i, arm, pattern.wide)

        self.e.loop(self.e.count("bodies"), pattern.nothing, at, inward, pattern.wide)

    def at_body(self, i: Integer, arm: Callable[[Signature], Any], wide: Sequence[bool] = ()) -> list[Number]:
        """The case of a body's signature; ``wide``: which of the numbers that it gives are vectors of tangents."""
        cases = [lambda s=s: arm(s) or [] for s in self.signatures]
        return self.e.switch(self.array("table")[i, "code"], cases, wide)

    def _pattern(
        self,
        step: Step,
        like: Any,
        starts: Callable[[Signature], bool],
        ends: Callable[[Signature], bool],
        only_zeros: bool,
    ) -> Pattern:
        if not self.e.folds:
            return whole_messages()
        if self.memory.walks:
            entries = self.memory.walks[len(self.walks)]
        else:
            roles = [(s, starts(s)) for s in self.signatures if not ends(s)]
            entries = constant_everywhere(self.e, like, roles, lambda s, message: self._rehearsed(step, s, message), only_zeros)
        self.walks.append(entries)
        return folded(self.e, like, entries)

    def _rehearsed(self, step: Step, signature: Signature, incoming: Any) -> Any:
        kept = self.workspaces
        try:
            with self.e.rehearsal():
                self.workspaces = {s: record.copy() for s, record in kept.items()}
                return step(Body(signature, self, self.e.unknown_integer()), incoming)
        finally:
            self.workspaces = kept

    def _store(self, body: Body, whose: str, message: Any, pattern: Pattern) -> None:
        sent, place = pattern.varying(message), body.entry(whose)
        self.message_width = max(self.message_width, pattern.places[-1])
        for k, x, wide in self._parts_of(pattern, sent):
            self.array("messages").store((place, k), wide, x)

    def _fetch(self, body: Body, whose: str, pattern: Pattern) -> Any:
        place = body.entry(whose)
        parts = self._parts_of(pattern, pattern.nothing)
        return pattern.message([self.array("messages").fetch((place, k), wide) for k, _, wide in parts])

    def _parts_of(self, pattern: Pattern, sent: Sequence[Number]) -> list[tuple[int, Number, bool]]:
        """Numbers that are sent: where, what, and whether they are vectors of tangents."""
        return list(zip(pattern.places, sent, pattern.wide or [False] * pattern.size, strict=False))

    # settings -----------------------------------------------------------------------------------------------------

    def setting(self, name: str) -> Number:
        return self.array("settings")[0, name]

    @property
    def length(self) -> Number:
        return self.setting("length")

    @property
    def baumgarte(self) -> tuple[Number, Number]:
        damping, stiffness = self.plan.baumgarte  # whether there is any is structure
        return self.setting("damping") if damping else 0.0, self.setting("stiffness") if stiffness else 0.0

    @property
    def checks(self) -> bool:
        return self.plan.nodes is not None and self.plan.nodes.checks

    @property
    def has_links(self) -> bool:
        return self.plan.nodes is not None and self.plan.nodes.has_links

    @property
    def bases_move(self) -> bool:
        return self.plan.nodes is not None and self.plan.nodes.bases_move

    # in files of their own ----------------------------------------------------------------------------------------

    def paths_to_ground(self, step: Callable[[Any, Any, Any], Any], start: str, like: Any) -> None:
        dense.paths_to_ground(self, step, start, like)

    def solve(self, matrix: str, right: str, into: str) -> None:
        dense.solve(self.e, self.array(matrix), self.array(right), self.array(into))

    def closures(self, step: Callable[[Any], Any]) -> None:
        equations.leave_equations(self, step)

    def push_multipliers(self) -> None:
        loads.clear_applied(self)
        multipliers.push(self, also_output=True)

    def clear(self, name: str) -> None:
        self._clear(name, self.e.count("nv"))

    def _clear(self, name: str, size: Integer) -> None:
        array = self.array(name)
        self.e.each(0, size, lambda k: array.__setitem__(k, 0.0))

    def push_impulses(self) -> None:
        multipliers.push_impulses(self)

    def closure_states(self) -> None:
        if not self.forces:
            equations.leave_states(self)

    def carry_equations(self, step: Callable[[Any, Any, Any], Any]) -> None:
        equations.carry_equations(self, step)

    def orthonormalise(self) -> None:
        equations.orthonormalise(self)

    def output_equations(self, name: str, *fields: str) -> None:
        equations.output_equations(self, name, fields)

    def nodes(self, step: Callable[[Any], None], *, inward: bool = False) -> None:
        self.visits_nodes = True
        nodes.nodes(self, step, inward)

    def nodes_abreast(self, step: Callable[[Any], None]) -> None:
        if self.side_by_side:
            nodes_abreast(self, step)
