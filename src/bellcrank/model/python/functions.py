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

    Its arguments are called like measures, parameters, inputs or ``t`` of the model, or are given such names here. It may use
    arithmetic and the functions of ``bellcrank.numbers``: sin, cos, sqrt, exp, minimum, select and so on. It cannot branch on
    a value, since it is called once, before any value is known.
    """

    def __init__(self, function: Callable[..., Any], **names: str):
        if not callable(function):
            raise ModelError(f"{function!r} is no function. Give one, as in bc.Function(lambda t: 2.0 * t).")
        self.function, self.name = function, getattr(function, "__name__", type(function).__name__)
        arguments = self._arguments()
        for name in names:
            if name not in arguments:
                raise ModelError(f'function "{self.name}" has no argument "{name}". It has {", ".join(arguments) or "none"}.')
        self.names = tuple(names.get(argument, argument) for argument in arguments)
        self.formula = self._recorded()

    def __call__(self, *values: Any) -> Any:
        """The function itself, on numbers."""
        return self.function(*values)

    def _arguments(self) -> list[str]:
        try:
            parameters = inspect.signature(self.function).parameters.values()
        except (TypeError, ValueError):
            raise ModelError(f'function "{self.name}" does not say its arguments. Wrap it: lambda t: {self.name}(t).') from None
        if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.KEYWORD_ONLY) for p in parameters):
            raise ModelError(f'function "{self.name}" has arguments without a place. Give it plain ones, such as t.')
        return [p.name for p in parameters]

    def _recorded(self) -> Formula:
        graph = FormulaGraph()
        try:
            found = self.function(*[Symbol(graph, name) for name in self.names])
        except ModelError:
            raise
        except Exception as error:
            raise ModelError(self._why(error)) from error
        if isinstance(found, bool | np.bool_) or not isinstance(found, Symbol | int | float | np.floating | np.integer):
            what = "a condition" if hasattr(found, "select") else f"{type(found).__name__}"
            raise ModelError(f'function "{self.name}" returns {what}. Let it return one number.')
        text = "; ".join([*graph.parts, _operand(found)])
        try:
            formula = derived(text)
        except FormulaError as error:
            raise ModelError(f'function "{self.name}" cannot be written as a formula: {error}.') from None
        if len(text) > LONGEST:
            raise ModelError(
                f'function "{self.name}" takes {len(graph.parts)} operations, which is too long for a formula. '
                "Let it do less, or lay a table through its values."
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
        text = str(error)
        if "no value to make a float of" in text:
            text, remedy = "it needs a value, as functions of math do", "Use those of bellcrank.numbers, such as sin and sqrt"
        elif "no value to branch on" in text:
            text, remedy = "it branches on a value", "Write select(condition, a, b) of bellcrank.numbers"
        elif "ufunc" in text or "numpy" in text:
            text, remedy = "it calls numpy", "Use the functions of bellcrank.numbers, such as sin and sqrt"
        else:
            text, remedy = f"{type(error).__name__}: {text}", "Use arithmetic and the functions of bellcrank.numbers"
        return f'function "{self.name}"{place}: {text}, and cannot be recorded. {remedy}.'
