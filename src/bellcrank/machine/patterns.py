"""Which numbers of the messages of a walk vary: machine code sends these alone, the others are folded into it.

In Python a message is sent as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

from ..kernels.messages import UNSEEN, VARIES, leaves, rebuild
from ..numbers import Number, Symbol

Entries = list[Any]  # for each number of a message: UNSEEN, a constant, or VARIES


class Pattern:
    """The pattern of a message: ``size`` numbers are sent; ``nothing`` stands for a message that nobody reads.

    ``wide``: which of them are vectors of tangents, if there are any; ``places``: where each is in memory, and the end.
    """

    def __init__(
        self,
        nothing: list[Any],
        varying: Callable[[Any], list[Any]],
        message: Callable[[list[Any]], Any],
        wide: Sequence[bool],
        places: Sequence[int],
    ):
        self.size, self.nothing, self.varying, self.message = len(nothing), nothing, varying, message
        self.wide, self.places = wide, places


def whole_messages() -> Pattern:
    return Pattern([None], lambda message: [message], lambda numbers: numbers[0], [False], [0, 1])


def folded(e: Any, like: Any, entries: Entries) -> Pattern:
    """Messages like this one, whose numbers vary where the entries say so."""
    wide = [is_tangent(e, k) for k, x in enumerate(entries) if x is VARIES]
    places = [0, *accumulate(e.wide if w else 1 for w in wide)]

    def varying(message: Any) -> list[Number]:
        return [x for x, entry in zip(leaves(message, e.tangents), entries, strict=True) if entry is VARIES]

    def message(numbers: list[Number]) -> Any:
        given = iter(numbers)
        return rebuild(like, iter([next(given) if x is VARIES else x for x in entries]), e.tangents)

    return Pattern([e.needless()] * len(wide), varying, message, wide if e.wide else (), places)


def is_tangent(e: Any, k: int) -> bool:
    """Whether the k-th part of a message, whose numbers have their tangents behind them, is a vector of tangents."""
    return bool(e.wide) and k % (1 + e.tangents) > 0


def constant_everywhere(
    e: Any,
    like: Any,
    roles: Sequence[tuple[Any, bool]],
    rehearsed: Callable[[Any, Any], Any],
    only_zeros: bool,
) -> Entries:
    """Which numbers of the message are the same constant on all edges: rehearse until nothing changes, or all vary.

    ``roles`` are signatures, and whether they start the walk: these are rehearsed once. Of a body without mass a pivot may fold
    to zero while only messages of others without mass are known, which it may never get: that counts at the end only.
    """
    entries: Entries = [UNSEEN] * len(leaves(like, e.tangents))
    refused: dict[Any, ZeroDivisionError] = {}

    def rehearse(signature: Any, message: Any) -> None:
        refused.pop(signature, None)
        try:
            learn(entries, leaves(rehearsed(signature, message), e.tangents), only_zeros)
        except ZeroDivisionError as error:
            refused[signature] = error

    for signature in [signature for signature, starts in roles if starts]:
        rehearse(signature, like)
    before: Entries = []
    while UNSEEN not in entries and entries != before and (refused or set(entries) != {VARIES}):
        before = list(entries)
        for signature in [signature for signature, starts in roles if not starts]:
            rehearse(signature, _unknown(e, like, before))
    for problem in refused.values():
        raise problem
    return [0.0 if x is UNSEEN else x for x in entries]


def learn(entries: Entries, numbers: Sequence[Number], only_zeros: bool) -> None:
    """Adds to the pattern what the numbers that were sent show."""
    for k, x in enumerate(numbers):
        varies = isinstance(x, Symbol) or (only_zeros and x != 0) or entries[k] not in (UNSEEN, x)
        entries[k] = VARIES if varies else float(x)


def _unknown(e: Any, like: Any, entries: Entries) -> Any:
    pattern = folded(e, like, entries)
    return pattern.message([e.symbol(e.name(wide=wide)) for wide in pattern.wide or [False] * pattern.size])
