"""What a parameter of a study may be: between bounds, spread by chance, or one of a list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...model.spec.fields import Number, Numbers

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Bounds:
    """May be chosen between min and max; ``start`` is the model's own value unless given, ``scale`` a typical change."""

    min: Annotated[float | None, Number("the smallest value")] = None
    max: Annotated[float | None, Number("the largest value")] = None
    start: Annotated[float | None, Number("where the search begins")] = None
    scale: Annotated[float | None, Number("a typical change", sign="more than zero")] = None

    def wrong(self) -> str:
        low, high = self.min, self.max
        if low is not None and high is not None and not low < high:
            return f"min is {low:g} and max is {high:g}. Give a min below max"
        if self.start is not None and not (low if low is not None else -np.inf) <= self.start <= (
            np.inf if high is None else high
        ):
            return f"start is {self.start:g}, outside its bounds. Give one inside"
        return ""


class Distribution:
    """A spread by chance: ``quantile(u)`` of numbers between 0 and 1 gives values."""

    word: ClassVar[str]

    def quantile(self, u: ArrayLike, own: float) -> Array:
        """Values that are not exceeded with probabilities u; ``own`` is the model's value."""
        raise NotImplementedError

    def wrong(self) -> str:
        return ""


@dataclass(frozen=True)
class Normal(Distribution):
    """Gauss' distribution about ``mean``, the model's own value unless given; cut off at min and max."""

    word: ClassVar[str] = "normal"
    deviation: Annotated[float, Number("standard deviation", sign="more than zero", remedy="Give its standard deviation.")]
    mean: Annotated[float | None, Number("the middle")] = None
    min: Annotated[float | None, Number("where it is cut off below")] = None
    max: Annotated[float | None, Number("where it is cut off above")] = None

    def quantile(self, u: ArrayLike, own: float) -> Array:
        from scipy.special import ndtr, ndtri

        mean = own if self.mean is None else self.mean
        low, high = (np.nan if x is None else (x - mean) / self.deviation for x in (self.min, self.max))
        side = -1.0 if low > 0 else 1.0  # what is cut off far above the mean is found below it, where small numbers have digits
        first, last = (ndtr(side * np.where(np.isnan(x), end, x)) for x, end in ((low, -np.inf), (high, np.inf)))
        return np.asarray(mean + side * self.deviation * ndtri(first + np.asarray(u) * (last - first)))

    def wrong(self) -> str:
        both = self.min is not None and self.max is not None
        return "min is not below max. Give a min below max" if both and not self.min < self.max else ""  # type: ignore[operator]


@dataclass(frozen=True)
class Uniform(Distribution):
    word: ClassVar[str] = "uniform"
    min: Annotated[float, Number("the smallest value", remedy="Give its smallest value.")]
    max: Annotated[float, Number("the largest value", remedy="Give its largest value.")]

    def quantile(self, u: ArrayLike, own: float) -> Array:
        return np.asarray(self.min + np.asarray(u) * (self.max - self.min))

    def wrong(self) -> str:
        return "" if self.min < self.max else "min is not below max. Give a min below max"


@dataclass(frozen=True)
class Triangular(Distribution):
    """Most likely at ``mode``, the model's own value unless given."""

    word: ClassVar[str] = "triangular"
    min: Annotated[float, Number("the smallest value", remedy="Give its smallest value.")]
    max: Annotated[float, Number("the largest value", remedy="Give its largest value.")]
    mode: Annotated[float | None, Number("the most likely value")] = None

    def quantile(self, u: ArrayLike, own: float) -> Array:
        x = np.asarray(u)
        mode, width = own if self.mode is None else self.mode, self.max - self.min
        rising = (mode - self.min) / width
        left = self.min + np.sqrt(x * width * (mode - self.min))
        return np.where(x < rising, left, self.max - np.sqrt((1 - x) * width * (self.max - mode)))

    def wrong(self) -> str:
        inside = self.mode is None or self.min <= self.mode <= self.max
        return "" if self.min < self.max and inside else "min, mode and max are not in this order. Give min <= mode <= max"


@dataclass(frozen=True)
class Lognormal(Distribution):
    """A number whose logarithm is normal: ``deviation`` of the natural logarithm about that of ``median``.

    The median is the model's own value unless given.
    """

    word: ClassVar[str] = "lognormal"
    deviation: Annotated[float, Number("of the logarithm", sign="more than zero", remedy="Give the one of its logarithm.")]
    median: Annotated[float | None, Number("exceeded as often as not", sign="more than zero")] = None

    def quantile(self, u: ArrayLike, own: float) -> Array:
        from scipy.special import ndtri

        median = own if self.median is None else self.median
        return np.asarray(median * np.exp(self.deviation * ndtri(np.asarray(u))))


@dataclass(frozen=True)
class Listed:
    """One of these values."""

    values: Annotated[tuple[float, ...], Numbers("the values", remedy="Give values = [1.0, 2.0].")]

    def wrong(self) -> str:
        return ""


@dataclass(frozen=True)
class Spaced:
    """``count`` values from ``first`` to ``last``, evenly spaced."""

    first: Annotated[float, Number("the first value", key="from", remedy="Give the first value.")]
    last: Annotated[float, Number("the last value", key="to", remedy="Give the last value.")]
    count: Annotated[float, Number("how many", remedy="Say how many values there are.")]

    @property
    def values(self) -> tuple[float, ...]:
        return tuple(np.linspace(self.first, self.last, int(self.count)).tolist())

    def wrong(self) -> str:
        return "" if self.count == int(self.count) and self.count >= 2 else f"count is {self.count:g}. Give 2 or more"


Variation = Bounds | Distribution | Listed | Spaced
DISTRIBUTIONS: dict[str, type[Any]] = {cls.word: cls for cls in (Normal, Uniform, Triangular, Lognormal)}
