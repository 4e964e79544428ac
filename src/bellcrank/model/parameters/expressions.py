"""Arithmetic over named values, as in ``"=L1*cos(a) + upper.length"``: read by a small parser, never by eval.

A formula is kept as its text and as a postfix program, so that evaluating it needs neither recursion nor Python's compiler.
The program runs on any number: what an operation does is said in ``numbers.operations``.

    condition = conjunction { "or" conjunction }
    conjunction = denial { "and" denial }
    denial   = "not" denial | comparison
    comparison = sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
    sum      = product { ("+" | "-") product }
    product  = sign { ("*" | "/") sign }
    sign     = ("-" | "+") sign | power
    power    = atom [ "**" sign ]                    2**-1, and -2**2 = -4, as everywhere
    atom     = number | name | function "(" condition { "," condition } ")" | "(" condition ")"
    name     = word { "." word }                     a parameter, or a value of something else: upper.length, tip.x
    formula  = { "$" digits "=" sum ";" } sum        parts that come more than once: $0 = a*b; $0 + 1/$0

A condition is not a number: ``if(condition, a, b)`` makes one of it. A function is one of FUNCTIONS, or a table of the model.
All numbers are floating point: a tower of powers overflows at once, and an overflow is an error.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ...numbers import Symbol
from ...numbers.operations import ARITIES, COMPARISONS, LOGICAL, OPERATIONS

LONGEST = 20_000  # characters of a formula
DEEPEST = 50  # parentheses and signs within each other
LARGEST = 1e30  # of any result: no length, mass or time of a mechanism comes near; products of such numbers stay finite

CONSTANTS = {"pi": math.pi}
FUNCTIONS = tuple(ARITIES)
RESERVED = frozenset((*FUNCTIONS, *CONSTANTS, *LOGICAL))

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)*)"
    r"|(?P<part>\$\d+|=(?!=)|;)|(?P<symbol>\*\*|<=|>=|==|!=|[-+*/(),<>]))",
)
_HINTS = {
    "^": "Write ** for a power.",
    "[": "Formulas are numbers: write one for each component of a vector.",
    "&": "Write and.",
    "|": "Write or.",
    "!": "Write not, or != to compare.",
}


class FormulaError(ValueError):
    """A problem of a formula, and the character, counted from 1; 0 where the place says nothing."""

    def __init__(self, text: str, at: int = 0) -> None:
        super().__init__(f"{text} (character {at})" if at else text)
        self.at = at


class Step(NamedTuple):
    """One step of a postfix program: ``push`` a number, ``name`` a value, an operation of operands, ``call`` a table, or
    ``keep`` the number on top under a name, which later steps use."""

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
    called: tuple[tuple[int, int, str], ...] = field(init=False, repr=False, compare=False)  # likewise, of tables

    def __post_init__(self) -> None:
        if len(self.text) > LONGEST:
            raise FormulaError(f"a formula of {len(self.text)} characters is too long. Use parameters for its parts")
        _parse(self, _Parser(self.text, DEEPEST))

    def __float__(self) -> float:
        raise TypeError(f"the formula {self} has no value by itself")

    def __str__(self) -> str:
        return f"={self.text}"

    @property
    def names(self) -> tuple[str, ...]:
        """The names that it depends on, each once, in the order of the text."""
        return tuple(dict.fromkeys(name for _, _, name in self.spots))

    @property
    def calls(self) -> tuple[tuple[str, int], ...]:
        """Names that are called and are not functions of formulas, each with the number of its values."""
        found = [(step.name, step.operands) for step in self.program if step.operation == "call"]
        return tuple(dict.fromkeys(found))

    def evaluate(self, values: Mapping[str, float]) -> float:
        """The value; raises FormulaError where it is not a finite number."""
        if any(isinstance(x, Symbol) for x in values.values()):
            return self.run(values)
        with np.errstate(all="ignore"):
            return float(self.run(values, _apply)) + 0.0

    def run(
        self,
        values: Mapping[str, Any],
        apply: Callable[[str, list[Any]], Any] = lambda operation, operands: OPERATIONS[operation](*operands),
        call: Callable[[str, list[Any]], Any] | None = None,
    ) -> Any:
        """The program over values of any kind, given what an operation makes of its operands, and what a table does."""
        stack: list[Any] = []
        kept: dict[str, Any] = {}
        for step in self.program:
            if step.operation == "push":
                stack.append(step.value)
            elif step.operation == "name":
                stack.append(kept[step.name] if step.name in kept else values[step.name])
            elif step.operation == "keep":
                kept[step.name] = stack.pop()
            else:
                operands = stack[-step.operands :]
                del stack[-step.operands :]
                if step.operation == "call":
                    stack.append(unknown_function(step.name) if call is None else call(step.name, operands))
                else:
                    stack.append(apply(step.operation, operands))
        return stack[0]

    def renamed(self, rename: Callable[[str], str], table: Callable[[str], str] = lambda name: name) -> Formula:
        """This formula over other names of values and of tables."""
        pieces: list[str] = []
        end = 0
        new = [(*spot[:2], rename(spot[2])) for spot in self.spots] + [(*spot[:2], table(spot[2])) for spot in self.called]
        for start, stop, name in sorted(new):
            pieces += [self.text[end:start], name]
            end = stop
        return derived("".join([*pieces, self.text[end:]]))


def derived(text: str) -> Formula:
    """A formula made by the program from others, which may be longer than what a user may write."""
    formula = object.__new__(Formula)
    object.__setattr__(formula, "text", text)
    _parse(formula, _Parser(text, 2 * DEEPEST))
    return formula


@dataclass(frozen=True)
class Live:
    """A formula over what changes during a run, and the numbers of the names in it that do not."""

    formula: Formula
    numbers: tuple[tuple[str, float], ...]

    def __float__(self) -> float:
        raise TypeError(f"the formula {self.formula} changes during a run")


def _parse(formula: Formula, parser: _Parser) -> None:
    object.__setattr__(formula, "program", parser.program())
    object.__setattr__(formula, "spots", tuple(parser.spots))
    object.__setattr__(formula, "called", tuple(parser.called))


def unknown_function(name: str, tables: Collection[str] = ()) -> Any:
    """Raises the error of a function that does not exist."""
    close = difflib.get_close_matches(name, [*FUNCTIONS, *tables], n=1)
    hint = f'Did you mean "{close[0]}"?' if close else f"There are {', '.join([*FUNCTIONS, *tables])}"
    raise FormulaError(f'there is no function "{name}". {hint}')


def _apply(operation: str, operands: list[float]) -> Any:
    """An operation on plain numbers, whose result must be one."""
    try:
        value = OPERATIONS[operation](*operands)
    except ZeroDivisionError:
        raise FormulaError(f"{operands[0]:g} is divided by zero: change the formula, or the numbers in it") from None
    except OverflowError:
        raise FormulaError(f"{_shown(operation, operands)} is too large for a number") from None
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if math.isnan(value) or (operation == "log" and operands[0] <= 0):
        raise FormulaError(f"{_shown(operation, operands)} is not a real number: change the formula, or the numbers in it")
    if math.isinf(value):
        raise FormulaError(f"{_shown(operation, operands)} is too large for a number")
    if not abs(value) <= LARGEST:
        raise FormulaError(f"{_shown(operation, operands)} is larger than {LARGEST:g}")
    return float(value)


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
            hint = _HINTS.get(text[at], "Formulas have numbers, names, + - * / ** ( ), comparisons and functions.")
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
        self.called: list[tuple[int, int, str]] = []
        self.parts: set[str] = set()

    def program(self) -> tuple[Step, ...]:
        if self._peek().kind == "end":
            raise FormulaError("the formula is empty. Write a number or a formula after the =")
        while self._peek().kind == "part" and self.tokens[self.next + 1].text == "=":
            self._part()
        self._number()
        rest = self._peek()
        if rest.kind != "end":
            hint = " Write * for a product" if rest.kind in ("name", "number") or rest.text == "(" else ""
            hint = " Write == to compare" if rest.text == "=" else hint
            raise FormulaError(f"{rest.text!r} was not expected here.{hint}", rest.at)
        return tuple(self.steps)

    def _part(self) -> None:
        """$0 = ... ;"""
        name = self._take().text
        self._take()
        self._number()
        end = self._take()
        if end.text != ";":
            raise FormulaError(f"the part {name} does not end with ;", end.at)
        self.parts.add(name)
        self.steps.append(Step("keep", name=name))

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

    def _word(self, word: str) -> bool:
        """Whether ``and``, ``or`` or ``not`` comes next; if so it is taken."""
        token = self._peek()
        found = token.kind == "name" and token.text == word
        self.next += found
        return found

    def _number(self) -> None:
        at = self._peek().at
        if self._condition():
            raise FormulaError("a condition is not a number: write if(condition, a, b)", at)

    # what follows returns whether it is a condition, and else a number

    def _condition(self) -> bool:
        return self._joined("or", lambda: self._joined("and", self._denial))

    def _joined(self, word: str, part: Callable[[], bool]) -> bool:
        at = self._peek().at
        found = part()
        while self._word(word):
            self._must_be_condition(found, word, at)
            at = self._peek().at
            self._must_be_condition(part(), word, at)
            self.steps.append(Step(word, operands=2))
        return found

    def _must_be_condition(self, is_one: bool, word: str, at: int) -> None:
        if not is_one:
            raise FormulaError(f"{word} joins conditions, such as a < b, and this is a number", at)

    def _denial(self) -> bool:
        if not self._word("not"):
            return self._comparison()
        self._deeper()
        at = self._peek().at
        self._must_be_condition(self._denial(), "not", at)
        self.steps.append(Step("not", operands=1))
        self.depth -= 1
        return True

    def _comparison(self) -> bool:
        found, at = self._sum(), self._peek().at
        operator = self._accept(*COMPARISONS)
        if operator is None:
            return found
        if self._sum() or found:
            raise FormulaError(f"{operator} compares numbers, and there is a condition beside it", at)
        self.steps.append(Step(operator, operands=2))
        if self._peek().text in COMPARISONS:
            raise FormulaError("comparisons do not follow each other: write a < b and b < c", self._peek().at)
        return True

    def _sum(self) -> bool:
        return self._chain(("+", "-"), self._product)

    def _product(self) -> bool:
        return self._chain(("*", "/"), self._sign)

    def _chain(self, operators: tuple[str, str], part: Callable[[], bool]) -> bool:
        condition = part()
        while (at := self._peek().at) and (operator := self._accept(*operators)):
            self._must_be_number(part() or condition, operator, at)
            self.steps.append(Step(operator, operands=2))
        return condition

    def _must_be_number(self, condition: bool, operator: str, at: int) -> None:
        if condition:
            raise FormulaError(f"{operator} is for numbers, and there is a condition beside it: write if(condition, a, b)", at)

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > self.deepest:
            raise FormulaError(f"it is nested more than {self.deepest} deep. Use parameters for its parts", self._peek().at)

    def _sign(self) -> bool:
        self._deeper()
        at, sign = self._peek().at, self._accept("-", "+")
        condition = self._sign() if sign else self._power()
        if sign:
            self._must_be_number(condition, sign, at)
        if sign == "-":
            self.steps.append(Step("neg", operands=1))
        self.depth -= 1
        return condition

    def _power(self) -> bool:
        condition, at = self._atom(), self._peek().at
        if self._accept("**"):
            self._must_be_number(self._sign() or condition, "**", at)
            self.steps.append(Step("**", operands=2))
        return condition

    def _atom(self) -> bool:
        token = self._take()
        if token.kind == "number":
            value = float(token.text)
            if not value <= LARGEST:
                raise FormulaError(f"{token.text[:20]} is larger than {LARGEST:g}", token.at)
            self.steps.append(Step("push", value))
        elif token.text in self.parts:
            self.steps.append(Step("name", name=token.text))
        elif token.text == "(":
            condition = self._condition()
            self._close(token.at)
            return condition
        elif token.kind == "name" and self._peek().text == "(":
            self._call(token)
        elif token.kind == "name":
            self._name(token)
        else:
            what = f"{token.text!r} was not expected here" if token.text else "the formula ends too early"
            raise FormulaError(f"{what}. A number, a name or ( is expected", token.at)
        return False

    def _name(self, token: _Token) -> None:
        if token.text in CONSTANTS:
            self.steps.append(Step("push", CONSTANTS[token.text]))
        elif token.text in LOGICAL:
            raise FormulaError(f"{token.text!r} was not expected here. A number, a name or ( is expected", token.at)
        elif token.text in FUNCTIONS:
            raise FormulaError(f"{token.text} is a function: write {token.text}(...)", token.at)
        else:
            self.steps.append(Step("name", name=token.text))
            self.spots.append((token.at - 1, token.at - 1 + len(token.text), token.text))

    def _call(self, function: _Token) -> None:
        opened = self._take().at
        kinds: list[tuple[int, bool]] = []
        while not kinds or self._accept(","):
            kinds.append((self._peek().at, self._condition()))
        self._close(opened)
        self._check_call(function, kinds)
        known = function.text in FUNCTIONS
        if not known:
            self.called.append((function.at - 1, function.at - 1 + len(function.text), function.text))
        self.steps.append(Step(function.text if known else "call", name="" if known else function.text, operands=len(kinds)))

    def _check_call(self, function: _Token, kinds: list[tuple[int, bool]]) -> None:
        name, count = function.text, len(kinds)
        wanted = ARITIES.get(name, count)
        if count != (wanted or max(count, 2)):
            more = " or more" if wanted is None else ""
            raise FormulaError(f"{name} takes {wanted or 2} value{'s' if wanted != 1 else ''}{more}, not {count}", function.at)
        for k, (at, condition) in enumerate(kinds):
            if condition != (name == "if" and k == 0):
                what = f"{name} takes a number here" if condition else "if takes a condition first, such as a < b"
                raise FormulaError(what, at)
