"""An LLVM module for a program: the kernel that evaluates one block of lanes, and the ways into it (calls/).

kernel    (n, nv, tables, data, workspace, inputs, outputs)             one block of states; everything noalias
batch     (bound, first, last)                                          blocks of many states, transposed on the way
single    a CPython function f(inputs..., out) -> True or False         one state, arguments checked
many      the same for many states

``bound`` is an array of 64-bit words that calls/bound.py lays out: sizes, and addresses of tables and buffers. Outputs are
always computed in buffers of our own and copied, so that the user's arrays may alias each other.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from ..formulations import Program
from ..kernels.cache import digest
from ..kernels.llvm.executor import LlvmExecutor
from ..kernels.llvm.liveness import CellPlan, learned
from ..plan import Plan
from ..plan.loads import motion_row
from .arrays import ARRAYS
from .calls.batch import write_batch
from .calls.bound import Text
from .calls.direct import write_many, write_single
from .nodes.groups import key_of
from .walk import Walk

_WORK_ROW, _MESSAGE_ROW = "@WORK@", "@MESSAGE@"  # widths known only when all kernels of a module are written


@dataclass
class BufferSizes:
    """Sizes of buffers that are known only when the kernels are written; of several kernels the largest."""

    work_row: int = 1  # numbers that are kept on a body
    message_row: int = 1  # numbers that go to a body through memory
    dense: int = 0  # 1: all equations of closures are taken at once
    scratch: int = 0  # numbers of matrices of one step at a node
    sent: int = 1  # numbers that nodes send each other of a body
    tangents: int = 0  # of every active number
    node_rows: list[int] = field(default_factory=list)  # of each signature of a node: numbers that are kept
    node_matrices: list[int] = field(default_factory=list)  # and those of matrices
    adjoints: dict[str, list[str]] = field(default_factory=dict)  # of transposed kernels: the arrays whose adjoints they take
    largest_frame: int = 0  # doubles that they put on their tape at once

    def merged(self, other: BufferSizes) -> BufferSizes:
        def larger(a: Any, b: Any) -> Any:
            if isinstance(a, dict):
                return a | b
            return [max(x, y) for x, y in zip(a, b, strict=True)] if isinstance(a, list) and a else max(a, b)

        return BufferSizes(**{name: larger(x, getattr(other, name)) for name, x in vars(self).items()})


@dataclass(frozen=True)
class KernelText:
    """A kernel, the arrays that it takes before its inputs and outputs, and what it needs of buffers."""

    text: Text
    arguments: list[str]
    facts: BufferSizes


@dataclass(frozen=True)
class Module:
    """Text of a module, what its kernels need of buffers, and the arrays that they take."""

    text: str
    facts: BufferSizes
    arguments: list[str]


def write_module(plan: Plan, program: Program, lanes: int) -> Module:
    kernel = write_kernel(plan, program, lanes)
    others = [write_batch(program, kernel.arguments, lanes, plan.lane_designs)]
    if lanes == 1:
        others.append(write_single(program, kernel.arguments))
    elif not plan.lane_designs:
        others.append(write_many(program, kernel.arguments, lanes))
    return assemble([kernel], others)


def assemble(kernels: list[KernelText], others: list[Text]) -> Module:
    """A module of kernels that share their buffers, and of other functions."""
    facts = kernels[0].facts
    for kernel in kernels[1:]:
        facts = facts.merged(kernel.facts)
    parts = [*(kernel.text for kernel in kernels), *others]
    declarations: dict[str, str] = {}
    for _, needed in parts:
        declarations |= needed
    text = "\n".join([*declarations.values(), *[part for part, _ in parts], PROFILE])
    text = text.replace(_WORK_ROW, str(facts.work_row)).replace(_MESSAGE_ROW, str(facts.message_row))
    taken = {name for kernel in kernels for name in kernel.arguments}
    return Module(text, facts, [name for name in ARRAYS if name in taken])


PROFILE = '!0 = !{!"branch_weights", i32 1000000, i32 1}\n'


def structure_name(plan: Plan) -> str:
    """A short name of everything in a plan that machine code depends on."""
    if STRUCTURE not in plan.made:
        plan.made[STRUCTURE] = digest(str(structure_key(plan)))
    return str(plan.made[STRUCTURE])


def structure_key(plan: Plan) -> tuple[Any, ...]:
    nodes = () if plan.nodes is None else (*plan.nodes.key(), *key_of(plan.nodes))
    present = (*plan.has_gravity, *(bool(x) for x in plan.baumgarte))
    shared = ("pool", "factors", "given_factors", "action_data")  # of others the signatures say what varies
    varied = *(plan.varies("gravity", k) for k in range(3)), *(plan.varies(name) for name in shared)
    designs = ("a design in each lane",) * plan.lane_designs
    return (plan.signatures, present, varied, *plan.loads.key(), nodes, plan.outside_joints, *designs)


STRUCTURE = "structure"
_written: dict[tuple[Any, ...], KernelText] = {}  # without their names: runs take kernels that assembly has made, say
_MOST_WRITTEN = 10_000_000  # characters


def write_kernel(plan: Plan, program: Program, lanes: int, name: str = "kernel") -> KernelText:
    key = (lanes, *program.key(), *structure_key(plan))
    kernel = _written.get(key)
    if kernel is None:
        kernel = _written[key] = _write_kernel(plan, program, lanes)
        while sum(len(known.text[0]) for known in list(_written.values())) > _MOST_WRITTEN:
            _written.pop(next(iter(_written)), None)
    text, declarations = kernel.text
    return replace(kernel, text=(f"define internal void @{name}{text}", declarations))


def _write_kernel(plan: Plan, program: Program, lanes: int) -> KernelText:
    e, arguments, facts = recorded_kernel(plan, program, lanes)
    pointers = ", ".join(f"ptr noalias %{argument}" for argument in [*arguments, *program.inputs, *program.outputs])
    text = f"(i64 %n, i64 %nv, {pointers}) {{\nentry:\n{e.text()}\n}}\n"
    e.release()
    return KernelText((text, e.declarations), arguments, facts)


def recorded_kernel(
    plan: Plan, program: Program, lanes: int, *, transposable: bool = False
) -> tuple[LlvmExecutor, list[str], BufferSizes]:
    """A kernel as a graph, the arrays that it takes before its inputs and outputs, and what it needs of buffers."""
    e, walk = recorded(plan, program, lanes, CellPlan(), transposable)
    if walk.visits_nodes:
        memory = learned(e.region, walk.node_messages.passes, walk.walks, e.wide)
        e.release()
        e, walk = recorded(plan, program, lanes, memory, transposable)
    arguments = [array for array in ARRAYS if array in e.used and ARRAYS[array].kind != "local"]
    records = list(walk.node_workspaces.values())
    facts = BufferSizes(
        work_row=max(r.slots for r in walk.workspaces.values()) or 1,
        message_row=walk.message_width or 1,
        dense=int(walk.dense),
        scratch=walk.arena.most,
        sent=walk.memory.sent,
        tangents=e.wide,
        node_rows=[record.slots for record in records],
        node_matrices=[record.matrices * e.unit // lanes for record in records],
    )
    return e, arguments, facts


def recorded(
    plan: Plan, program: Program, lanes: int, memory: CellPlan, transposable: bool = False
) -> tuple[LlvmExecutor, Walk]:
    """``transposable``: matrices in memory are gone through number by number."""
    counts = {"bodies": "%n", "nv": "%nv", "left_row": "%nv", "work_row": _WORK_ROW, "message_row": _MESSAGE_ROW}
    known = counts | {"motion_row": motion_row(plan.loads.motion_signatures)}
    known["measure_row"] = plan.loads.measures.data.shape[1]
    e = LlvmExecutor(lanes, program.tangents, known, ARRAYS["sizes"])
    e.chunked, e.transposable = e.chunked and not transposable, transposable
    walk = Walk(e, plan, program, memory)
    walk.run()
    e.do("ret void")
    return e, walk
