"""An LLVM module for a program: the kernel that evaluates one block of lanes, and the ways into it.

kernel    (n, nv, tables, data, workspace, inputs, outputs)             one block of states; everything noalias
batch     (bound, first, last)                                          blocks of many states, transposed on the way
single    a CPython function f(inputs..., out) -> True or False         one state, arguments checked

``bound`` is an array of 64-bit words that BOUND lays out: sizes, and addresses of tables and buffers. Outputs are always
computed in buffers of our own and copied, so that the user's arrays may alias each other.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..formulations import Program
from ..kernels.llvm.emitter import Emitter
from ..kernels.llvm.executor import LlvmExecutor
from ..kernels.llvm.flow import each, total
from ..kernels.llvm.liveness import CellPlan, learned
from ..plan import Plan
from ..plan.loads import motion_row
from .arrays import ARRAYS
from .walk import Walk

_ARRAY_TYPE, _FLOAT64, _TRUE, _FALSE = "array_type", "float64", "true", "false"
_WORK_ROW, _MESSAGE_ROW = "@WORK@", "@MESSAGE@"  # widths known only when all kernels of a module are written


def bound_words(program: Program, arguments: list[str]) -> list[str]:
    """Names of the words of ``bound``, in order; ``arguments``: arrays that the kernel takes besides its own."""
    arrays = [*program.inputs, *program.outputs]
    words = ["n", "nv", "batch", *arguments]
    words += [f"width:{a}" for a in arrays] + [f"user:{a}" for a in arrays] + [f"buffer:{a}" for a in arrays]
    return [*words, _ARRAY_TYPE, _FLOAT64, _TRUE, _FALSE]


def result(program: Program) -> str:
    """The output that is returned; a program has one."""
    (name,) = [name for name in program.outputs if name not in program.scratch]
    return name


Text = tuple[str, dict[str, str]]  # a function, and the declarations that it needs


@dataclass
class Facts:
    """What of the size of buffers only writing the kernels tells; of several kernels the largest."""

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

    def merged(self, other: Facts) -> Facts:
        def larger(a: Any, b: Any) -> Any:
            if isinstance(a, dict):
                return a | b
            return [max(x, y) for x, y in zip(a, b, strict=True)] if isinstance(a, list) and a else max(a, b)

        return Facts(**{name: larger(x, getattr(other, name)) for name, x in vars(self).items()})


@dataclass(frozen=True)
class KernelText:
    """A kernel, the arrays that it takes before its inputs and outputs, and what it needs of buffers."""

    text: Text
    arguments: list[str]
    facts: Facts


@dataclass(frozen=True)
class Module:
    """Text of a module, what its kernels need of buffers, and the arrays that they take."""

    text: str
    facts: Facts
    arguments: list[str]


def write_module(plan: Plan, program: Program, lanes: int) -> Module:
    kernel = write_kernel(plan, program, lanes)
    others = [write_batch(program, kernel.arguments, lanes)]
    if lanes == 1:
        others.append(write_single(program, kernel.arguments))
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


@contextmanager
def _without_collections() -> Iterator[None]:
    """Recording makes many small objects and no garbage: looking for some takes a third of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def write_kernel(plan: Plan, program: Program, lanes: int, name: str = "kernel") -> KernelText:
    e, arguments, facts = recorded_kernel(plan, program, lanes)
    pointers = ", ".join(f"ptr noalias %{argument}" for argument in [*arguments, *program.inputs, *program.outputs])
    text = f"define internal void @{name}(i64 %n, i64 %nv, {pointers}) {{\nentry:\n{e.text()}\n}}\n"
    e.release()
    return KernelText((text, e.declarations), arguments, facts)


