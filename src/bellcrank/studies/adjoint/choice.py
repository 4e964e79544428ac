"""Forward or backward: which of the two is possible, and which costs less."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import NoAdjointError
from ..output_names import Output

A_PARAMETER, AN_OUTPUT = 0.2, 2.4  # about what each costs, forward and backward, in runs (bench/adjoint.py)
MEMORY = 256.0  # MB that accepted steps may take
FORWARD_INSTEAD = 'use mode="forward"'


def must_have_adjoint(wanted: Sequence[Output], control: str, *, jumping_momenta: bool = False) -> None:
    """Raises NoAdjointError with what has none; ``jumping_momenta``: momenta are integrated under forces that may jump."""
    if jumping_momenta:
        raise NoAdjointError(
            "where forces jump, as at damped stops, adjoints are of coordinates and velocities, not of momenta: "
            f"{FORWARD_INSTEAD}, or another formulation or method"
        )
    if not wanted:
        raise NoAdjointError(f"the adjoint method differentiates outputs, and none is named: name some, or {FORWARD_INSTEAD}")
    for output in wanted:
        if output.taken == "series":
            raise NoAdjointError(
                f"output {output.name!r} is taken at all samples, and the adjoint method differentiates numbers: take it "
                f"@end, as rms(...) or "
                f"the like, or {FORWARD_INSTEAD}"
            )
    if control != "state":
        raise NoAdjointError(f'control="{control}" follows derivatives along the run, an adjoint has none: {FORWARD_INSTEAD}')


def taken_backward(mode: str, wanted: Sequence[Output], parameters: int, control: str, *, jumping_momenta: bool) -> bool:
    """Whether the adjoint is to be used; raises NoAdjointError if it was asked for and there is none."""
    if mode == "forward":
        return False
    try:
        must_have_adjoint(wanted, control, jumping_momenta=jumping_momenta)
    except NoAdjointError:
        if mode == "adjoint":
            raise
        return False
    return mode == "adjoint" or A_PARAMETER * parameters > AN_OUTPUT * len(wanted)
