"""What nodes of a clique tree report to their parents, as patterns; symbols of formulations.loops.condensed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .patterns import Rows, columns_of, congruent, ones


@dataclass
class Image:
    """What a node reports: patterns of T and H over (y; 1; A), how many y there are, rows of T that are a one and zeros."""

    T: Rows
    H: Rows
    size: int
    units: set[int]


class Hanging:
    """The nodes that hang on one of n coordinates, by their images and the coordinates of it that each gives.

    place  of the coordinates that nobody gives, among w
    size   of w: these coordinates, then y of the images
    E      rows of u = E (w; 1)
    """

    def __init__(self, images: Sequence[Image], shared: Sequence[Sequence[int]], n: int) -> None:
        self.images, self.shared = images, shared
        self.given: dict[int, tuple[int, int]] = {}
        for c, own in enumerate(shared):
            for k, j in enumerate(own):
                self.given.setdefault(j, (c, k))
        self.place = {j: k for k, j in enumerate(j for j in range(n) if j not in self.given)}
        self.starts, self.size = [], len(self.place)
        for image in images:
            self.starts.append(self.size)
            self.size += image.size
        self.E = [1 << self.place[j] if j in self.place else self._row(*self.given[j]) for j in range(n)]

    def _row(self, c: int, k: int) -> int:
        """A row of T over (w; 1)."""
        T, y = self.images[c].T[k], self.images[c].size
        return (T & ones(y)) << self.starts[c] | (T >> y & 1) << self.size

    def agreements(self) -> Rows:
        """Equations of coordinates that two images give."""
        again = [(c, k, j) for c, own in enumerate(self.shared) for k, j in enumerate(own) if self.given[j] != (c, k)]
        return [self.E[j] | self._row(c, k) for c, k, j in again]

    def copied(self, units: set[int]) -> set[int]:
        """Coordinates that are an entry of (y; 1) each; ``units``: entries of w that are."""
        alone = set(self.place) | {j for j, (c, k) in self.given.items() if k in self.images[c].units}
        return {j for j in alone if columns_of(self.E[j])[0] in units}

    def felt(self, form: Rows, N: Rows, units: set[int], fixed: int) -> tuple[Rows, int]:
        """form + sum N_k^T H_k N_k, and its operations."""
        work = 0
        for start, image in zip(self.starts, self.images, strict=True):
            own = [*range(start, start + image.size), *range(self.size, len(N))]
            more, operations = congruent(
                image.H, [N[i] for i in own], len(form), {k for k, i in enumerate(own) if i in units}, fixed
            )
            work += operations + sum((a & b).bit_count() for a, b in zip(form, more, strict=True)) // 2
            form = [a | b for a, b in zip(form, more, strict=True)]
        return form, work
