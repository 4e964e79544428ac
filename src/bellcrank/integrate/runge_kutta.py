"""Runge-Kutta methods as tableaus, with the checks that need no run."""

from __future__ import annotations

from dataclasses import dataclass

Row = tuple[float, ...]


@dataclass(frozen=True)
class RungeKutta:
    """k_i = f(t + c_i h, y + h sum_j A_ij k_j),   y' = y + h sum_i b_i k_i

    error   weights of the estimate of the local error, h sum_i error_i k_i; None for a method of fixed step
    error3  of a second estimate of lower order: with e5, e3 the sums of squares of both, the norm is e5/sqrt(e5 + 0.01 e3)
    estimate  order of the embedded method, one less than that of the method itself unless given
    extra   c and row of A of stages that only dense output needs
    dense   rows of y(t + x h) = y + h sum_i (dense_i0 x + dense_i1 x^2 + ...) k_i
    stable  h lambda on the negative real axis, up to which steps do not grow; a method with an error estimate knows it, so
            that a run can notice that it is stiff
    parts   a step is made of steps of these parts of its length, which raises the order of a symmetric method
    turns   goes through rotations as a group (machine.steps.turning); else quaternions would be added like other coordinates
    An explicit method with an error estimate ends with a stage at the new point, which is the first stage of the next step; an
    implicit one has the slope at the start of the step as its last row.
    """

    name: str
    order: int
    citation: str
    c: Row
    A: tuple[Row, ...]
    b: Row
    error: Row | None = None
    error3: Row | None = None
    estimate: int | None = None
    extra: tuple[tuple[float, Row], ...] = ()
    dense: tuple[Row, ...] = ()
    stable: float | None = None
    parts: Row = (1.0,)
    turns: bool = False

    @property
    def adaptive(self) -> bool:
        return self.error is not None

    @property
    def degree(self) -> int:
        """Degree of the polynomial along a step: dense output, or Hermite's cubic where there is none."""
        return len(self.dense[0]) if self.dense else 3

    @property
    def implicit(self) -> bool:
        """A stage depends on itself or on later ones."""
        return any(len(row) > i for i, row in enumerate(self.A))

    @property
    def stages(self) -> int:
        """Rows of memory that a step needs for its stages: those of dense output come after."""
        return len(self.b) + (1 if self.implicit or self.adaptive else 0)

    @property
    def error_power(self) -> int:
        """The estimated error of a step is proportional to this power of its length."""
        return self.order if self.estimate is None else self.estimate + 1

    def __post_init__(self) -> None:
        """A mistyped coefficient shows here: each row of A sums to its c, the weights to one."""
        sums = [abs(sum(row) - c) for row, c in zip(self.A, self.c, strict=True)]
        sums += [abs(sum(row) - c) for c, row in self.extra]
        sums += [abs(sum(self.b) - 1.0), abs(sum(self.parts) - 1.0)]
        if self.error is not None:
            sums.append(abs(sum(self.error)))
            sums.append(abs(sum(self.error3 or (0.0,))))
            ends = zip(self.dense, (*self.b, 0.0, *(0.0 for _ in self.extra)), strict=True)
            sums += [abs(sum(row) - weight) for row, weight in ends]
        if max(sums) > 2e-13:
            raise ValueError(f"the coefficients of {self.name} do not sum correctly (by {max(sums)})")
