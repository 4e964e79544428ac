"""Loops and branches, recorded. Values that pass around a loop or out of a branch are lists of names."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .emitter import Emitter, Int
from .graph import Branch, Loop, Region, While


def repeat(
    e: Emitter,
    count: Int,
    carry: Sequence[str],
    body: Callable[[str, list[str]], Sequence[str]],
    wide: Sequence[bool] = (),
) -> list[str]:
    """for k = 0 .. count-1 (at least once): carry = body(k, carry); ``wide``: which of them are vectors of tangents."""
    return _loop(e, 0, count, carry, body, once=True, wide=wide).after


def each(e: Emitter, start: Int, stop: Int, body: Callable[[str], None]) -> None:
    """for k = start .. stop-1, possibly not at all; nothing passes around but memory."""

    def nothing(k: str, values: list[str]) -> list[str]:
        body(k)
        return []

    _loop(e, start, stop, [], nothing)


def total(e: Emitter, start: Int, stop: Int, first: str, body: Callable[[str, str], str]) -> str:
    """Fold a number over k = start .. stop-1, possibly none."""
    return folded(e, start, stop, [first], lambda k, values: [body(k, values[0])])[0]


def folded(
    e: Emitter,
    start: Int,
    stop: Int,
    first: Sequence[str],
    body: Callable[[str, list[str]], Sequence[str]],
    wide: Sequence[bool] = (),
) -> list[str]:
    """A loop that carries several numbers around."""
    return _loop(e, start, stop, first, body, wide=wide).carried


def _loop(
    e: Emitter,
    start: Int,
    stop: Int,
    first: Sequence[str],
    body: Callable[[str, list[str]], Sequence[str]],
    once: bool = False,
    wide: Sequence[bool] = (),
) -> Loop:
    k, carried = e.name(), [e.name(wide=x) for x in (wide or [False] * len(first))]
    loop = Loop(k, str(start), str(stop), carried, list(first), Region(), once)
    with e.inside(loop.body):
        loop.after = list(body(loop.k, loop.carried))
    e.append(loop)
    return loop


def switch(e: Emitter, code: str, cases: Sequence[Callable[[], Sequence[str]]], wide: Sequence[bool] = ()) -> list[str]:
    """Take the case of a code 0, 1, ...; each case returns as many values, ``wide`` ones of them vectors of tangents."""
    if len(cases) == 1:
        return list(cases[0]())
    return _branch(e, Branch(code, False, [], []), cases, wide=wide)


def when(e: Emitter, condition: str, then: Callable[[], None], otherwise: Callable[[], None] | None = None) -> None:
    """if an i1 holds: then(), else: otherwise(); nothing passes out but memory."""

    def acting(act: Callable[[], None] | None) -> list[str]:
        if act is not None:
            act()
        return []

    _branch(e, Branch(condition, True, [], []), [lambda: acting(then), lambda: acting(otherwise)])


def either(e: Emitter, condition: str, then: Sequence[str], otherwise: Callable[[], Sequence[str]], into: list[str]) -> None:
    """Values that are there, nearly always; others are computed where an i1 does not hold."""
    _branch(e, Branch(condition, True, [], [], likely=True), [lambda: then, otherwise], into)


def _branch(
    e: Emitter,
    branch: Branch,
    cases: Sequence[Callable[[], Sequence[str]]],
    into: list[str] | None = None,
    wide: Sequence[bool] = (),
) -> list[str]:
    for case in cases:
        with e.inside(Region()) as region:
            branch.values.append(list(case()))
        branch.regions.append(region)
    if into is None:
        into = [e.name(wide=x) for x in (wide or [False] * len(branch.values[0]))]
    branch.results = into
    e.append(branch)
    return branch.results


def while_(e: Emitter, condition: Callable[[], str], body: Callable[[], None]) -> None:
    """while an i1 holds: body(); nothing passes around but memory."""
    with e.inside(Region()) as test:
        bit = condition()
    with e.inside(Region()) as inside:
        body()
    e.append(While(test, bit, inside))
