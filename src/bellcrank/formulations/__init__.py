"""The papers' recursions, one a file, as steps at a body written on abstract numbers.

A formulation names no joint type, no lane, no buffer. It is given a ``walk`` that visits the bodies, and each of its
steps a ``body`` (formulations.base says what they offer). A new formulation is a new file and a line in FORMULATIONS.
"""

from dataclasses import replace

from . import articulated_body, canonical_momenta, inverse_dynamics, mass_matrix, observables, reference_point
from .base import Body, Walk
from .loops import block_multipliers, block_projection, canonical_loops, closure, coordinate_reduction, multipliers
from .program import Program

FORMULATIONS: dict[str, Program] = {
    "articulated_body": articulated_body.PROGRAM,
    "reference_point:centroid": reference_point.CENTROID,
    "reference_point:joint": reference_point.JOINT,
    "reference_point:origin": reference_point.ORIGIN,
    "mass_matrix": mass_matrix.ACCELERATION,
    "canonical_momenta:joint": canonical_momenta.JOINT_ACCELERATION,
    "canonical_momenta:origin": canonical_momenta.ORIGIN_ACCELERATION,
}
"""Programs that give accelerations from q, v, tau; a name may carry an option after a colon."""

CANONICAL: dict[str, Program] = {
    "canonical_momenta:joint": canonical_momenta.JOINT,
    "canonical_momenta:origin": canonical_momenta.ORIGIN,
    "canonical_momenta": canonical_loops.PROGRAM,  # with closed loops
}
"""Programs that give v and dp/dt from q, p, tau; time loops of these formulations integrate q and p."""

CLOSED: dict[str, Program] = {
    "coordinate_reduction": coordinate_reduction.PROGRAM,
    "multipliers:centroid": multipliers.CENTROID,
    "multipliers:joint": multipliers.JOINT,
    "multipliers:origin": multipliers.ORIGIN,
}
"""Programs that give accelerations from q, v, tau of models with closed loops."""

WITH_MULTIPLIERS: dict[str, Program] = {
    "multipliers:centroid": multipliers.CENTROID_BOTH,
    "multipliers:joint": multipliers.JOINT_BOTH,
    "multipliers:origin": multipliers.ORIGIN_BOTH,
    "coordinate_reduction": block_multipliers.WITH_POWERS,
}
"""The same again, with the multipliers beside; some give what the balance of energy needs of them too."""

QUANTITIES: dict[str, Program] = {
    "inverse_dynamics": inverse_dynamics.PROGRAM,
    "reactions": inverse_dynamics.REACTIONS,
    "mass_matrix": mass_matrix.MATRIX,
    "poses": observables.POSES,
    "energy": observables.ENERGY,
    "rates": observables.RATES,
    "drives": inverse_dynamics.DRIVES,
    "elements": observables.ELEMENTS,
    "openings": observables.OPENINGS,
    "acting": observables.ACTING,
    "multipliers": multipliers.VALUES,
    "block_multipliers": block_multipliers.PROGRAM,
    "closure": closure.ERRORS,
    "closure_right": closure.RIGHT,
    "closure_jacobian": closure.JACOBIAN,
    "project_positions:minimum_norm": closure.POSITIONS,
    "project_velocities:minimum_norm": closure.VELOCITIES,
    "project_positions:mass": closure.MASS_POSITIONS,
    "project_velocities:mass": closure.MASS_VELOCITIES,
    "project_positions:minimum_norm_blocks": block_projection.POSITIONS,
    "project_velocities:minimum_norm_blocks": block_projection.VELOCITIES,
    "project_positions:mass_blocks": block_projection.MASS_POSITIONS,
    "project_velocities:mass_blocks": block_projection.MASS_VELOCITIES,
    "blocks": coordinate_reduction.REPORT,
    "closed_inverse_dynamics": inverse_dynamics.CLOSED,
    "closed_reactions": inverse_dynamics.CLOSED_REACTIONS,
    "closed_drives": inverse_dynamics.CLOSED_DRIVES,
    "closing_reactions": closure.REACTIONS,
    "momenta": canonical_momenta.MOMENTA,
    "velocities": canonical_momenta.VELOCITIES,
    "closed_velocities": canonical_loops.VELOCITIES,
    "closed_impulses": canonical_loops.IMPULSES,
    "canonical_reactions": canonical_momenta.REACTIONS,
    "canonical_drives": canonical_momenta.DRIVES,
}

FAST = ("inverse_dynamics", "mass_matrix", "multipliers", "block_multipliers")
QUANTITIES = {name: program if name in FAST else replace(program, optimisation=0) for name, program in QUANTITIES.items()}

__all__ = ["CANONICAL", "CLOSED", "FORMULATIONS", "QUANTITIES", "WITH_MULTIPLIERS", "Body", "Program", "Walk"]
