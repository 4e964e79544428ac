"""Functions that Python calls without ctypes: one state, or many, of which the arguments are checked in machine code."""

from __future__ import annotations

from ...formulations import Program
from ...kernels.llvm.emitter import Emitter
from ...kernels.llvm.flow import total
from .bound import ARRAY_TYPE, FALSE, FLOAT64, TRUE, Bound, Text, result

MOST = 32  # blocks of lanes: while they are evaluated no other thread runs Python


def write_single(program: Program, taken: list[str]) -> Text:
    """PyObject *f(self, args, count), METH_FASTCALL; self is the numpy array of bound words.

    False means: something is not as expected, or the result is not finite; the caller looks again, slowly.
    """
    call = _Call(1, program, taken)
    e, bound, out = call.e, call.bound, result(program)
    data = {}
    for k, name in enumerate(call.given):
        array = call.argument(k, 1, writeable=name == out)
        call.need(e.emit(f"icmp eq i64 {call.length(array, 0)}, {bound.word(f'width:{name}')}"))
        data[name] = call.data(array)
    outputs = {o: bound.address(f"buffer:{o}") for o in program.outputs}
    bound.call_kernel({name: data[name] for name in program.inputs} | outputs)

    def copy(k: str, sum_: str) -> str:
        x = e.load_double(outputs[out], k)
        e.do(f"store double {x}, ptr {e.pointer(data[out], k)}, align 8")
        return e.emit(f"fadd double {sum_}, {e.emit(f'fmul double {x}, {e.constant(0.0)}')}")

    sum_ = total(e, 0, bound.word(f"width:{out}"), e.constant(0.0), copy)
    call.need(e.emit(f"fcmp oeq double {sum_}, {e.constant(0.0)}"))
    return call.text("single")


def write_many(program: Program, taken: list[str], lanes: int) -> Text:
    """The direct function for rows of states, (B, width) each, up to MOST blocks; what is not finite is left to the caller."""
    call = _Call(1, program, taken)
    e, bound, out = call.e, call.bound, result(program)
    states = ""
    for k, name in enumerate(call.given):
        array = call.argument(k, 2, writeable=name == out)
        call.need(e.emit(f"icmp eq i64 {call.length(array, 1)}, {bound.word(f'width:{name}')}"))
        rows = call.length(array, 0)
        if k:
            call.need(e.emit(f"icmp eq i64 {rows}, {states}"))
        states = states or rows
        e.do(f"store ptr {call.data(array)}, ptr {e.pointer('%bound', bound.place[f'user:{name}'])}, align 8")
    call.need(e.emit(f"icmp sgt i64 {states}, 0"))
    call.need(e.emit(f"icmp sle i64 {states}, {MOST * lanes}"))
    e.do(f"store i64 {states}, ptr {e.pointer('%bound', bound.place['batch'])}, align 8")
    blocks = e.emit(f"sdiv i64 {e.integer('add', states, lanes - 1)}, {lanes}")
    e.do(f"call void @batch(ptr %bound, i64 0, i64 {blocks})")
    return call.text("many")


class _Call:
    """A function of Python under construction: checks of its arguments, and its answer.

    Reads the fields of numpy's array object: data 16, nd 24, dimensions 32, descr 56, flags 64 (checked when bound).
    """

    def __init__(self, lanes: int, program: Program, taken: list[str]):
        e = self.e = Emitter(lanes)
        e.do("%bound = load ptr, ptr %data_field, align 8")
        self.bound = Bound(e, program, taken)
        self.given = [*program.inputs, result(program)]
        self._type, self._float64 = self.bound.word(ARRAY_TYPE), self.bound.word(FLOAT64)
        self.need(e.emit(f"icmp eq i64 %count, {len(self.given)}"))

    def need(self, condition: str) -> None:
        e, fine = self.e, self.e.new_label("fine")
        e.do(f"br i1 {condition}, label %{fine}, label %refuse")
        kept = e.pointers
        e.start_block(fine)
        e.pointers = kept

    def argument(self, k: int, dimensions: int, *, writeable: bool) -> str:
        """The k-th, an array of doubles, contiguous and aligned."""
        e = self.e
        array = e.emit(f"load ptr, ptr {e.pointer('%args', k)}, align 8")
        self.need(e.emit(f"icmp eq i64 {self._field(array, 8, 'i64')}, {self._type}"))
        self.need(e.emit(f"icmp eq i64 {self._field(array, 56, 'i64')}, {self._float64}"))
        self.need(e.emit(f"icmp eq i32 {self._field(array, 24, 'i32')}, {dimensions}"))
        flags = 0x501 if writeable else 0x101
        found = e.emit(f"and i32 {self._field(array, 64, 'i32')}, {flags}")
        self.need(e.emit(f"icmp eq i32 {found}, {flags}"))
        return array

    def length(self, array: str, axis: int) -> str:
        return self.e.load_int(self._field(array, 32, "ptr"), axis)

    def data(self, array: str) -> str:
        return self._field(array, 16, "ptr")

    def _field(self, of: str, offset: int, type_: str) -> str:
        address = self.e.emit(f"getelementptr inbounds i8, ptr {of}, i64 {offset}")
        return self.e.emit(f"load {type_}, ptr {address}, align 4")

    def text(self, name: str) -> Text:
        e = self.e
        for label, value in ((None, TRUE), ("refuse", FALSE)):
            if label:
                e.start_block(label)
            answer = self.bound.address(value)
            e.do(f"call void @Py_IncRef(ptr {answer})")
            e.do(f"ret ptr {answer}")
        text = (
            f"define ptr @{name}(ptr %self, ptr %args, i64 %count) {{\nentry:\n"
            "%data_field = getelementptr inbounds i8, ptr %self, i64 16\n" + e.text() + "\n}\n"
        )
        return text, e.declarations | {"Py_IncRef": "declare void @Py_IncRef(ptr)"}
