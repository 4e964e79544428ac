"""What can be asked of a planned model, one subject a file: functions of an Evaluation, which Dynamics has as its methods."""

from . import accelerations, forces, loops, measures, momenta, reactions

__all__ = [
    "accelerations",
    "forces",
    "loops",
    "measures",
    "momenta",
    "reactions",
]
