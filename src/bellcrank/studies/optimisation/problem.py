"""An optimisation as mathematics: variables, cost, constraints and residuals of a study, with exact derivatives."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import StateError, StudyError, warn
from ...model import Model
from ...numbers import Dual
from ..study import Study
from ..study.spec import Case, formula_of, is_formula
from ..study.variations import Bounds
from .evaluation import CaseOutputs, CaseValue, Infeasible, OncePerWarning

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Point:
    """The results at a design: cost, constraints and residuals with their gradients; or why it is infeasible."""

    x: Array
    cost: float = np.inf
    gradient: Array = field(default_factory=lambda: np.zeros(0))
    limits: Array = field(default_factory=lambda: np.zeros(0))  # values of the constraints
    slopes: Array = field(default_factory=lambda: np.zeros((0, 0)))  # (constraints, parameters)
    residuals: Array = field(default_factory=lambda: np.zeros(0))
    jacobian: Array = field(default_factory=lambda: np.zeros((0, 0)))  # (residuals, parameters)
    reason: str | None = None


@dataclass(frozen=True)
class Limit:
    """A constraint of one case: its name, its bounds, and what size is 1 to an optimiser."""

    name: str
    case: str
    text: str
    lower: float
    upper: float
    scale: float

    @property
    def title(self) -> str:
        return f"{self.name} in {self.case}" if self.case else self.name


class Problem:
    """The cost of a study as a function of its parameters, in their own units.

    names, start, lower, upper    of the parameters
    scale                         a typical change of each
    limits                        the constraints, one for each case
    """

    _last: Point

    def __init__(self, study: Study, mode: str = "auto") -> None:
        model = study.load_model()
        self.study, self.model, self.names = study, model, tuple(study.parameters)
        bounds = [_bounds(path, variation) for path, variation in study.parameters.items()]
        own = model.parameters
        self.start = np.array([own[name] if b.start is None else b.start for name, b in zip(self.names, bounds, strict=True)])
        self.lower = np.array([-np.inf if b.min is None else b.min for b in bounds])
        self.upper = np.array([np.inf if b.max is None else b.max for b in bounds])
        self.scale = np.array([_scale(b, x) for b, x in zip(bounds, self.start, strict=True)])
        self.limits = [_limit(name, case, one) for case in study.cases for name, one in study.constraints_of(case).items()]
        self._cases = [self._case(case, model, mode) for case in study.cases]
        self._once = OncePerWarning()
        self.forget()
        self.seen: Callable[[Array], Point | None] = lambda x: None  # evaluations that are known already
        self.noted: Callable[[Point], None] = lambda point: None

    def _case(self, case: Case, model: Model, mode: str) -> CaseOutputs:
        return CaseOutputs(self.study, model, case, self.texts(case), mode)

    def texts(self, case: Case) -> list[str]:
        """The outputs that a case is asked for, as they are written."""
        return list(dict.fromkeys(self.study.outputs.get(name, name) for name in self.study.asked_of(case)))

    # --- what is asked of it

    def evaluate(self, x: ArrayLike) -> Point:
        """Everything about a design; an infeasible one has its reason, and raises nothing."""
        values = self._checked(x)
        if np.array_equal(values, self._last.x):
            return self._last
        known = self.seen(values)
        if known is None:
            try:
                known = self._once(self._evaluated, values)
            except Infeasible as error:
                known = Point(values, reason=str(error))
            for text in self._once.new:
                warn(text)
            self.noted(known)
        self._last = known
        return known

    def cost_and_gradient(self, x: ArrayLike) -> tuple[float, Array]:
        """The cost and its derivatives by the parameters, as one plain function; raises Infeasible."""
        point = self._feasible(x)
        return point.cost, point.gradient.copy()

    def constraints(self, x: ArrayLike) -> tuple[Array, Array]:
        """Values of the constraints, in the order of ``limits``, and their derivatives (constraints, parameters)."""
        point = self._feasible(x)
        return point.limits.copy(), point.slopes.copy()

    def residuals(self, x: ArrayLike) -> tuple[Array, Array]:
        """For a fit: the residual of each measurement, in its standard deviations, and the derivatives of the residuals."""
        point = self._feasible(x)
        return point.residuals.copy(), point.jacobian.copy()

    def _feasible(self, x: ArrayLike) -> Point:
        point = self.evaluate(x)
        if point.reason is not None:
            raise Infeasible(point.reason)
        return point

    @property
    def identity(self) -> str:
        """A digest of all that an evaluation depends on: a record of another one is refused."""
        from ...io import dumps

        study = self.study
        parts = [dumps(self.model), *map(repr, (self.names, study.duration, study.run, study.events, study.cases))]
        parts += [repr(x) for x in (study.outputs, study.cost, study.constraints)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]

    def of(self, study: Study) -> Problem:
        """This problem for another study."""
        return type(self)(study)

    def forget(self) -> None:
        """The last evaluation, after something else than x has changed."""
        self._last = Point(np.full(len(self.names), np.nan))

    def jax(self) -> Callable[..., Any]:
        """The cost as a differentiable function of JAX."""
        from .functions import jax_function

        return jax_function(self)

    def torch(self) -> Callable[..., Any]:
        """The cost as a differentiable function of PyTorch."""
        from .functions import torch_function

        return torch_function(self)

    # --- inside

    def _checked(self, x: ArrayLike) -> Array:
        values = np.array(x, dtype=np.float64)
        if values.shape != self.start.shape or not np.isfinite(values).all():
            raise StateError(f"x is {x!r}: give {len(self.start)} finite numbers, those of {', '.join(self.names)}")
        return values

    def _evaluated(self, x: Array) -> Point:
        found = [case.at(x) for case in self._cases]
        cost, gradient = 0.0, np.zeros(len(x))
        for case, taken in zip(self.study.cases, found, strict=True):
            if text := self.study.cost_of(case):
                value, along = self._formula_of(text, taken)
                cost, gradient = cost + case.weight * value, gradient + case.weight * along
        of = dict(zip((case.name for case in self.study.cases), found, strict=True))
        rows = [self._formula_of(limit.text, of[limit.case]) for limit in self.limits]
        limits = np.array([value for value, _ in rows])
        slopes = np.array([along for _, along in rows]).reshape(len(rows), len(x))
        return Point(x, cost, gradient, limits, slopes)

    def _formula_of(self, text: str, taken: dict[str, CaseValue]) -> tuple[float, Array]:
        """A number over outputs, and its derivatives."""
        outputs = self.study.outputs
        if not is_formula(text):
            one = taken[outputs.get(text, text)]
            return float(one.value), one.along
        formula = formula_of(text)
        given = {name: taken[outputs[name]] for name in formula.names}
        numbers = {name: Dual(float(one.value), tuple(one.along.tolist())) for name, one in given.items()}
        try:
            found = formula.run(numbers)
        except ArithmeticError as error:
            raise Infeasible(f'"{text}" cannot be computed: {error}') from error
        if not isinstance(found, Dual):
            return float(found), np.zeros(len(self.names))
        value, along = float(found.value), np.array(found.tangents, dtype=np.float64)
        if not (np.isfinite(value) and np.isfinite(along).all()):
            raise Infeasible(f'"{text}" or its derivative is not a finite number')
        return value, along


def _bounds(path: str, variation: Any) -> Bounds:
    if not isinstance(variation, Bounds):
        raise StudyError(f'"{path}" is {variation!r}: an optimisation takes bounds, {{ min = ..., max = ... }}.')
    return variation


def _scale(bounds: Bounds, start: float) -> float:
    if bounds.scale is not None:
        return bounds.scale
    if bounds.min is not None and bounds.max is not None:
        return bounds.max - bounds.min
    return abs(start) or 1.0


def _limit(name: str, case: Case, constraint: Any) -> Limit:
    lower = constraint.min if constraint.equals is None else constraint.equals
    upper = constraint.max if constraint.equals is None else constraint.equals
    size = max((abs(x) for x in (lower, upper) if x is not None), default=0.0) or 1.0
    low, high = -np.inf if lower is None else lower, np.inf if upper is None else upper
    return Limit(name, case.name, constraint.of, low, high, constraint.scale or size)
