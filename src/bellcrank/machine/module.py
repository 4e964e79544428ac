"""An LLVM module for a program: the kernel that evaluates one block of lanes, and the ways into it.

kernel    (n, nv, tables, data, workspace, inputs, outputs)             one block of states; everything noalias
batch     (bound, first, last)                                          blocks of many states, transposed on the way
single    a CPython function f(inputs..., out) -> True or False         one state, arguments checked

``bound`` is an array of 64-bit words that BOUND lays out: sizes, and addresses of tables and buffers. Outputs are always
computed in buffers of our own and copied, so that the user's arrays may alias each other.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..formulations import Program
from ..kernels.emitter import Emitter
from ..kernels.flow import each, total
from ..kernels.liveness import Memory, learned
from ..plan import Plan
from .walk import TracedWalk

_TABLES = ("table", "dofs", "data", "gravity", "sizes", "motion_table", "motion_data", "element_table", "element_data", "pool")
_CLOSING = (
    "closure_table",
    "closure_data",
    "grip_table",
    "factors",
    "settings",
    "row_order",
    "row_least",
    "node_table",
    "node_ints",
    "node_body_data",
    "node_closure_data",
)
_BUFFERS = ("work", "messages", "climbing", "driven_q", "driven_v", "driven_a", "states", "applied", "effort")
_CLOSING_BUFFERS = ("rows", "left", "grips", "lower", "push", "kept", "node_work", "channels", "images", "scratch", "impulses")
FIXED = (
    *_TABLES,
    *_CLOSING,
    *_BUFFERS,
    *_CLOSING_BUFFERS,
)  # what every kernel reads, and where it keeps what it needs for a while
_ARRAY_TYPE, _FLOAT64, _TRUE, _FALSE = "array_type", "float64", "true", "false"


def bound_words(program: Program) -> list[str]:
    """Names of the words of ``bound``, in order."""
    arrays = [*program.inputs, *program.outputs]
    words = ["n", "nv", "batch", *FIXED]
    words += [f"width:{a}" for a in arrays] + [f"user:{a}" for a in arrays] + [f"buffer:{a}" for a in arrays]
    return [*words, _ARRAY_TYPE, _FLOAT64, _TRUE, _FALSE]


def result(program: Program) -> str:
    """The output that is returned; a program has one."""
    (name,) = [name for name in program.outputs if name not in program.scratch]
    return name


@dataclass(frozen=True)
class Module:
    """Text of a module, and how wide its workspace rows are."""

    text: str
    work_row: int
    message_row: int
    dense_rows: int
    node_rows: tuple[int, ...]  # of each signature of a node: numbers that it keeps
    node_matrices: tuple[int, ...]  # and those of matrices
    scratch: int


def write_module(plan: Plan, program: Program, lanes: int) -> Module:
    kernel, widths = write_kernel(plan, program, lanes)
    parts = [kernel, _write_batch(program, lanes)]
    if lanes == 1:
        parts.append(_write_single(program))
    return assemble(parts, widths)


def assemble(parts: list[tuple[str, dict[str, str]]], widths: dict[str, int]) -> Module:
    declarations: dict[str, str] = {}
    for _, needed in parts:
        declarations |= needed
    text = "\n".join([*declarations.values(), *[part for part, _ in parts], PROFILE])
    marks = TracedWalk.work_row, TracedWalk.message_row, TracedWalk.dense_rows
    for mark in marks:
        text = text.replace(mark, str(widths[mark]))
    node_rows, matrices = (tuple(w for key, w in widths.items() if key.startswith(x)) for x in ("node ", "matrices "))
    work, messages, dense = (widths[mark] for mark in marks)
    return Module(text, work, messages, dense, node_rows, matrices, widths["scratch"])


PROFILE = '!0 = !{!"branch_weights", i32 1000000, i32 1}\n'


def kernel_arguments(program: Program) -> list[str]:
    return [*FIXED, *program.inputs, *program.outputs]


def write_kernel(
    plan: Plan, program: Program, lanes: int, name: str = "kernel"
) -> tuple[tuple[str, dict[str, str]], dict[str, int]]:
    e, walk = _written(plan, program, lanes, Memory())
    if walk.visits_nodes:
        e, walk = _written(plan, program, lanes, learned(e.lines, walk.channels.passes))
    pointers = ", ".join(f"ptr noalias %{argument}" for argument in kernel_arguments(program))
    head = f"define internal void @{name}(i64 %n, i64 %nv, {pointers}) {{\nentry:\n"
    return (head + e.text() + "\n}\n", e.declarations), walk.widths()


def _written(plan: Plan, program: Program, lanes: int, memory: Memory) -> tuple[Emitter, TracedWalk]:
    e = Emitter(lanes)
    e.do("%ancestor = alloca i64, align 8")
    e.do("%kept_count = alloca i64, align 8")
    walk = TracedWalk(e, plan, program, memory)
    walk.run()
    e.do("ret void")
    return e, walk


class Bound:
    """Reads words of ``bound`` inside a function."""

    def __init__(self, e: Emitter, program: Program, base: str = "%bound"):
        self.e, self.base = e, base
        self.place = {word: k for k, word in enumerate(bound_words(program))}

    def word(self, name: str) -> str:
        return self.e.load_int(self.base, self.place[name])

    def address(self, name: str) -> str:
        return self.e.emit(f"load ptr, ptr {self.e.pointer(self.base, self.place[name])}, align 8")

    def call_kernel(self, arrays: dict[str, str], name: str = "kernel") -> None:
        fixed = [self.address(f) for f in FIXED]
        arguments = ", ".join(f"ptr {p}" for p in [*fixed, *arrays.values()])
        self.e.do(f"call void @{name}(i64 {self.word('n')}, i64 {self.word('nv')}, {arguments})")


def _write_batch(program: Program, lanes: int) -> tuple[str, dict[str, str]]:
    """Blocks first .. last-1 of ``lanes`` states each; the last block may repeat the last state."""
    e = Emitter(lanes)
    bound = Bound(e, program)
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


def _write_single(program: Program) -> tuple[str, dict[str, str]]:
    """PyObject *f(self, args, count), METH_FASTCALL; self is the numpy array of bound words.

    Reads the fields of numpy's array object: data 16, nd 24, dimensions 32, descr 56, flags 64 (checked when bound).
    False means: something is not as expected, or the result is not finite; the caller looks again, slowly.
    """
    e = Emitter(1)
    e.do("%bound = load ptr, ptr %data_field, align 8")
    bound = Bound(e, program)
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
