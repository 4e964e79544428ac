"""What an explicit Runge-Kutta method is: its tableau, and what can be checked of it without running it."""

from __future__ import annotations

from dataclasses import dataclass

Row = tuple[float, ...]


@dataclass(frozen=True)
class RungeKutta:
    """k_i = f(t + c_i h, y + h sum_j A_ij k_j),   y' = y + h sum_i b_i k_i

    error  weights of the estimate of the local error, h sum_i error_i k_i; None for a method of fixed step
    dense  rows of y(t + x h) = y + h sum_i (dense_i0 x + dense_i1 x^2 + ...) k_i
    A method with an error estimate ends with a stage at the new point, which is the first stage of the next step.
    """

    name: str
    order: int
    citation: str
    c: Row
    A: tuple[Row, ...]
    b: Row
    error: Row | None = None
    dense: tuple[Row, ...] = ()

    @property
    def adaptive(self) -> bool:
        return self.error is not None

    def __post_init__(self) -> None:
        """A mistyped coefficient shows here: each row of A sums to its c, the weights to one."""
        sums = [abs(sum(row) - c) for row, c in zip(self.A, self.c, strict=True)]
        sums.append(abs(sum(self.b) - 1.0))
        if self.error is not None:
            sums.append(abs(sum(self.error)))
            ends = zip(self.dense, (*self.b, 0.0), strict=True)
            sums += [abs(sum(row) - weight) for row, weight in ends]
        if max(sums) > 1e-14:
            raise ValueError(f"the coefficients of {self.name} do not add up (by {max(sums)})")
