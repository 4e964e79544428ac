"""The start of a model for inspection: without warnings, and also where its loops do not close."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import AssemblyError

if TYPE_CHECKING:
    from ..model import Model

Array = NDArray[np.float64]


def position(model: Model) -> Array:
    """The start, as assembled; as written where it cannot be, which LoopReport reports."""
    try:
        return model.assembled_start.q if model.closures else model.given_q
    except AssemblyError:
        return model.given_q


def compiled(model: Model) -> Any:
    """The model in machine code, for a few evaluations."""
    from ..dynamics import compile

    return compile(model, optimisation=0)
