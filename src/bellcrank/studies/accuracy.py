"""Whether derivatives are as accurate as the tolerance promises, where steps follow the errors of the state alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyWarning, warn
from ..wording import argument

Array = NDArray[np.float64]

FACTOR = 20.0  # errors beyond so many times what the tolerance allows are reported


def doubt_derivatives(model: str, names: Sequence[str], missed: Array | None, steps: int, rtol: float) -> None:
    """Warn of the parameter whose derivatives are worst.

    ``missed``: for each parameter the errors of all steps, estimated by the embedded method in parts of what the tolerance
    allows in one step. Their sum is about the relative error at the end over the tolerance.
    """
    if missed is None or not steps or not missed.size:
        return
    worse = np.flatnonzero(~(missed <= FACTOR * steps))
    if not len(worse):
        return
    worst = worse[np.argmax(missed[worse])]
    others = "" if len(worse) == 1 else f" ({len(worse) - 1} more of the parameters are alike)"
    warn(
        f'model {model!r}: the derivatives by "{names[worst]}" are less accurate than the tolerance promises{others}. The '
        f"steps follow the errors of the state alone; those of these derivatives are {missed[worst] / steps:.0f} times as "
        f"large on average, and add up to about {missed[worst] * rtol:.1g} of their size. Let steps follow the "
        f"derivatives too with {argument('control', 'all')}.",
        AccuracyWarning,
    )
