"""A number that has a value and remembers how it follows from the parameters of a design.

Code that runs on it takes the way that its value shows, and what it computes stands on a Tape, to be computed again at other
values of the parameters: on any number (``replay``), also on symbols, which makes machine code of it. A comparison that code
branches on is an assumption of the tape: where it comes out otherwise, the same code would take another way. ``select`` and its
like are recorded instead, and assume nothing.

What does not depend on a parameter stays a plain number: 0 * x is 0 as for all recorded numbers. So an entry of an array is a
Variable exactly if a parameter can change it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import functions
from .symbol import Condition, Graph, Number, Symbol

Array = NDArray[Any]

# what the kinds of recorded operations do, on any number
OPERATIONS: dict[str, Callable[..., Any]] = {
    "fadd": operator.add,
    "fsub": operator.sub,
    "fmul": operator.mul,
    "fdiv": operator.truediv,
    "fneg": operator.neg,
    "fabs": functions.absolute,
    "sqrt": functions.sqrt,
    "sin": lambda x: functions.sincos(x)[0],
    "cos": lambda x: functions.sincos(x)[1],
    "atan2": functions.atan2,
    "exp": functions.exp,
    "log": functions.log,
    "floor": functions.floor,
    "pow": functions.power,
    "minimum": functions.minimum,
    "maximum": functions.maximum,
    "select": functions.select,
    "olt": functions.less,
    "ogt": lambda a, b: functions.less(b, a),
    "ole": lambda a, b: functions.negated(functions.less(b, a)),
    "oge": lambda a, b: functions.negated(functions.less(a, b)),
    "and": functions.both,
    "or": lambda a, b: functions.negated(functions.both(functions.negated(a), functions.negated(b))),
    "not": functions.negated,
}


COMPARING = ("olt", "ogt", "ole", "oge", "minimum", "maximum", "fabs")


class Tape(Graph):
    """Operations in their order; a place is the number of an operation, the parameters are the first ones."""

    def __init__(self, values: Sequence[float]) -> None:
        super().__init__()
        self.steps: list[tuple[str, tuple[Any, ...]]] = [("input", ())] * len(values)
        self.assumptions: dict[Any, Decision] = {}
        self.parameters = [Variable(self, Place(k), value=float(x)) for k, x in enumerate(values)]

    def record(self, kind: str, args: tuple[Number, ...]) -> Any:
        self.steps.append((kind, tuple(a.ref if isinstance(a, Symbol | Condition) else float(a) for a in args)))
        return Place(len(self.steps) - 1)

    def number(self, ref: Any, kind: str, args: tuple[Any, ...], minus: Symbol | None = None) -> Variable:
        return Variable(self, ref, kind, (), minus, _evaluated(kind, args))  # the tape has the arguments

    def compare(self, kind: str, *args: Any) -> Decision:
        key = (kind, *[a.ref if isinstance(a, Symbol | Condition) else float(a) for a in args])
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = Decision(self, self.record(kind, args), bool(_evaluated(kind, args)))
        return found

    def holds(self) -> Any:
        """1 where all assumptions come out as they did, else 0."""
        every: Any = True
        for decision in self.assumptions.values():
            every = functions.both(every, decision if decision.holds else ~decision)
        return functions.select(every, 1.0, 0.0)

    def replay(self, outputs: Sequence[Any], parameters: Sequence[Number]) -> list[Number]:
        """The outputs, Variables, Decisions or plain numbers, at other values of the parameters, which may be any numbers."""
        return Replay(self, outputs)(parameters)

    def needed(self, outputs: Iterable[Any]) -> list[int]:
        """The places that outputs depend on, in order."""
        needed = np.zeros(len(self.steps), dtype=bool)
        needed[[x.ref.at for x in outputs if isinstance(x, Symbol | Condition)]] = True
        for k in reversed(range(len(self.steps))):
            if needed[k]:
                needed[[a.at for a in self.steps[k][1] if type(a) is Place]] = True
        return [int(k) for k in np.flatnonzero(needed)]

    def kinks(self, outputs: Iterable[Any], parameters: Sequence[float]) -> list[int]:
        """The parameters on which a number depends that has a kink or a jump there, since two equal numbers are compared."""
        needed, found = self.needed(outputs), dict[int, Any](enumerate(parameters))
        here: list[int] = []
        for k in needed:
            kind, args = self.steps[k]
            values = [found[a.at] if type(a) is Place else a for a in args]
            if kind in COMPARING and values[0] == (values[1] if len(values) > 1 else 0.0):
                here.append(k)
            if kind != "input":
                found[k] = OPERATIONS[kind](*values)
        concerned = [Variable(self, Place(k)) for k in here]
        return [k for k, depends in enumerate(self.depends_on(concerned)) if depends]

    def compared(self, outputs: Iterable[Any]) -> list[tuple[Any, Any]]:
        """Pairs of numbers whose comparison the outputs depend on."""

        def number(a: Any) -> Any:
            return Variable(self, a) if type(a) is Place else a

        compared = (self.steps[k] for k in self.needed(outputs))
        pairs = [(*args, 0.0)[:2] for kind, args in compared if kind in COMPARING]
        return [(number(a), number(b)) for a, b in pairs]

    def depends_on(self, outputs: Iterable[Any]) -> list[bool]:
        """For each parameter whether the outputs depend on it."""
        needed = set(self.needed(outputs))
        return [k in needed for k in range(len(self.parameters))]


class Replay:
    """The part of a tape that outputs need, ready to be computed on any numbers."""

    def __init__(self, tape: Tape, outputs: Sequence[Any]) -> None:
        steps = [(k, *tape.steps[k]) for k in tape.needed(outputs)]
        steps = [step for step in steps if step[1] != "input"]
        count = len(tape.parameters)
        self._constants = [a for _, _, args in steps for a in args if type(a) is not Place]
        self._constants += [x for x in outputs if not isinstance(x, Symbol | Condition)]
        constants = iter(range(count, count + len(self._constants)))
        first = count + len(self._constants)
        places = {k: k for k in range(count)} | {step[0]: first + i for i, step in enumerate(steps)}

        def entry(a: Any) -> int:
            return places[a.at] if type(a) is Place else next(constants)

        self._steps: list[tuple[Any, ...]] = [(OPERATIONS[kind], *[entry(a) for a in args]) for _, kind, args in steps]
        self._outputs = [entry(x.ref if isinstance(x, Symbol | Condition) else x) for x in outputs]

    def __call__(self, parameters: Sequence[Number]) -> list[Number]:
        """Parameters, constants and what follows stand in one list: a step appends what it makes of some of them."""
        found: list[Any] = [*parameters, *self._constants]
        for step in self._steps:
            if len(step) == 3:  # nearly all
                operation, a, b = step
                found.append(operation(found[a], found[b]))
            else:
                operation, *args = step
                found.append(operation(*[found[a] for a in args]))
        return [found[k] for k in self._outputs]


class Place:
    """Where on the tape a number was made; two are equal only if they are one and the same, and none is a constant."""

    __slots__ = ("at",)

    def __init__(self, at: int) -> None:
        self.at = at

    def __repr__(self) -> str:
        return f"%{self.at}"


def _evaluated(kind: str, args: tuple[Any, ...]) -> Any:
    values = [a.value if isinstance(a, Variable) else a.holds if isinstance(a, Decision) else float(a) for a in args]
    with np.errstate(all="ignore"):
        try:
            value = OPERATIONS[kind](*values)
        except ZeroDivisionError:
            return math.nan
    return value if isinstance(value, bool | np.bool_) else float(value)


class Variable(Symbol):
    """A recorded number with a value."""

    __slots__ = ("value",)

    def __init__(
        self,
        graph: Tape,
        ref: Any,
        kind: str = "input",
        args: tuple[Any, ...] = (),
        minus: Symbol | None = None,
        value: float = 0.0,
    ):
        super().__init__(graph, ref, kind, args, minus)
        self.value = value

    def __repr__(self) -> str:
        return f"Variable({self.value!r})"

    def __format__(self, spec: str) -> str:
        return format(self.value, spec)

    def __bool__(self) -> bool:
        """Whether it is not zero, which the tape then assumes."""
        return bool((self < 0.0) | (self > 0.0))

    def __float__(self) -> float:
        raise TypeError("a number that depends on a design was to become a plain one: use as_number, or value_of for a check")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **settings: Any) -> Any:
        """Numpy takes it as an array of one object, so that arrays and variables meet entry by entry."""
        return getattr(ufunc, method)(*[_boxed(x) for x in inputs], **settings)


def _boxed(x: Any) -> Any:
    if not isinstance(x, Variable):
        return x
    box = np.empty((), dtype=object)
    box[()] = x
    return box


class Decision(Condition):
    """A recorded comparison that is known: code may branch on it, and the tape then assumes how it came out."""

    __slots__ = ("holds",)

    def __init__(self, graph: Tape, ref: Any, holds: bool):
        super().__init__(graph, ref)
        self.holds = holds

    def __bool__(self) -> bool:
        assert isinstance(self.graph, Tape)
        self.graph.assumptions[self.ref] = self
        return self.holds


# --- plain numbers and variables, alone and in arrays


def as_number(x: Any) -> Any:
    """A float, or what depends on a design as it is."""
    return x if isinstance(x, Variable) else float(x)


def depends_on_design(x: Any) -> bool:
    """Whether a number is a variable, or one in nested tuples is."""
    return any(map(depends_on_design, x)) if isinstance(x, tuple) else isinstance(x, Variable)


def value_of(x: Any) -> float:
    """The value, for what is decided once and for all designs."""
    return float(x.value if isinstance(x, Variable) else x)


def is_finite(x: Any) -> bool:
    """Whether a number is finite; what depends on a design is looked at when its arrays are there."""
    return isinstance(x, Variable) or math.isfinite(x)


def length_of(vector: Iterable[Any]) -> Any:
    """Length of a vector, as math.hypot has it."""
    entries = list(vector)
    if not any(isinstance(x, Variable) for x in entries):
        return math.hypot(*map(float, entries))
    return functions.sqrt(sum(x * x for x in entries))


def as_array(values: Any) -> Array:
    """An array of floats; of objects where a design can change an entry."""
    try:
        return np.array(values, dtype=float)
    except TypeError:
        return np.array(values, dtype=object)


def values_of(array: Any) -> NDArray[np.float64]:
    """Floats, whatever a design can change."""
    array = np.asarray(array)
    if array.dtype != object:
        return np.asarray(array, dtype=float)
    return np.array([value_of(x) for x in array.ravel()], dtype=float).reshape(array.shape)


def varied(array: Any) -> NDArray[np.bool_]:
    """For each entry whether a design can change it."""
    array = np.asarray(array)
    found: NDArray[np.bool_] = np.zeros(array.shape, dtype=bool)
    if array.dtype == object:
        found.ravel()[:] = [isinstance(x, Variable) for x in array.ravel()]
    return found


def on_constants(rounded: Callable[[NDArray[np.float64]], NDArray[np.float64]], array: Any) -> Array:
    """An array cleaned of rounding errors, which only numbers that no design changes may be."""
    if array.dtype != object:
        return rounded(array)
    return np.where(varied(array), array, rounded(values_of(array)).astype(object))
