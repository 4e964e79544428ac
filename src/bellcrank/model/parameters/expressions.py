"""Arithmetic over named values, as in ``"=L1*cos(a) + upper.length"``: read by a small parser, never by eval.

A formula is kept as its text and as a postfix program, so that evaluating it needs neither recursion nor Python's compiler.

    sum      = product { ("+" | "-") product }
    product  = sign { ("*" | "/") sign }
    sign     = ("-" | "+") sign | power
    power    = atom [ "**" sign ]                    2**-1, and -2**2 = -4, as everywhere
    atom     = number | name | function "(" sum { "," sum } ")" | "(" sum ")"
    name     = word { "." word }                     a parameter, or a value of something else: upper.length, tip.x

All numbers are floating point: a tower of powers overflows at once, and an overflow is an error.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...numbers import Symbol
from ...numbers.operations import OPERATIONS

LONGEST = 1000  # characters of a formula
DEEPEST = 50  # parentheses and signs within each other
LARGEST = 1e30  # of any result: no length, mass or time of a mechanism comes near; products of such numbers stay finite

CONSTANTS = {"pi": math.pi}

_UNARY: dict[str, Callable[[float], float]] = {
    **{name: getattr(math, name) for name in ("sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "exp", "log")},
    "abs": abs,
    "deg": math.radians,
}
_BINARY: dict[str, Callable[[float, float], float]] = {
    "atan2": math.atan2,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "**": math.pow,
}
_MANY: dict[str, Callable[[list[float]], float]] = {"min": min, "max": max}
FUNCTIONS = (*_UNARY, "atan2", *_MANY)
RESERVED = frozenset((*FUNCTIONS, *CONSTANTS))

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)*)|(?P<symbol>\*\*|[-+*/(),]))",
)
_HINTS = {"^": "Write ** for a power.", "[": "Formulas are numbers: write one for each component of a vector."}


class FormulaError(ValueError):
    """What is wrong with a formula, and at which character, from 1; 0 where the place says nothing."""

    def __init__(self, text: str, at: int = 0) -> None:
        super().__init__(f"{text} (character {at})" if at else text)
        self.at = at


class Step(NamedTuple):
    """One step of a postfix program: ``push`` a number, ``name`` a value, ``neg``, or an operator or function of operands."""

    operation: str
    value: float = 0.0
    name: str = ""
    operands: int = 0


@dataclass(frozen=True)
class Formula:
    """A formula as the user wrote it, without the leading ``=``. Two are equal where their texts are."""

    text: str
    program: tuple[Step, ...] = field(init=False, repr=False, compare=False)
    spots: tuple[tuple[int, int, str], ...] = field(init=False, repr=False, compare=False)  # of names: start, end, name

    def __post_init__(self) -> None:
        if len(self.text) > LONGEST:
            raise FormulaError(f"a formula of {len(self.text)} characters is too long. Use parameters for its parts")
        _parse(self, DEEPEST)

    def __float__(self) -> float:
        raise TypeError(f"the formula {self} has no value by itself")

    def __str__(self) -> str:
        return f"={self.text}"

    @property
    def names(self) -> tuple[str, ...]:
        """What it depends on, each once, in the order of the text."""
        return tuple(dict.fromkeys(name for _, _, name in self.spots))

    def evaluate(self, values: Mapping[str, float]) -> float:
        """The value; raises FormulaError where it is no finite number."""
        if any(isinstance(x, Symbol) for x in values.values()):
            return self.run(values, lambda operation, operands: OPERATIONS[operation](*operands))
        return float(self.run(values, _apply)) + 0.0

    def run(self, values: Mapping[str, Any], apply: Callable[[str, list[Any]], Any]) -> Any:
        """The program over values of any kind, given what an operation makes of its operands."""
        stack: list[Any] = []
        for step in self.program:
            if step.operation == "push":
                stack.append(step.value)
            elif step.operation == "name":
                stack.append(values[step.name])
            else:
                operands = stack[-step.operands :]
                del stack[-step.operands :]
                stack.append(apply(step.operation, operands))
        return stack[0]

    def renamed(self, rename: Callable[[str], str]) -> Formula:
        """The same formula over other names."""
        pieces: list[str] = []
        end = 0
        for start, stop, name in self.spots:
            pieces += [self.text[end:start], rename(name)]
            end = stop
        return derived("".join([*pieces, self.text[end:]]))


def derived(text: str) -> Formula:
    """A formula made by the program from others, which may be longer than what a user may write."""
    formula = object.__new__(Formula)
    object.__setattr__(formula, "text", text)
    _parse(formula, 2 * DEEPEST)
    return formula


def _parse(formula: Formula, deepest: int) -> None:
    parser = _Parser(formula.text, deepest)
    object.__setattr__(formula, "program", parser.program())
    object.__setattr__(formula, "spots", tuple(parser.spots))


def _apply(operation: str, operands: list[float]) -> float:
    try:
        if operation == "neg":
            return -operands[0]
        if operation in _UNARY:
            value = _UNARY[operation](operands[0])
        elif operation in _BINARY:
            value = _BINARY[operation](operands[0], operands[1])
        else:
            value = _MANY[operation](operands)
    except ZeroDivisionError:
        raise FormulaError(f"{operands[0]:g} is divided by zero") from None
    except OverflowError:
        raise FormulaError(f"{_shown(operation, operands)} is too large for a number") from None
    except ValueError:
        raise FormulaError(f"{_shown(operation, operands)} is not a real number") from None
    if not abs(value) <= LARGEST:
        raise FormulaError(f"{_shown(operation, operands)} is larger than {LARGEST:g}")
    return value


def _shown(operation: str, operands: list[float]) -> str:
    listed = [f"{x:g}" for x in operands]
    return f"{operation}({', '.join(listed)})" if operation.isidentifier() else f" {operation} ".join(listed)


class _Token(NamedTuple):
    kind: str  # number, name, symbol or end
    text: str
    at: int  # character, from 1


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            at = len(text) - len(text[at:].lstrip())
            hint = _HINTS.get(text[at], "Formulas have numbers, names, + - * / ** ( ) and functions.")
            raise FormulaError(f"{text[at]!r} has no meaning here. {hint}", at + 1)
        kind = str(match.lastgroup)
        found.append(_Token(kind, match[kind], match.start(kind) + 1))
        at = match.end()
    return [*found, _Token("end", "", end + 1)]


class _Parser:
    """Recursive descent; writes the postfix program as it goes."""

    def __init__(self, text: str, deepest: int) -> None:
        self.tokens = _tokens(text)
        self.deepest = deepest
        self.next = 0
        self.depth = 0
        self.steps: list[Step] = []
        self.spots: list[tuple[int, int, str]] = []

    def program(self) -> tuple[Step, ...]:
        if self._peek().kind == "end":
            raise FormulaError("the formula is empty. Write a number or a formula after the =")
        self._sum()
        rest = self._peek()
        if rest.kind != "end":
            hint = " Write * for a product" if rest.kind in ("name", "number") or rest.text == "(" else ""
            raise FormulaError(f"{rest.text!r} was not expected here.{hint}", rest.at)
        return tuple(self.steps)

    def _peek(self) -> _Token:
        return self.tokens[self.next]

    def _take(self) -> _Token:
        self.next += 1
        return self.tokens[self.next - 1]

    def _accept(self, *symbols: str) -> str | None:
        token = self._peek()
        if token.kind == "symbol" and token.text in symbols:
            return self._take().text
        return None

    def _close(self, opened: int) -> None:
        if not self._accept(")"):
            raise FormulaError("this parenthesis is not closed", opened)

    def _sum(self) -> None:
        self._product()
        while operator := self._accept("+", "-"):
            self._product()
            self.steps.append(Step(operator, operands=2))

    def _product(self) -> None:
        self._sign()
        while operator := self._accept("*", "/"):
            self._sign()
            self.steps.append(Step(operator, operands=2))

    def _sign(self) -> None:
        self.depth += 1
        if self.depth > self.deepest:
            raise FormulaError(f"it is nested more than {self.deepest} deep. Use parameters for its parts", self._peek().at)
        sign = self._accept("-", "+")
        if sign:
            self._sign()
        else:
            self._power()
        if sign == "-":
            self.steps.append(Step("neg", operands=1))
        self.depth -= 1

    def _power(self) -> None:
        self._atom()
        if self._accept("**"):
            self._sign()
            self.steps.append(Step("**", operands=2))

    def _atom(self) -> None:
        token = self._take()
        if token.kind == "number":
            value = float(token.text)
            if not value <= LARGEST:
                raise FormulaError(f"{token.text[:20]} is larger than {LARGEST:g}", token.at)
            self.steps.append(Step("push", value))
        elif token.text == "(":
            self._sum()
            self._close(token.at)
        elif token.kind == "name" and self._peek().text == "(":
            self._call(token)
        elif token.kind == "name":
            self._name(token)
        else:
            what = f"{token.text!r} was not expected here" if token.text else "the formula ends too early"
            raise FormulaError(f"{what}. A number, a name or ( should come", token.at)

    def _name(self, token: _Token) -> None:
        if token.text in CONSTANTS:
            self.steps.append(Step("push", CONSTANTS[token.text]))
        elif token.text in FUNCTIONS:
            raise FormulaError(f"{token.text} is a function: write {token.text}(...)", token.at)
        else:
            self.steps.append(Step("name", name=token.text))
            self.spots.append((token.at - 1, token.at - 1 + len(token.text), token.text))

    def _call(self, function: _Token) -> None:
        if function.text not in FUNCTIONS:
            close = difflib.get_close_matches(function.text, FUNCTIONS, n=1)
            hint = f'Did you mean "{close[0]}"?' if close else f"There are {', '.join(FUNCTIONS)}."
            raise FormulaError(f'there is no function "{function.text}". {hint}', function.at)
        opened = self._take().at
        count = 1
        self._sum()
        while self._accept(","):
            self._sum()
            count += 1
        self._close(opened)
        wanted = 1 if function.text in _UNARY else 2
        if count != wanted and (function.text not in _MANY or count < wanted):
            more = " or more" if function.text in _MANY else ""
            raise FormulaError(
                f"{function.text} takes {wanted} value{'s' if wanted > 1 else ''}{more}, not {count}", function.at
            )
        self.steps.append(Step(function.text, operands=count))
