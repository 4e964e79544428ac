"""Python functions as formulas: a function is called once with numbers that record what is done to them.

What comes out is a formula as any other: it is compiled with the model, runs in lanes, has exact derivatives, and is written
into model files as text.
"""

from __future__ import annotations

import inspect
import linecache
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import ModelError
from ...numbers import Graph, Number, Symbol
from ..parameters.expressions import LONGEST, Formula, FormulaError, derived
from ..spec.problems import brief

_INFIX = {"fadd": "+", "fsub": "-", "fmul": "*", "fdiv": "/", "pow": "**", "olt": "<", "ole": "<=", "ogt": ">", "oge": ">="}
_INFIX |= {"and": "and", "or": "or"}
_CALLS = {"fabs": "abs", "minimum": "min", "maximum": "max", "select": "if"}
_CONDITIONS = ("olt", "ole", "ogt", "oge", "and", "or", "not")


class FormulaGraph(Graph):
    """Writes what is recorded as parts of a formula: ``$0 = a*b; $1 = sin($0); ...``."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def record(self, kind: str, args: tuple[Number, ...]) -> str:
        text = self._text(kind, [_operand(x) for x in args])
        if kind in _CONDITIONS:
            return f"({text})"
        self.parts.append(f"${len(self.parts)} = {text}")
        return f"${len(self.parts) - 1}"

    def _text(self, kind: str, args: list[str]) -> str:
        if kind in _INFIX:
            return f"{args[0]} {_INFIX[kind]} {args[1]}"
        if kind in ("fneg", "not"):
            return f"-{args[0]}" if kind == "fneg" else f"not {args[0]}"
        if kind == "floor":
            return f"{args[0]} - mod({args[0]}, 1)"
        return f"{_CALLS.get(kind, kind)}({', '.join(args)})"


def _operand(x: Any) -> str:
    if hasattr(x, "ref"):
        return str(x.ref)
    value = float(x)
    return repr(value) if value >= 0 else f"({value!r})"


class Function:
    """A Python function of named values, recorded as a formula.

        @bc.Function
        def torque(t, throttle):
            return 40.0 * throttle * sin(t)

        gas = bc.Function(lambda theta, speed: ..., theta="crank_pivot.q", speed="crank_pivot.v")

        @bc.Function(theta="crank_pivot.q")
        def spring(theta, stiffness=20.0):
            return -stiffness * theta

    Its arguments are called like measures, parameters, inputs or ``t`` of the model, or are given such names here. An argument
    with a default value keeps that value unless it is given a name here. The function may use arithmetic and the functions of
    ``bellcrank.numbers``: sin, cos, sqrt, exp, minimum, select and so on. It cannot branch on a value, since it is called once,
    before any value is known.
    """

    def __new__(cls, function: Callable[..., Any] | None = None, **names: str) -> Any:
        """Without a function, returns a decorator that takes one."""
        return super().__new__(cls) if function is not None else lambda decorated: cls(decorated, **names)

    def __init__(self, function: Callable[..., Any], **names: str):
        if not callable(function):
            raise ModelError(f"{function!r} is not a function. Give one, as in bc.Function(lambda t: 2.0 * t).")
        self.function, self.name = function, getattr(function, "__name__", type(function).__name__)
        self.parameters = self._parameters()
        arguments = [p.name for p in self.parameters]
        for name in names:
            if name not in arguments:
                raise ModelError(f'function "{self.name}" has no argument "{name}". It has {", ".join(arguments) or "none"}.')
        own = {p.name: names.get(p.name, p.name) for p in self.parameters if p.default is p.empty or p.name in names}
        self.names = tuple(own.values())
        self.formula = self._recorded(own)

    def __call__(self, *values: Any) -> Any:
        """The function itself, on numbers."""
        return self.function(*values)

    def _parameters(self) -> list[inspect.Parameter]:
        try:
            parameters = list(inspect.signature(self.function).parameters.values())
        except (TypeError, ValueError):
            raise ModelError(
                f'function "{self.name}" does not declare its arguments. Wrap it: lambda t: {self.name}(t).'
            ) from None
        if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
            raise ModelError(f'function "{self.name}" has arguments without a name. Give each a name, such as t.')
        return parameters

    def _recorded(self, arguments: dict[str, str]) -> Formula:
        graph = FormulaGraph()
        given = {p.name: Symbol(graph, arguments[p.name]) if p.name in arguments else p.default for p in self.parameters}
        by_name = [p.name for p in self.parameters if p.kind is p.KEYWORD_ONLY]
        try:
            found = self.function(
                *[x for name, x in given.items() if name not in by_name], **{name: given[name] for name in by_name}
            )
        except ModelError:
            raise
        except Exception as error:
            raise ModelError(self._why(error)) from error
        if isinstance(found, bool | np.bool_) or not isinstance(found, Symbol | int | float | np.floating | np.integer):
            what = "a condition" if hasattr(found, "select") else f"{type(found).__name__}"
            raise ModelError(f'function "{self.name}" returns {what}. Let it return one number.')
        if not isinstance(found, Symbol) and not np.isfinite(found):
            raise ModelError(f'function "{self.name}" returns {found}. Let it return a finite number.')
        text = "; ".join([*graph.parts, _operand(found)])
        try:
            formula = derived(text)
        except FormulaError as error:
            raise ModelError(f'function "{self.name}" cannot be written as a formula: {error}.') from None
        if len(text) > LONGEST:
            raise ModelError(
                f'function "{self.name}" takes {len(graph.parts)} operations, which is too long for a formula. '
                "Simplify it, or replace it by a table of its values."
            )
        return formula

    def _why(self, error: Exception) -> str:
        """The line of the user's that failed, and what to write instead."""
        code = getattr(self.function, "__code__", None)
        frames = [f for f in traceback.extract_tb(error.__traceback__) if code is not None and f.filename == code.co_filename]
        place = ""
        if frames:
            line = (linecache.getline(frames[-1].filename, frames[-1].lineno or 0) or frames[-1].line or "").strip()
            place = f", line {frames[-1].lineno}" + (f", {brief(line)}" if line else "")
        what, remedy = _reason(error)
        return f'function "{self.name}"{place}: {what}, so that the function cannot be recorded. {remedy}.'


_REASONS = (  # part of what Python or numpy says, what it means, what to do
    ("no value to make a float of", "it needs a value, as functions of math do", "sin and sqrt"),
    ("no value to branch on", "it branches on a value", "select(condition, a, b), minimum(a, b) and maximum(a, b)"),
    ("for %:", "it takes a remainder", "mod(a, b)"),
    ("for //:", "it rounds a value", "floor(a / b)"),
    ("__round__", "it rounds a value", "floor(a + 0.5)"),
    ("int()", "it rounds a value", "floor(a)"),
    ("list indices", "it takes an entry of a list by a value", "select(condition, a, b), or a table of the model"),
    ("ufunc", "it calls numpy", "sin and sqrt"),
    ("numpy", "it calls numpy", "sin and sqrt"),
)


def _reason(error: Exception) -> tuple[str, str]:
    """The reason why a function cannot be recorded, and what to write instead."""
    for said, what, instead in _REASONS:
        if said in str(error):
            return what, f"Use functions of bellcrank.numbers, such as {instead}"
    return f"{type(error).__name__}: {error}", "Use arithmetic and the functions of bellcrank.numbers"
