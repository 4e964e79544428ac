"""The memory that a run takes, known before it starts: a run that does not fit is refused, with the numbers.

Each number of a state is kept about COPIES times at once: by the machine code, in the samples, as they are put together with
the accelerations, and in what is derived from them first.
"""

from __future__ import annotations

import os

from ...errors import StateError
from ...model import Model
from ...wording import argument

COPIES = 4
SHARE = 0.5  # of the machine's memory, which a run may take
_UNKNOWN = 8 << 30  # bytes, where the system does not say


def largest() -> int:
    """Bytes that a run may take."""
    try:
        return int(SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):  # not on every system
        return int(SHARE * _UNKNOWN)


def bytes_of(model: Model, samples: int, runs: int = 1) -> int:
    """About what the samples of a run take, or those of many, which have no works."""
    drives = sum(joint.nv for joint, driven in zip(model.joints, model.driven, strict=True) if driven)
    works = len(model.elements) + drives + len(model.closures) + 1 if runs == 1 else 0
    numbers = 1 + model.nq + 2 * model.nv + works + len(model.inputs)
    return 8 * COPIES * samples * runs * numbers


def must_fit(model: Model, samples: int, runs: int = 1) -> None:
    needed, most = bytes_of(model, samples, runs), largest()
    if needed > most:
        each = f"{runs} runs of {samples} samples" if runs > 1 else f"{samples} samples"
        fewer = ", or start fewer runs at a time" if runs > 1 else ""
        raise StateError(
            f"{each} of model {model.name!r}, which has {model.nv} velocities, take about {in_words(needed)} of memory, and a "
            f"run may take {in_words(most)} of this machine's: give a longer {argument('step')}, a shorter "
            f"{argument('duration')}{fewer}"
        )


def in_words(count: int) -> str:
    return f"{count / 2**30:.3g} GB" if count >= 2**30 else f"{count / 2**20:.3g} MB"
