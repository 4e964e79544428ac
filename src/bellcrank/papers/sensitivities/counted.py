"""Operations of the forms of sensitivity analysis, counted on chains of n pins: the crossover of the paper's figure 2.

Additions and multiplications of one evaluation of qddot and of its total derivatives by p parameters. All numbers of the chain
are data, and one parameter changes all of them. What is zero by structure is not counted, and the same operation only once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...numbers import CountingGraph
from . import by_matrices, recursive
from .chain import ARRAYS, Array, Chain

FORMS: dict[str, Callable[..., tuple[Array, Array]]] = {
    "traditional": by_matrices.sensitivities,
    "partially recursive": partial(by_matrices.sensitivities, system=by_matrices.by_recursion),
    "traditional, along directions": partial(by_matrices.sensitivities, along="directions"),
    "fully recursive": recursive.sensitivities,
}


def operations(form: str, n: int, parameters: int = 1) -> int:
    """Additions and multiplications."""
    graph = CountingGraph()

    def inputs(*shape: int) -> Any:
        return np.array(graph.inputs(int(np.prod(shape))), dtype=object).reshape(shape)

    shapes: dict[str, tuple[int, ...]] = {"axis": (n, 3), "position": (n, 3), "center": (n, 3), "mass": (n,)}
    shapes |= {"inertia": (n, 3, 3), "gravity": (3,)}
    numbers = [{name: inputs(*shapes[name]) for name in ARRAYS} for _ in range(1 + parameters)]
    chain = Chain((False,) * n, **{name: _symmetric(x) for name, x in numbers[0].items()})
    slopes = [{name: _symmetric(x) for name, x in slope.items()} for slope in numbers[1:]]
    q, v, dq, dv = inputs(n), inputs(n), inputs(n, parameters), inputs(n, parameters)
    a, da = FORMS[form](chain, slopes, q, v, dq, dv)
    return graph.count([*np.ravel(a), *np.ravel(da)]).total


def _symmetric(x: Array) -> Array:
    if x.ndim == 3:
        for i, j in ((1, 0), (2, 0), (2, 1)):
            x[:, i, j] = x[:, j, i]
    return x


def crossover(first: Sequence[float], second: Sequence[float], sizes: Sequence[int]) -> float | None:
    """The size from which the second form takes less than the first, by interpolation; None where it never does, or always."""
    ratio = np.array(first, dtype=float) / np.array(second, dtype=float)
    for k in range(1, len(sizes)):
        if ratio[k - 1] < 1 <= ratio[k]:
            return float(np.interp(1.0, ratio[k - 1 : k + 1], sizes[k - 1 : k + 1]))
    return None