@_without_collections()
def recorded_kernel(plan: Plan, program: Program, lanes: int) -> tuple[LlvmExecutor, list[str], Facts]:
    """A kernel as a graph, the arrays that it takes before its inputs and outputs, and what it needs of buffers."""
    e, walk = recorded(plan, program, lanes, CellPlan())
    if walk.visits_nodes:
        e, walk = recorded(plan, program, lanes, learned(e.region, walk.node_messages.passes, e.wide))
    arguments = [array for array in ARRAYS if array in e.used and ARRAYS[array].kind != "local"]
    records = list(walk.node_workspaces.values())
    facts = Facts(
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


def recorded(plan: Plan, program: Program, lanes: int, memory: CellPlan) -> tuple[LlvmExecutor, Walk]:
    counts = {"bodies": "%n", "nv": "%nv", "left_row": "%nv", "work_row": _WORK_ROW, "message_row": _MESSAGE_ROW}
    known = counts | {"motion_row": motion_row(plan.loads.motion_signatures)}
    known["measure_row"] = plan.loads.measures.data.shape[1]
    e = LlvmExecutor(lanes, program.tangents, known, ARRAYS["sizes"])
    walk = Walk(e, plan, program, memory)
    walk.run()
    e.do("ret void")
    return e, walk


class Bound:
    """Reads words of ``bound`` inside a function."""

    def __init__(self, e: Emitter, program: Program, taken: list[str]):
        self.e, self.taken = e, taken
        self.place = {word: k for k, word in enumerate(bound_words(program, taken))}

    def word(self, name: str) -> str:
        return self.e.load_int("%bound", self.place[name])

    def address(self, name: str) -> str:
        return self.e.emit(f"load ptr, ptr {self.e.pointer('%bound', self.place[name])}, align 8")

    def call_kernel(self, arrays: dict[str, str]) -> None:
        taken = [self.address(name) for name in self.taken]
        arguments = ", ".join(f"ptr {p}" for p in [*taken, *arrays.values()])
        self.e.do(f"call void @kernel(i64 {self.word('n')}, i64 {self.word('nv')}, {arguments})")


def write_batch(program: Program, taken: list[str], lanes: int) -> Text:
    """Blocks first .. last-1 of ``lanes`` states each; the last block may repeat the last state."""
    e = Emitter(lanes)
    bound = Bound(e, program, taken)
    arrays = [*program.inputs, *program.outputs]
    out = result(program)
    width = {a: bound.word(f"width:{a}") for a in arrays}
    user = {a: bound.address(f"user:{a}") for a in [*program.inputs, out]}
    buffer = {a: bound.address(f"buffer:{a}") for a in arrays}
    states = bound.word("batch")

    def block(b: str) -> None:
        first = e.integer("mul", b, lanes)
        last = e.emit(f"sub i64 {states}, 1")
        rows = []
        for lane in range(lanes):
            row = e.integer("add", first, lane)
            fits = e.emit(f"icmp slt i64 {row}, {last}")
            rows.append(e.emit(f"select i1 {fits}, i64 {row}, i64 {last}"))
        for a in program.inputs:
            starts = [e.integer("mul", row, width[a]) for row in rows]
            each(e, 0, width[a], lambda k, a=a, starts=starts: _gather(e, user[a], starts, buffer[a], k))  # type: ignore[misc]
        bound.call_kernel(buffer)
        starts = [e.integer("mul", row, width[out]) for row in rows]
        each(e, 0, width[out], lambda k: _scatter(e, buffer[out], starts, user[out], k))

    each(e, "%first", "%last", block)
    e.do("ret void")
    return f"define void @batch(ptr %bound, i64 %first, i64 %last) {{\nentry:\n{e.text()}\n}}\n", e.declarations


def _gather(e: Emitter, user: str, starts: list[str | int], buffer: str, k: str) -> None:
    scalars = [e.load_double(user, e.integer("add", start, k)) for start in starts]
    value = scalars[0]
    if e.lanes > 1:
        value = "poison"
        for lane, scalar in enumerate(scalars):
            value = e.emit(f"insertelement {e.type} {value}, double {scalar}, i32 {lane}")
    e.store(e.symbol(value), buffer, k)


def _scatter(e: Emitter, buffer: str, starts: list[str | int], user: str, k: str) -> None:
    value = e.load(buffer, k)
    for lane, start in enumerate(starts):
        scalar = value if e.lanes == 1 else e.emit(f"extractelement {e.type} {value}, i32 {lane}")
        e.do(f"store double {scalar}, ptr {e.pointer(user, e.integer('add', start, k))}, align 8")


def write_single(program: Program, taken: list[str]) -> Text:
    """PyObject *f(self, args, count), METH_FASTCALL; self is the numpy array of bound words.

    Reads the fields of numpy's array object: data 16, nd 24, dimensions 32, descr 56, flags 64 (checked when bound).
    False means: something is not as expected, or the result is not finite; the caller looks again, slowly.
    """
    e = Emitter(1)
    e.do("%bound = load ptr, ptr %data_field, align 8")
    bound = Bound(e, program, taken)
    out = result(program)
    given = [*program.inputs, out]
    array_type, float64 = bound.word(_ARRAY_TYPE), bound.word(_FLOAT64)

    def need(condition: str) -> None:
        fine = e.new_label("fine")
        e.do(f"br i1 {condition}, label %{fine}, label %refuse")
        kept = e.pointers
        e.start_block(fine)
        e.pointers = kept

    def field(of: str, offset: int, type_: str) -> str:
        address = e.emit(f"getelementptr inbounds i8, ptr {of}, i64 {offset}")
        return e.emit(f"load {type_}, ptr {address}, align 4")

    need(e.emit(f"icmp eq i64 %count, {len(given)}"))
    data = {}
    for k, name in enumerate(given):
        array = e.emit(f"load ptr, ptr {e.pointer('%args', k)}, align 8")
        need(e.emit(f"icmp eq i64 {field(array, 8, 'i64')}, {array_type}"))
        need(e.emit(f"icmp eq i64 {field(array, 56, 'i64')}, {float64}"))
        need(e.emit(f"icmp eq i32 {field(array, 24, 'i32')}, 1"))
        flags = 0x501 if name == out else 0x101  # contiguous, aligned, and writeable
        found = e.emit(f"and i32 {field(array, 64, 'i32')}, {flags}")
        need(e.emit(f"icmp eq i32 {found}, {flags}"))
        length = e.emit(f"load i64, ptr {field(array, 32, 'ptr')}, align 8")
        need(e.emit(f"icmp eq i64 {length}, {bound.word(f'width:{name}')}"))
        data[name] = field(array, 16, "ptr")
    outputs = {o: bound.address(f"buffer:{o}") for o in program.outputs}
    bound.call_kernel({name: data[name] for name in program.inputs} | outputs)

    def copy(k: str, sum_: str) -> str:
        x = e.load_double(outputs[out], k)
        e.do(f"store double {x}, ptr {e.pointer(data[out], k)}, align 8")
        return e.emit(f"fadd double {sum_}, {e.emit(f'fmul double {x}, {e.constant(0.0)}')}")

    sum_ = total(e, 0, bound.word(f"width:{out}"), e.constant(0.0), copy)
    need(e.emit(f"fcmp oeq double {sum_}, {e.constant(0.0)}"))
    for label, value in ((None, _TRUE), ("refuse", _FALSE)):
        if label:
            e.start_block(label)
        answer = bound.address(value)
        e.do(f"call void @Py_IncRef(ptr {answer})")
        e.do(f"ret ptr {answer}")
    text = (
        "define ptr @single(ptr %self, ptr %args, i64 %count) {\nentry:\n"
        "%data_field = getelementptr inbounds i8, ptr %self, i64 16\n" + e.text() + "\n}\n"
    )
    return text, e.declarations | {"Py_IncRef": "declare void @Py_IncRef(ptr)"}
