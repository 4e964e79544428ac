"""The designs of a sweep: grid, list, random numbers, Latin hypercube, Sobol's sequence or Saltelli's, made chunk by chunk.

Row i is the same whatever chunk it is asked in: random numbers come in blocks that have seeds of their own, and Sobol's
sequence goes on from block to block. A Latin hypercube is made as a whole, since every row depends on how many there are.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property
from math import prod
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import StudyError
from ..study.spec import DESIGNS
from ..study.variations import Bounds, Distribution, Listed, Spaced, Variation

Array = NDArray[np.float64]

LEAST = 2.0**-32  # of numbers between 0 and 1: at 0 a normal distribution is infinite. Sobol's have 30 bits
MOST = 1 << 40  # runs
MOST_OF_SOBOL = 1 << 30  # his numbers have 30 bits
BLOCK = 4096  # rows of random numbers that are made together, from a seed of their own

_one_at_a_time = Lock()  # threads of a worker share the designs of a task


@dataclass(frozen=True)
class Points:
    """``count`` designs of parameters; ``own`` are the model's values."""

    kind: str
    variations: Mapping[str, Variation]
    own: tuple[float, ...]
    count: int
    seed: int

    def rows(self, first: int, last: int) -> Array:
        """Designs first .. last-1, (rows, parameters)."""
        if self.kind == "grid":
            sizes = [len(values) for values in self._values]
            places = np.unravel_index(np.arange(first, last), sizes)
            return np.stack([values[k] for values, k in zip(self._values, places, strict=True)], axis=1)
        if self.kind == "list":
            return np.stack(self._values, axis=1)[first:last]
        return self._spread(self._uniform(first, last))

    @cached_property
    def _values(self) -> list[Array]:
        return [np.array(x.values) for x in self.variations.values() if isinstance(x, Listed | Spaced)]

    def _uniform(self, first: int, last: int) -> Array:
        """Numbers between 0 and 1, (rows, parameters)."""
        size = len(self.variations)
        if self.kind == "latin_hypercube":
            return self._hypercube[first:last]
        if self.kind == "saltelli":
            return self._matrices[first:last]
        if self.kind == "sobol":
            with _one_at_a_time:
                return _from_blocks(self._sequence.block, first, last)
        return _from_blocks(lambda k: np.random.default_rng([self.seed, k]).random((BLOCK, size)), first, last)

    @cached_property
    def _sequence(self) -> _Sobol:
        return _Sobol(len(self.variations), self.seed)

    @cached_property
    def _hypercube(self) -> Array:
        from scipy.stats import qmc

        return np.asarray(qmc.LatinHypercube(len(self.variations), rng=np.random.default_rng(self.seed)).random(self.count))

    @cached_property
    def _matrices(self) -> Array:
        """A, B, and A with one column of B after the other, for Sobol' indices."""
        size = len(self.variations)
        both = _from_blocks(_Sobol(2 * size, self.seed).block, 0, self.count // (size + 2))
        a, b = both[:, :size], both[:, size:]
        mixed = [np.where(np.arange(size) == k, b, a) for k in range(size)]
        return np.concatenate([a, b, *mixed])

    def _spread(self, u: Array) -> Array:
        pairs = zip(u.T, self.variations.values(), self.own, strict=True)
        return np.stack([_values_at(x, variation, own) for x, variation, own in pairs], axis=1)


def _from_blocks(block: Callable[[int], Array], first: int, last: int) -> Array:
    """Rows first .. last-1 of blocks by number."""
    numbers = range(first // BLOCK, -(-last // BLOCK))
    return np.concatenate([block(k) for k in numbers])[first - numbers[0] * BLOCK : last - numbers[0] * BLOCK]


class _Sobol:
    """Sobol's sequence, scrambled, in blocks. To enter it anywhere takes as long as to go there: blocks go on from the last."""

    def __init__(self, size: int, seed: int):
        from scipy.stats import qmc

        _read_directions()
        self.sequence = qmc.Sobol(size, scramble=True, rng=np.random.default_rng(seed))
        self.known, self.rows = -1, np.zeros((0, size))

    def block(self, k: int) -> Array:
        if k != self.known:
            if k * BLOCK < self.sequence.num_generated:
                self.sequence.reset()
            if ahead := k * BLOCK - self.sequence.num_generated:
                self.sequence.fast_forward(ahead)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # parts of a sequence are balanced together
                self.known, self.rows = k, np.asarray(self.sequence.random(BLOCK))
        return self.rows


@cache
def _read_directions() -> None:
    """In a thread, where nothing interrupts: scipy would lose Ctrl-C while it reads its table, and go on with part of it."""
    from scipy.stats import qmc

    with ThreadPoolExecutor(1) as reader:
        reader.submit(qmc.Sobol, 2, scramble=False).result()


def _values_at(u: Array, variation: Variation, own: float) -> Array:
    if isinstance(variation, Distribution):
        return variation.quantile(np.maximum(u, LEAST), own)
    if isinstance(variation, Bounds):
        assert variation.min is not None and variation.max is not None
        return np.asarray(variation.min + u * (variation.max - variation.min))
    values = np.array(variation.values)
    return values[np.minimum((u * len(values)).astype(int), len(values) - 1)]


def points_of(
    kind: str, variations: Mapping[str, Variation], own: Sequence[float], runs: float | None, seed: float = 0
) -> Points:
    """Checked; ``runs`` is needed unless the lists say how many there are, and for "saltelli" that of one of its matrices."""
    if kind not in DESIGNS:
        raise StudyError(f"design is {kind!r}: use {', '.join(DESIGNS)}")
    if not variations:
        raise StudyError("the sweep has no parameters: name what may change")
    listed = {path: x for path, x in variations.items() if isinstance(x, Listed | Spaced)}
    if kind in ("grid", "list"):
        for path in variations:
            if path not in listed:
                raise StudyError(f'a {kind} needs values of "{path}": give values = [...], or from, to and count')
        sizes = [len(x.values) for x in listed.values()]
        if kind == "list" and len(set(sizes)) > 1:
            raise StudyError(f"a list needs as many values of each parameter; there are {', '.join(map(str, sizes))}")
        count = prod(sizes) if kind == "grid" else sizes[0]
        if runs is not None and int(runs) != count:
            raise StudyError(f"runs is {runs:g}, and the values of the parameters make {count}: leave runs out")
        return Points(kind, dict(variations), tuple(own), count, int(seed))
    for path, x in variations.items():
        if isinstance(x, Bounds) and not all(end is not None and np.isfinite(end) for end in (x.min, x.max)):
            raise StudyError(f'"{path}" needs min and max to be chosen between, both finite, or a distribution')
    if not is_whole(seed) or seed < 0:
        raise StudyError(f"seed is {seed!r}: give a whole number, zero or more")
    if runs is None or not is_whole(runs) or runs < 1:
        raise StudyError(f"runs is {runs!r}: say how many designs a {kind} design has, 1 or more")
    most = MOST_OF_SOBOL if kind in ("sobol", "saltelli") else MOST
    if runs > most:
        raise StudyError(f"runs is {runs:g}: a {kind} design has at most {most:,}")
    count = int(runs) * (len(variations) + 2 if kind == "saltelli" else 1)
    return Points(kind, dict(variations), tuple(own), count, int(seed))


def is_whole(x: Any) -> bool:
    """Whether it is a whole number, of whatever type."""
    return isinstance(x, int | float | np.number) and not isinstance(x, bool) and bool(np.isfinite(float(x))) and int(x) == x


def asked_of(points: Points) -> int:
    """The number of runs that ``points_of`` was asked for."""
    return points.count // (len(points.variations) + 2 if points.kind == "saltelli" else 1)
