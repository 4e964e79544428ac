"""The papers' recursions, one a file, as steps at a body written on abstract numbers.

A formulation names no joint type, no lane, no buffer. It is given a ``walk`` that visits the bodies, and each of its
steps a ``body`` (formulations.base says what they offer). A new formulation is a new file and a line in FORMULATIONS.
"""

from . import articulated_body, inverse_dynamics, mass_matrix, observables, reference_point
from .base import Body, Program, Walk

FORMULATIONS: dict[str, Program] = {
    "articulated_body": articulated_body.PROGRAM,
    "reference_point:centroid": reference_point.CENTROID,
    "reference_point:joint": reference_point.JOINT,
    "reference_point:origin": reference_point.ORIGIN,
    "mass_matrix": mass_matrix.ACCELERATION,
}
"""Programs that give accelerations from q, v, tau; a name may carry an option after a colon."""

QUANTITIES: dict[str, Program] = {
    "inverse_dynamics": inverse_dynamics.PROGRAM,
    "reactions": inverse_dynamics.REACTIONS,
    "mass_matrix": mass_matrix.MATRIX,
    "poses": observables.POSES,
    "energy": observables.ENERGY,
    "rates": observables.RATES,
    "drives": inverse_dynamics.DRIVES,
    "elements": observables.ELEMENTS,
    "tangent": articulated_body.TANGENT,
}

__all__ = ["FORMULATIONS", "QUANTITIES", "Body", "Program", "Walk"]
