"""What can be asked of a planned model, one subject a file: functions of an Evaluation, which Dynamics has as its methods."""

from . import accelerations, derivatives, forces, loops, measure_derivatives, measures, momenta, reactions, sensitivities

__all__ = [
    "accelerations",
    "derivatives",
    "forces",
    "loops",
    "measure_derivatives",
    "measures",
    "momenta",
    "reactions",
    "sensitivities",
]
