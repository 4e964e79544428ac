"""The result of a reduction, with a report of the choices that it made."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import DynamicsError
from .state import Array


@dataclass(frozen=True)
class Choice:
    """A coordinate, or a direction of a joint, that the closures determine. ``pivot``: how much of its motion of the loop's end
    is new beside the dependent ones before it; 1 is best, 0 is singular."""

    name: str
    pivot: float
    pending: bool = False


@dataclass(frozen=True)
class Reduced:
    """Accelerations (nv,), multipliers of the model's closures (force on the bodies is +Phi^T lambda), and the partition.

    rank is the number of independent equations, residual what redundant ones are violated by; ``remarks`` say how loops were
    represented.
    """

    variant: str
    a: Array
    multipliers: Array
    dependents: tuple[Choice, ...]
    rank: int
    residual: float = 0.0
    remarks: tuple[str, ...] = ()

    @property
    def pivot(self) -> float:
        """The smallest one."""
        return min((choice.pivot for choice in self.dependents if not choice.pending), default=1.0)

    def __str__(self) -> str:
        chosen = ", ".join(f"{c.name} ({'pending, ' if c.pending else ''}{c.pivot:.2g})" for c in self.dependents)
        lines = [f"{self.variant}: rank {self.rank} of {len(self.multipliers)} equations, smallest pivot {self.pivot:.2g}"]
        return "\n".join([*lines, f"  dependent: {chosen or 'none'}", *(f"  {remark}" for remark in self.remarks)])


class SingularChoice(DynamicsError):
    """The dependent coordinates of a loop cannot be dependent. ``loop`` is its number in the opened tree."""

    def __init__(self, message: str, loop: int) -> None:
        super().__init__(message)
        self.loop = loop


def massless(joint: str) -> DynamicsError:
    return DynamicsError(
        f'"{joint}" can move in a direction in which nothing has mass, so that its acceleration is not determined. '
        "Give the bodies beyond it a mass, or the joint an armature."
    )
